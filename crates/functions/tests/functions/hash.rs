//! Checks hash functions against values from ClickHouse.

use crate::strings_testing::check_table;

#[test]
fn hashes_are_those_of_clickhouse() {
    check_table(include_str!("hash/hash.tsv"));
}
