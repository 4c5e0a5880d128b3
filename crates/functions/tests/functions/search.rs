//! Checks functions that search against values from ClickHouse, and what they search with.

mod backtrack;
mod containing;
mod like;
mod regexp;

use crate::strings_testing::check_table;

#[test]
fn searches_find_what_clickhouse_finds() {
    check_table(include_str!("search/search.tsv"));
}
