//! Writes dates and times by a pattern: `formatDateTime`, `fromUnixTimestamp`.

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::calendar::CivilDate;
use basalt_types::{DataType, Tz};

use super::component::day_of_year;
use super::moment::{Moments, Reading, ZoneClock, civil, weekday, zone_argument};
use super::names::{MONTHS, WEEKDAYS};
use super::pattern::{Syntax, Token, split, unknown_code};
use super::week::iso_year_and_week;
use super::{any_case, entry};
use crate::scalar::core::cast::array_cast;
use crate::scalar::strings::output::StringWriter;
use crate::{Call, Column, Resolved, ScalarFunction};

/// Functions that write times.
pub const FUNCTIONS: &[ScalarFunction] = &[
    any_case(entry(
        &["formatDateTime", "DATE_FORMAT"],
        "formatDateTime(t, pattern[, time_zone])",
        "Text of a date or time by a pattern such as %Y-%m-%d.",
        |call| format(call, Syntax::MySql),
    )),
    entry(
        &["formatDateTimeInJodaSyntax"],
        "formatDateTimeInJodaSyntax(t, pattern[, time_zone])",
        "Text of a date or time by a pattern such as yyyy-MM-dd.",
        |call| format(call, Syntax::Joda),
    ),
    any_case(entry(
        &["fromUnixTimestamp", "FROM_UNIXTIME"],
        "fromUnixTimestamp(seconds[, pattern[, time_zone]])",
        "The DateTime of seconds since 1970, or its text by a pattern such as %Y-%m-%d.",
        |call| from_unix(call, Syntax::MySql),
    )),
    entry(
        &["fromUnixTimestampInJodaSyntax"],
        "fromUnixTimestampInJodaSyntax(seconds[, pattern[, time_zone]])",
        "The DateTime of seconds since 1970, or its text by a pattern such as yyyy-MM-dd.",
        |call| from_unix(call, Syntax::Joda),
    ),
];

/// What is written of a time.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    /// A number, with zeros up to a width.
    Number(Number, usize),
    MonthName {
        is_short: bool,
    },
    WeekdayName {
        is_short: bool,
    },
    HalfDay,
    Era {
        is_short: bool,
    },
    /// That many digits of the fraction of the second.
    Fraction(usize),
    Offset,
    ZoneName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Century,
    Year,
    YearOfCentury,
    IsoYear,
    IsoYearOfCentury,
    IsoWeek,
    Quarter,
    Month,
    Day,
    DayOfYear,
    /// Monday 1 to Sunday 7.
    Weekday,
    /// Sunday 0 to Saturday 6.
    WeekdayFromSunday,
    /// 0 to 23.
    Hour,
    /// 1 to 24.
    HourFrom1,
    /// 0 to 11.
    HalfHour,
    /// 1 to 12.
    HalfHourFrom1,
    Minute,
    Second,
}

fn my_sql_piece(code: u8) -> Option<Piece> {
    Some(match code {
        b'a' => Piece::WeekdayName { is_short: true },
        b'b' => Piece::MonthName { is_short: true },
        b'c' | b'm' => Piece::Number(Number::Month, 2),
        b'C' => Piece::Number(Number::Century, 2),
        b'd' => Piece::Number(Number::Day, 2),
        b'e' => Piece::Number(Number::Day, 1),
        b'f' => Piece::Fraction(6),
        b'g' => Piece::Number(Number::IsoYearOfCentury, 2),
        b'G' => Piece::Number(Number::IsoYear, 4),
        b'h' | b'I' | b'l' => Piece::Number(Number::HalfHourFrom1, 2),
        b'H' | b'k' => Piece::Number(Number::Hour, 2),
        b'i' => Piece::Number(Number::Minute, 2),
        b'j' => Piece::Number(Number::DayOfYear, 3),
        b'M' => Piece::MonthName { is_short: false },
        b'p' => Piece::HalfDay,
        b'Q' => Piece::Number(Number::Quarter, 1),
        b's' | b'S' => Piece::Number(Number::Second, 2),
        b'u' => Piece::Number(Number::Weekday, 1),
        b'V' => Piece::Number(Number::IsoWeek, 2),
        b'w' => Piece::Number(Number::WeekdayFromSunday, 1),
        b'W' => Piece::WeekdayName { is_short: false },
        b'y' => Piece::Number(Number::YearOfCentury, 2),
        b'Y' => Piece::Number(Number::Year, 4),
        b'z' => Piece::Offset,
        _ => return None,
    })
}

fn joda_piece(code: u8, count: usize) -> Option<Piece> {
    let number = |number| Some(Piece::Number(number, count));
    match code {
        b'G' => Some(Piece::Era {
            is_short: count < 4,
        }),
        b'C' => number(Number::Century),
        b'y' | b'Y' if count == 2 => number(Number::YearOfCentury),
        b'y' | b'Y' => number(Number::Year),
        b'x' => number(Number::IsoYear),
        b'w' => number(Number::IsoWeek),
        b'e' => number(Number::Weekday),
        b'E' => Some(Piece::WeekdayName {
            is_short: count < 4,
        }),
        b'D' => number(Number::DayOfYear),
        b'M' if count < 3 => number(Number::Month),
        b'M' => Some(Piece::MonthName {
            is_short: count == 3,
        }),
        b'd' => number(Number::Day),
        b'a' => Some(Piece::HalfDay),
        b'K' => number(Number::HalfHour),
        b'h' => number(Number::HalfHourFrom1),
        b'H' => number(Number::Hour),
        b'k' => number(Number::HourFrom1),
        b'm' => number(Number::Minute),
        b's' => number(Number::Second),
        b'S' => Some(Piece::Fraction(count)),
        b'z' if count > 3 => Some(Piece::ZoneName),
        _ => None,
    }
}

fn compile(pattern: &[u8], syntax: Syntax) -> Result<Vec<Piece>> {
    let tokens = split(pattern, syntax)?.into_iter();
    let piece = |token| match token {
        Token::Literal(text) => Ok(Piece::Literal(text)),
        Token::Code(code, count) => match syntax {
            Syntax::MySql => my_sql_piece(code),
            Syntax::Joda => joda_piece(code, count),
        }
        .ok_or_else(|| unknown_code(code, syntax)),
    };
    tokens.map(piece).collect()
}

/// A time that is being written.
struct Time {
    day: i64,
    date: CivilDate,
    /// Of the day.
    second: i64,
    nanoseconds: i64,
    offset_seconds: i64,
    zone: Tz,
}

impl Time {
    fn number(&self, number: Number) -> i64 {
        let year = i64::from(self.date.year);
        let hour = self.second / 3600;
        let from_1 = |n: i64, last: i64| if n == 0 { last } else { n };
        match number {
            Number::Century => year / 100,
            Number::Year => year,
            Number::YearOfCentury => year.rem_euclid(100),
            Number::IsoYear => i64::from(iso_year_and_week(self.day).0),
            Number::IsoYearOfCentury => i64::from(iso_year_and_week(self.day).0).rem_euclid(100),
            Number::IsoWeek => iso_year_and_week(self.day).1,
            Number::Quarter => i64::from(self.date.month.div_ceil(3)),
            Number::Month => i64::from(self.date.month),
            Number::Day => i64::from(self.date.day),
            Number::DayOfYear => i64::from(day_of_year(self.day)),
            Number::Weekday => weekday(self.day) + 1,
            Number::WeekdayFromSunday => (weekday(self.day) + 1) % 7,
            Number::Hour => hour,
            Number::HourFrom1 => from_1(hour, 24),
            Number::HalfHour => hour % 12,
            Number::HalfHourFrom1 => from_1(hour % 12, 12),
            Number::Minute => self.second / 60 % 60,
            Number::Second => self.second % 60,
        }
    }

    fn write(&self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Literal(text) => out.extend_from_slice(text),
            Piece::Number(number, width) => write_padded(self.number(*number), *width, out),
            Piece::MonthName { is_short } => {
                write_name(MONTHS[(self.date.month as usize + 11) % 12], *is_short, out);
            }
            Piece::WeekdayName { is_short } => {
                write_name(WEEKDAYS[weekday(self.day) as usize % 7], *is_short, out);
            }
            Piece::HalfDay => {
                out.extend_from_slice(if self.second < 43_200 { b"AM" } else { b"PM" });
            }
            Piece::Era { is_short: true } => {
                out.extend_from_slice(if self.date.year > 0 { b"AD" } else { b"BC" });
            }
            Piece::Era { is_short: false } => {
                let era = if self.date.year > 0 {
                    "Anno Domini"
                } else {
                    "Before Christ"
                };
                out.extend_from_slice(era.as_bytes());
            }
            Piece::Fraction(digits) => {
                let start = out.len();
                write_padded(self.nanoseconds, 9, out);
                out.resize(start + digits, b'0');
            }
            Piece::Offset => {
                out.push(if self.offset_seconds < 0 { b'-' } else { b'+' });
                let minutes = self.offset_seconds.abs() / 60;
                write_padded(minutes / 60 * 100 + minutes % 60, 4, out);
            }
            Piece::ZoneName => out.extend_from_slice(self.zone.name().as_bytes()),
        }
    }
}

fn write_padded(value: i64, width: usize, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value).as_bytes();
    let zeros = width.saturating_sub(digits.len());
    out.resize(out.len() + zeros, b'0');
    out.extend_from_slice(digits);
}

fn write_name(name: &str, is_short: bool, out: &mut Vec<u8>) {
    let name = if is_short { &name[..3] } else { name };
    out.extend_from_slice(name.as_bytes());
}

/// Writes every time of a column.
fn write_column(
    pieces: &[Piece],
    moments: &Moments,
    column: &Column,
    num_rows: usize,
) -> Result<ArrayRef> {
    let seconds = moments.values(Reading::UtcSeconds, column, num_rows)?;
    let needs_fraction = pieces.iter().any(|p| matches!(p, Piece::Fraction(_)));
    let ticks = match moments.ticks_per_second {
        1 => Vec::new(),
        _ if needs_fraction => moments.values(Reading::Ticks, column, num_rows)?,
        _ => Vec::new(),
    };
    let per_tick = 1_000_000_000 / moments.ticks_per_second;
    let mut clock = ZoneClock::new(moments.zone);
    let mut writer = StringWriter::with_capacity(num_rows, 0);
    let (mut last_day, mut last_date) = (0, civil(0));
    for (row, utc) in seconds.into_iter().enumerate() {
        let local = clock.local(utc);
        let day = local.div_euclid(86_400);
        if day != last_day {
            (last_day, last_date) = (day, civil(day));
        }
        let fraction = ticks
            .get(row)
            .map_or(0, |t| t.rem_euclid(moments.ticks_per_second));
        let time = Time {
            day,
            date: last_date,
            second: local.rem_euclid(86_400),
            nanoseconds: fraction * per_tick,
            offset_seconds: local.wrapping_sub(utc),
            zone: moments.zone,
        };
        let out = writer.bytes();
        for piece in pieces {
            time.write(piece, out);
        }
        writer.finish_row()?;
    }
    writer.finish()
}

/// Writes argument 0 by the pattern in argument 1.
fn written(call: &Call<'_>, moments: Moments, syntax: Syntax) -> Result<Resolved> {
    let pieces = compile(&call.constant_bytes(1)?, syntax)?;
    if pieces.iter().any(|p| matches!(p, Piece::Offset)) {
        call.expect_type(0, |t| !matches!(t, DataType::Date | DataType::Date32))?;
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        write_column(&pieces, &moments, &columns[0], num_rows)
    })
}

fn format(call: &Call<'_>, syntax: Syntax) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let moments = Moments::of_argument(call, 0, zone_argument(call, 2)?)?;
    written(call, moments, syntax)
}

fn from_unix(call: &Call<'_>, syntax: Syntax) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    let from = call.data_type(0);
    if call.args.len() == 1 {
        call.expect_type(0, DataType::is_integer)?;
        let result = DataType::DateTime(None);
        let cast = array_cast(from, &result, call.context)?;
        return Resolved::new(result, move |columns, num_rows| {
            let times = Column {
                array: cast(&columns[0].array)?,
                is_const: columns[0].is_const,
            };
            times.expand(num_rows)
        });
    }
    if from.is_date_or_time() {
        return format(call, syntax);
    }
    call.expect_type(0, DataType::is_integer)?;
    let seconds = Moments {
        is_date: false,
        ticks_per_second: 1,
        zone: zone_argument(call, 2)?.unwrap_or(call.context.time_zone),
    };
    written(call, seconds, syntax)
}
