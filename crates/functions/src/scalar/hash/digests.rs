//! Cryptographic digests and checksums of strings.

use std::sync::LazyLock;

use arrow::datatypes::{Int32Type, UInt32Type, UInt64Type};
use basalt_error::{Error, Result};
use basalt_types::DataType;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_256};

use super::city::city_hash_64;
use super::fixed::FixedBytes;
use super::keccak::keccak_256;
use super::md4::{md4, ripemd_160};
use crate::scalar::strings::reverse::fixed_array;
use crate::scalar::strings::shapes::{Ints, bad_arguments, number_rows, string_to_number};
use crate::{Call, Resolved, ScalarFunction};

const fn of_string(
    name: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
    description: &'static str,
) -> ScalarFunction {
    ScalarFunction {
        name,
        syntax: "f(s)",
        description,
        resolve,
        ..ScalarFunction::BASE
    }
}

const fn checksum(
    name: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
    description: &'static str,
) -> ScalarFunction {
    ScalarFunction {
        case_insensitive: true,
        ..of_string(name, resolve, description)
    }
}

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    of_string("MD5", digest::<Md5>, "The MD5 digest, 16 bytes."),
    of_string("SHA1", digest::<Sha1>, "The SHA-1 digest, 20 bytes."),
    of_string("SHA224", digest::<Sha224>, "The SHA-224 digest, 28 bytes."),
    of_string("SHA256", digest::<Sha256>, "The SHA-256 digest, 32 bytes."),
    of_string("SHA384", digest::<Sha384>, "The SHA-384 digest, 48 bytes."),
    of_string("SHA512", digest::<Sha512>, "The SHA-512 digest, 64 bytes."),
    of_string(
        "SHA512_256",
        digest::<Sha512_256>,
        "The SHA-512/256 digest, 32 bytes.",
    ),
    of_string(
        "MD4",
        |call| own_digest(call, md4),
        "The MD4 digest, 16 bytes.",
    ),
    of_string(
        "RIPEMD160",
        |call| own_digest(call, ripemd_160),
        "The RIPEMD-160 digest, 20 bytes.",
    ),
    of_string(
        "keccak256",
        |call| own_digest(call, keccak_256),
        "The Keccak-256 digest, 32 bytes.",
    ),
    of_string(
        "javaHashUTF16LE",
        java_of_utf16,
        "Java's `hashCode` of a string in UTF-16.",
    ),
    checksum(
        "CRC32",
        |call| string_to_number::<UInt32Type>(call, DataType::UInt32, |s| !crc_32(s, u32::MAX)),
        "The CRC-32 checksum that zlib uses.",
    ),
    checksum(
        "CRC32IEEE",
        |call| string_to_number::<UInt32Type>(call, DataType::UInt32, |s| crc_32(s, 0)),
        "The CRC-32 checksum with an initial value of zero.",
    ),
    checksum(
        "CRC64",
        |call| string_to_number::<UInt64Type>(call, DataType::UInt64, crc_64),
        "The CRC-64 checksum with ECMA's polynomial.",
    ),
    of_string(
        "javaHash",
        |call| java_like(call, i32::MAX as u32 | 1 << 31),
        "Java's `hashCode`.",
    ),
    of_string(
        "hiveHash",
        |call| java_like(call, i32::MAX as u32),
        "Hive's hash of a string, or of a number's bytes.",
    ),
    ScalarFunction {
        name: "URLHash",
        syntax: "URLHash(url[, level])",
        description: "A hash of an URL without its last slash, or of one of its levels.",
        resolve: resolve_url_hash,
        ..ScalarFunction::BASE
    },
];

fn digest<D: Digest + 'static>(call: &Call<'_>) -> Result<Resolved> {
    fixed_digest(call, <D as Digest>::output_size(), |message, out| {
        out.extend_from_slice(&D::digest(message));
    })
}

fn own_digest<const SIZE: usize>(
    call: &Call<'_>,
    digest: fn(&[u8]) -> [u8; SIZE],
) -> Result<Resolved> {
    fixed_digest(call, SIZE, move |message, out| out.extend(digest(message)))
}

fn fixed_digest(
    call: &Call<'_>,
    size: usize,
    digest: impl Fn(&[u8], &mut Vec<u8>) + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_string() || *t == DataType::Ipv6)?;
    let return_type = DataType::FixedString(u32::try_from(size).unwrap_or(0));
    Resolved::new(return_type, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let mut bytes = Vec::with_capacity(num_rows * size);
        for row in 0..num_rows {
            digest(strings.value(row), &mut bytes);
        }
        fixed_array(size, bytes)
    })
}

static CRC_32: LazyLock<[u32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|i| (0..8).fold(i as u32, |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1))))
});

static CRC_64: LazyLock<[u64; 256]> = LazyLock::new(|| {
    std::array::from_fn(|i| {
        (0..8).fold(i as u64, |crc, _| {
            (crc >> 1) ^ (0xc96c_5795_d787_0f42 * (crc & 1))
        })
    })
});

fn crc_32(bytes: &[u8], initial: u32) -> u32 {
    bytes.iter().fold(initial, |crc, byte| {
        (crc >> 8) ^ CRC_32[((crc ^ u32::from(*byte)) & 0xff) as usize]
    })
}

fn crc_64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |crc, byte| {
        (crc >> 8) ^ CRC_64[((crc ^ u64::from(*byte)) & 0xff) as usize]
    })
}

/// Java has signed bytes.
fn java_hash(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0i32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(i32::from(*byte as i8))
    })
}

fn java_of_utf16(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_string)?;
    Resolved::new(DataType::Int32, |columns, num_rows| {
        let strings = columns[0].strings()?;
        number_rows::<Int32Type>(columns, num_rows, |row| {
            let (units, rest) = strings.value(row).as_chunks::<2>();
            if !rest.is_empty() {
                return Err(bad_arguments(
                    "The argument of function javaHashUTF16LE must be UTF-16",
                ));
            }
            Ok(units.iter().fold(0_i32, |hash, unit| {
                let unit = u16::from_le_bytes(*unit);
                hash.wrapping_mul(31).wrapping_add(i32::from(unit))
            }))
        })
    })
}

fn java_like(call: &Call<'_>, mask: u32) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0).clone();
    if data_type.is_string() {
        let hash = move |s: &[u8]| (java_hash(s) as u32 & mask) as i32;
        return string_to_number::<Int32Type>(call, DataType::Int32, hash);
    }
    if data_type.is_unsigned() && call.name == "javaHash" {
        return Err(Error::not_implemented("javaHash of unsigned types"));
    }
    // Hive's hash is that of a value's bytes; Java has its own of integers.
    let is_hive = call.name == "hiveHash" && data_type != DataType::Uuid;
    let by_bytes = data_type.is_float()
        || data_type == DataType::Ipv4
        || is_hive && data_type.fixed_size_bytes().is_some();
    call.expect_type(0, |t| by_bytes || t.is_integer() || t.is_enum())?;
    Resolved::new(DataType::Int32, move |columns, num_rows| {
        if by_bytes {
            let bytes = FixedBytes::new(&columns[0], &data_type)?;
            return number_rows::<Int32Type>(columns, num_rows, |row| {
                Ok((java_hash(bytes.value(row)) as u32 & mask) as i32)
            });
        }
        let is_long = data_type.fixed_size_bytes() == Some(8);
        let numbers = Ints::new(&columns[0])?;
        number_rows::<Int32Type>(columns, num_rows, |row| {
            let number = numbers.value(row);
            let hash = if is_long {
                number ^ (number as u64 >> 32) as i64
            } else {
                number
            };
            Ok((hash as u32 & mask) as i32)
        })
    })
}

fn resolve_url_hash(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let level = match call.args.get(1) {
        Some(_) => Some(usize::try_from(call.constant_u64(1)?).unwrap_or(usize::MAX)),
        None => None,
    };
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let urls = columns[0].strings()?;
        let mut levels = Vec::new();
        number_rows::<UInt64Type>(columns, num_rows, |row| {
            let mut url = urls.value(row);
            if let Some(level) = level {
                levels.clear();
                crate::scalar::url::parameters::url_levels(url, &mut levels);
                url = levels.get(level).map_or(b"", |range| &url[range.clone()]);
            }
            let cut = url.strip_suffix(b"/").or(url.strip_suffix(b"?"));
            Ok(city_hash_64(cut.or(url.strip_suffix(b"#")).unwrap_or(url)))
        })
    })
}
