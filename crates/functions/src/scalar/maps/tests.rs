//! Checks the functions of maps against answers recorded from ClickHouse.

use crate::scalar::testing::check_table;

#[test]
fn maps() {
    check_table(include_str!("tests/maps.tsv"));
}
