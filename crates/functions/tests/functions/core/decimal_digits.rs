//! Compares the quick ways of Decimals, by digits of 64 bits and by ranges of digits, with exact ones.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{Decimal128Type, UInt8Type};
use basalt_error::ErrorCode;
use basalt_functions::Column;
use basalt_types::DataType;

use crate::testing::{Input, call, constant};

const COMPARISONS: [&str; 6] = [
    "equals",
    "notEquals",
    "less",
    "lessOrEquals",
    "greater",
    "greaterOrEquals",
];

fn decimal(precision: u8, scale: u8) -> DataType {
    DataType::Decimal { precision, scale }
}

fn column(data_type: &DataType, digits: &[i128]) -> Input {
    let array = Decimal128Array::from(digits.to_vec()).with_data_type(data_type.physical());
    Input {
        data_type: data_type.clone(),
        column: Column::new(Arc::new(array)),
    }
}

/// A constant as a column of so many rows.
fn repeated(input: &Input, num_rows: usize) -> Input {
    let rows = UInt32Array::from_value(0, num_rows);
    let array = take(&input.column.array, &rows, None).expect("copies of a value");
    Input {
        data_type: input.data_type.clone(),
        column: Column::new(array),
    }
}

fn flags(array: &ArrayRef) -> Vec<u8> {
    array.as_primitive::<UInt8Type>().values().to_vec()
}

/// Digits near 0, near a number of whole units, and the outermost ones.
fn digits(precision: u8, scale: u8) -> Vec<i128> {
    let (most, unit) = (10_i128.pow(precision.into()) - 1, 10_i128.pow(scale.into()));
    let near = [0, 3 * unit, 25 * unit / 10, -7 * unit, most - 4, 4 - most];
    let all = near
        .iter()
        .flat_map(|middle| (-4..=4).map(move |d| middle + d));
    all.filter(|d| d.abs() <= most).collect()
}

#[test]
fn constants_compare_as_columns_do() {
    let constants = [
        ("UInt8", "3"),
        ("Int16", "-7"),
        ("UInt64", "18446744073709551615"),
        ("Int64", "-9223372036854775808"),
        ("Float64", "2.5"),
        ("Float64", "-7.000000000000001"),
        ("Float32", "2.3"),
        ("Float64", "nan"),
        ("Float64", "inf"),
        ("Float64", "-inf"),
        ("Float64", "1e30"),
        ("Decimal(9, 1)", "2.5"),
        ("Decimal(9, 4)", "3.0001"),
        ("Decimal(38, 2)", "-7.01"),
        ("Decimal(76, 3)", "3"),
    ];
    for (precision, scale) in [(1, 0), (9, 2), (9, 9), (18, 0), (18, 4), (38, 3), (38, 20)] {
        let data_type = decimal(precision, scale);
        let numbers = column(&data_type, &digits(precision, scale));
        let num_rows = numbers.column.array.len();
        for (name, text) in constants {
            let constant = constant(name, text);
            let expanded = repeated(&constant, num_rows);
            for function in COMPARISONS {
                for (quick, exact) in [
                    (
                        [numbers.clone(), constant.clone()],
                        [numbers.clone(), expanded.clone()],
                    ),
                    (
                        [constant.clone(), numbers.clone()],
                        [expanded.clone(), numbers.clone()],
                    ),
                ] {
                    let what = format!("{function} of {data_type} and {name} {text}");
                    match (
                        call(function, &quick, num_rows),
                        call(function, &exact, num_rows),
                    ) {
                        (Ok(quick), Ok(exact)) => {
                            let [quick, exact] = [quick, exact].map(|i| flags(&i.column.array));
                            assert_eq!(quick, exact, "{what}");
                        }
                        (Err(quick), Err(exact)) => {
                            assert_eq!(quick.code(), exact.code(), "{what}")
                        }
                        (quick, exact) => panic!("{what}: {quick:?} {exact:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn quotients_are_exact_or_errors() {
    for (precision, scale) in [(5, 2), (9, 0), (10, 2), (18, 6)] {
        let data_type = decimal(precision, scale);
        for a in digits(precision, scale) {
            for b in digits(precision, scale) {
                let fits = |d: i128| match precision {
                    ..=9 => i32::try_from(d).is_ok(),
                    _ => i64::try_from(d).is_ok(),
                };
                let scaled = a * 10_i128.pow(scale.into());
                let exact = Some(scaled)
                    .filter(|d| fits(*d))
                    .and_then(|d| d.checked_div(b));
                let exact = exact.filter(|d| fits(*d));
                let what = format!("divide of {data_type} {a} and {b}");
                check((&data_type, a), (&data_type, b), ("divide", exact), &what);
            }
        }
    }
}

#[test]
fn sums_and_products_are_exact_or_errors() {
    let shapes = [(5, 2), (9, 0), (9, 4), (10, 2), (18, 0), (18, 6)];
    let types = shapes
        .iter()
        .flat_map(|a| shapes.iter().map(move |b| (*a, *b)));
    for ((precision_a, scale_a), (precision_b, scale_b)) in types {
        let (type_a, type_b) = (decimal(precision_a, scale_a), decimal(precision_b, scale_b));
        let all_b = digits(precision_b, scale_b);
        for function in ["plus", "minus", "multiply"] {
            let is_product = function == "multiply";
            for a in digits(precision_a, scale_a).into_iter().step_by(2) {
                for b in all_b.iter().step_by(2) {
                    let scale = scale_a.max(scale_b);
                    let up = |d: i128, s: u8| d * 10_i128.pow((scale - s).into());
                    let is_short = precision_a <= 9 && precision_b <= 9;
                    let fits = |d: i128| match is_short {
                        true => i32::try_from(d).is_ok(),
                        false => i64::try_from(d).is_ok(),
                    };
                    let (x, y) = match is_product {
                        true => (a, *b),
                        false => (up(a, scale_a), up(*b, scale_b)),
                    };
                    let exact = match function {
                        "plus" => x + y,
                        "minus" => x - y,
                        _ => x * y,
                    };
                    let exact = Some(exact).filter(|d| fits(*d) && fits(x) && fits(y));
                    let what = format!("{function} of {type_a} {a} and {type_b} {b}");
                    check((&type_a, a), (&type_b, *b), (function, exact), &what);
                }
            }
        }
    }
}

/// Computes with both numbers as columns, and with either as a constant.
fn check(
    (type_a, a): (&DataType, i128),
    (type_b, b): (&DataType, i128),
    (function, exact): (&str, Option<i128>),
    what: &str,
) {
    let [a, b] = [(type_a, a), (type_b, b)].map(|(t, digits)| column(t, &[digits; 3]));
    let one = |input: &Input| Input {
        data_type: input.data_type.clone(),
        column: Column::constant(input.column.array.slice(0, 1)),
    };
    for args in [
        [a.clone(), b.clone()],
        [one(&a), b.clone()],
        [a.clone(), one(&b)],
    ] {
        match (call(function, &args, 3), exact) {
            (Ok(result), Some(exact)) => {
                let digits = result.column.array.as_primitive::<Decimal128Type>();
                assert_eq!(digits.values().to_vec(), [exact; 3], "{what}");
            }
            // Scales that do not fit are told before any row is seen.
            (Err(e), _) if e.code() == ErrorCode::ARGUMENT_OUT_OF_BOUND => {}
            (Err(e), None) => {
                let codes = [ErrorCode::DECIMAL_OVERFLOW, ErrorCode::ILLEGAL_DIVISION];
                assert!(codes.contains(&e.code()), "{what}: {e}");
            }
            (result, exact) => panic!("{what}: {result:?} and not {exact:?}"),
        }
    }
}
