//! Reads one part of a time: what each code of a pattern takes from a text.

use basalt_error::Result;
use basalt_types::parse::parse_time_zone;
use basalt_types::text::Cursor;

use super::names::{MONTHS, WEEKDAYS};
use super::parsed::{DateKind, HourKind, Parsed};
use super::pattern::{Syntax, Token, unknown_code};

/// What is read next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Literal(Vec<u8>),
    Number(Number),
    MonthName(NameLength),
    WeekdayName(NameLength),
    HalfDay,
    Era,
    /// Digits of the second's fraction: at most so many, and the nanoseconds that the number
    /// counts; `None` if its first digit is a tenth of a second.
    Fraction {
        max_digits: usize,
        unit: Option<i64>,
    },
    Offset,
    ZoneName,
}

/// Which form of a name is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameLength {
    Short,
    Full,
    Either,
}

/// A number: its digits, its range and where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    min_digits: usize,
    max_digits: usize,
    range: (i64, i64),
    set: fn(&mut Parsed, i64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        (self.min_digits, self.max_digits, self.range)
            == (other.min_digits, other.max_digits, other.range)
    }
}

impl Eq for Number {}

/// A number of exactly `digits` digits.
fn exact(digits: usize, range: (i64, i64), set: fn(&mut Parsed, i64)) -> Option<Item> {
    number((digits, digits), range, set)
}

fn number(
    (min_digits, max_digits): (usize, usize),
    range: (i64, i64),
    set: fn(&mut Parsed, i64),
) -> Option<Item> {
    Some(Item::Number(Number {
        min_digits,
        max_digits,
        range,
        set,
    }))
}

fn set_year(parsed: &mut Parsed, year: i64) {
    parsed.year = Some(year);
}

/// Two digits from 70 on are of the 20th century.
fn set_short_year(parsed: &mut Parsed, year: i64) {
    parsed.year = Some(if year < 70 { 2000 + year } else { 1900 + year });
}

fn set_iso_year(parsed: &mut Parsed, year: i64) {
    parsed.year = Some(year);
    parsed.set_kind(DateKind::Week);
}

fn set_short_iso_year(parsed: &mut Parsed, year: i64) {
    set_short_year(parsed, year);
    parsed.set_kind(DateKind::Week);
}

fn set_century(parsed: &mut Parsed, century: i64) {
    parsed.year = Some(century * 100);
}

fn set_month(parsed: &mut Parsed, month: i64) {
    parsed.month = month;
    parsed.set_kind(DateKind::Month);
}

fn set_day(parsed: &mut Parsed, day: i64) {
    parsed.day = day;
    parsed.set_kind(DateKind::Month);
}

fn set_day_of_year(parsed: &mut Parsed, day: i64) {
    parsed.day_of_year = day;
    parsed.set_kind(DateKind::DayOfYear);
}

fn set_week(parsed: &mut Parsed, week: i64) {
    parsed.week = week;
    parsed.set_kind(DateKind::Week);
}

/// Sunday may be 0 or 7.
fn set_weekday(parsed: &mut Parsed, weekday: i64) {
    parsed.weekday = if weekday == 0 { 7 } else { weekday };
    parsed.set_kind(DateKind::Week);
}

fn set_hour(parsed: &mut Parsed, hour: i64) {
    (parsed.hour, parsed.hour_kind) = (hour, HourKind::Day);
}

fn set_hour_from_1(parsed: &mut Parsed, hour: i64) {
    (parsed.hour, parsed.hour_kind) = (hour, HourKind::DayFrom1);
}

fn set_half_hour(parsed: &mut Parsed, hour: i64) {
    (parsed.hour, parsed.hour_kind) = (hour, HourKind::HalfDay);
}

fn set_minute(parsed: &mut Parsed, minute: i64) {
    parsed.minute = minute;
}

fn set_second(parsed: &mut Parsed, second: i64) {
    parsed.second = second;
}

/// Items of all codes of a pattern.
pub(super) fn compile(tokens: Vec<Token>, syntax: Syntax) -> Result<Vec<Item>> {
    let item = |token| match token {
        Token::Literal(text) => Ok(Item::Literal(text)),
        Token::Code(code, count) => match syntax {
            Syntax::MySql => my_sql_item(code),
            Syntax::Joda => joda_item(code, count),
        }
        .ok_or_else(|| unknown_code(code, syntax)),
    };
    tokens.into_iter().map(item).collect()
}

fn my_sql_item(code: u8) -> Option<Item> {
    match code {
        b'a' => Some(Item::WeekdayName(NameLength::Short)),
        b'b' => Some(Item::MonthName(NameLength::Short)),
        b'c' => number((1, 2), (1, 12), set_month),
        b'C' => exact(2, (0, 99), set_century),
        b'd' => exact(2, (1, 31), set_day),
        b'e' => number((1, 2), (1, 31), set_day),
        b'f' => Some(Item::Fraction {
            max_digits: 6,
            unit: None,
        }),
        b'g' => exact(2, (0, 99), set_short_iso_year),
        b'G' => exact(4, (0, 9999), set_iso_year),
        b'h' | b'I' => exact(2, (1, 12), set_half_hour),
        b'H' => exact(2, (0, 23), set_hour),
        b'i' => exact(2, (0, 59), set_minute),
        b'j' => exact(3, (1, 366), set_day_of_year),
        b'k' => number((1, 2), (0, 23), set_hour),
        b'l' => number((1, 2), (1, 12), set_half_hour),
        b'm' => exact(2, (1, 12), set_month),
        b'M' => Some(Item::MonthName(NameLength::Full)),
        b'p' => Some(Item::HalfDay),
        b's' | b'S' => exact(2, (0, 59), set_second),
        b'u' => exact(1, (1, 7), set_weekday),
        b'V' => exact(2, (1, 53), set_week),
        b'w' => exact(1, (0, 7), set_weekday),
        b'W' => Some(Item::WeekdayName(NameLength::Full)),
        b'y' => exact(2, (0, 99), set_short_year),
        b'Y' => exact(4, (0, 9999), set_year),
        b'z' => Some(Item::Offset),
        _ => None,
    }
}

fn joda_item(code: u8, count: usize) -> Option<Item> {
    let up_to = |digits: usize| (1, digits.max(count));
    // A year or century of one letter has one digit; of more, at least four or two are read.
    let of_letters = |digits: usize| (1, if count == 1 { 1 } else { count.max(digits) });
    let year_digits = of_letters(4);
    match code {
        b'G' => Some(Item::Era),
        b'C' => number(of_letters(2), (0, 99), set_century),
        b'y' | b'Y' if count == 2 => exact(2, (0, 99), set_short_year),
        b'x' if count == 2 => exact(2, (0, 99), set_short_iso_year),
        b'y' | b'Y' => number(year_digits, (0, 9999), set_year),
        b'x' => number(year_digits, (0, 9999), set_iso_year),
        b'w' => number(up_to(2), (1, 53), set_week),
        b'e' => number(up_to(1), (1, 7), set_weekday),
        b'E' => Some(Item::WeekdayName(NameLength::Either)),
        b'D' => number(up_to(3), (1, 366), set_day_of_year),
        b'M' if count < 3 => number(up_to(2), (1, 12), set_month),
        b'M' => Some(Item::MonthName(NameLength::Either)),
        b'd' => number(up_to(2), (1, 31), set_day),
        b'a' => Some(Item::HalfDay),
        b'K' => number(up_to(2), (0, 11), set_half_hour),
        b'h' => number(up_to(2), (1, 12), set_half_hour),
        b'H' => number(up_to(2), (0, 23), set_hour),
        b'k' => number(up_to(2), (1, 24), set_hour_from_1),
        b'm' => number(up_to(2), (0, 59), set_minute),
        b's' => number(up_to(2), (0, 59), set_second),
        b'S' => {
            let places = u32::try_from(count.min(9)).ok()?;
            Some(Item::Fraction {
                max_digits: count,
                unit: Some(10_i64.pow(9 - places)),
            })
        }
        b'z' => Some(Item::ZoneName),
        b'Z' => Some(Item::Offset),
        _ => None,
    }
}

impl Item {
    /// Reads the part; `false` if the text has something else there.
    pub(super) fn read(&self, cursor: &mut Cursor<'_>, parsed: &mut Parsed) -> Result<bool> {
        Ok(match self {
            Item::Literal(text) => cursor.eat_text(text),
            Item::Number(number) => number.read(cursor, parsed).is_some(),
            Item::MonthName(length) => match read_name(cursor, &MONTHS, *length) {
                Some(idx) => {
                    set_month(parsed, idx + 1);
                    true
                }
                None => false,
            },
            Item::WeekdayName(length) => match read_name(cursor, &WEEKDAYS, *length) {
                Some(idx) => {
                    set_weekday(parsed, idx + 1);
                    true
                }
                None => false,
            },
            Item::HalfDay => {
                let is_am = cursor.eat_text_ignoring_case(b"AM");
                parsed.is_pm = !is_am && cursor.eat_text_ignoring_case(b"PM");
                is_am || parsed.is_pm
            }
            Item::Era => cursor.eat_text_ignoring_case(b"AD"),
            Item::Fraction { max_digits, unit } => {
                read_fraction(cursor, *max_digits, *unit, parsed).is_some()
            }
            Item::Offset => read_offset(cursor, parsed).is_some(),
            Item::ZoneName => {
                let is_name = |b: u8| b.is_ascii_alphanumeric() || b"/_+-".contains(&b);
                let name = String::from_utf8_lossy(cursor.take_while(is_name));
                parsed.zone = Some(parse_time_zone(&name)?);
                true
            }
        })
    }
}

fn take_digits<'a>(cursor: &mut Cursor<'a>, max: usize) -> &'a [u8] {
    let digits = cursor.rest().iter().take(max);
    let len = digits.take_while(|b| b.is_ascii_digit()).count();
    cursor.take(len)
}

/// The number of digits; `None` for more than fit.
fn value_of(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0_i64, |value, digit| {
        value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
    })
}

impl Number {
    fn read(&self, cursor: &mut Cursor<'_>, parsed: &mut Parsed) -> Option<()> {
        let is_flexible = self.min_digits < self.max_digits;
        if is_flexible && !cursor.eat(b' ') && self.max_digits >= 4 {
            cursor.eat(b'+');
        }
        let digits = take_digits(cursor, self.max_digits);
        let value = value_of(digits)?;
        let fits =
            digits.len() >= self.min_digits && value >= self.range.0 && value <= self.range.1;
        fits.then(|| (self.set)(parsed, value))
    }
}

/// Index of the name that comes next, in any case.
fn read_name(cursor: &mut Cursor<'_>, names: &[&str], length: NameLength) -> Option<i64> {
    let mut eat = |is_full: bool| {
        let name_of = |name: &str| if is_full { name.len() } else { 3 };
        names
            .iter()
            .position(|name| cursor.eat_text_ignoring_case(&name.as_bytes()[..name_of(name)]))
    };
    let idx = match length {
        NameLength::Short => eat(false),
        NameLength::Full => eat(true),
        NameLength::Either => eat(true).or_else(|| eat(false)),
    };
    // At most twelve names.
    idx.map(|idx| idx as i64)
}

fn read_fraction(
    cursor: &mut Cursor<'_>,
    max_digits: usize,
    unit: Option<i64>,
    parsed: &mut Parsed,
) -> Option<()> {
    /// ClickHouse reads no finer fractions, though it has types for them.
    const MOST_DIGITS: usize = 6;
    if max_digits > MOST_DIGITS {
        return None;
    }
    let digits = take_digits(cursor, max_digits);
    let value = value_of(digits).filter(|_| !digits.is_empty())?;
    let unit = match unit {
        Some(unit) => unit,
        None => 10_i64.pow(9_u32.saturating_sub(u32::try_from(digits.len()).ok()?)),
    };
    parsed.nanoseconds = value.checked_mul(unit)?.min(999_999_999);
    Some(())
}

/// `+hhmm` or `-hhmm`.
fn read_offset(cursor: &mut Cursor<'_>, parsed: &mut Parsed) -> Option<()> {
    let is_negative = cursor.eat(b'-');
    if !is_negative && !cursor.eat(b'+') {
        return None;
    }
    let digits = take_digits(cursor, 4);
    if digits.len() < 4 {
        return None;
    }
    let number = value_of(digits)?;
    let seconds = number / 100 * 3600 + number % 100 * 60;
    parsed.offset_seconds = Some(if is_negative { -seconds } else { seconds });
    Some(())
}
