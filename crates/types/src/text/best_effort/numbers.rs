//! Reads the numbers of a time: how many digits there are, and what follows, tells what they are.

use basalt_error::Result;

use super::words::{MONTHS, named};
use super::{BestEffort, DateOrder, MAX_DIGITS, Parts};
use crate::text::Cursor;
use crate::text::parse_time::{cannot_parse, digits_value, read_nanoseconds, take_digits};

/// Two digits of a year below this one are of the 21st century.
const CENTURY_PIVOT: u32 = 70;

impl Parts {
    pub(super) fn read_digits(
        &mut self,
        digits: &[u8],
        len: usize,
        cursor: &mut Cursor<'_>,
        how: BestEffort,
    ) -> Result<()> {
        let is_first = self.year == 0 && !self.has_time();
        let part = |from: usize, to: usize| digits_value(&digits[from..to]);
        match len {
            9 | 10 | 13 | 16 | 19 if is_first => self.read_unix(digits, cursor, how),
            14 if is_first => {
                self.set_date(part(0, 4), part(4, 6), part(6, 8));
                self.set_clock(&digits[8..]);
            }
            8 if self.year == 0 => self.set_date(part(0, 4), part(4, 6), part(6, 8)),
            6 if self.year == 0 && self.month == 0 => self.set_date(part(0, 4), part(4, 6), 0),
            6 if !self.has_time() => self.set_clock(digits),
            4 if self.year == 0 => {
                self.year = part(0, 4);
                self.read_behind_year(cursor)?;
            }
            1 | 2 => self.read_short_number(digits_value(digits), cursor, how)?,
            _ => {
                return Err(cannot_parse(format!(
                    "unexpected number of decimal digits: {len}"
                )));
            }
        }
        Ok(())
    }

    fn set_date(&mut self, year: u32, month: u32, day: u32) {
        (self.year, self.month, self.day) = (year, month, day);
    }

    fn set_clock(&mut self, digits: &[u8]) {
        let part = |from: usize| i64::from(digits_value(&digits[from..from + 2]));
        self.clock = Some(part(0) * 3600 + part(2) * 60 + part(4));
    }

    /// Seconds since 1970, with 3, 6 or 9 more digits for the fraction.
    fn read_unix(&mut self, digits: &[u8], cursor: &mut Cursor<'_>, how: BestEffort) {
        let (seconds, fraction) = digits.split_at(digits.len().min(10));
        let seconds = seconds.iter().fold(0, |s, d| s * 10 + i64::from(d - b'0'));
        let mut nanoseconds = read_nanoseconds(&mut Cursor::new(fraction));
        if how.fractions && fraction.is_empty() && cursor.eat(b'.') {
            nanoseconds = read_nanoseconds(cursor);
        }
        self.unix = Some((seconds, nanoseconds));
    }

    /// `-MM-DD` or `-MM`, with any separator; a time may follow a year that stands alone.
    fn read_behind_year(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let Some(separator) = cursor.peek() else {
            return Ok(());
        };
        let is_end = separator < b' ' || matches!(separator, b'"' | b'\'' | b',' | b';');
        if is_end || (self.month != 0 && separator == b' ') {
            return Ok(());
        }
        self.refuse_separator(separator)?;
        cursor.advance(1);
        let month = take_digits(cursor, MAX_DIGITS);
        if separator == b' ' && !matches!(month.len(), 1 | 2) {
            // A name of a month follows, or a time.
            return Ok(());
        }
        self.month = short_number(month, "year")?;
        if cursor.eat(separator) {
            let day = take_digits(cursor, MAX_DIGITS);
            self.day = short_number(day, "year and month")?;
        }
        let is_before_time = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_digit());
        if cursor.eat(b',') && !is_before_time(cursor.peek()) {
            return Err(cannot_parse("unexpected word after Date"));
        }
        Ok(())
    }

    /// Numbers with dots may be versions and addresses.
    fn refuse_separator(&self, separator: u8) -> Result<()> {
        if self.is_strict && matches!(separator, b'.' | b'_') {
            return Err(cannot_parse("dots or underscores in the date"));
        }
        Ok(())
    }

    /// One or two digits: what follows tells whether it is a day, a month or an hour.
    fn read_short_number(
        &mut self,
        number: u32,
        cursor: &mut Cursor<'_>,
        how: BestEffort,
    ) -> Result<()> {
        match cursor.peek() {
            Some(b':') => self.read_time(number, cursor),
            Some(b',') => {
                cursor.advance(1);
                if self.month != 0 && self.day == 0 {
                    self.day = number;
                }
                Ok(())
            }
            Some(b'/' | b'.' | b'-') => self.read_behind_day(number, cursor, how.order),
            _ => {
                if self.day == 0 && number <= 31 {
                    self.day = number;
                } else {
                    self.hour = number;
                    self.has_hour = true;
                }
                Ok(())
            }
        }
    }

    fn read_time(&mut self, hour: u32, cursor: &mut Cursor<'_>) -> Result<()> {
        if self.has_time() {
            return Err(cannot_parse("time component is duplicated"));
        }
        cursor.advance(1);
        let minute = short_number(take_digits(cursor, MAX_DIGITS), "hour")?;
        let mut second = 0;
        if cursor.eat(b':') {
            second = short_number(take_digits(cursor, MAX_DIGITS), "hour and minute")?;
        }
        self.clock = Some(i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second));
        Ok(())
    }

    /// `DD/MM`, `DD/MM/YYYY`, `DD-Mon-YYYY` and their kin.
    fn read_behind_day(
        &mut self,
        day: u32,
        cursor: &mut Cursor<'_>,
        order: DateOrder,
    ) -> Result<()> {
        if self.day != 0 {
            return Err(cannot_parse("day of month is duplicated"));
        }
        if self.month != 0 {
            return Err(cannot_parse("month is duplicated"));
        }
        self.refuse_separator(cursor.peek().unwrap_or_default())?;
        cursor.advance(1);
        self.day = day;
        let month = take_digits(cursor, MAX_DIGITS);
        if month.is_empty() {
            let word = cursor.take_while(|b| b.is_ascii_alphabetic());
            let number = named(&MONTHS, word);
            self.month = number.map_or_else(|| short_number(month, "day of month"), Ok)?;
        } else {
            self.month = short_number(month, "day of month")?;
            let is_swapped = order == DateOrder::MonthFirst && self.day <= 12;
            if is_swapped || self.month > 12 {
                std::mem::swap(&mut self.day, &mut self.month);
            }
        }
        if let Some(b'/' | b'.' | b'-') = cursor.peek() {
            cursor.advance(1);
            let year = take_digits(cursor, MAX_DIGITS);
            self.year = match year.len() {
                4 => digits_value(year),
                2 if digits_value(year) < CENTURY_PIVOT => 2000 + digits_value(year),
                2 => 1900 + digits_value(year),
                len => {
                    return Err(cannot_parse(format!(
                        "unexpected number of decimal digits after day of month and month: {len}"
                    )));
                }
            };
        }
        Ok(())
    }
}

/// The value of one or two digits, which stand behind `what`.
fn short_number(digits: &[u8], what: &str) -> Result<u32> {
    match digits.len() {
        1 | 2 => Ok(digits_value(digits)),
        len => Err(cannot_parse(format!(
            "unexpected number of decimal digits after {what}: {len}"
        ))),
    }
}
