//! Hashes integers, and puts keys into a given number of buckets.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int32Array};
use arrow::datatypes::UInt64Type;
use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::core::numeric::map1_widest;
use crate::scalar::strings::shapes::{Ints, bad_arguments};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "intHash32",
        syntax: "intHash32(n)",
        description: "A fast 32-bit hash of an integer.",
        resolve: |call| {
            resolve_int_hash(call, DataType::UInt32, |column, num_rows| {
                map1_widest(column, num_rows, int_hash_32)
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "intHash64",
        syntax: "intHash64(n)",
        description: "A fast 64-bit hash of an integer.",
        resolve: |call| {
            resolve_int_hash(call, DataType::UInt64, |column, num_rows| {
                map1_widest(column, num_rows, int_hash_64)
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "jumpConsistentHash",
        syntax: "jumpConsistentHash(n, buckets)",
        description: "A bucket for a key; few keys move when buckets are added.",
        resolve: resolve_jump,
        ..ScalarFunction::BASE
    },
];

/// Mixes the bits of a number into 64 bits.
#[inline(always)]
pub fn int_hash_64(number: u64) -> u64 {
    let x = number ^ 0x4cf2_d2ba_ae6d_a887;
    let x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

/// Mixes the bits of a number into 32 bits, after Thomas Wang.
#[inline(always)]
pub fn int_hash_32(number: u64) -> u32 {
    let x = number ^ 0x75d9_543d_e018_bf45;
    let x = (!x).wrapping_add(x << 18);
    let x = (x ^ x.rotate_right(31)).wrapping_mul(21);
    let x = x ^ x.rotate_right(11);
    let x = x.wrapping_add(x << 6);
    (x ^ x.rotate_right(22)) as u32
}

fn resolve_int_hash(
    call: &Call<'_>,
    return_type: DataType,
    eval: fn(&Column, usize) -> Result<ArrayRef>,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| {
        t.is_integer() || matches!(t, DataType::Date | DataType::Date32 | DataType::DateTime(_))
    })?;
    Resolved::new(return_type, move |columns, num_rows| {
        eval(&columns[0], num_rows)
    })
}

fn resolve_jump(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_integer)?;
    let buckets = call.constant_i64(1)?;
    if !(1..=i64::from(i32::MAX)).contains(&buckets) {
        return Err(bad_arguments(format!(
            "The second argument of function {} (number of buckets) must be positive",
            call.name
        )));
    }
    Resolved::new(DataType::Int32, move |columns, num_rows| {
        let keys = columns[0].array.as_primitive_opt::<UInt64Type>();
        let ints = Ints::new(&columns[0])?;
        let values = (0..num_rows).map(|row| {
            let key = match keys {
                Some(keys) => keys.value(columns[0].row(row)),
                None => ints.value(row) as u64,
            };
            jump(key, buckets)
        });
        Ok(Arc::new(Int32Array::from_iter_values(values)))
    })
}

/// The jump consistent hash by Lamping and Veach.
fn jump(mut key: u64, buckets: i64) -> i32 {
    let (mut bucket, mut next) = (-1i64, 0i64);
    while next < buckets {
        bucket = next;
        key = key.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let step = (1u64 << 31) as f64 / ((key >> 33) + 1) as f64;
        next = ((bucket + 1) as f64 * step) as i64;
    }
    bucket as i32
}
