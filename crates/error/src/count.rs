//! Writes a number with its noun.

use std::fmt::Display;

/// `1 argument`, `0 arguments`, `1 to 2 arguments`; the noun is given in the singular.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = match number.rsplit(' ').next() {
        Some("1") => "",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "argument"), "1 argument");
        assert_eq!(counted(0, "argument"), "0 arguments");
        assert_eq!(counted("at least 1", "row"), "at least 1 row");
        assert_eq!(counted("1 to 2", "row"), "1 to 2 rows");
        assert_eq!(counted(11, "row"), "11 rows");
    }
}
