//! Writes bytes in base 64, 58 and 32, and reads them back.

use basalt_error::{Error, ErrorCode, Result};
use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use crate::scalar::strings::shapes::{bytes_to_string, try_bytes_to_string};
use crate::{Call, Resolved, ScalarFunction};

/// Appends what a text stands for; `false` if it stands for nothing.
type Decode = fn(&[u8], &mut Vec<u8>) -> bool;

/// Appends the text of some bytes.
type Encode = fn(&[u8], &mut Vec<u8>);

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "base64Encode",
        aliases: &["TO_BASE64"],
        case_insensitive: true,
        syntax: "base64Encode(s)",
        description: "The bytes of a string in base 64.",
        resolve: |call| encoding(call, encode_64),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "base64Decode",
        aliases: &["FROM_BASE64"],
        case_insensitive: true,
        syntax: "base64Decode(s)",
        description: "The bytes that a text in base 64 stands for.",
        resolve: |call| decoding(call, decode_64),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tryBase64Decode",
        syntax: "tryBase64Decode(s)",
        description: "As `base64Decode`, an empty string for what cannot be read.",
        resolve: |call| trying(call, decode_64),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "base64URLEncode",
        syntax: "base64URLEncode(s)",
        description: "The bytes of a string in base 64 with characters fit for URLs.",
        resolve: |call| encoding(call, encode_url),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "base64URLDecode",
        syntax: "base64URLDecode(s)",
        description: "The bytes that a text in base 64 for URLs stands for.",
        resolve: |call| decoding(call, decode_url),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tryBase64URLDecode",
        syntax: "tryBase64URLDecode(s)",
        description: "As `base64URLDecode`, an empty string for what cannot be read.",
        resolve: |call| trying(call, decode_url),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "base58Encode",
        syntax: "base58Encode(s)",
        description: "The bytes of a string in base 58 with Bitcoin's alphabet.",
        resolve: |call| encoding(call, encode_58),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "base58Decode",
        syntax: "base58Decode(s)",
        description: "The bytes that a text in base 58 stands for.",
        resolve: |call| decoding(call, decode_58),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tryBase58Decode",
        syntax: "tryBase58Decode(s)",
        description: "As `base58Decode`, an empty string for what cannot be read.",
        resolve: |call| trying(call, decode_58),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "base32Encode",
        syntax: "base32Encode(s)",
        description: "The bytes of a string in base 32.",
        resolve: |call| encoding(call, encode_32),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "base32Decode",
        syntax: "base32Decode(s)",
        description: "The bytes that a text in base 32 stands for.",
        resolve: |call| decoding(call, decode_32),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tryBase32Decode",
        syntax: "tryBase32Decode(s)",
        description: "As `base32Decode`, an empty string for what cannot be read.",
        resolve: |call| trying(call, decode_32),
        ..ScalarFunction::BASE
    },
];

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new();
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const FOR_URLS: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    CONFIG
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

fn encoding(call: &Call<'_>, encode: Encode) -> Result<Resolved> {
    bytes_to_string(call, encode)
}

fn decoding(call: &Call<'_>, decode: Decode) -> Result<Resolved> {
    let name = call.name.to_owned();
    try_bytes_to_string(call, move |value, out| {
        if decode(value, out) {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::INCORRECT_DATA,
            format!(
                "Invalid {name} value ({}), cannot be decoded",
                String::from_utf8_lossy(value)
            ),
        ))
    })
}

fn trying(call: &Call<'_>, decode: Decode) -> Result<Resolved> {
    bytes_to_string(call, move |value, out| {
        let start = out.len();
        if !decode(value, out) {
            out.truncate(start);
        }
    })
}

fn encode_with(engine: &GeneralPurpose, value: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + value.len().div_ceil(3) * 4, 0);
    let written = engine.encode_slice(value, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
}

fn decode_with(engine: &GeneralPurpose, value: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.resize(start + base64::decoded_len_estimate(value.len()), 0);
    match engine.decode_slice(value, &mut out[start..]) {
        Ok(written) => {
            out.truncate(start + written);
            true
        }
        Err(_) => false,
    }
}

fn encode_64(value: &[u8], out: &mut Vec<u8>) {
    encode_with(&STANDARD, value, out);
}

/// White space is passed over.
fn decode_64(value: &[u8], out: &mut Vec<u8>) -> bool {
    if !value.iter().any(u8::is_ascii_whitespace) {
        return decode_with(&STANDARD, value, out);
    }
    let mut text = value.to_vec();
    text.retain(|b| !b.is_ascii_whitespace());
    decode_with(&STANDARD, &text, out)
}

fn encode_url(value: &[u8], out: &mut Vec<u8>) {
    encode_with(&FOR_URLS, value, out);
}

/// The characters of the usual alphabet are read, too.
fn decode_url(value: &[u8], out: &mut Vec<u8>) -> bool {
    let text = value.iter().map(|b| match b {
        b'+' => b'-',
        b'/' => b'_',
        b => *b,
    });
    decode_with(&FOR_URLS, &text.collect::<Vec<u8>>(), out)
}

const BASE_58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Converts a number of base `from` to base `to`, highest digit first; zeros in front stay.
fn convert_base(digits: &[u8], from: u32, to: u32) -> Vec<u8> {
    let zeros = digits.iter().take_while(|d| **d == 0).count();
    let mut converted: Vec<u8> = Vec::new();
    for digit in &digits[zeros..] {
        let mut carry = u32::from(*digit);
        for place in &mut converted {
            carry += u32::from(*place) * from;
            *place = (carry % to) as u8;
            carry /= to;
        }
        while carry > 0 {
            converted.push((carry % to) as u8);
            carry /= to;
        }
    }
    converted.extend(std::iter::repeat_n(0, zeros));
    converted.reverse();
    converted
}

fn encode_58(value: &[u8], out: &mut Vec<u8>) {
    let digits = convert_base(value, 256, 58);
    out.extend(digits.iter().map(|d| BASE_58[usize::from(*d)]));
}

fn decode_58(value: &[u8], out: &mut Vec<u8>) -> bool {
    let digits = value.iter().map(|c| BASE_58.iter().position(|d| d == c));
    let digits: Option<Vec<u8>> = digits.map(|d| d.map(|d| d as u8)).collect();
    let Some(digits) = digits else {
        return false;
    };
    out.extend(convert_base(&digits, 58, 256));
    true
}

const BASE_32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn encode_32(value: &[u8], out: &mut Vec<u8>) {
    for chunk in value.chunks(5) {
        let mut bytes = [0; 8];
        bytes[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(bytes);
        let num_digits = (chunk.len() * 8).div_ceil(5);
        let digits = (0..8).map(|i| (bits >> (35 - 5 * i) & 31) as usize);
        let digits = digits
            .enumerate()
            .map(|(i, d)| if i < num_digits { BASE_32[d] } else { b'=' });
        out.extend(digits);
    }
}

fn decode_32(value: &[u8], out: &mut Vec<u8>) -> bool {
    let end = value
        .iter()
        .rposition(|b| *b != b'=')
        .map_or(0, |at| at + 1);
    if !value.len().is_multiple_of(8) || matches!(end % 8, 1 | 3 | 6) || value.len() - end > 6 {
        return false;
    }
    for chunk in value[..end].chunks(8) {
        let mut bits = 0u64;
        for (i, c) in chunk.iter().enumerate() {
            let c = c.to_ascii_uppercase();
            let Some(digit) = BASE_32.iter().position(|d| *d == c) else {
                return false;
            };
            bits |= (digit as u64) << (35 - 5 * i);
        }
        out.extend(&bits.to_be_bytes()[3..3 + chunk.len() * 5 / 8]);
    }
    true
}
