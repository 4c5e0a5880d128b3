//! Reads keys and values from text: `extractKeyValuePairs`.

use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::arrays::lists::{OffsetsBuilder, bad_arguments, map_of};
use crate::scalar::strings::output::StringWriter;
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "extractKeyValuePairs",
    aliases: &["mapFromString", "str_to_map"],
    syntax: "extractKeyValuePairs(text[, key_end[, pair_ends[, quote]]])",
    description: "A map of the keys and values in a text, such as `a:1, b:2`.",
    resolve,
    ..ScalarFunction::BASE
}];

/// The bytes that end keys and pairs and that quote both.
#[derive(Clone, Debug)]
struct Syntax {
    key_end: u8,
    pair_ends: Vec<u8>,
    quote: u8,
}

fn single(call: &Call<'_>, idx: usize, default: u8) -> Result<u8> {
    if idx >= call.args.len() {
        return Ok(default);
    }
    match call.constant_bytes(idx)?.as_slice() {
        [byte] => Ok(*byte),
        _ => Err(bad_arguments(format!(
            "Argument {} of function {} must be a single character",
            idx + 1,
            call.name
        ))),
    }
}

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=4)?;
    call.expect_type(0, DataType::is_string)?;
    let syntax = Syntax {
        key_end: single(call, 1, b':')?,
        pair_ends: match call.args.get(2) {
            Some(_) => call.constant_bytes(2)?,
            None => b" ,;".to_vec(),
        },
        quote: single(call, 3, b'"')?,
    };
    let map = DataType::map(DataType::String, DataType::String);
    Resolved::new(map.clone(), move |columns, num_rows| {
        let texts = columns[0].strings()?;
        let mut offsets = OffsetsBuilder::with_capacity(num_rows);
        let mut keys = StringWriter::with_capacity(num_rows, num_rows * 16);
        let mut values = StringWriter::with_capacity(num_rows, num_rows * 16);
        for row in 0..num_rows {
            let mut rest = texts.value(row);
            let mut len = 0;
            while let Some((key, value)) = syntax.next_pair(&mut rest) {
                keys.bytes().extend_from_slice(key);
                keys.finish_row()?;
                values.bytes().extend_from_slice(value);
                values.finish_row()?;
                len += 1;
            }
            offsets.push(len)?;
        }
        map_of(&map, offsets.finish(), keys.finish()?, values.finish()?)
    })
}

impl Syntax {
    fn ends_pair(&self, byte: u8) -> bool {
        self.pair_ends.contains(&byte)
    }

    /// The next key with a value; what is no pair is skipped.
    fn next_pair<'a>(&self, rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        loop {
            while let [first, tail @ ..] = *rest
                && (self.ends_pair(*first) || *first == self.key_end)
            {
                *rest = tail;
            }
            if rest.is_empty() {
                return None;
            }
            let key = self.token(rest, true)?;
            let [separator, tail @ ..] = *rest else {
                return None;
            };
            if *separator != self.key_end {
                continue;
            }
            *rest = tail;
            let value = self.token(rest, false)?;
            if !key.is_empty() {
                return Some((key, value));
            }
        }
    }

    /// The bytes up to an end, or those between quotes: what stands before a quote is left out. `None`
    /// if the text ends within quotes.
    fn token<'a>(&self, rest: &mut &'a [u8], is_key: bool) -> Option<&'a [u8]> {
        let ends = |b: &u8| self.ends_pair(*b) || (is_key && *b == self.key_end);
        let end = rest.iter().position(|b| *b == self.quote || ends(b));
        let (token, tail) = rest.split_at(end.unwrap_or(rest.len()));
        let [first, quoted @ ..] = tail else {
            *rest = tail;
            return Some(token);
        };
        if *first != self.quote {
            *rest = tail;
            return Some(token);
        }
        let len = quoted.iter().position(|b| *b == self.quote);
        let (token, tail) = quoted.split_at(len.unwrap_or(quoted.len()));
        *rest = tail.get(1..).unwrap_or(tail);
        len.map(|_| token)
    }
}
