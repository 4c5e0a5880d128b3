//! Guesses the language of texts.

use std::borrow::Cow;
use std::sync::Arc;

use ahash::AHashMap;
use arrow::array::{ArrayRef, Float32Array, ListArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use basalt_error::{Error, Result};
use basalt_types::DataType;
use whatlang::Lang;

use super::charset::decode;
use crate::scalar::strings::output::{StringWriter, offset_of};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "detectLanguage",
        syntax: "detectLanguage(s)",
        description: "The language of a UTF-8 text as two letters of ISO 639-1, or `un`.",
        resolve: |call| resolve_language(call, String::from_utf8_lossy),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "detectLanguageUnknown",
        syntax: "detectLanguageUnknown(s)",
        description: "As `detectLanguage`, for texts in any character set.",
        resolve: |call| resolve_language(call, decode),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "detectLanguageMixed",
        syntax: "detectLanguageMixed(s)",
        description: "The languages of a UTF-8 text with the share of each.",
        resolve: resolve_mixed,
        ..ScalarFunction::BASE
    },
];

/// What is said of texts whose language is not to be seen.
const UNKNOWN: &str = "un";

/// A language shows in this many bytes; more of a long text are not looked at.
const LOOKED_AT: usize = 1000;

/// The two letters of a language.
fn two_letters(language: Lang) -> &'static str {
    let codes = TWO_LETTERS
        .iter()
        .find(|(three, _)| *three == language.code());
    codes.map_or(UNKNOWN, |(_, two)| two)
}

#[rustfmt::skip]
const TWO_LETTERS: [(&str, &str); 70] = [
    ("afr", "af"), ("aka", "ak"), ("amh", "am"), ("ara", "ar"), ("aze", "az"), ("bel", "be"),
    ("ben", "bn"), ("bul", "bg"), ("cat", "ca"), ("ces", "cs"), ("cmn", "zh"), ("cym", "cy"),
    ("dan", "da"), ("deu", "de"), ("ell", "el"), ("eng", "en"), ("epo", "eo"), ("est", "et"),
    ("fin", "fi"), ("fra", "fr"), ("guj", "gu"), ("heb", "he"), ("hin", "hi"), ("hrv", "hr"),
    ("hun", "hu"), ("hye", "hy"), ("ind", "id"), ("ita", "it"), ("jav", "jv"), ("jpn", "ja"),
    ("kan", "kn"), ("kat", "ka"), ("khm", "km"), ("kor", "ko"), ("lat", "la"), ("lav", "lv"),
    ("lit", "lt"), ("mal", "ml"), ("mar", "mr"), ("mkd", "mk"), ("mya", "my"), ("nep", "ne"),
    ("nld", "nl"), ("nob", "no"), ("ori", "or"), ("pan", "pa"), ("pes", "fa"), ("pol", "pl"),
    ("por", "pt"), ("ron", "ro"), ("rus", "ru"), ("sin", "si"), ("slk", "sk"), ("slv", "sl"),
    ("sna", "sn"), ("spa", "es"), ("srp", "sr"), ("swe", "sv"), ("tam", "ta"), ("tel", "te"),
    ("tgl", "tl"), ("tha", "th"), ("tuk", "tk"), ("tur", "tr"), ("ukr", "uk"), ("urd", "ur"),
    ("uzb", "uz"), ("vie", "vi"), ("yid", "yi"), ("zul", "zu"),
];

fn language_of(text: &str) -> &'static str {
    let looked_at = &text[..text.floor_char_boundary(LOOKED_AT)];
    whatlang::detect_lang(looked_at).map_or(UNKNOWN, two_letters)
}

fn resolve_language(call: &Call<'_>, text_of: fn(&[u8]) -> Cow<'_, str>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let mut writer = StringWriter::with_capacity(num_rows, 0);
        // Guessing takes microseconds and texts repeat: search phrases are empty or popular.
        let mut known: AHashMap<&[u8], &'static str> = AHashMap::new();
        for row in 0..num_rows {
            let value = strings.value(row);
            let language = if value.is_empty() {
                UNKNOWN
            } else {
                known
                    .entry(value)
                    .or_insert_with(|| language_of(&text_of(value)))
            };
            writer.push(language.as_bytes())?;
        }
        writer.finish()
    })
}

/// Languages of the sentences with the share of the bytes that each has, the largest first.
fn shares(text: &str) -> Vec<(&'static str, f32)> {
    let mut shares: Vec<(&'static str, usize)> = Vec::new();
    let sentences = text.split_inclusive(['.', '!', '?', '\n', '。', '！', '？']);
    for sentence in sentences.filter(|s| !s.trim().is_empty()) {
        let language = language_of(sentence);
        match shares.iter_mut().find(|(l, _)| *l == language) {
            Some((_, size)) => *size += sentence.len(),
            None => shares.push((language, sentence.len())),
        }
    }
    let total: usize = shares.iter().map(|(_, size)| size).sum();
    shares.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let share = |size| (size as f64 / total as f64 * 100.0).round() as f32 / 100.0;
    shares
        .into_iter()
        .map(|(language, size)| (language, share(size)))
        .collect()
}

fn resolve_mixed(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let return_type = DataType::map(DataType::String, DataType::Float32);
    let ArrowType::List(entries) = return_type.physical() else {
        return Err(Error::bug("a map is a list"));
    };
    Resolved::new(return_type, move |columns, num_rows| {
        mixed_rows(&columns[0], num_rows, &entries)
    })
}

fn mixed_rows(column: &Column, num_rows: usize, entries: &FieldRef) -> Result<ArrayRef> {
    let wrap = |e: arrow::error::ArrowError| Error::bug(e.to_string());
    let strings = column.strings()?;
    let (mut languages, mut sizes) = (StringWriter::default(), Vec::new());
    let mut offsets = vec![0];
    for row in 0..num_rows {
        for (language, share) in shares(&String::from_utf8_lossy(strings.value(row))) {
            languages.push(language.as_bytes())?;
            sizes.push(share);
        }
        offsets.push(offset_of(sizes.len())?);
    }
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(Error::bug("a map's entries are structs"));
    };
    let columns: Vec<ArrayRef> = vec![languages.finish()?, Arc::new(Float32Array::from(sizes))];
    let pairs = StructArray::try_new(fields.clone(), columns, None).map_err(wrap)?;
    let offsets = OffsetBuffer::new(offsets.into());
    let map = ListArray::try_new(Arc::clone(entries), offsets, Arc::new(pairs), None);
    Ok(Arc::new(map.map_err(wrap)?))
}
