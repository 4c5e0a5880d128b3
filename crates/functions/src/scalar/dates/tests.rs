//! Answers of ClickHouse to calls of the functions of dates and times.

use crate::scalar::testing::check_table;

#[test]
fn recorded_component() {
    check_table(include_str!("tests/component.tsv"));
}

#[test]
fn recorded_difference() {
    check_table(include_str!("tests/difference.tsv"));
}

#[test]
fn recorded_format() {
    check_table(include_str!("tests/format.tsv"));
}

#[test]
fn recorded_make() {
    check_table(include_str!("tests/make.tsv"));
}

#[test]
fn recorded_parse() {
    check_table(include_str!("tests/parse.tsv"));
}

#[test]
fn recorded_shift() {
    check_table(include_str!("tests/shift.tsv"));
}

#[test]
fn recorded_start() {
    check_table(include_str!("tests/start.tsv"));
}
