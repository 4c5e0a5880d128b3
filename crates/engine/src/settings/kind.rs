//! Knows what values a setting takes, and the usual form of each.

use basalt_error::{Error, ErrorCode, Result};

use super::arms;

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number from 0 up; sizes may end in K, M, G, T or Ki, Mi, Gi, Ti.
    UInt64,
    /// As `UInt64`, but not 0.
    NonZeroUInt64,
    /// 0 or 1.
    Bool,
    /// Seconds, with a fraction.
    Seconds,
    /// A part of a whole: from 0 to less than 1.
    Ratio,
    /// One of a list of words; ClickHouse's name of the kind stands before them.
    Word(&'static str, &'static [&'static str]),
    /// One or more of a list of words, separated by commas; ClickHouse's name of the kind stands before them.
    Words(&'static str, &'static [&'static str]),
    /// A list `choice=arm, choice=arm` of what is not to be decided by measuring.
    Arms,
    /// Any text.
    Text,
}

impl Kind {
    /// The value in its usual form.
    ///
    /// # Errors
    /// If the text is no value of this kind.
    pub fn normalize(self, name: &str, text: &str) -> Result<String> {
        let bad = |code, what: &str| {
            Error::new(code, format!("Give setting {name} {what}, not '{text}'"))
        };
        match self {
            Self::NonZeroUInt64 => match Self::UInt64.normalize(name, text)? {
                zero if zero == "0" => Err(Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    format!("Setting {name} must be greater than 0"),
                )),
                number => Ok(number),
            },
            Self::UInt64 if text == "auto" => Ok("0".to_owned()),
            Self::UInt64 if text.starts_with('-') && text[1..].parse::<u64>().is_ok() => {
                Err(bad(ErrorCode::CANNOT_CONVERT_TYPE, "a number from 0 up"))
            }
            Self::UInt64 => parse_size(text).map(|n| n.to_string()).ok_or_else(|| {
                bad(
                    ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
                    "a number from 0 up",
                )
            }),
            Self::Bool => match text {
                "1" | "true" => Ok("1".to_owned()),
                "0" | "false" => Ok("0".to_owned()),
                _ if text.parse::<f64>().is_ok() => {
                    Err(bad(ErrorCode::CANNOT_CONVERT_TYPE, "0 or 1"))
                }
                _ => Err(bad(ErrorCode::CANNOT_PARSE_BOOL, "0 or 1")),
            },
            Self::Seconds => match text.parse::<f64>() {
                Ok(seconds) if seconds > MAX_SECONDS => {
                    Err(bad(ErrorCode::BAD_ARGUMENTS, "fewer seconds"))
                }
                Ok(seconds) if seconds >= 0.0 => Ok(text.to_owned()),
                _ => Err(bad(ErrorCode::CANNOT_PARSE_NUMBER, "a number of seconds")),
            },
            Self::Ratio => match text.parse::<f64>() {
                Ok(ratio) if (0.0..1.0).contains(&ratio) => Ok(text.to_owned()),
                Ok(_) => Err(bad(ErrorCode::BAD_ARGUMENTS, "a part from 0 to below 1")),
                Err(_) => Err(bad(ErrorCode::CANNOT_PARSE_NUMBER, "a number")),
            },
            Self::Word(kind, words) => match words.iter().find(|w| w.eq_ignore_ascii_case(text)) {
                Some(word) => Ok((*word).to_owned()),
                None => {
                    let code = match kind.starts_with(OVERFLOW_MODE) {
                        true => ErrorCode::UNKNOWN_OVERFLOW_MODE,
                        false => ErrorCode::BAD_ARGUMENTS,
                    };
                    let what = format!("one of {}", words.join(", "));
                    Err(bad(code, &what))
                }
            },
            Self::Words(_, words) => some_of(words, text).ok_or_else(|| {
                let what = format!("some of {}", words.join(", "));
                bad(ErrorCode::UNKNOWN_JOIN, &what)
            }),
            Self::Arms => arms::check(text).map(|()| text.to_owned()),
            Self::Text => Ok(text.to_owned()),
        }
    }

    /// Name of the kind in `system.settings`.
    pub fn name(self) -> &'static str {
        match self {
            Self::UInt64 => "UInt64",
            Self::NonZeroUInt64 => "NonZeroUInt64",
            Self::Bool => "Bool",
            Self::Seconds => "Seconds",
            Self::Ratio => "Double",
            Self::Word(kind, _) | Self::Words(kind, _) => kind,
            Self::Arms | Self::Text => "String",
        }
    }
}

/// How the names of kinds of overflow modes begin.
pub(super) const OVERFLOW_MODE: &str = "OverflowMode";

/// Whose microseconds still fit a signed number of 64 bits.
const MAX_SECONDS: f64 = 9.2e12;

/// Each of the words of a list once, in its order; none if it has others.
fn some_of(words: &[&str], text: &str) -> Option<String> {
    let mut given: Vec<&str> = Vec::new();
    for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        if !words.contains(&word) {
            return None;
        }
        if !given.contains(&word) {
            given.push(word);
        }
    }
    Some(given.join(","))
}

fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" | "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" | "KiB" => 1 << 10,
        "Mi" | "MiB" => 1 << 20,
        "Gi" | "GiB" => 1 << 30,
        "Ti" | "TiB" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}
