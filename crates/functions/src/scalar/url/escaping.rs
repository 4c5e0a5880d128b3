//! Writes and reads the percent escapes of URLs.

use crate::ScalarFunction;
use crate::scalar::strings::shapes::string_to_string;

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "decodeURLComponent",
        syntax: "decodeURLComponent(s)",
        description: "The string with `%20` and the like as the bytes that they stand for.",
        resolve: |call| string_to_string(call, |s, out| decode(s, out, false)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "decodeURLFormComponent",
        syntax: "decodeURLFormComponent(s)",
        description: "As `decodeURLComponent`, and plus signs as spaces.",
        resolve: |call| string_to_string(call, |s, out| decode(s, out, true)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "encodeURLComponent",
        syntax: "encodeURLComponent(s)",
        description: "The string with all but letters, digits and `-_.~` as percent escapes.",
        resolve: |call| string_to_string(call, |s, out| encode(s, out, b"%20")),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "encodeURLFormComponent",
        syntax: "encodeURLFormComponent(s)",
        description: "As `encodeURLComponent`, and spaces as plus signs.",
        resolve: |call| string_to_string(call, |s, out| encode(s, out, b"+")),
        ..ScalarFunction::BASE
    },
];

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|d| d as u8)
}

fn decode(value: &[u8], out: &mut Vec<u8>, plus_is_space: bool) {
    let mut rest = value;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let escaped = match (byte, tail) {
            (b'%', [high, low, ..]) => hex_digit(*high).zip(hex_digit(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                out.push(high << 4 | low);
                rest = &tail[2..];
            }
            None if byte == b'+' && plus_is_space => out.push(b' '),
            None => out.push(byte),
        }
    }
}

fn encode(value: &[u8], out: &mut Vec<u8>, space: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in value {
        match byte {
            b' ' => out.extend_from_slice(space),
            b'-' | b'_' | b'.' | b'~' => out.push(*byte),
            b if b.is_ascii_alphanumeric() => out.push(*b),
            b => out.extend([
                b'%',
                DIGITS[usize::from(b >> 4)],
                DIGITS[usize::from(b & 15)],
            ]),
        }
    }
}
