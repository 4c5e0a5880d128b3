//! Reads integers, floats, decimals and booleans from text.
//!
//! The `read_*` functions take the longest text that is a number and leave the rest; the
//! `parse_*` functions want the whole text. Integers wrap on overflow, as in ClickHouse.

use arrow::datatypes::i256;
use basalt_error::{Error, ErrorCode, Result};

use super::Cursor;
use super::cursor::excerpt;

/// An integer type that text can be read as.
pub trait Integer: Copy {
    /// Whether a minus may stand in front.
    const SIGNED: bool;
    /// The low bits of `value`.
    fn wrap(value: u64) -> Self;
}

macro_rules! integer {
    ($($name:ident $signed:literal,)*) => {
        $(impl Integer for $name {
            const SIGNED: bool = $signed;
            #[inline]
            fn wrap(value: u64) -> Self {
                value as $name
            }
        })*
    };
}

integer! { u8 false, u16 false, u32 false, u64 false, i8 true, i16 true, i32 true, i64 true, }

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

fn not_whole(text: &[u8], rest: &[u8], kind: &str) -> Error {
    let parsed = &text[..text.len() - rest.len()];
    Error::new(
        ErrorCode::CANNOT_PARSE_TEXT,
        if parsed.is_empty() {
            format!(
                "Cannot parse string '{}' as {kind}: syntax error at begin of string",
                excerpt(text)
            )
        } else {
            format!(
                "Cannot parse string '{}' as {kind}: syntax error at position {} (parsed just '{}')",
                excerpt(text),
                parsed.len(),
                excerpt(parsed)
            )
        },
    )
}

/// Runs `read` over the whole of `text`; text that is left over is an error.
///
/// # Errors
/// `CANNOT_PARSE_TEXT` if text is left over, else the reader's.
#[inline]
pub fn parse_whole<T>(
    text: &[u8],
    kind: &str,
    read: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
) -> Result<T> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    if cursor.is_at_end() {
        Ok(value)
    } else {
        Err(not_whole(text, cursor.rest(), kind))
    }
}

/// Parses the whole of `text` as an integer.
///
/// # Errors
/// `CANNOT_PARSE_TEXT`, `CANNOT_PARSE_NUMBER`, or `ATTEMPT_TO_READ_AFTER_EOF` for no text at all.
#[inline]
pub fn parse_int<T: Integer>(text: &[u8]) -> Result<T> {
    parse_whole(text, "integer", |cursor| read_int(cursor))
}

/// Reads an integer.
///
/// # Errors
/// As [`parse_int`].
#[inline]
pub fn read_int<T: Integer>(cursor: &mut Cursor<'_>) -> Result<T> {
    let start = cursor.rest();
    let negative = T::SIGNED && cursor.eat(b'-');
    if !negative {
        cursor.eat(b'+');
    }
    let text = cursor.rest();
    let mut value = 0_u64;
    let mut len = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        len += 1;
    }
    if len == 0 {
        return Err(no_digits(start));
    }
    cursor.advance(len);
    Ok(T::wrap(if negative {
        value.wrapping_neg()
    } else {
        value
    }))
}

#[cold]
fn no_digits(text: &[u8]) -> Error {
    match text.first() {
        None => Error::new(
            ErrorCode::ATTEMPT_TO_READ_AFTER_EOF,
            "Attempt to read after eof: a number is expected, the text is empty",
        ),
        Some(b'-' | b'+') => Error::new(
            ErrorCode::CANNOT_PARSE_NUMBER,
            format!(
                "Cannot parse number, expected digits after at most one sign (unsigned types take no '-'): {}",
                excerpt(text)
            ),
        ),
        Some(_) => Error::new(
            ErrorCode::CANNOT_PARSE_TEXT,
            format!(
                "Cannot parse string '{}' as a number: syntax error at begin of string",
                excerpt(text)
            ),
        ),
    }
}

/// Parses the whole of `text` as `Float64`.
///
/// # Errors
/// `CANNOT_PARSE_TEXT` or `CANNOT_PARSE_NUMBER`.
pub fn parse_f64(text: &[u8]) -> Result<f64> {
    parse_whole(text, "Float64", read_float)
}

/// Parses the whole of `text` as `Float32`.
///
/// # Errors
/// `CANNOT_PARSE_TEXT` or `CANNOT_PARSE_NUMBER`.
pub fn parse_f32(text: &[u8]) -> Result<f32> {
    parse_whole(text, "Float32", read_float)
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

/// Reads a float: digits with or without point and exponent, inf, infinity, nan.
///
/// # Errors
/// `CANNOT_PARSE_NUMBER`.
#[inline]
pub fn read_float<T: Float>(cursor: &mut Cursor<'_>) -> Result<T> {
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
fn read_exponent(cursor: &mut Cursor<'_>) -> i64 {
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

/// Texts that stand for true or false, in any case.
const BOOLEANS: [(&[u8], bool); 16] = [
    (b"true", true),
    (b"false", false),
    (b"t", true),
    (b"f", false),
    (b"yes", true),
    (b"no", false),
    (b"y", true),
    (b"n", false),
    (b"on", true),
    (b"off", false),
    (b"enable", true),
    (b"disable", false),
    (b"enabled", true),
    (b"disabled", false),
    (b"1", true),
    (b"0", false),
];

/// Parses the whole of `text` as `Bool`.
///
/// # Errors
/// `CANNOT_PARSE_BOOL`.
pub fn parse_bool(text: &[u8]) -> Result<bool> {
    let known = BOOLEANS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text));
    known.map(|(_, value)| *value).ok_or_else(|| {
        Error::new(
            ErrorCode::CANNOT_PARSE_BOOL,
            format!(
                "Cannot parse boolean value here: '{}', should be true/false, t/f, yes/no, y/n, on/off, enable/disable, enabled/disabled or 1/0",
                excerpt(text)
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{parse_bool, parse_decimal, parse_f32, parse_f64, parse_int};

    fn code<T>(result: basalt_error::Result<T>) -> u16 {
        result.err().map_or(0, |e| e.code().number)
    }

    #[test]
    fn integers_wrap_and_want_digits() {
        assert_eq!(parse_int::<u8>(b"300"), Ok(44));
        assert_eq!(parse_int::<i8>(b"-129"), Ok(127));
        assert_eq!(parse_int::<u8>(b"+5"), Ok(5));
        assert_eq!(parse_int::<i64>(b"9223372036854775808"), Ok(i64::MIN));
        assert_eq!(
            parse_int::<u64>(b"99999999999999999999999"),
            Ok(200_376_420_520_689_663)
        );
        assert_eq!(parse_int::<i32>(b"007"), Ok(7));
        assert_eq!(code(parse_int::<u8>(b"-1")), 72);
        assert_eq!(code(parse_int::<u8>(b"")), 32);
        for bad in ["12abc", " 12", "12 ", "1.5", "abc"] {
            assert_eq!(code(parse_int::<i32>(bad.as_bytes())), 6, "{bad}");
        }
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

    #[test]
    fn booleans_have_many_names() {
        for text in ["true", "TRUE", "t", "yes", "y", "on", "1", "enable", "tRue"] {
            assert_eq!(parse_bool(text.as_bytes()), Ok(true), "{text}");
        }
        assert_eq!(parse_bool(b"Off"), Ok(false));
        assert_eq!(code(parse_bool(b"2")), 467);
        assert_eq!(code(parse_bool(b"")), 467);
    }
}
