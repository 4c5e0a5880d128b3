//! Tells large numbers in words: `-- 1.23 million`.

use basalt_types::text::{parse_f64, write_f64};

/// Names of the powers of a thousand, with the space before them.
const NAMES: [&str; 22] = [
    "",
    " thousand",
    " million",
    " billion",
    " trillion",
    " quadrillion",
    " quintillion",
    " sextillion",
    " septillion",
    " octillion",
    " nonillion",
    " decillion",
    " undecillion",
    " duodecillion",
    " tredecillion",
    " quattuordecillion",
    " quindecillion",
    " sexdecillion",
    " septendecillion",
    " octodecillion",
    " novemdecillion",
    " vigintillion",
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
    let mut rest = value;
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
    out.extend_from_slice(NAMES[name].as_bytes());
}

#[cfg(test)]
mod tests {
    use super::write_tip;

    fn tip(text: &str, threshold: u64) -> String {
        let mut out = Vec::new();
        write_tip(text.as_bytes(), threshold, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

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
            assert_eq!(tip(text, 1_000_000), expected, "{text}");
        }
        assert_eq!(tip("12345", 10), " -- 12.35 thousand");
        assert_eq!(tip("999", 10), " -- 999.00");
    }
}
