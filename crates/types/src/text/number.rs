//! Writes integers, floats and decimals as text.

use arrow::datatypes::i256;

/// Floats from 10^21 on and below 10^-6 are written with an exponent.
const MAX_FIXED_POINT: i32 = 21;
const MIN_FIXED_POINT: i32 = -5;

/// Writes any integer.
#[inline]
pub fn write_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Writes the shortest text that reads back as the same `f64`.
#[inline]
pub fn write_f64(value: f64, out: &mut Vec<u8>) {
    // Whole numbers below 2^53 are exact integers; this is the common case and needs no search.
    let whole = value as i64;
    if whole as f64 == value
        && whole.unsigned_abs() < 1 << 53
        && (whole != 0 || value.is_sign_positive())
    {
        return write_integer(whole, out);
    }
    if value.is_finite() {
        write_shortest(zmij::Buffer::new().format_finite(value), out);
    } else {
        write_not_finite(value.is_nan(), value.is_sign_negative(), out);
    }
}

/// Writes the shortest text that reads back as the same `f32`.
#[inline]
pub fn write_f32(value: f32, out: &mut Vec<u8>) {
    let whole = value as i32;
    if whole as f32 == value
        && whole.unsigned_abs() < 1 << 24
        && (whole != 0 || value.is_sign_positive())
    {
        return write_integer(whole, out);
    }
    if value.is_finite() {
        write_shortest(zmij::Buffer::new().format_finite(value), out);
    } else {
        write_not_finite(value.is_nan(), value.is_sign_negative(), out);
    }
}

fn write_not_finite(is_nan: bool, is_negative: bool, out: &mut Vec<u8>) {
    let text: &[u8] = match (is_nan, is_negative) {
        (true, _) => b"nan",
        (false, false) => b"inf",
        (false, true) => b"-inf",
    };
    out.extend_from_slice(text);
}

/// Lays the digits of a shortest float out as the dialect does.
fn write_shortest(text: &str, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 32];
    let (mut len, mut point, mut exponent) = (0, None, 0_i32);
    let mut bytes = text.as_bytes();
    if let Some(rest) = bytes.strip_prefix(b"-") {
        out.push(b'-');
        bytes = rest;
    }
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'.' => point = Some(len),
            b'e' | b'E' => {
                exponent = text[text.len() - bytes.len() + i + 1..]
                    .parse()
                    .unwrap_or(0);
                break;
            }
            digit if len < digits.len() => {
                digits[len] = *digit;
                len += 1;
            }
            _ => {}
        }
    }
    let leading = digits[..len].iter().take_while(|d| **d == b'0').count();
    let trailing = digits[leading..len]
        .iter()
        .rev()
        .take_while(|d| **d == b'0')
        .count();
    // At most 32 digits, so the counts fit.
    let point = point.unwrap_or(len) as i32 - leading as i32 + exponent;
    let significant = &digits[leading..len - trailing];
    if significant.is_empty() {
        return out.push(b'0');
    }
    write_digits(significant, point, out);
}

/// Writes `0.digits × 10^point`.
fn write_digits(digits: &[u8], point: i32, out: &mut Vec<u8>) {
    if !(MIN_FIXED_POINT..=MAX_FIXED_POINT).contains(&point) {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        return write_integer(point - 1, out);
    }
    if point <= 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + point.unsigned_abs() as usize, b'0');
        return out.extend_from_slice(digits);
    }
    let whole = point as usize;
    if digits.len() <= whole {
        out.extend_from_slice(digits);
        out.resize(out.len() + whole - digits.len(), b'0');
    } else {
        out.extend_from_slice(&digits[..whole]);
        out.push(b'.');
        out.extend_from_slice(&digits[whole..]);
    }
}

/// Writes `value × 10^-scale`; zeros at the end of the fraction only if `trailing_zeros`.
pub fn write_decimal128(value: i128, scale: u8, trailing_zeros: bool, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    let mut buffer = itoa::Buffer::new();
    let digits = match u64::try_from(value.unsigned_abs()) {
        Ok(short) => buffer.format(short),
        Err(_) => buffer.format(value.unsigned_abs()),
    };
    write_scaled(digits.as_bytes(), scale, trailing_zeros, out);
}

/// Same as [`write_decimal128`], for decimals of more than 38 digits.
pub fn write_decimal256(value: i256, scale: u8, trailing_zeros: bool, out: &mut Vec<u8>) {
    if let Some(small) = value.to_i128() {
        return write_decimal128(small, scale, trailing_zeros, out);
    }
    let text = value.to_string();
    let digits = match text.strip_prefix('-') {
        Some(digits) => {
            out.push(b'-');
            digits
        }
        None => text.as_str(),
    };
    write_scaled(digits.as_bytes(), scale, trailing_zeros, out);
}

fn write_scaled(digits: &[u8], scale: u8, trailing_zeros: bool, out: &mut Vec<u8>) {
    let scale = usize::from(scale);
    let whole_len = digits.len().saturating_sub(scale);
    let (whole, fraction) = digits.split_at(whole_len);
    out.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
    let kept = if trailing_zeros {
        fraction.len()
    } else {
        fraction
            .iter()
            .rposition(|d| *d != b'0')
            .map_or(0, |last| last + 1)
    };
    if kept > 0 {
        out.push(b'.');
        out.resize(out.len() + scale - fraction.len(), b'0');
        out.extend_from_slice(&fraction[..kept]);
    } else if trailing_zeros && scale > 0 {
        out.push(b'.');
        out.resize(out.len() + scale, b'0');
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::i256;

    use super::{write_decimal128, write_decimal256, write_f32, write_f64};

    fn f64_text(value: f64) -> String {
        let mut out = Vec::new();
        write_f64(value, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn floats_are_laid_out_as_in_clickhouse() {
        for (value, expected) in [
            (1e20, "100000000000000000000"),
            (1e21, "1e21"),
            (1.5e21, "1.5e21"),
            (0.00003, "0.00003"),
            (1e-6, "0.000001"),
            (0.0000012, "0.0000012"),
            (1e-7, "1e-7"),
            (1.25e-7, "1.25e-7"),
            (-0.0, "-0"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (-f64::NAN, "nan"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (-1.5, "-1.5"),
            (100.25, "100.25"),
        ] {
            assert_eq!(f64_text(value), expected);
        }
    }

    #[test]
    fn float32_is_shortest_as_float32() {
        let text = |value: f32| {
            let mut out = Vec::new();
            write_f32(value, &mut out);
            String::from_utf8(out).expect("ASCII")
        };
        assert_eq!(text(0.1), "0.1");
        assert_eq!(text(16_777_216.0), "16777216");
        assert_eq!(text(1e10), "10000000000");
        assert_eq!(text(3.402_823_5e38), "3.4028235e38");
    }

    #[test]
    fn decimals_lose_trailing_zeros() {
        let text = |value, scale, zeros| {
            let mut out = Vec::new();
            write_decimal128(value, scale, zeros, &mut out);
            String::from_utf8(out).expect("ASCII")
        };
        assert_eq!(text(110, 2, false), "1.1");
        assert_eq!(text(110, 2, true), "1.10");
        assert_eq!(text(-5, 1, false), "-0.5");
        assert_eq!(text(-1, 3, false), "-0.001");
        assert_eq!(text(100, 2, false), "1");
        assert_eq!(text(0, 2, false), "0");
        assert_eq!(text(0, 2, true), "0.00");
        assert_eq!(text(7, 0, false), "7");
        let mut out = Vec::new();
        write_decimal256(
            i256::from_string(&format!("-1{}", "0".repeat(50))).expect("fits"),
            49,
            false,
            &mut out,
        );
        assert_eq!(out, b"-10");
    }
}
