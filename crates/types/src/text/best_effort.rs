//! Reads times whatever their layout: `parseDateTimeBestEffort`, and the formats' default.
//!
//! The text is a sequence of parts: runs of digits, whose length and surroundings tell what they
//! are, names of months and days, offsets and zones. Reading stops at the first byte that starts
//! no part; it is left for the caller.

use basalt_error::Result;

use super::Cursor;
use super::parse_time::{
    LocalClock, cannot_parse, digits_value, read_clock, read_full_date, read_nanoseconds,
    take_digits,
};
use crate::calendar::{CivilDate, SECONDS_PER_DAY};

/// What an ambiguous date is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateOrder {
    /// `01/02/2020` is the first of February.
    #[default]
    DayFirst,
    /// `01/02/2020` is the second of January.
    MonthFirst,
}

/// How times are read.
#[derive(Clone, Copy, Debug)]
pub struct BestEffort {
    /// What an ambiguous date is.
    pub order: DateOrder,
    /// Whether fractions count (`DateTime64`); else they are skipped behind a time and left
    /// behind a number.
    pub fractions: bool,
}

/// Names of months, the first three letters are enough.
const MONTHS: [&str; 12] = [
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

/// Two digits of a year below this one are of the 21st century.
const CENTURY_PIVOT: u32 = 70;

/// What has been read so far; 0 is "not yet" for year, month and day.
#[derive(Default)]
struct Parts {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    /// Seconds since midnight of a time with colons.
    clock: Option<i64>,
    has_hour: bool,
    nanoseconds: i64,
    /// Whether AM or PM stood there.
    is_pm: Option<bool>,
    offset_seconds: Option<i64>,
    /// Set by Unix times, which end the text.
    unix: Option<(i64, i64)>,
    /// Whether a fraction of a second stood there.
    has_fraction: bool,
    /// Whether layouts that other texts have too are refused.
    is_strict: bool,
}

/// Reads a time; returns seconds in UTC and nanoseconds.
///
/// # Errors
/// `CANNOT_PARSE_DATETIME`.
pub fn read_best_effort(
    cursor: &mut Cursor<'_>,
    how: BestEffort,
    clock: &mut LocalClock,
) -> Result<(i64, i64)> {
    if let Some(local_seconds) = read_common_layout(cursor) {
        return Ok((clock.to_utc_seconds(local_seconds), 0));
    }
    let mut parts = Parts::default();
    parts.read(cursor, how)?;
    parts.finish(clock)
}

/// Reads a time if it has year, month and day and could hardly be anything else: no Unix time, no
/// digits without separators, no dots between year, month and day.
///
/// Returns seconds in UTC and whether there was a fraction.
///
/// # Errors
/// `CANNOT_PARSE_DATETIME`.
pub fn read_strict(cursor: &mut Cursor<'_>, clock: &mut LocalClock) -> Result<(i64, bool)> {
    let how = BestEffort {
        order: DateOrder::DayFirst,
        fractions: true,
    };
    let mut parts = Parts {
        is_strict: true,
        ..Parts::default()
    };
    parts.read(cursor, how)?;
    if parts.year == 0 || parts.month == 0 || parts.day == 0 {
        return Err(cannot_parse("year, month or day is missing"));
    }
    let has_fraction = parts.has_fraction;
    let (seconds, _) = parts.finish(clock)?;
    Ok((seconds, has_fraction))
}

/// Reads `YYYY-MM-DD hh:mm:ss` if that is the whole text.
#[inline]
fn read_common_layout(cursor: &mut Cursor<'_>) -> Option<i64> {
    let text: &[u8; 19] = cursor.rest().try_into().ok()?;
    let date = read_full_date(text)?;
    let separators = [text[4], text[7], text[10], text[13], text[16]];
    if !date.is_valid() || separators != *b"-- ::" || date.year == 0 {
        return None;
    }
    let mut time = Cursor::new(&text[11..]);
    let second = read_clock(&mut time)?;
    if !time.is_at_end() {
        return None;
    }
    *cursor = Cursor::new(&[]);
    Some(i64::from(date.to_days()) * SECONDS_PER_DAY + second)
}

impl Parts {
    fn read(&mut self, cursor: &mut Cursor<'_>, how: BestEffort) -> Result<()> {
        while !cursor.is_at_end() && self.unix.is_none() {
            let digits = take_digits(cursor, 20);
            let known = match digits.len() {
                0 => self.read_other(cursor)?,
                len if self.is_strict && !matches!(len, 1 | 2 | 4) => {
                    return Err(cannot_parse("digits without separators"));
                }
                len => {
                    self.read_digits(digits, len, cursor, how)?;
                    true
                }
            };
            if !known {
                break;
            }
        }
        Ok(())
    }

    fn has_time(&self) -> bool {
        self.clock.is_some()
    }

    fn read_digits(
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
        if separator < b' ' || (self.month != 0 && separator == b' ') {
            return Ok(());
        }
        self.refuse_separator(separator)?;
        cursor.advance(1);
        let month = take_digits(cursor, 2);
        if month.is_empty() {
            return Err(cannot_parse(
                "unexpected number of decimal digits after year: 0",
            ));
        }
        self.month = digits_value(month);
        if cursor.eat(separator) {
            let day = take_digits(cursor, 2);
            if day.is_empty() {
                return Err(cannot_parse(
                    "unexpected number of decimal digits after year and month: 0",
                ));
            }
            self.day = digits_value(day);
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
        cursor.advance(1);
        let minute = take_digits(cursor, 2);
        if minute.is_empty() {
            return Err(cannot_parse(
                "unexpected number of decimal digits after hour: 0",
            ));
        }
        let mut second: &[u8] = &[];
        if cursor.eat(b':') {
            second = take_digits(cursor, 2);
            if second.is_empty() {
                return Err(cannot_parse(
                    "unexpected number of decimal digits after minute: 0",
                ));
            }
            if cursor.eat(b'.') {
                self.nanoseconds = read_nanoseconds(cursor);
                self.has_fraction = true;
            }
        }
        let (minute, second) = (digits_value(minute), digits_value(second));
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
        let month = take_digits(cursor, 2);
        if month.is_empty() {
            let word = cursor.take_while(|b| b.is_ascii_alphabetic());
            self.month = named(&MONTHS, word).ok_or_else(|| {
                cannot_parse("unexpected number of decimal digits after day of month: 0")
            })?;
        } else {
            self.month = digits_value(month);
            let is_swapped = order == DateOrder::MonthFirst && self.day <= 12;
            if is_swapped || self.month > 12 {
                std::mem::swap(&mut self.day, &mut self.month);
            }
        }
        if let Some(b'/' | b'.' | b'-') = cursor.peek() {
            cursor.advance(1);
            let year = take_digits(cursor, 4);
            self.year = match (year.len(), digits_value(year)) {
                (4, year) => year,
                (2, year) if year < CENTURY_PIVOT => 2000 + year,
                (2, year) => 1900 + year,
                (len, _) => {
                    return Err(cannot_parse(format!(
                        "unexpected number of decimal digits after day of month and month: {len}"
                    )));
                }
            };
        }
        Ok(())
    }

    /// Reads what is no digit; `false` if it is no part of a time.
    fn read_other(&mut self, cursor: &mut Cursor<'_>) -> Result<bool> {
        let Some(byte) = cursor.peek() else {
            return Ok(false);
        };
        match byte {
            b' ' => cursor.advance(1),
            b',' if !self.has_time() => cursor.advance(1),
            b'T' if cursor.rest().get(1).is_none_or(u8::is_ascii_digit) => cursor.advance(1),
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

    fn read_offset(&mut self, cursor: &mut Cursor<'_>, negative: bool) -> Result<()> {
        cursor.advance(1);
        let digits = take_digits(cursor, 4);
        let (hours, mut minutes) = match digits.len() {
            1 | 2 => (digits_value(digits), 0),
            4 => (digits_value(&digits[..2]), digits_value(&digits[2..])),
            len => {
                return Err(cannot_parse(format!(
                    "unexpected number of decimal digits for time zone offset: {len}"
                )));
            }
        };
        if digits.len() < 4 && cursor.eat(b':') {
            minutes = digits_value(take_digits(cursor, 2));
        }
        let ahead = i64::from(hours) * 3600 + i64::from(minutes) * 60;
        let known = self.offset_seconds.unwrap_or(0);
        self.offset_seconds = Some(known + if negative { -ahead } else { ahead });
        Ok(())
    }

    fn read_word(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let word = cursor.take_while(|b| b.is_ascii_alphabetic());
        if word.eq_ignore_ascii_case(b"z") {
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
        } else if named(&WEEKDAYS, word).is_none() {
            return Err(cannot_parse("unexpected word"));
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.year == 0 && self.month == 0 && self.day == 0 && !self.has_time() && !self.has_hour
    }

    fn finish(mut self, clock: &mut LocalClock) -> Result<(i64, i64)> {
        if let Some(unix) = self.unix {
            return Ok(unix);
        }
        if self.is_empty() {
            return Err(cannot_parse(
                "neither Date nor Time was parsed successfully",
            ));
        }
        self.month = self.month.max(1);
        self.day = self.day.max(1);
        if self.year == 0 {
            self.year = self.latest_year();
        }
        // Four digits fit.
        let date = CivilDate {
            year: self.year as i32,
            month: self.month,
            day: self.day,
        };
        if !date.is_valid() {
            let (year, month, day) = (self.year, self.month, self.day);
            return Err(cannot_parse(format!(
                "unexpected date: {year}-{month}-{day}"
            )));
        }
        let mut second = self.clock.unwrap_or(i64::from(self.hour) * 3600);
        match self.is_pm {
            Some(true) if second < SECONDS_PER_DAY / 2 => second += SECONDS_PER_DAY / 2,
            Some(false) if second / 3600 == 12 => second -= SECONDS_PER_DAY / 2,
            _ => {}
        }
        let local_seconds = i64::from(date.to_days()) * SECONDS_PER_DAY + second;
        let utc_seconds = match self.offset_seconds {
            Some(ahead) => local_seconds - ahead,
            None => clock.to_utc_seconds(local_seconds),
        };
        Ok((utc_seconds, self.nanoseconds))
    }

    /// The latest year in which month and day are not in the future.
    fn latest_year(&self) -> u32 {
        let seconds = chrono::Utc::now().timestamp();
        let days = i32::try_from(seconds / SECONDS_PER_DAY).unwrap_or(0);
        let today = CivilDate::from_days(days);
        let is_ahead = (self.month, self.day) > (today.month, today.day);
        u32::try_from(today.year).unwrap_or(0) - u32::from(is_ahead)
    }
}

/// The number (from 1) of a name or of its first three letters.
fn named(names: &[&str], word: &[u8]) -> Option<u32> {
    let is_it = |name: &&str| {
        word.eq_ignore_ascii_case(name.as_bytes())
            || word.eq_ignore_ascii_case(&name.as_bytes()[..3])
    };
    // At most twelve names.
    names.iter().position(is_it).map(|i| i as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::{BestEffort, DateOrder, read_best_effort};
    use crate::Tz;
    use crate::calendar::OffsetCache;
    use crate::text::parse_number::parse_whole;
    use crate::text::parse_time::{LocalClock, to_ticks};
    use crate::text::time::write_date_time64;

    fn read(text: &str, order: DateOrder, precision: u8) -> String {
        let how = BestEffort {
            order,
            fractions: precision > 0,
        };
        let mut clock = LocalClock::new(Tz::UTC);
        let parsed = parse_whole(text.as_bytes(), "DateTime", |cursor| {
            read_best_effort(cursor, how, &mut clock)
        });
        let ticks =
            parsed.and_then(|(seconds, nanoseconds)| to_ticks(seconds, nanoseconds, precision));
        match ticks {
            Ok(ticks) => {
                let mut out = Vec::new();
                write_date_time64(ticks, precision, &mut OffsetCache::new(Tz::UTC), &mut out);
                String::from_utf8(out).expect("ASCII")
            }
            Err(e) => e.code().number.to_string(),
        }
    }

    #[test]
    fn many_layouts_are_one_time() {
        for (text, expected) in [
            ("2020-01-02 03:04:05", "2020-01-02 03:04:05"),
            ("2020-01-02", "2020-01-02 00:00:00"),
            ("2020-01-02T03:04:05", "2020-01-02 03:04:05"),
            ("2020-01-02 03:04:05.123", "2020-01-02 03:04:05"),
            ("2020-1-2 3:4:5", "2020-01-02 03:04:05"),
            ("2020-01-02 03", "2020-01-02 03:00:00"),
            ("20200102030405", "2020-01-02 03:04:05"),
            ("20200102T030405Z", "2020-01-02 03:04:05"),
            ("1577934245", "2020-01-02 03:04:05"),
            ("1577934245123", "2020-01-02 03:04:05"),
            ("157793424", "1975-01-01 07:30:24"),
            ("2020-01-02 25:04:05", "2020-01-03 01:04:05"),
            ("2020-01-02 03:99:05", "2020-01-02 04:39:05"),
            ("2020-01-02 03:04:05 +0200", "2020-01-02 01:04:05"),
            ("2020-01-02T03:04:05-01:30", "2020-01-02 04:34:05"),
            ("2020-01-02 03:04:05 GMT+3", "2020-01-02 00:04:05"),
            ("2020-01-02 03:04:05 MSK", "2020-01-02 00:04:05"),
            ("Jan 2 2020 3:04 PM", "2020-01-02 15:04:00"),
            ("2 January 2020", "2020-01-02 00:00:00"),
            ("Tue Jan 2 03:04:05 2020", "2020-01-02 03:04:05"),
            ("Sat, 18 Aug 2018 07:22:16 GMT", "2018-08-18 07:22:16"),
            ("Dec 15, 2021", "2021-12-15 00:00:00"),
            ("12/25/2020", "2020-12-25 00:00:00"),
            ("01.02.20", "2020-02-01 00:00:00"),
            ("1/2/70", "1970-02-01 00:00:00"),
            ("02-Jan-2020", "2020-01-02 00:00:00"),
            ("2020-01-02 0:00 AM", "2020-01-02 00:00:00"),
            ("2020-01-02 12:00 AM", "2020-01-02 00:00:00"),
            ("2020-12", "2020-12-01 00:00:00"),
            ("2020-01-00 03:04:05", "2020-01-01 03:04:05"),
            ("2020 1 2", "2020-01-02 00:00:00"),
        ] {
            assert_eq!(read(text, DateOrder::DayFirst, 0), expected, "{text}");
        }
        assert_eq!(
            read("10/23/2018 12:12:57", DateOrder::MonthFirst, 0),
            "2018-10-23 12:12:57"
        );
        assert_eq!(
            read("01-02-2020", DateOrder::MonthFirst, 0),
            "2020-01-02 00:00:00"
        );
    }

    #[test]
    fn bad_times_are_errors() {
        for text in [
            "",
            "abc",
            "-5",
            "12345",
            "123",
            "2020-13-02 03:04:05",
            "2020-02-31",
            "2020-01-32",
            "Monday",
            "0000-00-00",
            "Sept 2 2020",
            "2020-01-02 03:04:05x",
            "2020-01-02 03:04:05 foo",
            "1-2-3",
            "2020-Jan-02",
        ] {
            assert_eq!(read(text, DateOrder::DayFirst, 0), "41", "{text}");
        }
        for text in ["1577934245.5", "1577934245x", "2020-01-02_03"] {
            assert_eq!(read(text, DateOrder::DayFirst, 0), "6", "{text}");
        }
    }

    #[test]
    fn fractions_are_cut_to_the_precision() {
        for (text, precision, expected) in [
            (
                "2020-01-02 03:04:05.1234567891234",
                9,
                "2020-01-02 03:04:05.123456789",
            ),
            ("2020-01-02 03:04:05.5 PM", 3, "2020-01-02 15:04:05.500"),
            ("1577934245.123456", 6, "2020-01-02 03:04:05.123456"),
            ("1577934245123456", 6, "2020-01-02 03:04:05.123456"),
            ("1577934245123", 3, "2020-01-02 03:04:05.123"),
        ] {
            assert_eq!(
                read(text, DateOrder::DayFirst, precision),
                expected,
                "{text}"
            );
        }
    }
}
