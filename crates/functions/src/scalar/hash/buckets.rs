//! Puts keys into a given number of buckets; few keys move when buckets are added.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, UInt16Array};
use arrow::datatypes::UInt64Type;
use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::strings::shapes::{Ints, bad_arguments};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "jumpConsistentHash",
        syntax: "jumpConsistentHash(n, buckets)",
        description: "A bucket for a key; few keys move when buckets are added.",
        resolve: resolve_jump,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "kostikConsistentHash",
        aliases: &["yandexConsistentHash"],
        syntax: "kostikConsistentHash(n, buckets)",
        description: "A bucket for a key, of at most 32768, in constant time; few keys move when buckets are added.",
        resolve: resolve_kostik,
        ..ScalarFunction::BASE
    },
];

/// The number of buckets that a call is given.
fn num_buckets(call: &Call<'_>, most: i64) -> Result<i64> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_integer)?;
    let buckets = call.constant_i64(1)?;
    let what = match buckets {
        ..=0 => "be positive".to_owned(),
        _ if buckets > most => format!("not be greater than {most}"),
        _ => return Ok(buckets),
    };
    Err(bad_arguments(format!(
        "The second argument of function {} (number of buckets) must {what}",
        call.name
    )))
}

/// An array of the buckets of all keys.
fn of_keys<A: Array + FromIterator<Option<T>> + 'static, T>(
    column: &Column,
    num_rows: usize,
    bucket: impl Fn(u64) -> T,
) -> Result<ArrayRef> {
    let keys = column.array.as_primitive_opt::<UInt64Type>();
    let ints = Ints::new(column)?;
    let values = (0..num_rows).map(|row| {
        let key = match keys {
            Some(keys) => keys.value(column.row(row)),
            None => ints.value(row) as u64,
        };
        Some(bucket(key))
    });
    Ok(Arc::new(values.collect::<A>()))
}

fn resolve_jump(call: &Call<'_>) -> Result<Resolved> {
    let buckets = num_buckets(call, i64::from(i32::MAX))?;
    Resolved::new(DataType::Int32, move |columns, num_rows| {
        of_keys::<Int32Array, _>(&columns[0], num_rows, |key| jump(key, buckets))
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

fn resolve_kostik(call: &Call<'_>) -> Result<Resolved> {
    let buckets = num_buckets(call, 1 << 15)? as u64;
    Resolved::new(DataType::UInt16, move |columns, num_rows| {
        of_keys::<UInt16Array, _>(&columns[0], num_rows, |key| kostik(key, buckets) as u16)
    })
}

/// The bucket of a key by Oblakov's scheme, for `2..=32768` buckets.
///
/// Where the number of buckets is a power of two, a few bits of the key say the bucket; between two
/// powers, other bits say whether the key has moved from its bucket of the lower one already.
fn kostik(key: u64, buckets: u64) -> u64 {
    if buckets == 1 {
        return 0;
    }
    let bits = u64::BITS - (buckets - 1).leading_zeros();
    let of_more = of_power(key, bits);
    if of_more < buckets {
        return of_more;
    }
    let blocks = key.to_le_bytes();
    let block = |at: usize| u64::from(u16::from_le_bytes([blocks[2 * at], blocks[2 * at + 1]]));
    let unused = 16 - bits;
    let high = (block(3) << unused) | (block(2) >> bits);
    let middle = (high << (unused + 1)) | (block(1) >> (bits - 1));
    let moves = (middle << (unused + 1)) | (block(0) >> (bits - 1));
    let moved = ((moves % (of_more * (of_more + 1))) >> bits) + (1 << (bits - 1));
    if moved < buckets {
        moved
    } else {
        of_power(key, bits - 1)
    }
}

/// The bucket of a key of `2^bits` ones: the third block of 16 bits of the key says in which power of two
/// it is, the first or the second where in there.
fn of_power(key: u64, bits: u32) -> u64 {
    let chosen = (key >> 32) & ((1 << bits) - 1);
    if chosen < 2 {
        return chosen;
    }
    let first_of_power = 1 << chosen.ilog2();
    let place = match chosen.count_ones() % 2 {
        0 => key,
        _ => key >> 16,
    };
    first_of_power + (place & (first_of_power - 1))
}
