//! Checks the functions of this folder against answers recorded from ClickHouse.

use crate::scalar::testing::check_table;

#[test]
fn bits_and_rounding() {
    check_table(include_str!("tests/bits.tsv"));
}

#[test]
fn logic_conditions_and_mathematics() {
    check_table(include_str!("tests/logic.tsv"));
}

#[test]
fn arithmetic() {
    check_table(include_str!("tests/arith.tsv"));
}

#[test]
fn comparison() {
    check_table(include_str!("tests/cmp.tsv"));
}

#[test]
fn casts() {
    check_table(include_str!("tests/cast.tsv"));
}
