//! Reads dates and times of the fixed layouts: `YYYY-MM-DD`, `YYYY-MM-DD hh:mm:ss`, Unix seconds.

use basalt_error::{Error, ErrorCode, Result};

use super::Cursor;
use super::time::ticks_per_second;
use crate::Tz;
use crate::calendar::{CivilDate, DATE32_MIN, LAST_SECOND, SECONDS_PER_DAY, from_local_seconds};

/// Offsets only change at multiples of 15 minutes.
const QUARTER_SECONDS: i64 = 900;

/// Turns the clock on the wall of one time zone into moments, fast for times that lie close.
#[derive(Clone, Debug)]
pub struct LocalClock {
    zone: Tz,
    is_utc: bool,
    quarter: i64,
    offset: i64,
}

impl LocalClock {
    /// A clock of `zone`.
    pub fn new(zone: Tz) -> Self {
        Self {
            zone,
            is_utc: zone == Tz::UTC || zone == Tz::Etc__UTC,
            quarter: i64::MIN,
            offset: 0,
        }
    }

    /// The moment in UTC when the clock shows `local_seconds`.
    #[inline]
    pub fn to_utc_seconds(&mut self, local_seconds: i64) -> i64 {
        if self.is_utc {
            return local_seconds;
        }
        let quarter = local_seconds.div_euclid(QUARTER_SECONDS);
        if quarter != self.quarter {
            self.quarter = quarter;
            self.offset = from_local_seconds(self.zone, local_seconds) - local_seconds;
        }
        local_seconds + self.offset
    }
}

/// The number that a run of at most nine digits stands for.
#[inline]
pub(in crate::text) fn digits_value(digits: &[u8]) -> u32 {
    digits
        .iter()
        .fold(0, |value, d| value * 10 + u32::from(d - b'0'))
}

/// Takes up to `max` digits.
#[inline]
pub(in crate::text) fn take_digits<'a>(cursor: &mut Cursor<'a>, max: usize) -> &'a [u8] {
    let text = cursor.rest();
    let len = text.iter().take(max).position(|b| !b.is_ascii_digit());
    cursor.take(len.unwrap_or(max.min(text.len())))
}

/// Reads `YYYY-MM-DD`, also with other separators and months and days of one digit, or `YYYYMMDD`.
///
/// Month and day need not exist: see [`date_days`].
///
/// # Errors
/// `CANNOT_PARSE_DATE`.
#[inline]
pub fn read_date(cursor: &mut Cursor<'_>) -> Result<CivilDate> {
    let start = cursor.rest();
    if let Some(date) = read_full_date(start) {
        cursor.advance(10);
        return Ok(date);
    }
    read_short_date(cursor).ok_or_else(|| {
        let excerpt = Cursor::new(start).excerpt();
        Error::new(
            ErrorCode::CANNOT_PARSE_DATE,
            format!(
                "Cannot parse date: expected a date in the YYYY-MM-DD or YYYYMMDD format, got '{excerpt}'"
            ),
        )
    })
}

/// Reads the ten bytes `YYYY-MM-DD`.
#[inline]
pub(super) fn read_full_date(text: &[u8]) -> Option<CivilDate> {
    let [a, b, c, d, s1, e, f, s2, g, h, ..] = text else {
        return None;
    };
    let digits = [a, b, c, d, e, f, g, h];
    if !digits.iter().all(|b| b.is_ascii_digit()) || s1.is_ascii_digit() || s2.is_ascii_digit() {
        return None;
    }
    let two = |high: &u8, low: &u8| u32::from(high - b'0') * 10 + u32::from(low - b'0');
    Some(CivilDate {
        year: (two(a, b) * 100 + two(c, d)) as i32,
        month: two(e, f),
        day: two(g, h),
    })
}

fn read_short_date(cursor: &mut Cursor<'_>) -> Option<CivilDate> {
    let mut copy = *cursor;
    let year = take_digits(&mut copy, 4);
    if year.len() < 4 {
        return None;
    }
    let is_compact = copy.peek()?.is_ascii_digit();
    let mut part = || {
        if !is_compact {
            let separator = copy.peek()?;
            if separator.is_ascii_digit() {
                return None;
            }
            copy.advance(1);
        }
        let digits = take_digits(&mut copy, 2);
        let complete = if is_compact {
            digits.len() == 2
        } else {
            !digits.is_empty()
        };
        complete.then(|| digits_value(digits))
    };
    let (month, day) = (part()?, part()?);
    *cursor = copy;
    // Four digits fit.
    let year = digits_value(year) as i32;
    Some(CivilDate { year, month, day })
}

/// Days since 1970-01-01; a day that its month does not have counts on into the next one.
///
/// `None` for a month or day that no month has.
#[inline]
pub fn date_days(date: CivilDate) -> Option<i32> {
    let exists = (1..=12).contains(&date.month) && (1..=31).contains(&date.day);
    exists.then(|| date.to_days())
}

/// The nearest `Date`; the first one if there is no such date.
#[inline]
pub fn to_date(date: CivilDate) -> u16 {
    let days = date_days(date).unwrap_or(0);
    // Clamped to the range just before.
    days.clamp(0, i32::from(u16::MAX)) as u16
}

/// The `Date32`; 1900-01-01 if there is no such date.
#[inline]
pub fn to_date32(date: CivilDate) -> i32 {
    date_days(date).unwrap_or(DATE32_MIN)
}

/// The nearest `DateTime` of a moment.
#[inline]
pub fn to_date_time(utc_seconds: i64) -> u32 {
    // Clamped to the range just before.
    utc_seconds.clamp(0, i64::from(u32::MAX)) as u32
}

/// Ticks of 10^-`precision` seconds of a moment whose fraction is in nanoseconds.
///
/// # Errors
/// `DECIMAL_OVERFLOW` if the ticks do not fit in 64 bits.
#[inline]
pub fn to_ticks(utc_seconds: i64, nanoseconds: i64, precision: u8) -> Result<i64> {
    let ticks = utc_seconds.checked_mul(ticks_per_second(precision));
    let fraction = nanoseconds / ticks_per_second(9_u8.saturating_sub(precision));
    ticks.and_then(|t| t.checked_add(fraction)).ok_or_else(|| {
        Error::new(
            ErrorCode::DECIMAL_OVERFLOW,
            format!("Decimal overflow: the time is out of range of DateTime64({precision})"),
        )
    })
}

pub(in crate::text) fn cannot_parse(reason: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::CANNOT_PARSE_DATETIME,
        format!("Cannot read DateTime: {reason}"),
    )
}

/// Reads as [`read_basic`] does for a column of that precision. A whole number of seconds behind the
/// last year is one of ticks.
///
/// # Errors
/// `CANNOT_PARSE_DATETIME`.
pub fn read_basic_ticks(
    cursor: &mut Cursor<'_>,
    precision: u8,
    clock: &mut LocalClock,
) -> Result<(i64, i64)> {
    let text = cursor.rest();
    let (seconds, nanoseconds) = read_basic(cursor, clock)?;
    let taken = &text[..text.len() - cursor.rest().len()];
    if seconds <= LAST_SECOND || !taken.iter().all(u8::is_ascii_digit) {
        return Ok((seconds, nanoseconds));
    }
    let per_second = ticks_per_second(precision);
    let fraction = seconds % per_second * ticks_per_second(9_u8.saturating_sub(precision));
    Ok((seconds / per_second, fraction))
}

/// Reads the digits behind a point as nanoseconds; further digits are cut off.
#[inline]
pub(in crate::text) fn read_nanoseconds(cursor: &mut Cursor<'_>) -> i64 {
    let digits = cursor.take_while(|b| b.is_ascii_digit());
    let taken = digits.get(..9).unwrap_or(digits);
    let value = i64::from(digits_value(taken));
    value * ticks_per_second(9 - taken.len() as u8)
}

/// Reads `YYYY-MM-DD`, `YYYY-MM-DD hh:mm:ss` or Unix seconds, each with or without a fraction.
///
/// Returns seconds in UTC and nanoseconds.
///
/// # Errors
/// `CANNOT_PARSE_DATETIME`.
pub fn read_basic(cursor: &mut Cursor<'_>, clock: &mut LocalClock) -> Result<(i64, i64)> {
    let start = *cursor;
    let is_date = cursor
        .rest()
        .get(4)
        .is_some_and(|b| !b.is_ascii_digit() && *b != b'.');
    if !is_date {
        return read_unix_seconds(cursor);
    }
    let date = read_date(cursor).ok().and_then(date_days);
    let days =
        date.ok_or_else(|| cannot_parse(format!("unexpected text '{}'", start.excerpt())))?;
    let mut seconds = i64::from(days) * SECONDS_PER_DAY;
    let mut nanoseconds = 0;
    let mut time = *cursor;
    let separated = time.eat(b' ') || time.eat(b'T');
    if let Some(second) = if separated {
        read_clock(&mut time)
    } else {
        None
    } {
        seconds += second;
        if time.eat(b'.') {
            nanoseconds = read_nanoseconds(&mut time);
        }
        *cursor = time;
    }
    Ok((clock.to_utc_seconds(seconds), nanoseconds))
}

/// Reads `hh:mm:ss` or `hh:mm` as seconds.
#[inline]
pub(crate) fn read_clock(cursor: &mut Cursor<'_>) -> Option<i64> {
    let mut copy = *cursor;
    let mut part = |separated: bool| {
        let found = !separated || copy.eat(b':');
        let digits = if found {
            take_digits(&mut copy, 2)
        } else {
            &[]
        };
        (!digits.is_empty()).then(|| i64::from(digits_value(digits)))
    };
    let (hour, minute) = (part(false)?, part(true)?);
    let second = part(true).unwrap_or(0);
    *cursor = copy;
    Some(hour * 3600 + minute * 60 + second)
}

/// Reads a number of seconds since 1970, which may have a sign and a fraction.
///
/// # Errors
/// `CANNOT_PARSE_DATETIME`.
pub fn read_unix_seconds(cursor: &mut Cursor<'_>) -> Result<(i64, i64)> {
    let start = *cursor;
    let negative = cursor.eat(b'-');
    let digits = cursor.take_while(|b| b.is_ascii_digit());
    if digits.is_empty() {
        return Err(cannot_parse(format!(
            "unexpected text '{}'",
            start.excerpt()
        )));
    }
    let seconds = digits.iter().fold(0_i64, |s, d| {
        s.saturating_mul(10).saturating_add(i64::from(d - b'0'))
    });
    let nanoseconds = if cursor.eat(b'.') {
        read_nanoseconds(cursor)
    } else {
        0
    };
    Ok(match (negative, nanoseconds) {
        (false, _) => (seconds, nanoseconds),
        (true, 0) => (-seconds, 0),
        (true, _) => (-seconds - 1, 1_000_000_000 - nanoseconds),
    })
}

#[cfg(test)]
mod tests {
    use super::{
        LocalClock, read_basic, read_basic_ticks, read_date, to_date, to_date_time, to_date32,
    };
    use crate::Tz;
    use crate::calendar::CivilDate;
    use crate::text::Cursor;
    use crate::text::parse_number::parse_whole;

    fn date(text: &str) -> Result<String, u16> {
        let parsed =
            parse_whole(text.as_bytes(), "Date", read_date).map_err(|e| e.code().number)?;
        let mut out = Vec::new();
        crate::text::time::write_date(i32::from(to_date(parsed)), &mut out);
        Ok(String::from_utf8(out).expect("ASCII"))
    }

    #[test]
    fn dates_are_read_leniently() {
        for (text, expected) in [
            ("2020-01-02", "2020-01-02"),
            ("2020-1-2", "2020-01-02"),
            ("20200102", "2020-01-02"),
            ("2020/01/02", "2020-01-02"),
            ("2020a01b02", "2020-01-02"),
            ("2020-13-02", "1970-01-01"),
            ("2020-02-31", "2020-03-02"),
            ("1960-01-01", "1970-01-01"),
            ("2200-01-01", "2149-06-06"),
            ("0000-00-00", "1970-01-01"),
            ("2020-01-99", "1970-01-01"),
            ("2020-01-0", "1970-01-01"),
        ] {
            assert_eq!(date(text), Ok(expected.to_string()), "{text}");
        }
        for bad in ["", "abc", "18000", "2020-1", "1-1-1", "2020010"] {
            assert_eq!(date(bad), Err(38), "{bad}");
        }
        assert_eq!(date("2020-01-02x"), Err(6));
        let no_date = CivilDate {
            year: 2020,
            month: 13,
            day: 1,
        };
        assert_eq!(to_date32(no_date), -25_567);
    }

    #[test]
    fn basic_times_know_zones_and_fractions() {
        let mut berlin = LocalClock::new(Tz::Europe__Berlin);
        let mut read = |text: &str| read_basic(&mut Cursor::new(text.as_bytes()), &mut berlin);
        assert_eq!(
            read("2020-01-02 03:04:05.25"),
            Ok((1_577_930_645, 250_000_000))
        );
        assert_eq!(read("2020-07-02 03:04:05"), Ok((1_593_651_845, 0)));
        assert_eq!(read("2020-01-02"), Ok((1_577_919_600, 0)));
        assert_eq!(read("1577934245.5"), Ok((1_577_934_245, 500_000_000)));
        assert_eq!(read("-1.5"), Ok((-2, 500_000_000)));
        assert!(read("abc").is_err());
        let mut ticks =
            |text: &str| read_basic_ticks(&mut Cursor::new(text.as_bytes()), 3, &mut berlin);
        assert_eq!(ticks("253402300799"), Ok((253_402_300_799, 0)));
        assert_eq!(ticks("253402300800"), Ok((253_402_300, 800_000_000)));
        assert_eq!(ticks("253402300800.5"), Ok((253_402_300_800, 500_000_000)));
        assert_eq!(to_date_time(-1), 0);
        assert_eq!(to_date_time(i64::MAX), u32::MAX);
    }
}
