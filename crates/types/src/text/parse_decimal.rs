//! Reads decimals from text.
//!
//! `read_decimal` takes the longest text that is a number and leaves the rest; `parse_decimal`
//! wants the whole text.

use arrow::datatypes::i256;
use basalt_error::{Error, ErrorCode, Result};

use super::Cursor;
use super::cursor::excerpt;
use super::parse_float::read_exponent;
use super::parse_number::{no_digits, parse_whole};

/// Parses the whole of `text` as a decimal of 10^-`scale`; digits beyond the scale are cut off.
///
/// # Errors
/// `ARGUMENT_OUT_OF_BOUND` for more than `precision` digits, `CANNOT_PARSE_TEXT`,
/// `ATTEMPT_TO_READ_AFTER_EOF`.
pub fn parse_decimal(text: &[u8], precision: u8, scale: u8) -> Result<i256> {
    parse_whole(text, "Decimal", |cursor| {
        read_decimal(cursor, precision, scale)
    })
}

/// The longest number that 128 bits hold for sure.
const MAX_DIGITS_128: usize = 38;

/// Reads a decimal.
///
/// # Errors
/// As [`parse_decimal`].
pub fn read_decimal(cursor: &mut Cursor<'_>, precision: u8, scale: u8) -> Result<i256> {
    let start = cursor.rest();
    if start.is_empty() {
        return Err(no_digits(start));
    }
    let negative = cursor.eat(b'-');
    if !negative {
        cursor.eat(b'+');
    }
    let whole = cursor.take_while(|b| b.is_ascii_digit());
    let mut fraction: &[u8] = &[];
    if cursor.eat(b'.') {
        fraction = cursor.take_while(|b| b.is_ascii_digit());
    }
    if cursor.rest().len() == start.len() {
        return Err(no_digits(start));
    }
    let exponent = read_exponent(cursor);
    let whole_start = whole.iter().take_while(|b| **b == b'0').count();
    let whole = &whole[whole_start..];
    // Digits that count: all in front of the point, `scale` behind it, moved by the exponent.
    let wanted = whole.len() as i64 + exponent + i64::from(scale);
    let digits = || whole.iter().chain(fraction);
    let leading_zeros = digits().take_while(|b| **b == b'0').count() as i64;
    let total = (whole.len() + fraction.len()) as i64;
    if leading_zeros == total || wanted <= leading_zeros {
        return Ok(i256::ZERO);
    }
    if wanted - leading_zeros > i64::from(precision) {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!(
                "Too many digits ({} > {precision}) in decimal value: {}",
                wanted - leading_zeros,
                excerpt(start)
            ),
        ));
    }
    // At most `precision` digits after the leading zeros, at most 76.
    let taken = digits()
        .skip(leading_zeros as usize)
        .take((wanted - leading_zeros) as usize);
    let padding = (wanted - total).max(0) as usize;
    let value = sum_digits(taken.copied().chain(std::iter::repeat_n(b'0', padding)));
    Ok(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

fn sum_digits(mut digits: impl Iterator<Item = u8>) -> i256 {
    let low = |digits: &mut dyn Iterator<Item = u8>| {
        digits
            .take(MAX_DIGITS_128)
            .fold((0_i128, 1_i128), |(sum, power), d| {
                (sum * 10 + i128::from(d - b'0'), power.wrapping_mul(10))
            })
    };
    let (first, _) = low(&mut digits);
    let (second, power) = low(&mut digits);
    i256::from_i128(first)
        .wrapping_mul(i256::from_i128(power))
        .wrapping_add(i256::from_i128(second))
}

#[cfg(test)]
mod tests {
    use super::parse_decimal;

    fn code<T>(result: basalt_error::Result<T>) -> u16 {
        result.err().map_or(0, |e| e.code().number)
    }

    #[test]
    fn decimals_cut_digits_off_and_know_exponents() {
        let decimal = |text: &str, precision, scale| {
            parse_decimal(text.as_bytes(), precision, scale).map(|d| d.to_i128().expect("small"))
        };
        assert_eq!(decimal("1.19", 9, 1), Ok(11));
        assert_eq!(decimal("1e2", 9, 1), Ok(1000));
        assert_eq!(decimal("1e-3", 9, 5), Ok(100));
        assert_eq!(decimal("-.5", 9, 1), Ok(-5));
        assert_eq!(decimal("5.", 9, 1), Ok(50));
        assert_eq!(decimal("0.000000000000000000000001", 9, 2), Ok(0));
        assert_eq!(decimal("1e-100", 9, 2), Ok(0));
        assert_eq!(decimal("99999999.99", 9, 1), Ok(999_999_999));
        assert_eq!(decimal("-", 9, 1), Ok(0));
        assert_eq!(decimal("1e30", 38, 2), Ok(10_i128.pow(32)));
        assert_eq!(code(decimal("123456789012", 9, 1)), 69);
        assert_eq!(code(decimal("1e100", 9, 2)), 69);
        assert_eq!(code(decimal("", 9, 1)), 32);
        for bad in ["abc", "1.5x", " 5", "inf"] {
            assert_eq!(code(decimal(bad, 9, 1)), 6, "{bad}");
        }
        let long = parse_decimal(b"-1234567890123456789012345678901234567890.5", 76, 3);
        assert_eq!(
            long.map(|d| d.to_string()),
            Ok("-1234567890123456789012345678901234567890500".to_string())
        );
    }
}
