//! Checks functions that write bytes in other ways against values from ClickHouse.

use crate::strings_testing::check_table;

#[test]
fn encodings_are_those_of_clickhouse() {
    check_table(include_str!("encoding/encoding.tsv"));
}
