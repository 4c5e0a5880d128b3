//! Makes strings valid UTF-8, and converts them between character sets.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, X_USER_DEFINED};

use super::shapes::{string_to_string, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "toValidUTF8",
        syntax: "toValidUTF8(s)",
        description: "The string with each run of invalid bytes replaced by `\u{fffd}`.",
        resolve: |call| string_to_string(call, push_valid),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "convertCharset",
        syntax: "convertCharset(s, from, to)",
        description: "The string in another character set: UTF-8, UTF-16LE, windows-1251, koi8-r, gbk, ….",
        resolve: resolve_convert,
        ..ScalarFunction::BASE
    },
];

fn push_valid(value: &[u8], out: &mut Vec<u8>) {
    let mut in_run = false;
    for chunk in value.utf8_chunks() {
        if !chunk.valid().is_empty() {
            out.extend_from_slice(chunk.valid().as_bytes());
            in_run = false;
        }
        if !chunk.invalid().is_empty() && !in_run {
            out.extend_from_slice("\u{fffd}".as_bytes());
            in_run = true;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Charset {
    Ascii,
    Latin1,
    Utf8,
    Utf16(Order),
    Utf32(Order),
    /// One that `encoding_rs` knows.
    Legacy(&'static Encoding),
}

/// Which byte of a unit is first.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Little,
    Big,
    /// What the mark in front says, without one `Big`. Written are a mark and `Little`.
    Marked,
}

impl Order {
    /// Whether the units of a text are big-endian, and the text without its mark.
    fn read<const WIDTH: usize>(self, value: &[u8]) -> (bool, &[u8]) {
        let (little, big) = marks::<WIDTH>();
        match self {
            Order::Little => (false, value),
            Order::Big => (true, value),
            Order::Marked => match value.strip_prefix(&little) {
                Some(rest) => (false, rest),
                None => (true, value.strip_prefix(&big).unwrap_or(value)),
            },
        }
    }

    fn push<const WIDTH: usize>(self, unit: u32, out: &mut Vec<u8>) {
        match self {
            Order::Big => out.extend_from_slice(&unit.to_be_bytes()[4 - WIDTH..]),
            Order::Little | Order::Marked => out.extend_from_slice(&unit.to_le_bytes()[..WIDTH]),
        }
    }
}

/// The mark U+FEFF in units of `WIDTH` bytes, little-endian and big-endian.
fn marks<const WIDTH: usize>() -> ([u8; WIDTH], [u8; WIDTH]) {
    let mut little = [0; WIDTH];
    little[..2].copy_from_slice(&[0xff, 0xfe]);
    let mut big = little;
    big.reverse();
    (little, big)
}

fn charset_of(name: &str) -> Result<Charset> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    Ok(match plain.to_ascii_lowercase().as_str() {
        "usascii" | "ascii" => Charset::Ascii,
        "iso88591" | "latin1" => Charset::Latin1,
        "utf8" => Charset::Utf8,
        "utf16" | "ucs2" | "iso10646ucs2" | "unicode" | "csunicode" => {
            Charset::Utf16(Order::Marked)
        }
        "utf16le" => Charset::Utf16(Order::Little),
        "utf16be" => Charset::Utf16(Order::Big),
        "utf32" | "ucs4" | "iso10646ucs4" | "csucs4" => Charset::Utf32(Order::Marked),
        "utf32le" => Charset::Utf32(Order::Little),
        "utf32be" => Charset::Utf32(Order::Big),
        _ => {
            let known = legacy(name).ok_or_else(|| {
                Error::new(
                    ErrorCode::CANNOT_CREATE_CHARSET_CONVERTER,
                    format!("Character set {name} is not known to convertCharset"),
                )
            });
            Charset::Legacy(known?)
        }
    })
}

/// An older character set by one of its usual names.
fn legacy(name: &str) -> Option<&'static Encoding> {
    let name = name.to_ascii_lowercase();
    let name = name
        .strip_prefix("cp125")
        .map_or(name.clone(), |n| format!("windows-125{n}"));
    let found = Encoding::for_label(name.replace('_', "-").as_bytes());
    // What the web calls by these names is not what it is elsewhere.
    let differs = [UTF_8, UTF_16LE, UTF_16BE, REPLACEMENT, X_USER_DEFINED];
    found.filter(|e| !differs.contains(e))
}

fn resolve_convert(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    call.expect_type(0, DataType::is_string)?;
    let from = charset_of(&call.constant_str(1)?)?;
    let to = charset_of(&call.constant_str(2)?)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        write_rows(columns, num_rows, |row, out| {
            let chars = decode(strings.value(row), from);
            if !chars.is_empty() {
                push_mark(to, out);
            }
            for c in chars {
                encode(c, to, out);
            }
            Ok(())
        })
    })
}

fn decode(value: &[u8], charset: Charset) -> Vec<char> {
    const BAD: char = char::REPLACEMENT_CHARACTER;
    match charset {
        Charset::Ascii => {
            let chars = value
                .iter()
                .map(|b| if b.is_ascii() { char::from(*b) } else { BAD });
            chars.collect()
        }
        Charset::Latin1 => value.iter().map(|b| char::from(*b)).collect(),
        Charset::Legacy(encoding) => {
            let (text, _) = encoding.decode_without_bom_handling(value);
            text.chars().collect()
        }
        Charset::Utf8 => String::from_utf8_lossy(value).chars().collect(),
        Charset::Utf16(order) => {
            let (big_endian, value) = order.read::<2>(value);
            let read = if big_endian {
                u16::from_be_bytes
            } else {
                u16::from_le_bytes
            };
            let (units, rest) = value.as_chunks::<2>();
            char::decode_utf16(units.iter().map(|unit| read(*unit)))
                .map(|c| c.unwrap_or(BAD))
                .chain((!rest.is_empty()).then_some(BAD))
                .collect()
        }
        Charset::Utf32(order) => {
            let (big_endian, value) = order.read::<4>(value);
            let read = if big_endian {
                u32::from_be_bytes
            } else {
                u32::from_le_bytes
            };
            let (units, rest) = value.as_chunks::<4>();
            units
                .iter()
                .map(|unit| char::from_u32(read(*unit)).unwrap_or(BAD))
                .chain((!rest.is_empty()).then_some(BAD))
                .collect()
        }
    }
}

/// Appends the mark that a text in this set begins with.
fn push_mark(charset: Charset, out: &mut Vec<u8>) {
    match charset {
        Charset::Utf16(Order::Marked) => out.extend(marks::<2>().0),
        Charset::Utf32(Order::Marked) => out.extend(marks::<4>().0),
        _ => {}
    }
}

/// Appends a character, or the mark for one that the set does not have.
fn encode(c: char, charset: Charset, out: &mut Vec<u8>) {
    const SUBSTITUTE: u8 = 0x1a;
    match charset {
        Charset::Ascii => out.push(
            u8::try_from(c)
                .ok()
                .filter(u8::is_ascii)
                .unwrap_or(SUBSTITUTE),
        ),
        Charset::Latin1 => out.push(u8::try_from(c).unwrap_or(SUBSTITUTE)),
        Charset::Legacy(encoding) => {
            let mut utf8 = [0; 4];
            let (bytes, _, has_unmappable) = encoding.encode(c.encode_utf8(&mut utf8));
            if has_unmappable {
                out.push(SUBSTITUTE);
            } else {
                out.extend_from_slice(&bytes);
            }
        }
        Charset::Utf8 => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Charset::Utf16(order) => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                order.push::<2>(u32::from(*unit), out);
            }
        }
        Charset::Utf32(order) => order.push::<4>(u32::from(c), out),
    }
}
