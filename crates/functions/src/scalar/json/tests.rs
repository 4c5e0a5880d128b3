//! Checks the functions of JSON against answers recorded from ClickHouse.

use crate::scalar::testing::check_table;

#[test]
fn json() {
    check_table(include_str!("tests/json.tsv"));
}
