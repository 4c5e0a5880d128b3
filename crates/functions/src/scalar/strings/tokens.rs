//! Splits strings into tokens for searching, and into overlapping pieces of a fixed length.

use std::ops::Range;

use arrow::array::{Array, AsArray};
use basalt_error::Result;
use basalt_types::DataType;

use super::shapes::{bad_arguments, piece_list_rows};
use super::split::push_runs;
use super::utf8::is_continuation;
use crate::{Call, Resolved, ScalarFunction, StringColumn};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "ngrams",
        syntax: "ngrams(s, n)",
        description: "All pieces of n characters of a string, each one character further.",
        resolve: resolve_ngrams,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tokens",
        syntax: "tokens(s[, tokenizer[, parameter]])",
        description: "The tokens of a string: by default its runs of letters and digits.",
        resolve: resolve_tokens,
        ..ScalarFunction::BASE
    },
];

fn resolve_ngrams(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    let length = call.constant_u64(1)?;
    pieces_by(ngrams_of(length)?)
}

type Tokenizer = Box<dyn Fn(&[u8], &mut Vec<Range<usize>>) + Send + Sync>;

fn pieces_by(tokenizer: Tokenizer) -> Result<Resolved> {
    let return_type = DataType::array(DataType::String);
    Resolved::new(return_type, move |columns, num_rows| {
        piece_list_rows(&columns[0], num_rows, |_, value, pieces| {
            tokenizer(value, pieces);
            Ok(())
        })
    })
}

fn ngrams_of(length: u64) -> Result<Tokenizer> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length == 0 {
        return Err(bad_arguments("ngram length must be at least 1, but got 0"));
    }
    Ok(Box::new(move |value, pieces| {
        let starts = value
            .iter()
            .enumerate()
            .filter(|(_, b)| !is_continuation(**b));
        let starts: Vec<usize> = starts.map(|(i, _)| i).collect();
        if starts.len() < length {
            return;
        }
        let ends = starts.iter().copied().chain([value.len()]).skip(length);
        pieces.extend(starts.iter().zip(ends).map(|(start, end)| *start..end));
    }))
}

fn resolve_tokens(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    call.expect_type(0, DataType::is_string)?;
    let tokenizer = match call.args.get(1) {
        Some(_) => call.constant_str(1)?,
        None => "splitByNonAlpha".to_owned(),
    };
    let tokenizer: Tokenizer = match tokenizer.as_str() {
        "splitByNonAlpha" | "default" => Box::new(|value, pieces| {
            let is_part = |b: u8| b.is_ascii_alphanumeric() || !b.is_ascii();
            push_runs(value, usize::MAX, pieces, is_part);
        }),
        "array" | "noop" => Box::new(|value, pieces| pieces.push(0..value.len())),
        "ngrams" => ngrams_of(match call.args.get(2) {
            Some(_) => call.constant_u64(2)?,
            None => 3,
        })?,
        "splitByString" | "split" => by_strings(separators(call)?),
        other => return Err(bad_arguments(format!("Unknown tokenizer: '{other}'"))),
    };
    pieces_by(tokenizer)
}

fn separators(call: &Call<'_>) -> Result<Vec<Vec<u8>>> {
    let Some(arg) = call.args.get(2) else {
        return Ok(vec![b" ".to_vec()]);
    };
    let lists = call.constant(2)?;
    let DataType::Array(element) = &arg.data_type else {
        return Err(call.illegal_type(2));
    };
    if !element.is_string() {
        return Err(call.illegal_type(2));
    }
    let values = lists.as_list::<i32>().value(0);
    let strings = StringColumn::of_array(&values, false)?;
    let separators: Vec<Vec<u8>> = (0..values.len())
        .map(|i| strings.value(i).to_vec())
        .collect();
    if separators.is_empty() || separators.iter().any(Vec::is_empty) {
        return Err(bad_arguments("Separators of tokenizer must not be empty"));
    }
    Ok(separators)
}

/// At each place the first separator of the list that fits is taken.
fn by_strings(separators: Vec<Vec<u8>>) -> Tokenizer {
    Box::new(move |value, pieces| {
        let (mut start, mut at) = (0, 0);
        while at < value.len() {
            let found = separators.iter().find(|s| value[at..].starts_with(s));
            let Some(separator) = found else {
                at += 1;
                continue;
            };
            if start < at {
                pieces.push(start..at);
            }
            at += separator.len();
            start = at;
        }
        if start < value.len() {
            pieces.push(start..value.len());
        }
    })
}
