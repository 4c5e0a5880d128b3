//! Collects what a text says of a time, and finds the moment that it means.

use basalt_types::Tz;
use basalt_types::calendar::{CivilDate, is_leap_year};

use super::moment::{day_of, weekday};

/// Which of the parts the date is made of: those that were read last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DateKind {
    /// Month and day.
    #[default]
    Month,
    /// The day of the year.
    DayOfYear,
    /// The ISO 8601 week and its day.
    Week,
}

/// How an hour is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HourKind {
    #[default]
    Day,
    /// 1 to 24.
    DayFrom1,
    /// 0 to 11 or 1 to 12, with AM or PM.
    HalfDay,
}

/// The parts of a time as far as they were read.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub(super) struct Parsed {
    pub(super) year: Option<i64>,
    pub(super) kind: DateKind,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) day_of_year: i64,
    pub(super) week: i64,
    pub(super) weekday: i64,
    pub(super) hour: i64,
    pub(super) hour_kind: HourKind,
    pub(super) is_pm: bool,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanoseconds: i64,
    pub(super) offset_seconds: Option<i64>,
    pub(super) zone: Option<Tz>,
}

impl Default for Parsed {
    fn default() -> Self {
        Self {
            year: None,
            kind: DateKind::Month,
            month: 1,
            day: 1,
            day_of_year: 1,
            week: 1,
            weekday: 1,
            hour: 0,
            hour_kind: HourKind::Day,
            is_pm: false,
            minute: 0,
            second: 0,
            nanoseconds: 0,
            offset_seconds: None,
            zone: None,
        }
    }
}

/// The year of dates that are read without one.
const DATE_YEAR: i64 = 2000;
/// The year of times that are read without a date.
const TIME_YEAR: i64 = 1970;

impl Parsed {
    /// Notes that a part of the date was read.
    pub(super) fn set_kind(&mut self, kind: DateKind) {
        self.kind = kind;
        self.year.get_or_insert(DATE_YEAR);
    }

    /// Whether the type of the result has the year.
    pub(super) fn has_valid_year(&self, is_wide: bool) -> bool {
        let years = if is_wide { 0..=9999 } else { 1970..=2106 };
        self.year.is_none_or(|year| years.contains(&year))
    }

    /// Seconds of the clock on the wall; `None` if there is no such date.
    pub(super) fn local_seconds(&self) -> Option<i64> {
        // Years have at most four digits here.
        let year = i32::try_from(self.year.unwrap_or(TIME_YEAR)).ok()?;
        let day = match self.kind {
            DateKind::Month => {
                let date = CivilDate {
                    year,
                    month: u32::try_from(self.month).ok()?,
                    day: u32::try_from(self.day).ok()?,
                };
                date.is_valid().then(|| i64::from(date.to_days()))?
            }
            DateKind::DayOfYear => {
                let last = if is_leap_year(year) { 366 } else { 365 };
                (self.day_of_year <= last).then(|| day_of(year, 1, 1) + self.day_of_year - 1)?
            }
            DateKind::Week => {
                let fourth = day_of(year, 1, 4);
                let first_monday = fourth - weekday(fourth);
                first_monday + (self.week - 1) * 7 + self.weekday - 1
            }
        };
        let hour = match self.hour_kind {
            HourKind::Day => self.hour,
            HourKind::DayFrom1 => self.hour % 24,
            HourKind::HalfDay => self.hour % 12 + if self.is_pm { 12 } else { 0 },
        };
        Some(day * 86_400 + hour * 3600 + self.minute * 60 + self.second)
    }
}
