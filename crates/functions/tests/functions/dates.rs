//! Answers of ClickHouse to calls of the functions of dates and times.

use crate::testing::{check, check_table, constant};

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

#[test]
fn patterns_have_quotes_and_composed_codes() {
    for (name, pattern, expected) in [
        (
            "formatDateTimeInJodaSyntax",
            "yyyy''MM'o''clock'",
            r"2024\'02o\'clock",
        ),
        ("formatDateTime", "%R%%", "13:04%"),
    ] {
        let time = constant("DateTime", "2024-02-05 13:04:09");
        let args = [time, constant("String", pattern)];
        check(name, &args, "String", &[expected]);
    }
}
