//! Reads floats from text.
//!
//! `read_float` takes the longest text that is a number and leaves the rest; the `parse_*`
//! functions want the whole text. What is wrong with `1e` the formats and CAST say differently.

use basalt_error::{Error, ErrorCode, Result};

use super::Cursor;
use super::cursor::excerpt;
use super::parse_number::parse_whole;

/// A float type that text can be read as.
pub trait Float: Copy + std::str::FromStr {
    /// Digits of this many bits are exact.
    const MANTISSA_BITS: u32;
    /// Powers of ten up to this one are exact.
    const MAX_EXACT_POWER: i64;
    /// inf and nan.
    const NOT_FINITE: [Self; 2];
    /// Negated if `negative`.
    fn signed(self, negative: bool) -> Self;
    /// `mantissa × 10^power`, both within the exact ranges.
    fn exact(mantissa: u64, power: i64) -> Self;
}

const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

impl Float for f64 {
    const MANTISSA_BITS: u32 = 53;
    const MAX_EXACT_POWER: i64 = 22;
    const NOT_FINITE: [Self; 2] = [f64::INFINITY, f64::NAN];

    fn signed(self, negative: bool) -> Self {
        if negative { -self } else { self }
    }

    #[inline]
    fn exact(mantissa: u64, power: i64) -> Self {
        let factor = POWERS_OF_TEN[power.unsigned_abs() as usize];
        if power < 0 {
            mantissa as f64 / factor
        } else {
            mantissa as f64 * factor
        }
    }
}

impl Float for f32 {
    const MANTISSA_BITS: u32 = 24;
    const MAX_EXACT_POWER: i64 = 10;
    const NOT_FINITE: [Self; 2] = [f32::INFINITY, f32::NAN];

    fn signed(self, negative: bool) -> Self {
        if negative { -self } else { self }
    }

    #[inline]
    fn exact(mantissa: u64, power: i64) -> Self {
        let factor = POWERS_OF_TEN[power.unsigned_abs() as usize] as f32;
        if power < 0 {
            mantissa as f32 / factor
        } else {
            mantissa as f32 * factor
        }
    }
}

/// Parses the whole of `text` as `Float64`, as CAST does.
///
/// # Errors
/// `CANNOT_PARSE_TEXT` or `CANNOT_PARSE_NUMBER`.
pub fn parse_f64(text: &[u8]) -> Result<f64> {
    parse_whole(text, "Float64", read_longest)
}

/// Parses the whole of `text` as `Float32`, as CAST does.
///
/// # Errors
/// `CANNOT_PARSE_TEXT` or `CANNOT_PARSE_NUMBER`.
pub fn parse_f32(text: &[u8]) -> Result<f32> {
    parse_whole(text, "Float32", read_longest)
}

/// The digits of a number as they are read.
#[derive(Default)]
struct Digits {
    mantissa: u64,
    /// Digits read, leading zeros aside: beyond 19 the mantissa has overflowed.
    significant: u32,
    any: bool,
}

impl Digits {
    #[inline]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> i64 {
        let mut len = 0;
        for byte in cursor.rest() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            self.mantissa = self
                .mantissa
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit));
            self.significant += u32::from(self.mantissa != 0);
            len += 1;
        }
        self.any |= len > 0;
        cursor.advance(len);
        len as i64
    }
}

/// Reads a float, as the formats do: an `e` behind it must have digits.
///
/// # Errors
/// `CANNOT_PARSE_NUMBER`.
#[inline]
pub fn read_float<T: Float>(cursor: &mut Cursor<'_>) -> Result<T> {
    let start = cursor.rest();
    let value = read_longest(cursor)?;
    let taken = &start[..start.len() - cursor.rest().len()];
    let is_digit = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+');
    match cursor.peek() {
        Some(b'e' | b'E') if taken.iter().all(is_digit) => Err(no_float(start)),
        _ => Ok(value),
    }
}

/// Reads a float: digits with or without point and exponent, inf, infinity, nan.
///
/// # Errors
/// `CANNOT_PARSE_NUMBER`.
#[inline]
fn read_longest<T: Float>(cursor: &mut Cursor<'_>) -> Result<T> {
    let start = cursor.rest();
    let mut copy = *cursor;
    let negative = copy.eat(b'-');
    if !negative {
        copy.eat(b'+');
    }
    let unsigned = copy.rest();
    let mut digits = Digits::default();
    digits.read(&mut copy);
    let mut power = 0;
    if copy.eat(b'.') {
        power = -digits.read(&mut copy);
    }
    if !digits.any {
        return read_not_finite(cursor);
    }
    power += read_exponent(&mut copy);
    let len = unsigned.len() - copy.rest().len();
    *cursor = copy;
    let fits = digits.significant <= 19 && digits.mantissa >> T::MANTISSA_BITS == 0;
    if fits && power.abs() <= T::MAX_EXACT_POWER {
        return Ok(T::exact(digits.mantissa, power).signed(negative));
    }
    let text = std::str::from_utf8(&unsigned[..len]).unwrap_or_default();
    match text.parse::<T>() {
        Ok(value) => Ok(value.signed(negative)),
        Err(_) => Err(no_float(start)),
    }
}

/// Reads `e`, a sign and digits; without digits the `e` is not part of the number.
#[inline]
pub(super) fn read_exponent(cursor: &mut Cursor<'_>) -> i64 {
    let mut copy = *cursor;
    if !copy.eat(b'e') && !copy.eat(b'E') {
        return 0;
    }
    let negative = copy.eat(b'-');
    if !negative {
        copy.eat(b'+');
    }
    let digits = copy.take_while(|b| b.is_ascii_digit());
    if digits.is_empty() {
        return 0;
    }
    *cursor = copy;
    let exponent = digits
        .iter()
        .fold(0_i64, |e, d| (e * 10 + i64::from(d - b'0')).min(1_000_000));
    if negative { -exponent } else { exponent }
}

fn read_not_finite<T: Float>(cursor: &mut Cursor<'_>) -> Result<T> {
    let start = cursor.rest();
    let negative = cursor.eat(b'-');
    if !negative {
        cursor.eat(b'+');
    }
    let [infinity, nan] = T::NOT_FINITE;
    if cursor.eat_text_ignoring_case(b"infinity") || cursor.eat_text_ignoring_case(b"inf") {
        return Ok(infinity.signed(negative));
    }
    if cursor.eat_text_ignoring_case(b"nan") {
        return Ok(nan);
    }
    *cursor = Cursor::new(start);
    Err(no_float(start))
}

#[cold]
fn no_float(text: &[u8]) -> Error {
    Error::new(
        ErrorCode::CANNOT_PARSE_NUMBER,
        format!("Cannot read floating point value here: {}", excerpt(text)),
    )
}

#[cfg(test)]
mod tests {
    use super::{parse_f32, parse_f64};

    fn code<T>(result: basalt_error::Result<T>) -> u16 {
        result.err().map_or(0, |e| e.code().number)
    }

    #[test]
    fn floats_are_rounded_correctly() {
        for text in [
            "1e5",
            "0.1",
            "123456789.123456789",
            "1e-400",
            "1e400",
            "5e-324",
            "9007199254740993",
            "1.7976931348623157e308",
            "0.000001",
            "179769313486231580793e289",
            "1e22",
            "1e23",
            "12345678901234567890123",
        ] {
            assert_eq!(
                parse_f64(text.as_bytes()),
                Ok(text.parse().expect("a float")),
                "{text}"
            );
            assert_eq!(
                parse_f32(text.as_bytes()),
                Ok(text.parse().expect("a float")),
                "{text}"
            );
        }
        assert_eq!(parse_f64(b"+1.5"), Ok(1.5));
        assert_eq!(parse_f64(b"-.5"), Ok(-0.5));
        assert_eq!(parse_f64(b"5."), Ok(5.0));
        assert_eq!(parse_f64(b"-Inf"), Ok(f64::NEG_INFINITY));
        assert_eq!(parse_f64(b"INFINITY"), Ok(f64::INFINITY));
        assert!(parse_f64(b"NaN").is_ok_and(f64::is_nan));
        for bad in ["", "abc", ".", "-"] {
            assert_eq!(code(parse_f64(bad.as_bytes())), 72, "{bad}");
        }
        for bad in ["1e", "0x10", "1_000", "1.5abc"] {
            assert_eq!(code(parse_f64(bad.as_bytes())), 6, "{bad}");
        }
    }
}
