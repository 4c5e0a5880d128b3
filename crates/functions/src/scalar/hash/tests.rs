//! Checks hash functions against values from ClickHouse.

use crate::scalar::strings::testing::check_table;

#[test]
fn hashes_are_those_of_clickhouse() {
    check_table(include_str!("tests/hash.tsv"));
}
