//! Converts between day numbers, civil dates and moments in time zones.
//!
//! Days count from 1970-01-01. Civil conversions are Howard Hinnant's `days_from_civil` and its
//! inverse, exact for every `i32` day; days of nearly three million years go a shorter way, that of Neri and
//! Schneider, "Euclidean affine functions and their application to calendar algorithms" (2022), which
//! multiplies where the other divides.

use std::ops::RangeInclusive;

use chrono::{Offset, TimeZone};
use chrono_tz::Tz;

/// Seconds of a day.
pub const SECONDS_PER_DAY: i64 = 86_400;

/// Day of 1900-01-01, the first that `Date32` and `DateTime64` hold.
pub const DATE32_MIN: i32 = -25_567;

/// Day of 2299-12-31, the last that `Date32` and `DateTime64` hold.
pub const DATE32_MAX: i32 = 120_529;

/// The first second of year 0.
pub const FIRST_SECOND: i64 = -62_167_219_200;

/// The last second of year 9999.
pub const LAST_SECOND: i64 = 253_402_300_799;

/// Spans of 400 years that are added to a year, so that none is negative.
const ERAS: u32 = 82;

/// Days that the shorter way is good for: numbers of 32 bits hold four times as many and 82 spans of 400 years.
const NEAR_DAYS: RangeInclusive<i32> = -12_699_422..=1_061_042_401;

/// A date of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub struct CivilDate {
    pub year: i32,
    /// From 1.
    pub month: u32,
    /// From 1.
    pub day: u32,
}

impl CivilDate {
    /// The date of `days` since 1970-01-01.
    #[inline]
    pub fn from_days(days: i32) -> Self {
        if NEAR_DAYS.contains(&days) {
            Self::from_near_days(days)
        } else {
            Self::from_any_days(days)
        }
    }

    /// The same for days of [`NEAR_DAYS`], in the names of the paper.
    #[inline]
    fn from_near_days(days: i32) -> Self {
        // From the first of March of year -32800, which is before all of them.
        let n = days.cast_unsigned().wrapping_add(719_468 + 146_097 * ERAS);
        let n_1 = 4 * n + 3;
        let (century, n_c) = (n_1 / 146_097, n_1 % 146_097 / 4);
        let p_2 = 2_939_745 * u64::from(4 * n_c + 3);
        let (z, n_y) = ((p_2 >> 32) as u32, p_2 as u32 / 2_939_745 / 4);
        let n_3 = 2_141 * n_y + 197_913;
        let (month, day) = (n_3 >> 16, n_3 % (1 << 16) / 2_141 + 1);
        // January and February are months 13 and 14 of a year that begins in March.
        let is_next_year = n_y >= 306;
        let year = (100 * century + z).cast_signed() - (400 * ERAS).cast_signed();
        Self {
            year: year + i32::from(is_next_year),
            month: if is_next_year { month - 12 } else { month },
            day,
        }
    }

    fn from_any_days(days: i32) -> Self {
        let z = i64::from(days) + 719_468;
        let era = z.div_euclid(146_097);
        let day_of_era = z.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        // The ranges follow from the arithmetic above: day 1..=31, month 1..=12.
        Self {
            year: year as i32,
            month: month as u32,
            day: day as u32,
        }
    }

    /// Days since 1970-01-01; a month or day outside its range counts on into the neighbours.
    pub fn to_days(self) -> i32 {
        let months = i64::from(self.year) * 12 + i64::from(self.month) - 1;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        let year = year - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let shifted_month = if month > 2 { month - 3 } else { month + 9 };
        let day_of_year = (153 * shifted_month + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        (era * 146_097 + day_of_era - 719_468) as i32
    }

    /// Whether month and day exist in the calendar.
    pub fn is_valid(self) -> bool {
        (1..=12).contains(&self.month)
            && self.day >= 1
            && self.day <= days_in_month(self.year, self.month)
    }
}

/// Whether `year` has a 29th of February.
pub fn is_leap_year(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Number of days of a month (1 to 12).
pub fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Day of the week of a day number, Monday 1 to Sunday 7.
pub fn weekday(days: i32) -> u32 {
    (i64::from(days) + 3).rem_euclid(7) as u32 + 1
}

/// Seconds that `zone` is ahead of UTC at a moment in UTC.
pub fn utc_offset_seconds(zone: Tz, utc_seconds: i64) -> i64 {
    if zone == Tz::UTC || zone == Tz::Etc__UTC {
        return 0;
    }
    match chrono::DateTime::from_timestamp(utc_seconds, 0) {
        Some(moment) => {
            let offset = zone.offset_from_utc_datetime(&moment.naive_utc());
            i64::from(offset.fix().local_minus_utc())
        }
        None => 0,
    }
}

/// Seconds of the clock on the wall in `zone` (as if it were UTC) at a moment in UTC.
pub fn to_local_seconds(zone: Tz, utc_seconds: i64) -> i64 {
    utc_seconds + utc_offset_seconds(zone, utc_seconds)
}

/// The moment in UTC when the clock on the wall in `zone` shows `local_seconds`.
///
/// A time that the clock skips is moved back by the gap; of two equal ones the first is meant.
pub fn from_local_seconds(zone: Tz, local_seconds: i64) -> i64 {
    let before = local_seconds - utc_offset_seconds(zone, local_seconds - SECONDS_PER_DAY);
    if to_local_seconds(zone, before) == local_seconds {
        return before;
    }
    // Also in the gap: with the offset from behind it, which lands as far before it.
    local_seconds - utc_offset_seconds(zone, local_seconds + SECONDS_PER_DAY)
}

/// As [`from_local_seconds`], but a time that the clock skips is moved forward by the gap.
///
/// So a day whose midnight is skipped begins with the skip.
pub fn from_local_seconds_forward(zone: Tz, local_seconds: i64) -> i64 {
    let moment = from_local_seconds(zone, local_seconds);
    if to_local_seconds(zone, moment) == local_seconds {
        return moment;
    }
    local_seconds - utc_offset_seconds(zone, local_seconds - SECONDS_PER_DAY)
}

/// Looks up offsets of one time zone, fast for moments that lie close together.
#[derive(Clone, Debug)]
pub struct OffsetCache {
    zone: Tz,
    is_utc: bool,
    /// Start of the hour-aligned quarter hour that `offset` is valid in.
    quarter: i64,
    offset: i64,
}

/// Offsets only change at multiples of 15 minutes of UTC.
const QUARTER_SECONDS: i64 = 900;

impl OffsetCache {
    /// A cache for `zone`.
    pub fn new(zone: Tz) -> Self {
        let is_utc = zone == Tz::UTC || zone == Tz::Etc__UTC;
        Self {
            zone,
            is_utc,
            quarter: i64::MIN,
            offset: 0,
        }
    }

    /// Same as [`to_local_seconds`].
    pub fn to_local_seconds(&mut self, utc_seconds: i64) -> i64 {
        if self.is_utc {
            return utc_seconds;
        }
        let quarter = utc_seconds.div_euclid(QUARTER_SECONDS);
        if quarter != self.quarter {
            self.quarter = quarter;
            self.offset = utc_offset_seconds(self.zone, utc_seconds);
        }
        utc_seconds + self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::{
        CivilDate, DATE32_MAX, DATE32_MIN, NEAR_DAYS, OffsetCache, Tz, from_local_seconds,
        to_local_seconds, weekday,
    };

    #[test]
    fn days_and_dates_agree_with_chrono() {
        let epoch = chrono::NaiveDate::from_ymd_opt(1970, 1, 1).expect("epoch");
        for days in (-800_000..800_000).step_by(37) {
            let date = CivilDate::from_days(days);
            let expected = epoch + chrono::Duration::days(i64::from(days));
            let civil = chrono::NaiveDate::from_ymd_opt(date.year, date.month, date.day);
            assert_eq!(civil, Some(expected));
            assert_eq!(date.to_days(), days);
        }
        assert_eq!(
            CivilDate {
                year: 2299,
                month: 12,
                day: 31
            }
            .to_days(),
            DATE32_MAX
        );
        assert_eq!(
            CivilDate {
                year: 1900,
                month: 1,
                day: 1
            }
            .to_days(),
            DATE32_MIN
        );
        assert_eq!(weekday(0), 4);
    }

    #[test]
    fn both_ways_give_the_same_dates() {
        let (first, last) = (*NEAR_DAYS.start(), *NEAR_DAYS.end());
        let spread = (first..last).step_by(1_009);
        let near = spread.chain(-1_000_000..1_000_000).chain([last]);
        for days in near {
            let date = CivilDate::from_near_days(days);
            assert_eq!(date, CivilDate::from_any_days(days), "{days}");
        }
        for days in [i32::MIN, first - 1, last + 1, i32::MAX] {
            let date = CivilDate::from_days(days);
            assert_eq!(date, CivilDate::from_any_days(days), "{days}");
        }
    }

    #[test]
    fn local_times_come_back() {
        let berlin = Tz::Europe__Berlin;
        for utc in (1_000_000_000..1_040_000_000).step_by(1_800) {
            let local = to_local_seconds(berlin, utc);
            let back = from_local_seconds(berlin, local);
            assert!(back == utc || back == utc - 3600, "{utc} {back}");
            assert_eq!(OffsetCache::new(berlin).to_local_seconds(utc), local);
        }
    }
}
