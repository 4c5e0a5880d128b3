//! Checks the functions of tuples against answers recorded from ClickHouse.

use crate::testing::check_table;

#[test]
fn tuples() {
    check_table(include_str!("tuples/tuples.tsv"));
}
