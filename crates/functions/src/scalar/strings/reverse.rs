//! Turns strings around.

use arrow::array::{Array, AsArray};
use basalt_error::Result;
use basalt_types::DataType;

use super::shapes::{bad_arguments, bytes_to_string, string_to_string, write_rows};
use super::utf8::first_char_len;
use crate::{BoundFunction, Call, Resolved, ScalarFunction, registry};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "reverse",
        case_insensitive: true,
        syntax: "reverse(x)",
        description: "The bytes of a string, or the elements of an array, in reverse order.",
        resolve: resolve_reverse,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "reverseUTF8",
        syntax: "reverseUTF8(s)",
        description: "The characters of a string in reverse order.",
        resolve: |call| string_to_string(call, reverse_chars),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "reverseBySeparator",
        syntax: "reverseBySeparator(s[, separator])",
        description: "The parts of a string between separators in reverse order.",
        resolve: resolve_by_separator,
        ..ScalarFunction::BASE
    },
];

fn resolve_reverse(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    match call.data_type(0) {
        DataType::Array(_) => delegate(call, "arrayReverse"),
        DataType::FixedString(size) => {
            let size = *size as usize;
            Resolved::new(call.data_type(0).clone(), move |columns, _| {
                let array = columns[0].array.as_fixed_size_binary();
                let rows = (0..array.len()).flat_map(|row| array.value(row).iter().rev());
                let bytes: Vec<u8> = rows.copied().collect();
                fixed_array(size, bytes)
            })
        }
        _ => bytes_to_string(call, |s, out| out.extend(s.iter().rev())),
    }
}

/// The array of FixedStrings of `size` bytes that lie one after the other.
///
/// # Errors
/// `LOGICAL_ERROR` if the bytes are not a multiple of the size.
pub fn fixed_array(size: usize, bytes: Vec<u8>) -> Result<arrow::array::ArrayRef> {
    let size = i32::try_from(size).map_err(|_| bad_arguments("Too large FixedString"))?;
    let array = arrow::array::FixedSizeBinaryArray::try_new(size, bytes.into(), None);
    let array = array.map_err(|e| basalt_error::Error::bug(e.to_string()))?;
    Ok(std::sync::Arc::new(array))
}

/// Lets the function `name` do the work for these arguments.
///
/// # Errors
/// What that function's `resolve` reports.
pub fn delegate(call: &Call<'_>, name: &str) -> Result<Resolved> {
    let function = registry::get_scalar(name)?;
    let bound = BoundFunction::bind(function, call.args, call.context)?;
    Resolved::new(bound.return_type.clone(), move |columns, num_rows| {
        bound.call(columns, num_rows)
    })
}

fn reverse_chars(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len(), 0);
    let mut rest = bytes;
    let mut end = out.len();
    while !rest.is_empty() {
        let (first, tail) = rest.split_at(first_char_len(rest));
        out[end - first.len()..end].copy_from_slice(first);
        end -= first.len();
        rest = tail;
    }
}

fn resolve_by_separator(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, DataType::is_string)?;
    let separator = match call.args.get(1) {
        Some(_) => call.constant_bytes(1)?,
        None => b".".to_vec(),
    };
    if separator.is_empty() {
        return bytes_to_string(
            &Call {
                args: &call.args[..1],
                ..*call
            },
            |s, out| out.extend(s.iter().rev()),
        );
    }
    let finder = memchr::memmem::Finder::new(&separator).into_owned();
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        write_rows(columns, num_rows, |row, out| {
            let value = strings.value(row);
            let mut end = value.len();
            let found: Vec<usize> = finder.find_iter(value).collect();
            for at in found.into_iter().rev() {
                out.extend_from_slice(&value[at + finder.needle().len()..end]);
                out.extend_from_slice(finder.needle());
                end = at;
            }
            out.extend_from_slice(&value[..end]);
            Ok(())
        })
    })
}
