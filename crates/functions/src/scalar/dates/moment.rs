//! Reads columns of dates and times as days, seconds or ticks, in pieces that stay in the cache.

use arrow::array::{Array, ArrayRef};
use basalt_error::Result;
use basalt_kernels::append::append;
use basalt_types::calendar::{CivilDate, OffsetCache, SECONDS_PER_DAY, from_local_seconds_forward};
use basalt_types::parse::parse_time_zone;
use basalt_types::text::parse_time::LocalClock;
use basalt_types::text::time::ticks_per_second;
use basalt_types::{DataType, Tz};

use crate::scalar::core::numeric::{CHUNK, Native, Numbers, array_of, chunks};
use crate::{Call, Column};

/// What a loop gets of every moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The day on the calendar, from 1970-01-01.
    LocalDays,
    /// Seconds of the clock on the wall, as if it were UTC.
    LocalSeconds,
    /// Seconds since 1970 in UTC.
    UtcSeconds,
    /// The stored value.
    Ticks,
}

/// How a column of dates or times is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) is_date: bool,
    pub(super) ticks_per_second: i64,
    pub(super) zone: Tz,
}

impl Moments {
    /// How to read columns of a type; `None` if it is neither date nor time.
    pub(super) fn of(data_type: &DataType, session: Tz) -> Option<Self> {
        let (precision, zone) = match data_type {
            DataType::Date | DataType::Date32 => (0, None),
            DataType::DateTime(zone) => (0, *zone),
            DataType::DateTime64(precision, zone) => (*precision, *zone),
            _ => return None,
        };
        Some(Self {
            is_date: data_type.is_date(),
            ticks_per_second: ticks_per_second(precision),
            zone: zone.unwrap_or(session),
        })
    }

    /// How to read argument `idx`, in `zone` if that is given.
    pub(super) fn of_argument(call: &Call<'_>, idx: usize, zone: Option<Tz>) -> Result<Self> {
        let moments = Self::of(call.data_type(idx), call.context.time_zone);
        let moments = moments.ok_or_else(|| call.illegal_type(idx))?;
        Ok(Self {
            zone: zone.unwrap_or(moments.zone),
            ..moments
        })
    }

    /// Applies `op` to each row.
    pub(super) fn map<O: Native>(
        &self,
        reading: Reading,
        column: &Column,
        num_rows: usize,
        mut op: impl FnMut(i64) -> O,
    ) -> Result<ArrayRef> {
        let mut out: Vec<O> = Vec::with_capacity(column.array.len());
        self.for_each_piece(reading, column, &mut |piece| {
            append(&mut out, piece.len(), |i| op(piece[i]));
        })?;
        let mapped = Column {
            array: array_of(out),
            is_const: column.is_const,
        };
        mapped.expand(num_rows)
    }

    /// Calls `f` for pieces of the moments, in order.
    fn for_each_piece(
        &self,
        reading: Reading,
        column: &Column,
        f: &mut dyn FnMut(&[i64]),
    ) -> Result<()> {
        let numbers = Numbers::of(column.array.as_ref())?;
        let mut clock = ZoneClock::new(self.zone);
        let mut piece: Vec<i64> = Vec::with_capacity(CHUNK);
        for range in chunks(column.array.len()) {
            piece.clear();
            numbers.append(range, &mut piece);
            self.read(reading, &mut piece, &mut clock);
            f(&piece);
        }
        Ok(())
    }

    /// The moments of each row as numbers.
    pub(super) fn values(
        &self,
        reading: Reading,
        column: &Column,
        num_rows: usize,
    ) -> Result<Vec<i64>> {
        let array = self.map(reading, column, num_rows, |v| v)?;
        Ok(crate::scalar::core::numeric::values::<i64>(array.as_ref())?.to_vec())
    }

    fn read(&self, reading: Reading, piece: &mut [i64], clock: &mut ZoneClock) {
        if self.is_date {
            match reading {
                Reading::LocalDays | Reading::Ticks => {}
                Reading::LocalSeconds => each(piece, |days| days * SECONDS_PER_DAY),
                Reading::UtcSeconds => each(piece, |days| clock.start(days * SECONDS_PER_DAY)),
            }
            return;
        }
        if reading == Reading::Ticks {
            return;
        }
        match self.ticks_per_second {
            1 => {}
            1_000 => each(piece, |t| t.div_euclid(1_000)),
            1_000_000 => each(piece, |t| t.div_euclid(1_000_000)),
            ticks => each(piece, |t| t.div_euclid(ticks)),
        }
        if reading != Reading::UtcSeconds && !clock.is_utc {
            each(piece, |t| clock.local(t));
        }
        if reading == Reading::LocalDays {
            each(piece, |t| t.div_euclid(SECONDS_PER_DAY));
        }
    }
}

#[inline(always)]
fn each(piece: &mut [i64], mut op: impl FnMut(i64) -> i64) {
    for value in piece {
        *value = op(*value);
    }
}

/// The clock on the wall of a time zone, both ways.
#[derive(Clone, Debug)]
pub(super) struct ZoneClock {
    pub(super) is_utc: bool,
    zone: Tz,
    offsets: OffsetCache,
    moments: LocalClock,
}

/// Seconds of about 300 000 years: no calendar and no time zone goes as far.
const FAR_SECONDS: i64 = 10_000_000_000_000;

impl ZoneClock {
    pub(super) fn new(zone: Tz) -> Self {
        Self {
            is_utc: is_utc(zone),
            zone,
            offsets: OffsetCache::new(zone),
            moments: LocalClock::new(zone),
        }
    }

    /// What the clock shows at a moment in UTC.
    #[inline]
    pub(super) fn local(&mut self, utc_seconds: i64) -> i64 {
        if self.is_utc {
            return utc_seconds;
        }
        self.offsets
            .to_local_seconds(utc_seconds.clamp(-FAR_SECONDS, FAR_SECONDS))
    }

    /// The moment in UTC when a step of time begins, at its start on the clock or when that is skipped.
    #[inline]
    pub(super) fn start(&mut self, local_seconds: i64) -> i64 {
        if self.is_utc {
            return local_seconds;
        }
        let local_seconds = local_seconds.clamp(-FAR_SECONDS, FAR_SECONDS);
        let start = self.moments.to_utc_seconds(local_seconds);
        if self.offsets.to_local_seconds(start) == local_seconds {
            return start;
        }
        from_local_seconds_forward(self.zone, local_seconds)
    }

    /// The moment in UTC when the clock shows `local_seconds`.
    #[inline]
    pub(super) fn utc(&mut self, local_seconds: i64) -> i64 {
        if self.is_utc {
            return local_seconds;
        }
        self.moments
            .to_utc_seconds(local_seconds.clamp(-FAR_SECONDS, FAR_SECONDS))
    }
}

/// Whether the clock of a zone always shows UTC.
pub(super) fn is_utc(zone: Tz) -> bool {
    zone == Tz::UTC || zone == Tz::Etc__UTC
}

/// The date of a day; days far outside the calendar are moved to its ends.
#[inline]
pub(super) fn civil(days: i64) -> CivilDate {
    CivilDate::from_days(days.clamp(-700_000_000, 700_000_000) as i32)
}

/// Day of a date whose month is in range.
#[inline]
pub(super) fn day_of(year: i32, month: u32, day: u32) -> i64 {
    i64::from(CivilDate { year, month, day }.to_days())
}

/// Day of the week, Monday 0 to Sunday 6.
#[inline]
pub(super) fn weekday(days: i64) -> i64 {
    (days.wrapping_add(3)).rem_euclid(7)
}

/// The optional argument `idx` as a time zone.
///
/// # Errors
/// `ILLEGAL_TYPE_OF_ARGUMENT`, `ILLEGAL_COLUMN` if not constant, `BAD_ARGUMENTS` if unknown.
pub(super) fn zone_argument(call: &Call<'_>, idx: usize) -> Result<Option<Tz>> {
    if call.args.len() <= idx {
        return Ok(None);
    }
    parse_time_zone(&call.constant_str(idx)?).map(Some)
}
