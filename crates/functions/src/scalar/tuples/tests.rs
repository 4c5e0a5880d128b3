//! Checks the functions of tuples against answers recorded from ClickHouse.

use crate::scalar::testing::check_table;

#[test]
fn tuples() {
    check_table(include_str!("tests/tuples.tsv"));
}
