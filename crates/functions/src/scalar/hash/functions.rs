//! The hash functions that take any number of arguments of any type.

use basalt_error::{Error, Result};
use basalt_types::DataType;
use md5::{Digest, Md5};

use super::city::{city_hash_64, hash_128_to_64};
use super::columns::{HashFunction, HashValue, hash_columns};
use super::farm::{Farm, FarmFingerprint};
use super::ints::{int_hash_32, int_hash_64};
use super::metro::metro_hash_64;
use super::murmur::{murmur_2_32, murmur_2_64, murmur_3_32, murmur_3_128};
use super::wy::wy_hash_64;
use crate::{Call, Fails, Resolved, ScalarFunction};

const fn of_any(
    name: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
    description: &'static str,
) -> ScalarFunction {
    ScalarFunction {
        name,
        syntax: "f(x, …)",
        description,
        takes_variants: true,
        fails: Fails::Never,
        resolve,
        ..ScalarFunction::BASE
    }
}

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    of_any(
        "cityHash64",
        |call| resolve(call, City),
        "CityHash 1.0.2; numbers go through intHash64.",
    ),
    of_any(
        "farmHash64",
        |call| resolve(call, Farm),
        "FarmHash; numbers go through intHash64.",
    ),
    of_any(
        "farmFingerprint64",
        |call| resolve(call, FarmFingerprint),
        "FarmHash's fingerprint, the same on all machines.",
    ),
    of_any(
        "metroHash64",
        |call| resolve(call, Metro),
        "MetroHash; numbers go through intHash64.",
    ),
    of_any(
        "xxHash32",
        |call| resolve(call, XxHash32),
        "xxHash with 32 bits.",
    ),
    of_any(
        "xxHash64",
        |call| resolve(call, XxHash64),
        "xxHash with 64 bits.",
    ),
    of_any("xxh3", |call| resolve(call, Xxh3), "xxHash 3 with 64 bits."),
    of_any(
        "murmurHash2_32",
        |call| murmur_of_32(call, |s| murmur_2_32(s, 0)),
        "MurmurHash2 with 32 bits.",
    ),
    of_any(
        "murmurHash2_64",
        |call| murmur_of_64(call, |s| murmur_2_64(s, 0)),
        "MurmurHash2 with 64 bits.",
    ),
    of_any(
        "gccMurmurHash",
        |call| murmur_of_64(call, |s| murmur_2_64(s, 0xc70f_6907)),
        "MurmurHash2 with 64 bits and the seed that GCC's library uses.",
    ),
    of_any(
        "kafkaMurmurHash",
        |call| murmur_of_32(call, |s| murmur_2_32(s, 0x9747_b28c) & 0x7fff_ffff),
        "MurmurHash2 with 32 bits and the seed that Kafka uses.",
    ),
    of_any(
        "murmurHash3_32",
        |call| murmur_of_32(call, |s| murmur_3_32(s, 0)),
        "MurmurHash3 with 32 bits.",
    ),
    of_any(
        "murmurHash3_64",
        |call| murmur_of_64(call, murmur_3_64),
        "The halves of murmurHash3_128 in one.",
    ),
    of_any(
        "murmurHash3_128",
        |call| resolve(call, Murmur128),
        "MurmurHash3 with 128 bits.",
    ),
    of_any("wyHash64", |call| resolve(call, Wy), "wyhash with 64 bits."),
    of_any(
        "halfMD5",
        |call| resolve(call, HalfMd5),
        "The first eight bytes of MD5 as a number.",
    ),
];

fn resolve<H: HashFunction>(call: &Call<'_>, function: H) -> Result<Resolved> {
    let types = checked_types(call, 0)?;
    Resolved::new(H::Value::data_type(), move |columns, num_rows| {
        let hashes = hash_columns(function, columns, &types, num_rows)?;
        Ok(H::Value::into_array(hashes))
    })
}

/// Types of the arguments from `first` on, all of which have hashes.
///
/// # Errors
/// `NOT_IMPLEMENTED` for types without.
pub fn checked_types(call: &Call<'_>, first: usize) -> Result<Vec<DataType>> {
    let types: Vec<DataType> = call.data_types().split_off(first.min(call.args.len()));
    for data_type in &types {
        if matches!(data_type, DataType::AggregateFunction(_)) {
            return Err(Error::not_implemented(format!(
                "a hash of the type {data_type}"
            )));
        }
    }
    Ok(types)
}

/// A function of bytes that does nothing special with numbers.
#[derive(Clone, Copy)]
struct Murmur<V> {
    hash: fn(&[u8]) -> V,
    combine: fn(V, V) -> V,
}

impl<V: HashValue> HashFunction for Murmur<V> {
    type Value = V;

    fn bytes(self, bytes: &[u8]) -> V {
        (self.hash)(bytes)
    }

    fn combine(self, first: V, second: V) -> V {
        (self.combine)(first, second)
    }
}

fn murmur_of_32(call: &Call<'_>, hash: fn(&[u8]) -> u32) -> Result<Resolved> {
    let combine = |first: u32, second| int_hash_32(u64::from(first)) ^ second;
    resolve(call, Murmur { hash, combine })
}

fn murmur_of_64(call: &Call<'_>, hash: fn(&[u8]) -> u64) -> Result<Resolved> {
    let combine = |first, second| int_hash_64(first) ^ second;
    resolve(call, Murmur { hash, combine })
}

/// Several arguments are combined by their bytes.
#[derive(Clone, Copy)]
struct Murmur128;

impl HashFunction for Murmur128 {
    type Value = u128;

    fn bytes(self, bytes: &[u8]) -> u128 {
        let (low, high) = murmur_3_128(bytes, 0);
        u128::from(low) | u128::from(high) << 64
    }
}

fn murmur_3_64(bytes: &[u8]) -> u64 {
    let (low, high) = murmur_3_128(bytes, 0);
    low ^ high
}

/// Several arguments are combined by their bytes.
#[derive(Clone, Copy)]
struct Wy;

impl HashFunction for Wy {
    type Value = u64;

    fn bytes(self, bytes: &[u8]) -> u64 {
        wy_hash_64(bytes)
    }
}

#[derive(Clone, Copy)]
struct City;

impl HashFunction for City {
    type Value = u64;

    #[inline]
    fn bytes(self, bytes: &[u8]) -> u64 {
        city_hash_64(bytes)
    }

    #[inline]
    fn number(self, bits: u64, _: usize) -> u64 {
        int_hash_64(bits)
    }

    #[inline]
    fn combine(self, first: u64, second: u64) -> u64 {
        hash_128_to_64(first, second)
    }
}

#[derive(Clone, Copy)]
struct Metro;

impl HashFunction for Metro {
    type Value = u64;

    fn bytes(self, bytes: &[u8]) -> u64 {
        metro_hash_64(bytes, 0)
    }

    fn number(self, bits: u64, _: usize) -> u64 {
        int_hash_64(bits)
    }

    fn combine(self, first: u64, second: u64) -> u64 {
        hash_128_to_64(first, second)
    }
}

#[derive(Clone, Copy)]
struct XxHash32;

impl HashFunction for XxHash32 {
    type Value = u32;

    fn bytes(self, bytes: &[u8]) -> u32 {
        xxhash_rust::xxh32::xxh32(bytes, 0)
    }

    fn combine(self, first: u32, second: u32) -> u32 {
        int_hash_32(u64::from(first)) ^ second
    }
}

#[derive(Clone, Copy)]
struct XxHash64;

impl HashFunction for XxHash64 {
    type Value = u64;

    fn bytes(self, bytes: &[u8]) -> u64 {
        xxhash_rust::xxh64::xxh64(bytes, 0)
    }

    fn combine(self, first: u64, second: u64) -> u64 {
        hash_128_to_64(first, second)
    }
}

#[derive(Clone, Copy)]
struct Xxh3;

impl HashFunction for Xxh3 {
    type Value = u64;

    fn bytes(self, bytes: &[u8]) -> u64 {
        xxhash_rust::xxh3::xxh3_64(bytes)
    }

    fn combine(self, first: u64, second: u64) -> u64 {
        hash_128_to_64(first, second)
    }
}

#[derive(Clone, Copy)]
struct HalfMd5;

impl HashFunction for HalfMd5 {
    type Value = u64;

    fn bytes(self, bytes: &[u8]) -> u64 {
        let digest = Md5::digest(bytes);
        digest
            .iter()
            .take(8)
            .fold(0, |half, byte| half << 8 | u64::from(*byte))
    }
}
