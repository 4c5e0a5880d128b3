//! Looks for words in texts: `hasAnyTokens`, `hasAllTokens`, `hasPhrase`.

use std::sync::Arc;

use arrow::array::UInt8Array;
use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::arrays::lists::Lists;
use crate::{Call, Column, Resolved, ScalarFunction, StringColumn};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "hasAnyTokens",
        aliases: &["hasAnyToken"],
        syntax: "hasAnyTokens(text, tokens)",
        description: "Whether the text has one of the words, given as an array or as a text.",
        resolve: |call| resolve_tokens(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasAllTokens",
        aliases: &["hasAllToken"],
        syntax: "hasAllTokens(text, tokens)",
        description: "Whether the text has all of the words, given as an array or as a text.",
        resolve: |call| resolve_tokens(call, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasPhrase",
        aliases: &["matchPhrase"],
        syntax: "hasPhrase(text, phrase)",
        description: "Whether the text has the phrase's words one behind the other.",
        resolve: resolve_phrase,
        ..ScalarFunction::BASE
    },
];

/// The runs of letters, digits and bytes beyond ASCII.
fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_separator = |b: &u8| b.is_ascii() && !b.is_ascii_alphanumeric();
    text.split(is_separator).filter(|token| !token.is_empty())
}

/// The words that a constant argument names.
fn needles(call: &Call<'_>) -> Result<Vec<Vec<u8>>> {
    if call.data_type(1).is_string() {
        return Ok(tokens(&call.constant_bytes(1)?)
            .map(<[u8]>::to_vec)
            .collect());
    }
    let is_words =
        |t: &DataType| matches!(t, DataType::Array(e) if e.is_string() || **e == DataType::Nothing);
    call.expect_type(1, is_words)?;
    let column = Column::constant(Arc::clone(call.constant(1)?));
    let lists = Lists::of(&column)?;
    if lists.len(0) == 0 {
        return Ok(Vec::new());
    }
    let words = StringColumn::of_array(lists.values(), false)?;
    Ok(lists.range(0).map(|i| words.value(i).to_vec()).collect())
}

fn resolve_tokens(call: &Call<'_>, wants_all: bool) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    let needles = needles(call)?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let texts = columns[0].strings()?;
        let found = (0..num_rows).map(|row| {
            let text = texts.value(row);
            let has = |needle: &Vec<u8>| tokens(text).any(|token| token == needle.as_slice());
            u8::from(if wants_all {
                !needles.is_empty() && needles.iter().all(has)
            } else {
                needles.iter().any(has)
            })
        });
        Ok(Arc::new(UInt8Array::from_iter_values(found)))
    })
}

fn resolve_phrase(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    let phrase = call.constant_bytes(1)?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let texts = columns[0].strings()?;
        let wanted: Vec<&[u8]> = tokens(&phrase).collect();
        let found = (0..num_rows).map(|row| {
            let words: Vec<&[u8]> = tokens(texts.value(row)).collect();
            let found = !wanted.is_empty() && words.windows(wanted.len()).any(|w| w == wanted);
            u8::from(found)
        });
        Ok(Arc::new(UInt8Array::from_iter_values(found)))
    })
}
