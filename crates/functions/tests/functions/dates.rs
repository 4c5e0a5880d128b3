//! Answers of ClickHouse to calls of the functions of dates and times.

use crate::testing::check_table;

#[test]
fn recorded_component() {
    check_table(include_str!("dates/component.tsv"));
}

#[test]
fn recorded_difference() {
    check_table(include_str!("dates/difference.tsv"));
}

#[test]
fn recorded_format() {
    check_table(include_str!("dates/format.tsv"));
}

#[test]
fn recorded_make() {
    check_table(include_str!("dates/make.tsv"));
}

#[test]
fn recorded_parse() {
    check_table(include_str!("dates/parse.tsv"));
}

#[test]
fn recorded_shift() {
    check_table(include_str!("dates/shift.tsv"));
}

#[test]
fn recorded_start() {
    check_table(include_str!("dates/start.tsv"));
}
