//! Checks functions of strings against values from ClickHouse.

use crate::strings_testing::check_table;

#[test]
fn strings_are_measured_cut_and_joined() {
    check_table(include_str!("strings/strings.tsv"));
}

#[test]
fn sizes_times_and_character_sets_are_written() {
    check_table(include_str!("strings/readable.tsv"));
}
