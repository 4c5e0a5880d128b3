//! Reads times whatever their layout: `parseDateTimeBestEffort`, and the formats' default.
//!
//! The text is a sequence of parts: runs of digits, whose length and surroundings tell what they
//! are, names of months and days, offsets and zones. Reading stops at the first byte that starts
//! no part; it is left for the caller.
//!
//! | module | owns |
//! |---|---|
//! | [`numbers`] | runs of digits |
//! | [`words`] | names, offsets and zones |

mod numbers;
mod words;

use basalt_error::Result;

use super::Cursor;
use super::parse_time::{LocalClock, cannot_parse, read_clock, read_full_date, take_digits};
use crate::calendar::{CivilDate, SECONDS_PER_DAY};

/// No number of a time is longer.
const MAX_DIGITS: usize = 20;

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
            if self.is_whole() && cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
                break;
            }
            let digits = take_digits(cursor, MAX_DIGITS);
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

    /// Whether no number can follow.
    fn is_whole(&self) -> bool {
        self.year != 0 && self.month != 0 && self.day != 0 && self.has_time()
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
            ("2020 Jan 2", "2020-01-02 00:00:00"),
            ("2020-0T-02 03:04:05", "2020-01-01 05:04:05"),
            ("2020-01-02,03:04:05", "2020-01-02 03:04:05"),
            ("2,20-01-02 03:04:05", "2002-01-20 03:04:05"),
            ("2020-01-02 03:04.5", "2020-01-02 03:04:00"),
            ("2020-01-02 03:04:05 +020", "2020-01-02 02:44:05"),
            ("03:04:05 2020-01-02", "2020-01-02 03:04:05"),
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
            "2020-01-0z 03:04:05",
            "2020-01-02 03:04:05z",
            "2020-0102 03:04:05",
            "2020-01-0203:04:05",
            "2020-01-02 03:0405",
            "2020-01-02 03:04:005",
            "2020-01-02.03:04:05",
            "2020-01-02 03:04T05",
            "2:20-01-02 03:04:05",
            "2020-01-02,",
            "2020-01-02 03:04:05.1.2",
            "2020-01-02 03:04:05+02:000",
            "01-02-20201",
            "2020-Jan-02",
        ] {
            assert_eq!(read(text, DateOrder::DayFirst, 0), "41", "{text}");
        }
        for text in [
            "1577934245.5",
            "1577934245x",
            "2020-01-02_03",
            "2020,01-02 03:04:05",
            "2020-01-02 03:04 05",
            "2020-01-02 03:04:05 12",
            "02 Jan, 2020",
        ] {
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
