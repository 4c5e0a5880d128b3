//! `HMAC`: a digest that depends on a key.

use basalt_error::Result;
use basalt_types::DataType;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_256};

use super::md4::{md4, ripemd_160};
use crate::scalar::strings::shapes::{bad_arguments, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "HMAC",
    case_insensitive: true,
    syntax: "HMAC('digest', message, key)",
    description: "The keyed digest of a message, with md5, sha1, sha256, sha512 and others.",
    resolve,
    ..ScalarFunction::BASE
}];

/// A digest, its name and the size of its blocks.
type Algorithm = (&'static str, usize, fn(&[u8]) -> Vec<u8>);

fn of<D: Digest>(message: &[u8]) -> Vec<u8> {
    D::digest(message).to_vec()
}

const ALGORITHMS: [Algorithm; 10] = [
    ("md4", 64, |message| md4(message).to_vec()),
    ("md5", 64, of::<Md5>),
    ("ripemd160", 64, |message| ripemd_160(message).to_vec()),
    ("ripemd", 64, |message| ripemd_160(message).to_vec()),
    ("sha1", 64, of::<Sha1>),
    ("sha224", 64, of::<Sha224>),
    ("sha256", 64, of::<Sha256>),
    ("sha384", 128, of::<Sha384>),
    ("sha512", 128, of::<Sha512>),
    ("sha512-256", 128, of::<Sha512_256>),
];

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    (0..3).try_for_each(|idx| call.expect_type(idx, DataType::is_string))?;
    let name = call.constant_str(0)?;
    let found = ALGORITHMS.iter().find(|a| a.0.eq_ignore_ascii_case(&name));
    let Some((_, block_bytes, digest)) = found.copied() else {
        let names: Vec<&str> = ALGORITHMS.iter().map(|a| a.0).collect();
        return Err(bad_arguments(format!(
            "Invalid hash algorithm '{name}' of function HMAC, there are {}",
            names.join(", ")
        )));
    };
    Resolved::new(DataType::String, move |columns, num_rows| {
        let (messages, keys) = (columns[1].strings()?, columns[2].strings()?);
        write_rows(columns, num_rows, |row, out| {
            let mut key = keys.value(row).to_vec();
            if key.len() > block_bytes {
                key = digest(&key);
            }
            key.resize(block_bytes, 0);
            let padded = |pad: u8, message: &[u8]| {
                let mut all: Vec<u8> = key.iter().map(|b| b ^ pad).collect();
                all.extend_from_slice(message);
                digest(&all)
            };
            out.extend(padded(0x5c, &padded(0x36, messages.value(row))));
            Ok(())
        })
    })
}
