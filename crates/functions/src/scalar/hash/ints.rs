//! Hashes integers.

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::core::numeric::map1_widest;
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
