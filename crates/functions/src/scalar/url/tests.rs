//! Checks functions of URLs against values from ClickHouse.

use crate::scalar::strings::testing::check_table;

#[test]
fn urls_are_cut_as_in_clickhouse() {
    check_table(include_str!("tests/url.tsv"));
}
