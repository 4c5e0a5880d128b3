//! `xxHash64Spark`: the hash that Spark gives to a text.

use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::core::numeric::array_of;
use crate::{Call, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "xxHash64Spark",
    nulls: Nulls::Own,
    syntax: "xxHash64Spark(s)",
    description: "xxHash with 64 bits and the seed of Spark, which is also the hash of NULL.",
    resolve,
    ..ScalarFunction::BASE
}];

const SEED: u64 = 42;

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| {
        matches!(t.base(), DataType::String | DataType::Nothing)
    })?;
    let only_null = *call.data_type(0).base() == DataType::Nothing;
    Resolved::new(DataType::Int64, move |columns, num_rows| {
        if only_null {
            return Ok(array_of(vec![SEED.cast_signed(); num_rows]));
        }
        let validity = columns[0].validity(num_rows);
        let texts = columns[0].strings()?;
        let hash = |row: usize| {
            let is_valid = validity.as_ref().is_none_or(|v| v.is_valid(row));
            let hash = if is_valid {
                xxhash_rust::xxh64::xxh64(texts.value(row), SEED)
            } else {
                SEED
            };
            hash.cast_signed()
        };
        Ok(array_of((0..num_rows).map(hash).collect::<Vec<i64>>()))
    })
}
