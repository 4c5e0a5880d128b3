//! Random integers, fractions and UUIDs.

use std::sync::Arc;

use arrow::array::{Float64Array, UInt32Array, UInt64Array};
use basalt_error::Result;
use basalt_types::DataType;

use super::source::Source;
use crate::scalar::strings::reverse::fixed_array;
use crate::{Call, Nulls, Purity, Resolved, ScalarFunction};

const fn random(
    name: &'static str,
    aliases: &'static [&'static str],
    resolve: fn(&Call<'_>) -> Result<Resolved>,
    description: &'static str,
) -> ScalarFunction {
    ScalarFunction {
        name,
        aliases,
        nulls: Nulls::Own,
        purity: Purity::PerRow,
        syntax: "f([anything])",
        description,
        resolve,
        ..ScalarFunction::BASE
    }
}

/// The functions of this file. An argument only tells several calls in a query apart.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        case_insensitive: true,
        ..random("rand", &["rand32"], resolve_rand_32, "A random UInt32.")
    },
    random("rand64", &[], resolve_rand_64, "A random UInt64."),
    ScalarFunction {
        purity: Purity::PerQuery,
        ..random(
            "randConstant",
            &[],
            resolve_constant,
            "A random UInt32, the same for all rows.",
        )
    },
    random(
        "randCanonical",
        &["canonicalRand"],
        resolve_canonical,
        "A random Float64 from 0 on and below 1.",
    ),
    random(
        "generateUUIDv4",
        &[],
        resolve_uuid_4,
        "A random UUID of version 4.",
    ),
    random(
        "generateUUIDv7",
        &[],
        resolve_uuid_7,
        "A UUID of version 7: the time in milliseconds, then a counter and random bits.",
    ),
];

fn resolve_rand_32(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=1)?;
    Resolved::new(DataType::UInt32, |_, num_rows| {
        let mut source = Source::new();
        let values = (0..num_rows).map(|_| (source.bits() >> 32) as u32);
        Ok(Arc::new(UInt32Array::from_iter_values(values)))
    })
}

fn resolve_rand_64(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=1)?;
    Resolved::new(DataType::UInt64, |_, num_rows| {
        let mut source = Source::new();
        let values = (0..num_rows).map(|_| source.bits());
        Ok(Arc::new(UInt64Array::from_iter_values(values)))
    })
}

fn resolve_constant(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=1)?;
    let value = (Source::new().bits() >> 32) as u32;
    Resolved::new(DataType::UInt32, move |_, num_rows| {
        Ok(Arc::new(UInt32Array::from_value(value, num_rows)))
    })
}

fn resolve_canonical(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=1)?;
    Resolved::new(DataType::Float64, |_, num_rows| {
        let mut source = Source::new();
        let values = (0..num_rows).map(|_| source.canonical());
        Ok(Arc::new(Float64Array::from_iter_values(values)))
    })
}

fn resolve_uuid_4(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=1)?;
    Resolved::new(DataType::Uuid, |_, num_rows| {
        let mut source = Source::new();
        let mut bytes = Vec::with_capacity(num_rows * 16);
        for _ in 0..num_rows {
            let random = u128::from(source.bits()) << 64 | u128::from(source.bits());
            let uuid = uuid::Builder::from_random_bytes(random.to_be_bytes()).into_uuid();
            bytes.extend_from_slice(uuid.as_bytes());
        }
        fixed_array(16, bytes)
    })
}

fn resolve_uuid_7(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=1)?;
    Resolved::new(DataType::Uuid, |_, num_rows| {
        let mut bytes = Vec::with_capacity(num_rows * 16);
        for _ in 0..num_rows {
            bytes.extend_from_slice(uuid::Uuid::now_v7().as_bytes());
        }
        fixed_array(16, bytes)
    })
}
