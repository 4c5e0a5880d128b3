//! Changes the case of letters: ASCII in whole buffers at once, Unicode character by character.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, FixedSizeBinaryArray};
use arrow::buffer::{Buffer, ScalarBuffer};
use basalt_error::{Error, Result};
use basalt_types::DataType;

use super::shapes::{bad_arguments, string_to_string, write_rows};
use super::utf8::map_valid;
use crate::{Call, Column, Fails, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "lower",
        fails: Fails::Never,
        aliases: &["lcase"],
        case_insensitive: true,
        syntax: "lower(s)",
        description: "The string with its ASCII letters in lower case.",
        resolve: |call| ascii_case(call, |bytes| bytes.make_ascii_lowercase()),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "upper",
        fails: Fails::Never,
        aliases: &["ucase"],
        case_insensitive: true,
        syntax: "upper(s)",
        description: "The string with its ASCII letters in upper case.",
        resolve: |call| ascii_case(call, |bytes| bytes.make_ascii_uppercase()),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "lowerUTF8",
        fails: Fails::Never,
        syntax: "lowerUTF8(s)",
        description: "The string with all its letters in lower case.",
        resolve: |call| unicode_case(call, lower_utf8),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "upperUTF8",
        fails: Fails::Never,
        syntax: "upperUTF8(s)",
        description: "The string with all its letters in upper case.",
        resolve: |call| unicode_case(call, upper_utf8),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "initcap",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "initcap(s)",
        description: "The string with the first letter of each word in upper case, the rest lower.",
        resolve: |call| ascii_case(call, initcap),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "initcapUTF8",
        fails: Fails::Never,
        syntax: "initcapUTF8(s)",
        description: "As `initcap`, for all of Unicode.",
        resolve: |call| unicode_case(call, initcap_utf8),
        ..ScalarFunction::BASE
    },
];

/// Letters of other cases may have more bytes, for which a FixedString has no room.
fn unicode_case(call: &Call<'_>, convert: fn(&[u8], &mut Vec<u8>)) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    if matches!(call.data_type(0), DataType::FixedString(_)) {
        return Err(bad_arguments(format!(
            "Cast the argument of function {} to String: it takes no {}",
            call.name,
            call.data_type(0)
        )));
    }
    string_to_string(call, convert)
}

/// Appends `bytes` in lower case; what is no UTF-8 stays.
pub fn lower_utf8(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_ascii() {
        let start = out.len();
        out.extend_from_slice(bytes);
        out[start..].make_ascii_lowercase();
    } else {
        map_valid(bytes, out, |s, out| {
            out.extend_from_slice(s.to_lowercase().as_bytes());
        });
    }
}

fn upper_utf8(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_ascii() {
        let start = out.len();
        out.extend_from_slice(bytes);
        out[start..].make_ascii_uppercase();
    } else {
        map_valid(bytes, out, |s, out| {
            out.extend_from_slice(s.to_uppercase().as_bytes());
        });
    }
}

fn initcap(bytes: &mut [u8]) {
    let mut inside_word = false;
    for byte in bytes {
        if inside_word {
            byte.make_ascii_lowercase();
        } else {
            byte.make_ascii_uppercase();
        }
        inside_word = byte.is_ascii_alphanumeric();
    }
}

fn initcap_utf8(bytes: &[u8], out: &mut Vec<u8>) {
    map_valid(bytes, out, |s, out| {
        let mut inside_word = false;
        for c in s.chars() {
            // One character stays one, as in `ß`, whose upper case would be two.
            let mut lower = c.to_lowercase();
            let mut upper = c.to_uppercase();
            let changed = if inside_word {
                lower.next().filter(|_| lower.len() == 0)
            } else {
                upper.next().filter(|_| upper.len() == 0)
            };
            let c = changed.unwrap_or(c);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            inside_word = c.is_alphanumeric() && c != 'ß';
        }
    });
}

/// Changes bytes in place. A type of its own for each, so that the loops contain the change.
trait Change: Fn(&mut [u8]) + Copy + Send + Sync + 'static {}

impl<F: Fn(&mut [u8]) + Copy + Send + Sync + 'static> Change for F {}

/// A change that keeps the length; `FixedString` stays one.
fn ascii_case(call: &Call<'_>, change: impl Change) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_string)?;
    let whole_buffers = call.name != "initcap";
    Resolved::new(call.data_type(0).clone(), move |columns, num_rows| {
        let array = &columns[0].array;
        if let Some(fixed) = array.as_fixed_size_binary_opt() {
            return change_fixed(fixed, change);
        }
        match array.as_binary_view_opt() {
            Some(views) if whole_buffers && !columns[0].is_const && is_dense(views) => {
                change_views(views, change)
            }
            _ => change_rows(columns, num_rows, change),
        }
    })
}

fn change_rows(columns: &[Column], num_rows: usize, change: impl Change) -> Result<ArrayRef> {
    let strings = columns[0].strings()?;
    write_rows(columns, num_rows, |row, out| {
        let start = out.len();
        out.extend_from_slice(strings.value(row));
        change(&mut out[start..]);
        Ok(())
    })
}

fn change_fixed(array: &FixedSizeBinaryArray, change: impl Change) -> Result<ArrayRef> {
    let size = array.value_length().max(0) as usize;
    let mut bytes = Vec::with_capacity(array.len() * size);
    for row in 0..array.len() {
        let start = bytes.len();
        bytes.extend_from_slice(array.value(row));
        change(&mut bytes[start..]);
    }
    let nulls = array.nulls().cloned();
    let changed = FixedSizeBinaryArray::try_new(array.value_length(), bytes.into(), nulls);
    Ok(Arc::new(changed.map_err(|e| Error::bug(e.to_string()))?))
}

/// The part of a long string's view that holds its length and first four bytes.
const PREFIX: u128 = u64::MAX as u128;

/// Whether the rows use most of the buffers, so that changing whole buffers wastes little.
fn is_dense(array: &BinaryViewArray) -> bool {
    let held: usize = array.data_buffers().iter().map(Buffer::len).sum();
    held <= 2 * array.total_buffer_bytes_used() + 4096
}

/// Changes buffers and views separately: both loops run over bytes without looking at rows.
fn change_views(array: &BinaryViewArray, change: impl Change) -> Result<ArrayRef> {
    let buffers = array.data_buffers().iter().map(|buffer| {
        let mut bytes = buffer.to_vec();
        change(&mut bytes);
        Buffer::from(bytes)
    });
    let buffers: Vec<Buffer> = buffers.collect();
    let views = array.views().iter().map(|view| {
        let mut bytes = view.to_le_bytes();
        change(&mut bytes[4..]);
        let changed = u128::from_le_bytes(bytes);
        // Of a long string only the first four bytes are here; the place of the rest stays.
        if (*view as u32) <= 12 {
            changed
        } else {
            changed & PREFIX | view & !PREFIX
        }
    });
    let views: ScalarBuffer<u128> = views.collect::<Vec<u128>>().into();
    let changed = BinaryViewArray::try_new(views, buffers, array.nulls().cloned());
    Ok(Arc::new(changed.map_err(|e| Error::bug(e.to_string()))?))
}
