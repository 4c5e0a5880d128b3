//! Fills values into a pattern with placeholders `{}` or `{0}`.

use basalt_error::Result;
use basalt_types::DataType;

use super::concat::Texts;
use super::shapes::{bad_arguments, write_rows};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "format",
    syntax: "format(pattern, x, …)",
    description: "The pattern with `{}` or `{number}` replaced by the values as text.",
    resolve: resolve_format,
    ..ScalarFunction::BASE
}];

#[derive(Debug, PartialEq)]
enum Piece {
    Text(Vec<u8>),
    Argument(usize),
}

fn resolve_format(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=usize::MAX)?;
    let pieces = parse_pattern(&call.constant_bytes(0)?, call.args.len() - 1)?;
    let texts = Texts::new(call, &call.args[1..])?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let columns = texts.columns(&columns[1..])?;
        let values = columns.iter().map(Column::strings);
        let values = values.collect::<Result<Vec<_>>>()?;
        write_rows(&columns, num_rows, |row, out| {
            for piece in &pieces {
                match piece {
                    Piece::Text(text) => out.extend_from_slice(text),
                    Piece::Argument(idx) => out.extend_from_slice(values[*idx].value(row)),
                }
            }
            Ok(())
        })
    })
}

fn parse_pattern(pattern: &[u8], num_args: usize) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut rest = pattern;
    // Placeholders are either all counted on or all numbered.
    let (mut counted, mut numbered) = (0, false);
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let is_double = rest.first() == Some(&byte);
        match byte {
            b'{' | b'}' if is_double => {
                text.push(byte);
                rest = &rest[1..];
            }
            b'}' => {
                return Err(bad_arguments(
                    "Closed curly brace without open one in pattern",
                ));
            }
            b'{' => {
                let Some(end) = memchr::memchr(b'}', rest) else {
                    return Err(bad_arguments("Last open curly brace is not closed"));
                };
                let idx = if end == 0 {
                    counted += 1;
                    counted - 1
                } else {
                    numbered = true;
                    placeholder_number(&rest[..end])?
                };
                if numbered && counted > 0 {
                    return Err(bad_arguments(
                        "Placeholders must be either all `{}` or all with numbers",
                    ));
                }
                if idx >= num_args {
                    return Err(bad_arguments(
                        "Not enough arguments to fill the placeholders",
                    ));
                }
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Argument(idx));
                rest = &rest[end + 1..];
            }
            byte => text.push(byte),
        }
    }
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

fn placeholder_number(digits: &[u8]) -> Result<usize> {
    let number = std::str::from_utf8(digits)
        .ok()
        .and_then(|d| d.parse().ok());
    number.ok_or_else(|| bad_arguments("Not a number in curly braces"))
}
