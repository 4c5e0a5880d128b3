//! Writes numbers and texts by one code of C's `printf`: flags, width, precision, conversion.

/// A code of a pattern: what stands behind a `%`.
#[derive(Clone, Debug, Default)]
pub(super) struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zeros: bool,
    width: usize,
    pub(super) precision: Option<usize>,
    /// The conversion; 0 if there is none.
    pub(super) code: u8,
}

/// Widest field.
const MAX_WIDTH: usize = 1 << 16;

impl Spec {
    /// Reads a code; gives what is behind it.
    pub(super) fn read(text: &[u8]) -> (Self, &[u8]) {
        let mut spec = Self::default();
        let mut at = 0;
        loop {
            match text.get(at) {
                Some(b'-') => spec.left = true,
                Some(b'+') => spec.plus = true,
                Some(b' ') => spec.space = true,
                Some(b'#') => spec.alternative = true,
                Some(b'0') => spec.zeros = true,
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize| {
            let mut number = 0_usize;
            while let Some(digit) = text.get(*at).filter(|d| d.is_ascii_digit()) {
                number = (number * 10 + usize::from(digit - b'0')).min(MAX_WIDTH);
                *at += 1;
            }
            number
        };
        spec.width = number(&mut at);
        if text.get(at) == Some(&b'.') {
            at += 1;
            spec.precision = Some(number(&mut at));
        }
        while matches!(text.get(at), Some(b'h' | b'l' | b'j' | b'z' | b't' | b'L')) {
            at += 1;
        }
        spec.code = text.get(at).copied().unwrap_or(0);
        (spec, text.get(at + 1..).unwrap_or_default())
    }
}

/// Appends a text, filled up with spaces to the width.
pub(super) fn push_padded(text: &[u8], spec: &Spec, out: &mut Vec<u8>) {
    let missing = spec.width.saturating_sub(text.len());
    if !spec.left {
        out.resize(out.len() + missing, b' ');
    }
    out.extend_from_slice(text);
    if spec.left {
        out.resize(out.len() + missing, b' ');
    }
}

/// Appends a sign or prefix and digits, filled up with zeros between them if asked to.
fn push_number(prefix: &str, digits: &str, (spec, may_fill): (&Spec, bool), out: &mut Vec<u8>) {
    let zeros = if spec.zeros && !spec.left && may_fill {
        spec.width.saturating_sub(prefix.len() + digits.len())
    } else {
        0
    };
    let text = format!("{prefix}{}{digits}", "0".repeat(zeros));
    push_padded(text.as_bytes(), spec, out);
}

fn sign(is_negative: bool, spec: &Spec) -> &'static str {
    match (is_negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// Appends an integer; whether the code is one for integers.
pub(super) fn push_integer(value: i64, spec: &Spec, out: &mut Vec<u8>) -> bool {
    let bits = value as u64;
    let (prefix, digits) = match spec.code {
        b'd' | b'i' => (sign(value < 0, spec), value.unsigned_abs().to_string()),
        b'u' => ("", bits.to_string()),
        b'o' => (if spec.alternative { "0" } else { "" }, format!("{bits:o}")),
        b'x' => (
            if spec.alternative { "0x" } else { "" },
            format!("{bits:x}"),
        ),
        b'X' => (
            if spec.alternative { "0X" } else { "" },
            format!("{bits:X}"),
        ),
        b'c' => {
            push_padded(&[value as u8], spec, out);
            return true;
        }
        _ => return false,
    };
    let digits = match spec.precision {
        Some(least) => format!("{digits:0>least$}"),
        None => digits,
    };
    push_number(prefix, &digits, (spec, spec.precision.is_none()), out);
    true
}

/// Appends a float; whether the code is one for floats.
pub(super) fn push_float(value: f64, spec: &Spec, out: &mut Vec<u8>) -> bool {
    let upper = spec.code.is_ascii_uppercase();
    let magnitude = value.abs();
    let places = spec.precision.unwrap_or(6);
    let digits = match spec.code.to_ascii_lowercase() {
        _ if !value.is_finite() && b"aefg".contains(&spec.code.to_ascii_lowercase()) => {
            if value.is_nan() { "nan" } else { "inf" }.to_owned()
        }
        b'f' => format!("{magnitude:.places$}"),
        b'e' => exponent_form(magnitude, places),
        b'g' => general_form(magnitude, places.max(1), spec.alternative),
        b'a' => hex_form(magnitude),
        _ => return false,
    };
    let digits = if upper {
        digits.to_ascii_uppercase()
    } else {
        digits
    };
    let is_negative = value.is_sign_negative() && !value.is_nan();
    push_number(
        sign(is_negative, spec),
        &digits,
        (spec, value.is_finite()),
        out,
    );
    true
}

/// `1.500000e+00`
fn exponent_form(magnitude: f64, places: usize) -> String {
    let text = format!("{magnitude:.places$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// The shorter of the two forms, without zeros at the end.
fn general_form(magnitude: f64, digits: usize, keeps_zeros: bool) -> String {
    let by_exponent = exponent_form(magnitude, digits - 1);
    let exponent = by_exponent.split_once('e').map_or("0", |(_, e)| e);
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| -> String {
        if keeps_zeros || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    // A width of at most `MAX_WIDTH` fits.
    if exponent < -4 || exponent >= digits as i64 {
        let (mantissa, exponent) = by_exponent.split_once('e').unwrap_or((&by_exponent, "+00"));
        return format!("{}e{exponent}", trim(mantissa));
    }
    let places = (digits as i64 - 1 - exponent).max(0) as usize;
    trim(&format!("{magnitude:.places$}"))
}

/// `0x1.8p+0`
fn hex_form(magnitude: f64) -> String {
    let bits = magnitude.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    if magnitude == 0.0 {
        return "0x0p+0".to_owned();
    }
    let (lead, exponent) = if exponent == 0 {
        (0, -1022)
    } else {
        (1, exponent - 1023)
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{exponent:+}")
}
