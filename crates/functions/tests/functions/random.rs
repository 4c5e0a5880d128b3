//! Checks that random values have the type, the range and the mean that they should.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Float64Type, UInt32Type, UInt64Type};
use basalt_types::DataType;

use crate::strings_testing::check;
use basalt_functions::{Arg, BoundFunction, Column, Context, registry};

const NUM_ROWS: usize = 20_000;

fn sample(name: &str, parameters: &[f64]) -> ArrayRef {
    let function = registry::get_scalar(name).expect(name);
    let arrays = parameters
        .iter()
        .map(|p| -> ArrayRef { Arc::new(arrow::array::Float64Array::from(vec![*p])) });
    let arrays: Vec<ArrayRef> = arrays.collect();
    let args = arrays.iter().map(|a| Arg {
        data_type: DataType::Float64,
        constant: Some(Arc::clone(a)),
    });
    let args: Vec<Arg> = args.collect();
    let bound = BoundFunction::bind(function, &args, &Context::default()).expect(name);
    let columns: Vec<Column> = arrays.into_iter().map(Column::constant).collect();
    bound.call(&columns, NUM_ROWS).expect(name)
}

fn mean(name: &str, parameters: &[f64]) -> f64 {
    let values = arrow::compute::cast(
        &sample(name, parameters),
        &arrow::datatypes::DataType::Float64,
    );
    let values = values.expect("numbers");
    values
        .as_primitive::<Float64Type>()
        .values()
        .iter()
        .sum::<f64>()
        / NUM_ROWS as f64
}

#[test]
fn means_are_those_of_the_distributions() {
    for (name, parameters, expected) in [
        ("randUniform", &[5.0, 15.0][..], 10.0),
        ("randNormal", &[10.0, 2.0], 10.0),
        ("randExponential", &[0.1], 10.0),
        ("randChiSquared", &[10.0], 10.0),
        ("randFisherF", &[5.0, 22.0], 1.1),
        ("randBernoulli", &[0.25], 0.25),
        ("randBinomial", &[1000.0, 0.75], 750.0),
        ("randNegativeBinomial", &[100.0, 0.75], 100.0 / 3.0),
        ("randPoisson", &[3.0], 3.0),
        ("randPoisson", &[1000.0], 1000.0),
        ("randCanonical", &[], 0.5),
    ] {
        let found = mean(name, parameters);
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{name}: {found} for {expected}"
        );
    }
}

#[test]
fn integers_differ_and_uuids_have_their_version() {
    let numbers = sample("rand", &[]);
    let numbers = numbers.as_primitive::<UInt32Type>().values();
    assert!(numbers.iter().any(|n| *n != numbers[0]));
    let numbers = sample("rand64", &[]);
    assert!(
        numbers
            .as_primitive::<UInt64Type>()
            .values()
            .iter()
            .any(|n| *n > 1 << 62)
    );
    let constants = sample("randConstant", &[]);
    let constants = constants.as_primitive::<UInt32Type>().values();
    assert!(constants.iter().all(|n| *n == constants[0]));
    for (name, version) in [("generateUUIDv4", 4), ("generateUUIDv7", 7)] {
        let uuids = sample(name, &[]);
        let uuids = uuids.as_fixed_size_binary();
        assert_eq!(uuids.len(), NUM_ROWS);
        assert!(
            (0..NUM_ROWS).all(|i| uuids.value(i)[6] >> 4 == version),
            "{name}"
        );
        assert_ne!(uuids.value(0), uuids.value(1));
    }
}

#[test]
fn strings_have_the_lengths_that_were_asked_for() {
    check(&[
        ("length(randomString(10))", "UInt64\t10"),
        ("length(randomString(0))", "UInt64\t0"),
        ("randomString(-1)", "ERR 131"),
        ("length(randomPrintableASCII(30))", "UInt64\t30"),
        ("isValidASCII(randomPrintableASCII(30))", "UInt8\t1"),
        ("lengthUTF8(randomStringUTF8(30))", "UInt64\t30"),
        ("isValidUTF8(randomStringUTF8(30))", "UInt8\t1"),
        ("length(randomFixedString(7))", "UInt64\t7"),
        ("fuzzBits('abc', 0.0)", "String\tabc"),
        ("hex(fuzzBits('abc', 1.0))", "String\t9E9D9C"),
        ("fuzzBits('abc', 2.0)", "ERR 69"),
        ("randBernoulli(1.5)", "ERR 36"),
    ]);
}
