//! Reads what stands between the numbers of a time: months, days of the week, zones, offsets.

use basalt_error::Result;

use super::{MAX_DIGITS, Parts};
use crate::text::Cursor;
use crate::text::parse_time::{cannot_parse, digits_value, read_nanoseconds, take_digits};

/// Names of months, the first three letters are enough.
pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Names of zones and their hours ahead of UTC.
const ZONES: [(&str, i64); 4] = [("utc", 0), ("gmt", 0), ("msk", 3), ("msd", 4)];

impl Parts {
    /// Reads what is no digit; `false` if it is no part of a time.
    pub(super) fn read_other(&mut self, cursor: &mut Cursor<'_>) -> Result<bool> {
        let Some(byte) = cursor.peek() else {
            return Ok(false);
        };
        match byte {
            b' ' => cursor.advance(1),
            b'T' if self.year != 0 && !self.has_time() => cursor.advance(1),
            b'.' => self.read_fraction(cursor)?,
            b'+' | b'-' => {
                if self.is_empty() {
                    return Ok(false);
                }
                self.read_offset(cursor, byte == b'-')?;
            }
            _ if byte.is_ascii_alphabetic() => self.read_word(cursor)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read_fraction(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        if !self.has_time() {
            return Err(cannot_parse("unexpected point symbol"));
        }
        if std::mem::replace(&mut self.has_fraction, true) {
            return Err(cannot_parse("duplicate fractional part"));
        }
        cursor.advance(1);
        self.nanoseconds = read_nanoseconds(cursor);
        Ok(())
    }

    fn read_offset(&mut self, cursor: &mut Cursor<'_>, negative: bool) -> Result<()> {
        cursor.advance(1);
        let digits = take_digits(cursor, MAX_DIGITS);
        let (hours, mut minutes) = match digits.len() {
            1 | 2 => (digits_value(digits), 0),
            len @ (3 | 4) => {
                let (hours, minutes) = digits.split_at(len - 2);
                (digits_value(hours), digits_value(minutes))
            }
            len => {
                return Err(cannot_parse(format!(
                    "unexpected number of decimal digits for time zone offset: {len}"
                )));
            }
        };
        if digits.len() < 3 && cursor.eat(b':') {
            let digits = take_digits(cursor, MAX_DIGITS);
            if !matches!(digits.len(), 1 | 2) {
                return Err(cannot_parse(
                    "unexpected number of decimal digits for time zone offset in minutes",
                ));
            }
            minutes = digits_value(digits);
        }
        let ahead = i64::from(hours) * 3600 + i64::from(minutes) * 60;
        let known = self.offset_seconds.unwrap_or(0);
        self.offset_seconds = Some(known + if negative { -ahead } else { ahead });
        Ok(())
    }

    fn read_word(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let word = cursor.take_while(|b| b.is_ascii_alphabetic());
        if word == b"Z" {
            self.offset_seconds = Some(0);
        } else if word.len() == 1 {
            return Err(cannot_parse("unexpected alphabetical character"));
        } else if word.eq_ignore_ascii_case(b"am") || word.eq_ignore_ascii_case(b"pm") {
            self.is_pm = Some(word.eq_ignore_ascii_case(b"pm"));
        } else if let Some(month) = named(&MONTHS, word) {
            self.month = month;
        } else if let Some((_, hours)) = ZONES
            .iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()))
        {
            self.offset_seconds = Some(hours * 3600);
        } else if named(&WEEKDAYS, word).is_some() {
            cursor.eat(b',');
        } else {
            return Err(cannot_parse("unexpected word"));
        }
        Ok(())
    }
}

/// The number (from 1) of a name or of its first three letters.
pub(super) fn named(names: &[&str], word: &[u8]) -> Option<u32> {
    let is_it = |name: &&str| {
        word.eq_ignore_ascii_case(name.as_bytes())
            || word.eq_ignore_ascii_case(&name.as_bytes()[..3])
    };
    // At most twelve names.
    names.iter().position(is_it).map(|i| i as u32 + 1)
}
