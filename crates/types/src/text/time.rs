//! Writes dates and times as text.

use crate::calendar::{CivilDate, FIRST_SECOND, LAST_SECOND, OffsetCache, SECONDS_PER_DAY};

/// `00` to `99`, two bytes each.
const PAIRS: &[u8; 200] = b"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

#[inline]
fn pair(value: u32) -> [u8; 2] {
    let at = (value % 100) as usize * 2;
    [PAIRS[at], PAIRS[at + 1]]
}

/// Writes days since 1970-01-01 as `YYYY-MM-DD`.
#[inline]
pub fn write_date(days: i32, out: &mut Vec<u8>) {
    let date = CivilDate::from_days(days);
    // Years outside four digits do not occur in the dialect's range; they wrap.
    let year = date.year.rem_euclid(10_000).unsigned_abs();
    let (century, year) = (pair(year / 100), pair(year));
    let (month, day) = (pair(date.month), pair(date.day));
    out.extend_from_slice(&[
        century[0], century[1], year[0], year[1], b'-', month[0], month[1], b'-', day[0], day[1],
    ]);
}

/// Writes seconds of a clock on the wall as `YYYY-MM-DD hh:mm:ss`; what is outside the years of four
/// digits is written as the nearest second that is inside.
#[inline]
pub fn write_local_seconds(local_seconds: i64, out: &mut Vec<u8>) {
    let local_seconds = local_seconds.clamp(FIRST_SECOND, LAST_SECOND);
    let days = local_seconds.div_euclid(SECONDS_PER_DAY);
    // Below 86 400.
    let second = local_seconds.rem_euclid(SECONDS_PER_DAY) as u32;
    write_date(i32::try_from(days).unwrap_or(i32::MAX), out);
    let (h, m, s) = (
        pair(second / 3600),
        pair(second / 60 % 60),
        pair(second % 60),
    );
    out.extend_from_slice(&[b' ', h[0], h[1], b':', m[0], m[1], b':', s[0], s[1]]);
}

/// Writes a moment as `YYYY-MM-DD hh:mm:ss` in the cache's time zone.
#[inline]
pub fn write_date_time(utc_seconds: i64, offsets: &mut OffsetCache, out: &mut Vec<u8>) {
    write_local_seconds(offsets.to_local_seconds(utc_seconds), out);
}

/// Writes ticks of 10^-`precision` seconds with all digits of the fraction.
#[inline]
pub fn write_date_time64(ticks: i64, precision: u8, offsets: &mut OffsetCache, out: &mut Vec<u8>) {
    let per_second = ticks_per_second(precision);
    write_date_time(ticks.div_euclid(per_second), offsets, out);
    write_fraction(ticks.rem_euclid(per_second), precision, out);
}

/// How moments are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeOutput {
    /// `YYYY-MM-DD hh:mm:ss` in the type's time zone.
    #[default]
    Simple,
    /// `YYYY-MM-DDThh:mm:ssZ` in UTC.
    Iso,
    /// Seconds since 1970.
    UnixTimestamp,
}

/// Writes ticks of 10^-`precision` seconds in a form that needs no time zone.
pub(super) fn write_moment(ticks: i64, precision: u8, is_iso: bool, out: &mut Vec<u8>) {
    let per_second = ticks_per_second(precision);
    let is_negative = ticks < 0 && !is_iso;
    let ticks = if is_negative {
        ticks.saturating_neg()
    } else {
        ticks
    };
    let (seconds, fraction) = (ticks.div_euclid(per_second), ticks.rem_euclid(per_second));
    if is_iso {
        let start = out.len();
        write_local_seconds(seconds, out);
        out[start + "YYYY-MM-DD".len()] = b'T';
        write_fraction(fraction, precision, out);
        out.push(b'Z');
    } else {
        // The sign stands before the whole number, which may be 0.
        out.extend(is_negative.then_some(b'-'));
        out.extend_from_slice(itoa::Buffer::new().format(seconds).as_bytes());
        write_fraction(fraction, precision, out);
    }
}

/// Writes `.` and exactly `precision` digits, nothing for precision 0.
pub fn write_fraction(fraction: i64, precision: u8, out: &mut Vec<u8>) {
    if precision == 0 {
        return;
    }
    out.push(b'.');
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(fraction).as_bytes();
    out.resize(
        out.len() + usize::from(precision).saturating_sub(digits.len()),
        b'0',
    );
    out.extend_from_slice(digits);
}

/// 10^`precision`, for the precisions 0 to 18.
#[inline]
pub fn ticks_per_second(precision: u8) -> i64 {
    10_i64.pow(u32::from(precision.min(18)))
}

#[cfg(test)]
mod tests {
    use super::{write_date, write_date_time64};
    use crate::Tz;
    use crate::calendar::OffsetCache;

    #[test]
    fn dates_and_times_have_fixed_widths() {
        let mut out = Vec::new();
        write_date(-719_162, &mut out);
        assert_eq!(out, b"0001-01-01");
        out.clear();
        let mut utc = OffsetCache::new(Tz::UTC);
        write_date_time64(-500, 3, &mut utc, &mut out);
        assert_eq!(out, b"1969-12-31 23:59:59.500");
        out.clear();
        write_date_time64(1, 0, &mut OffsetCache::new(Tz::Asia__Tokyo), &mut out);
        assert_eq!(out, b"1970-01-01 09:00:01");
        out.clear();
        write_date_time64(7, 9, &mut utc, &mut out);
        assert_eq!(out, b"1970-01-01 00:00:00.000000007");
        for (ticks, text) in [
            (1_577_923_445_678_250, "9999-12-31 23:59:59.250"),
            (-1_577_923_445_678_250, "0000-01-01 00:00:00.750"),
        ] {
            out.clear();
            write_date_time64(ticks, 3, &mut utc, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
    }
}
