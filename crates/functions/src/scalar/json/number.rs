//! Reads JSON numbers and writes values without space, numbers in their shortest form.

use basalt_types::text::escape::write_json_string;
use basalt_types::text::write_f64;

use super::value::{Json, Kind};

/// A JSON number as wide as it needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Fits 64 signed bits.
    Int(i64),
    /// Fits 64 bits, but no signed ones.
    UInt(u64),
    /// An integer beyond 64 bits.
    Big(f64),
    /// Has a fraction or an exponent.
    Float(f64),
}

impl Number {
    /// The number of a text that is one.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        if text.contains(['.', 'e', 'E']) {
            return text.parse().ok().map(Number::Float);
        }
        if let Ok(value) = text.parse::<i64>() {
            return Some(Number::Int(value));
        }
        if let Ok(value) = text.parse::<u64>() {
            return Some(Number::UInt(value));
        }
        text.parse().ok().map(Number::Big)
    }

    /// The number as an integer, a fraction cut off; `None` beyond 64 bits.
    pub fn to_integer(self) -> Option<i128> {
        match self {
            Number::Int(value) => Some(i128::from(value)),
            Number::UInt(value) => Some(i128::from(value)),
            Number::Big(value) | Number::Float(value) => {
                let limit = 2f64.powi(64);
                (value > -limit && value < limit).then(|| value.trunc() as i128)
            }
        }
    }

    /// The number as a float.
    pub fn to_float(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::UInt(value) => value as f64,
            Number::Big(value) | Number::Float(value) => value,
        }
    }
}

/// Writes a value without space; numbers and strings as this engine writes them.
pub fn write_compact(value: Json<'_>, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Null | Kind::Bool => out.extend_from_slice(value.text()),
        Kind::String => {
            if let Some(text) = value.string() {
                write_json_string(&text, false, out);
            }
        }
        Kind::Number => write_number(value, out),
        Kind::Array => {
            out.push(b'[');
            for (i, item) in value.items().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_compact(item, out);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            for (i, (key, member)) in value.members().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_compact(key, out);
                out.push(b':');
                write_compact(member, out);
            }
            out.push(b'}');
        }
    }
}

fn write_number(value: Json<'_>, out: &mut Vec<u8>) {
    match Number::parse(value.text()) {
        Some(Number::Float(float)) => write_f64(float, out),
        // Integers beyond 64 bits are shown as strings, so that no digit is lost.
        Some(Number::Big(_)) => write_json_string(value.text(), false, out),
        _ => out.extend_from_slice(value.text()),
    }
}
