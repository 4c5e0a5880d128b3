//! Checks functions of URLs against values from ClickHouse.

use crate::strings_testing::check_table;

#[test]
fn urls_are_cut_as_in_clickhouse() {
    check_table(include_str!("url/url.tsv"));
}
