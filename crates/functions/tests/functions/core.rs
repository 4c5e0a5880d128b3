//! Checks the functions of this folder against answers recorded from ClickHouse.

mod decimal_digits;
mod integers;

use crate::testing::{check, check_table, constant};

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

#[test]
fn digits_of_decimals_are_rounded_and_filled_up() {
    for (data_type, value, places, expected) in [
        ("Decimal(9, 3)", "-1.999", "2", "-2.00"),
        ("Decimal(9, 2)", "9.96", "1", "10.0"),
        ("Decimal(9, 1)", "2.5", "0", "3"),
        ("Decimal(9, 3)", "-0.005", "5", "-0.00500"),
    ] {
        let args = [constant(data_type, value), constant("UInt8", places)];
        check("toDecimalString", &args, "String", &[expected]);
    }
}
