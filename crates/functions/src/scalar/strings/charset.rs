//! Makes strings valid UTF-8, and converts them between character sets.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use encoding_rs::{Encoding, UTF_8};

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
    Utf16 {
        big_endian: bool,
    },
    Utf32 {
        big_endian: bool,
    },
    /// One that `encoding_rs` knows.
    Legacy(&'static Encoding),
}

fn charset_of(name: &str) -> Result<Charset> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    Ok(match plain.to_ascii_lowercase().as_str() {
        "usascii" | "ascii" => Charset::Ascii,
        "iso88591" | "latin1" => Charset::Latin1,
        "utf8" => Charset::Utf8,
        "utf16le" => Charset::Utf16 { big_endian: false },
        "utf16be" => Charset::Utf16 { big_endian: true },
        "utf32le" => Charset::Utf32 { big_endian: false },
        "utf32be" => Charset::Utf32 { big_endian: true },
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
    found.filter(|e| *e != UTF_8 && e.name() != "replacement" && e.name() != "x-user-defined")
}

fn resolve_convert(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    call.expect_type(0, DataType::is_string)?;
    let from = charset_of(&call.constant_str(1)?)?;
    let to = charset_of(&call.constant_str(2)?)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        write_rows(columns, num_rows, |row, out| {
            for c in decode(strings.value(row), from) {
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
        Charset::Utf16 { big_endian } => {
            let read = if big_endian {
                u16::from_be_bytes
            } else {
                u16::from_le_bytes
            };
            let units = value.as_chunks::<2>().0.iter().map(|unit| read(*unit));
            char::decode_utf16(units)
                .map(|c| c.unwrap_or(BAD))
                .collect()
        }
        Charset::Utf32 { big_endian } => {
            let read = if big_endian {
                u32::from_be_bytes
            } else {
                u32::from_le_bytes
            };
            let units = value.as_chunks::<4>().0.iter().map(|unit| read(*unit));
            units
                .map(|unit| char::from_u32(unit).unwrap_or(BAD))
                .collect()
        }
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
        Charset::Utf16 { big_endian } => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.extend(if big_endian {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                });
            }
        }
        Charset::Utf32 { big_endian } => {
            let unit = u32::from(c);
            out.extend(if big_endian {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            });
        }
    }
}
