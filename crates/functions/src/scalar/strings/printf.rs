//! `printf`: texts by C's patterns.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::printf_number::{Spec, push_float, push_integer, push_padded};
use super::shapes::{bad_arguments, write_rows};
use crate::scalar::core::numeric::{map1, values};
use crate::{Call, Column, Resolved, ScalarFunction, StringColumn};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "printf",
    syntax: "printf(pattern, x, …)",
    description: "The pattern with each `%` code replaced by an argument, as C's printf does.",
    resolve,
    ..ScalarFunction::BASE
}];

/// A piece of a pattern.
enum Piece {
    Text(Vec<u8>),
    Code(Spec),
}

/// Splits a pattern at its codes.
fn pieces(pattern: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut rest = pattern;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            text.push(*first);
        } else if let Some(tail) = tail.strip_prefix(b"%") {
            text.push(b'%');
            rest = tail;
        } else {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            let (spec, tail) = Spec::read(tail);
            pieces.push(Piece::Code(spec));
            rest = tail;
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// An argument's values.
enum Values<'a> {
    Signed(ArrayRef),
    Floats(ArrayRef),
    Strings(StringColumn<'a>),
}

impl<'a> Values<'a> {
    fn of(column: &'a Column, data_type: &DataType, num_rows: usize) -> Result<Self> {
        if data_type.is_string() {
            return Ok(Values::Strings(column.strings()?));
        }
        if data_type.is_float() {
            return Ok(Values::Floats(map1::<f64, f64>(column, num_rows, |x| x)?));
        }
        Ok(Values::Signed(map1::<i64, i64>(column, num_rows, |x| x)?))
    }

    fn push(&self, row: usize, spec: &Spec, out: &mut Vec<u8>) -> Result<()> {
        let fits = match self {
            Values::Signed(array) => push_integer(values(array.as_ref())?[row], spec, out),
            Values::Floats(array) => push_float(values(array.as_ref())?[row], spec, out),
            Values::Strings(strings) => {
                let value = strings.value(row);
                let kept = value.len().min(spec.precision.unwrap_or(usize::MAX));
                push_padded(&value[..kept], spec, out);
                spec.code == b's'
            }
        };
        if fits {
            return Ok(());
        }
        Err(bad_arguments(format!(
            "Bad format %{} of function printf for such an argument",
            char::from(spec.code)
        )))
    }
}

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    for idx in 1..call.args.len() {
        call.expect_type(idx, |t| t.is_string() || t.is_integer() || t.is_float())?;
    }
    let types = call.data_types();
    Resolved::new(DataType::String, move |columns, num_rows| {
        let patterns = columns[0].strings()?;
        let arguments = columns.iter().zip(&types).skip(1);
        let arguments = arguments.map(|(c, t)| Values::of(c, t, num_rows));
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        let mut last: Option<(&[u8], Vec<Piece>)> = None;
        write_rows(columns, num_rows, |row, out| {
            let pattern = patterns.value(row);
            if last.as_ref().is_none_or(|(known, _)| *known != pattern) {
                last = Some((pattern, pieces(pattern)));
            }
            let Some((_, pieces)) = &last else {
                return Err(Error::bug("a pattern was read"));
            };
            push_row(pieces, &arguments, row, out)
        })
    })
}

fn push_row(
    pieces: &[Piece],
    arguments: &[Values<'_>],
    row: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let num_codes = pieces
        .iter()
        .filter(|p| matches!(p, Piece::Code(_)))
        .count();
    if num_codes != arguments.len() || pieces.is_empty() {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!(
                "The pattern of function printf has {num_codes} codes for {} arguments",
                arguments.len()
            ),
        ));
    }
    let mut arguments = arguments.iter();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Code(spec) => {
                if let Some(argument) = arguments.next() {
                    argument.push(row, spec, out)?;
                }
            }
        }
    }
    Ok(())
}
