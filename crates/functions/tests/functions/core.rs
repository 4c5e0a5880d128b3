//! Checks the functions of this folder against answers recorded from ClickHouse.

use crate::testing::check_table;

#[test]
fn bits_and_rounding() {
    check_table(include_str!("core/bits.tsv"));
}

#[test]
fn logic_conditions_and_mathematics() {
    check_table(include_str!("core/logic.tsv"));
}

#[test]
fn arithmetic() {
    check_table(include_str!("core/arith.tsv"));
}

#[test]
fn comparison() {
    check_table(include_str!("core/cmp.tsv"));
}

#[test]
fn casts() {
    check_table(include_str!("core/cast.tsv"));
}
