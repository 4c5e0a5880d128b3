//! Checks functions that write bytes in other ways against values from ClickHouse.

use crate::scalar::strings::testing::check_table;

#[test]
fn encodings_are_those_of_clickhouse() {
    check_table(include_str!("tests/encoding.tsv"));
}
