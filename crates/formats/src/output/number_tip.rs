//! Tells large numbers in words: `-- 1.23 million`.

use basalt_types::text::{parse_f64, write_f64};

/// Names of the powers of a thousand, from the second on.
const NAMES: [&str; 20] = [
    "million",
    "billion",
    "trillion",
    "quadrillion",
    "quintillion",
    "sextillion",
    "septillion",
    "octillion",
    "nonillion",
    "decillion",
    "undecillion",
    "duodecillion",
    "tredecillion",
    "quattuordecillion",
    "quindecillion",
    "sexdecillion",
    "septendecillion",
    "octodecillion",
    "novemdecillion",
    "vigintillion",
];

/// Numbers between these two are more often hashes and identifiers than quantities.
const IDENTIFIERS: (f64, f64) = (1e17, 18_446_744_073_709_551_616.0);

/// Appends the tip for the number that `text` is, if it is beyond `threshold`.
pub(super) fn write_tip(text: &[u8], threshold: u64, out: &mut Vec<u8>) {
    let Ok(value) = parse_f64(text) else {
        return;
    };
    let is_identifier = value.abs() > IDENTIFIERS.0 && value.abs() <= IDENTIFIERS.1;
    if threshold == 0 || !value.is_finite() || is_identifier || value.abs() <= threshold as f64 {
        return;
    }
    let mut rest = value / 1e6;
    let mut name = 0;
    while rest.abs() >= 1000.0 && name + 1 < NAMES.len() {
        rest /= 1000.0;
        name += 1;
    }
    out.extend_from_slice(b" -- ");
    if rest.abs() < 1e60 {
        out.extend_from_slice(format!("{rest:.2}").as_bytes());
    } else {
        write_f64(rest, out);
    }
    out.push(b' ');
    out.extend_from_slice(NAMES[name].as_bytes());
}

#[cfg(test)]
mod tests {
    use super::write_tip;

    #[test]
    fn large_numbers_have_names() {
        for (text, expected) in [
            ("1234567", " -- 1.23 million"),
            ("-5000000.5", " -- -5.00 million"),
            ("-12345678901", " -- -12.35 billion"),
            ("12345678901234567", " -- 12.35 quadrillion"),
            ("1234567890123456789", ""),
            ("1000000", ""),
            ("1000001", " -- 1.00 million"),
            ("nan", ""),
            ("inf", ""),
            ("x", ""),
        ] {
            let mut out = Vec::new();
            write_tip(text.as_bytes(), 1_000_000, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected, "{text}");
        }
    }
}
