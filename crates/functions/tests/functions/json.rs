//! Checks the functions of JSON against answers recorded from ClickHouse.

use crate::testing::check_table;

#[test]
fn json() {
    check_table(include_str!("json/json.tsv"));
}
