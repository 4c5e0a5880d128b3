//! Parses numbers.

use basalt_error::Result;

use super::Parser;
use crate::ast::{FloatLiteral, Literal};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// A number, `inf` or `nan`; `negative` when a minus sign was before it.
    pub(super) fn try_number(&mut self, negative: bool) -> Result<Option<Literal>> {
        let text = match self.kind() {
            K::Number => self.token_text(0),
            K::Word
                if self.token(1).kind != K::OpenRound && is_special_float(self.token_text(0)) =>
            {
                self.token_text(0)
            }
            _ => return Ok(None),
        };
        let text: String = text
            .iter()
            .map(|b| char::from(*b))
            .filter(|c| *c != '_')
            .collect();
        match number(&text, negative) {
            Some(literal) => {
                self.advance();
                Ok(Some(literal))
            }
            None => self.fail("number that fits Float64"),
        }
    }
}

fn is_special_float(word: &[u8]) -> bool {
    [&b"inf"[..], b"infinity", b"nan"]
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name))
}

/// The constant that `text` (without underscores) stands for; `None` beyond Float64.
pub(super) fn number(text: &str, negative: bool) -> Option<Literal> {
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => (10, lower.as_str()),
    };
    if digits.bytes().all(|b| char::from(b).is_digit(radix)) {
        match u64::from_str_radix(digits, radix) {
            Ok(0) => return Some(Literal::UInt(0)),
            Ok(n) if !negative => return Some(Literal::UInt(n)),
            Ok(n) if n <= 1 << 63 => return Some(Literal::Int(0i64.wrapping_sub_unsigned(n))),
            _ => {}
        }
    }
    let value = if radix == 10 {
        digits.parse().ok()?
    } else {
        float_of_radix(digits, radix)?
    };
    let overflows = value == f64::INFINITY && !lower.starts_with("inf");
    let sign = if negative { "-" } else { "" };
    let value = if negative && !value.is_nan() {
        -value
    } else {
        value
    };
    (!overflows).then(|| {
        Literal::Float(FloatLiteral {
            value,
            text: format!("{sign}{text}"),
        })
    })
}

/// Hexadecimal floats (`1.8p3`), and integers beyond 64 bits.
fn float_of_radix(digits: &str, radix: u32) -> Option<f64> {
    let (mantissa, exponent) = digits.split_once('p').unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0f64;
    for c in whole.chars().chain(fraction.chars()) {
        value = value * f64::from(radix) + f64::from(c.to_digit(radix)?);
    }
    let scale = f64::from(radix).powi(-i32::try_from(fraction.len()).ok()?);
    let exponent: i32 = exponent.parse().ok()?;
    Some(value * scale * 2f64.powi(exponent))
}
