//! Checks functions that search against values from ClickHouse.

use crate::strings_testing::check_table;

#[test]
fn searches_find_what_clickhouse_finds() {
    check_table(include_str!("search/search.tsv"));
}
