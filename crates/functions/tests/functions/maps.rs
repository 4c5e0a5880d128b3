//! Checks the functions of maps against answers recorded from ClickHouse.

use crate::testing::check_table;

#[test]
fn maps() {
    check_table(include_str!("maps/maps.tsv"));
}
