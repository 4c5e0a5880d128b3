//! The functions `sipHash…`, with and without a key.

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;
use basalt_error::Result;
use basalt_types::DataType;

use super::columns::{HashFunction, HashValue, hash_columns};
use super::functions::checked_types;
use super::sip::{sip_hash_64, sip_hash_128, sip_hash_128_reference};
use crate::scalar::strings::shapes::bad_arguments;
use crate::{Call, Column, Fails, Resolved, ScalarFunction};

const fn sip(
    name: &'static str,
    syntax: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
    description: &'static str,
) -> ScalarFunction {
    ScalarFunction {
        name,
        syntax,
        description,
        resolve,
        takes_variants: true,
        fails: Fails::Never,
        ..ScalarFunction::BASE
    }
}

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    sip(
        "sipHash64",
        "sipHash64(x, …)",
        without_key::<Sip64>,
        "SipHash-2-4 with 64 bits.",
    ),
    sip(
        "sipHash64Keyed",
        "sipHash64Keyed((key0, key1), x, …)",
        with_key::<Sip64>,
        "SipHash-2-4 with 64 bits and a key.",
    ),
    sip(
        "sipHash128",
        "sipHash128(x, …)",
        without_key::<Sip128>,
        "SipHash-2-4 with 128 bits, ended in ClickHouse's own way.",
    ),
    sip(
        "sipHash128Keyed",
        "sipHash128Keyed((key0, key1), x, …)",
        with_key::<Sip128>,
        "As `sipHash128`, with a key.",
    ),
    sip(
        "sipHash128Reference",
        "sipHash128Reference(x, …)",
        without_key::<Sip128Reference>,
        "SipHash-2-4 with 128 bits as its authors define it.",
    ),
    sip(
        "sipHash128ReferenceKeyed",
        "sipHash128ReferenceKeyed((key0, key1), x, …)",
        with_key::<Sip128Reference>,
        "As `sipHash128Reference`, with a key.",
    ),
];

/// One of the ways to end the hash, with a key.
trait Sip: HashFunction {
    fn with_key(key: (u64, u64)) -> Self;
}

#[derive(Clone, Copy)]
struct Sip64((u64, u64));

#[derive(Clone, Copy)]
struct Sip128((u64, u64));

#[derive(Clone, Copy)]
struct Sip128Reference((u64, u64));

impl HashFunction for Sip64 {
    type Value = u64;

    #[inline]
    fn bytes(self, bytes: &[u8]) -> u64 {
        sip_hash_64(bytes, self.0)
    }
}

impl HashFunction for Sip128 {
    type Value = u128;

    #[inline]
    fn bytes(self, bytes: &[u8]) -> u128 {
        sip_hash_128(bytes, self.0)
    }
}

impl HashFunction for Sip128Reference {
    type Value = u128;

    fn bytes(self, bytes: &[u8]) -> u128 {
        sip_hash_128_reference(bytes, self.0)
    }
}

impl Sip for Sip64 {
    fn with_key(key: (u64, u64)) -> Self {
        Self(key)
    }
}

impl Sip for Sip128 {
    fn with_key(key: (u64, u64)) -> Self {
        Self(key)
    }
}

impl Sip for Sip128Reference {
    fn with_key(key: (u64, u64)) -> Self {
        Self(key)
    }
}

fn without_key<S: Sip>(call: &Call<'_>) -> Result<Resolved> {
    let types = checked_types(call, 0)?;
    Resolved::new(S::Value::data_type(), move |columns, num_rows| {
        let hashes = hash_columns(S::with_key((0, 0)), columns, &types, num_rows)?;
        Ok(S::Value::into_array(hashes))
    })
}

fn with_key<S: Sip>(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    let is_key = matches!(call.data_type(0), DataType::Tuple(t)
        if t.types == [DataType::UInt64, DataType::UInt64]);
    if !is_key {
        return Err(bad_arguments(format!(
            "The key of function {} must be a tuple of two UInt64",
            call.name
        )));
    }
    let types = checked_types(call, 1)?;
    Resolved::new(S::Value::data_type(), move |columns, num_rows| {
        let keys = columns[0].array.as_struct();
        let half = |i: usize, row| keys.column(i).as_primitive::<UInt64Type>().value(row);
        let key_of = |row| (half(0, columns[0].row(row)), half(1, columns[0].row(row)));
        if columns[0].is_const && num_rows > 0 {
            let sip = S::with_key(key_of(0));
            let hashes = hash_columns(sip, &columns[1..], &types, num_rows)?;
            return Ok(S::Value::into_array(hashes));
        }
        let mut hashes = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let one_row: Vec<_> = columns[1..]
                .iter()
                .map(|c| Column::new(c.array.slice(c.row(row), 1)))
                .collect();
            hashes.extend(hash_columns(S::with_key(key_of(row)), &one_row, &types, 1)?);
        }
        Ok(S::Value::into_array(hashes))
    })
}
