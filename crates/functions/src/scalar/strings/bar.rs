//! Draws bars of block characters, and spells words by their sound.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::readable::Floats;
use super::shapes::{string_to_string, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "bar",
        syntax: "bar(x, min, max[, width])",
        description: "A bar as wide as `x` lies between `min` and `max`.",
        resolve: resolve_bar,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "soundex",
        case_insensitive: true,
        syntax: "soundex(s)",
        description: "A letter and three digits for the sound of an English word.",
        resolve: |call| string_to_string(call, soundex),
        ..ScalarFunction::BASE
    },
];

const DEFAULT_WIDTH: f64 = 80.0;
const MAX_WIDTH: f64 = 1000.0;

/// Eighths of a block, from one to seven.
const EIGHTHS: [&str; 7] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"];

fn out_of_bound(message: &str) -> Error {
    Error::new(ErrorCode::ARGUMENT_OUT_OF_BOUND, message)
}

fn resolve_bar(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=4)?;
    for idx in 0..3 {
        call.expect_type(idx, DataType::is_number)?;
    }
    let width = match call.args.get(3) {
        Some(_) => call.constant_f64(3)?,
        None => DEFAULT_WIDTH,
    };
    if width.is_nan() || width < 1.0 {
        return Err(out_of_bound("Argument 'max_width' must be >= 1"));
    }
    if width > MAX_WIDTH {
        return Err(out_of_bound("Argument 'max_width' must be <= 1000"));
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        let [x, min, max] = [0, 1, 2].map(|idx| Floats::new(&columns[idx]));
        let (x, min, max) = (x?, min?, max?);
        write_rows(columns, num_rows, |row, out| {
            let (x, min, max) = (x.value(row), min.value(row), max.value(row));
            push_bar(out, bar_width(x, min, max, width));
            Ok(())
        })
    })
}

fn bar_width(x: f64, min: f64, max: f64, width: f64) -> f64 {
    if x.is_nan() || max <= min || x <= min {
        0.0
    } else if x >= max {
        width
    } else {
        (x - min) * width / (max - min)
    }
}

fn push_bar(out: &mut Vec<u8>, width: f64) {
    let eighths = (width * 8.0).floor() as usize;
    out.extend_from_slice("█".repeat(eighths / 8).as_bytes());
    if let Some(part) = (eighths % 8).checked_sub(1) {
        out.extend_from_slice(EIGHTHS[part].as_bytes());
    }
}

/// The digit of a letter; vowels have none.
fn soundex_digit(letter: u8) -> u8 {
    const DIGITS: &[u8; 26] = b"01230120022455012623010202";
    DIGITS[usize::from(letter.to_ascii_uppercase() - b'A')]
}

/// Letters with the same digit right beside each other count once.
fn soundex(value: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let mut last = b'0';
    for letter in value.iter().copied().filter(u8::is_ascii_alphabetic) {
        let digit = soundex_digit(letter);
        if out.len() == start {
            out.push(letter.to_ascii_uppercase());
        } else if digit != b'0' && digit != last {
            out.push(digit);
        }
        if out.len() == start + 4 {
            break;
        }
        last = digit;
    }
    out.resize(start + 4, b'0');
}
