//! Tells the type of a field of TSV or CSV, and of a literal inside it.

use basalt_types::text::best_effort::read_strict;
use basalt_types::text::escape::read_quoted;
use basalt_types::text::parse_time::{LocalClock, date_days, read_date};
use basalt_types::text::{Cursor, parse_f64};
use basalt_types::{DataType, Tz};

use super::merge::merge;
use crate::FormatSettings;

/// Where a text stood.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// In CSV without quotes.
    Bare,
    /// In CSV with quotes, or a string of JSON.
    Quoted,
    /// In TSV.
    Tsv,
}

/// Shorter texts are no dates.
const MIN_DATE_BYTES: usize = 8;

/// The type of a whole field; `Nothing` inside where it is empty.
pub(super) fn infer_field(text: &[u8], origin: Origin, settings: &FormatSettings) -> DataType {
    // A leading zero is no number's in TSV.
    let is_code = text.len() > 1 && text[0] == b'0' && text.iter().all(u8::is_ascii_digit);
    if origin == Origin::Tsv && is_code {
        return DataType::String;
    }
    let numbers =
        origin != Origin::Quoted || settings.input_format_csv_try_infer_numbers_from_strings;
    if numbers
        && let Some(number) = infer_number(
            text,
            settings.input_format_try_infer_exponent_floats,
            settings,
        )
    {
        return number;
    }
    if origin != Origin::Tsv && numbers && is_integer(text) {
        return DataType::Float64;
    }
    let is_bool_word = || {
        let words = settings.bool_words();
        words.is_some_and(|words| words.value(text).is_some())
    };
    if origin != Origin::Quoted && (text == b"true" || text == b"false" || is_bool_word()) {
        return DataType::Bool;
    }
    if let Some(time) = infer_time(text, settings) {
        return time;
    }
    let opens_nested = match text.first() {
        Some(b'[' | b'{') => origin != Origin::Bare,
        // In CSV a tuple's elements are columns of their own.
        Some(b'(') => origin == Origin::Tsv,
        _ => false,
    };
    if opens_nested {
        let mut cursor = Cursor::new(text);
        if let Some(nested) = infer_literal(&mut cursor, settings)
            && cursor.is_at_end()
        {
            return nested;
        }
    }
    DataType::String
}

fn without_sign(text: &[u8]) -> &[u8] {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+"));
    digits.unwrap_or(text)
}

/// Whether the text is an integer of any size.
pub(super) fn is_integer(text: &[u8]) -> bool {
    let digits = without_sign(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// The type of a number's text; none of an integer that is too large for 64 bits.
pub(super) fn infer_number(
    text: &[u8],
    exponents: bool,
    settings: &FormatSettings,
) -> Option<DataType> {
    let digits = without_sign(text);
    if is_integer(text) && settings.input_format_try_infer_integers {
        let text = std::str::from_utf8(text).ok()?;
        let is_short = text.parse::<i64>().is_ok();
        return match text.parse::<u64>() {
            _ if is_short => Some(DataType::Int64),
            Ok(_) => Some(DataType::UInt64),
            Err(_) => None,
        };
    }
    let starts = matches!(
        digits.first(),
        Some(b'0'..=b'9' | b'.' | b'i' | b'I' | b'n' | b'N')
    );
    if !starts || parse_f64(text).is_err() {
        return None;
    }
    let has_exponent = digits[0].is_ascii_digit() | (digits[0] == b'.')
        && digits.iter().any(|b| matches!(b, b'e' | b'E'));
    (exponents || !has_exponent).then_some(DataType::Float64)
}

/// The type of a date's or time's text.
pub(super) fn infer_time(text: &[u8], settings: &FormatSettings) -> Option<DataType> {
    if text.len() < MIN_DATE_BYTES || !text.iter().any(u8::is_ascii_digit) {
        return None;
    }
    if settings.input_format_try_infer_dates
        && let Some(date) = infer_date(text)
    {
        return Some(date);
    }
    if !settings.input_format_try_infer_datetimes {
        return None;
    }
    let mut cursor = Cursor::new(text);
    let (seconds, has_fraction) = read_strict(&mut cursor, &mut LocalClock::new(Tz::UTC)).ok()?;
    if !cursor.is_at_end() {
        return None;
    }
    // Nanoseconds since 1970 must fit in 64 bits.
    seconds.checked_mul(1_000_000_000)?;
    let is_short = u32::try_from(seconds).is_ok() && !has_fraction;
    let only_long = settings.input_format_try_infer_datetimes_only_datetime64;
    Some(if is_short && !only_long {
        DataType::DateTime(None)
    } else {
        DataType::DateTime64(9, None)
    })
}

fn infer_date(text: &[u8]) -> Option<DataType> {
    let separators = [
        text.get(4)?,
        text.iter().skip(5).find(|b| !b.is_ascii_digit())?,
    ];
    if separators[0] != separators[1] || !b"-/:".contains(separators[0]) {
        return None;
    }
    let mut cursor = Cursor::new(text);
    let days = date_days(read_date(&mut cursor).ok()?)?;
    (cursor.is_at_end() && u16::try_from(days).is_ok()).then_some(DataType::Date)
}

/// The type of a literal, as in arrays and `VALUES`; `Nothing` for `NULL`. Takes its text.
pub(super) fn infer_literal(
    cursor: &mut Cursor<'_>,
    settings: &FormatSettings,
) -> Option<DataType> {
    match cursor.peek()? {
        b'\'' => {
            let mut text = Vec::new();
            read_quoted(cursor, b'\'', &mut text).ok()?;
            Some(infer_time(&text, settings).unwrap_or(DataType::String))
        }
        b'[' => {
            let elements = infer_elements(cursor, b']', settings)?;
            let merged = elements
                .iter()
                .try_fold(DataType::Nothing, |a, b| merge(&a, b))?;
            Some(DataType::array(merged))
        }
        b'(' => Some(DataType::tuple(infer_elements(cursor, b')', settings)?)),
        b'{' => infer_map(cursor, settings),
        _ => {
            let word = cursor.take_while(|b| {
                b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.' | b'_')
            });
            if word.eq_ignore_ascii_case(b"NULL") {
                return Some(DataType::Nothing);
            }
            if word == b"true" || word == b"false" {
                return Some(DataType::Bool);
            }
            let exponents = settings.input_format_try_infer_exponent_floats;
            infer_number(word, exponents, settings)
        }
    }
}

fn infer_elements(
    cursor: &mut Cursor<'_>,
    end: u8,
    settings: &FormatSettings,
) -> Option<Vec<DataType>> {
    let mut elements = Vec::new();
    cursor.advance(1);
    cursor.skip_space();
    while !cursor.eat(end) {
        elements.push(infer_literal(cursor, settings)?);
        cursor.skip_space();
        if !cursor.eat(b',') && cursor.peek() != Some(end) {
            return None;
        }
        cursor.skip_space();
    }
    Some(elements)
}

fn infer_map(cursor: &mut Cursor<'_>, settings: &FormatSettings) -> Option<DataType> {
    let (mut keys, mut values) = (DataType::Nothing, DataType::Nothing);
    cursor.advance(1);
    cursor.skip_space();
    while !cursor.eat(b'}') {
        keys = merge(&keys, &infer_literal(cursor, settings)?)?;
        cursor.skip_space();
        if !cursor.eat(b':') {
            return None;
        }
        cursor.skip_space();
        values = merge(&values, &infer_literal(cursor, settings)?)?;
        cursor.skip_space();
        if !cursor.eat(b',') && cursor.peek() != Some(b'}') {
            return None;
        }
        cursor.skip_space();
    }
    Some(DataType::map(keys, values))
}
