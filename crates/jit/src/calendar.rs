//! Writes functions of days and seconds since 1970 as nodes: parts of dates, and the starts of units.
//!
//! Days become dates as in C. Neri and L. Schneider, *Euclidean affine functions and their application to calendar
//! algorithms* (2022), in 32 bits without sign: a product and a shift in place of each division, which vector units have.
//! Years begin in March there, so that the day that some years have more is the last one.
//!
//! ```text
//!  day ──▶ days since a first of March ──▶ century | rest ──▶ year | day of the year ──▶ month | day
//! ```

use crate::ir::{BinaryOp, Graph, IllTyped, NodeId, Type};

type Built = Result<NodeId, IllTyped>;

/// What a day is asked for. Results are integers of 32 bits without sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayPart {
    /// The year; of one before 0 the bits of the integer with sign.
    Year,
    /// 1 to 4.
    Quarter,
    /// 1 to 12.
    Month,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 366.
    DayOfYear,
    /// The year times 100 and the month.
    YearMonth,
    /// The year times 10000, the month times 100, and the day of the month.
    YearMonthDay,
}

/// Units of whole days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayUnit {
    /// From the first of January.
    Year,
    /// From the first of a month.
    Month,
    /// From a Monday.
    Week,
    /// From a Sunday.
    SundayWeek,
}

/// Days from the first of March of the year 0 to 1970.
const DAYS_TO_1970: u64 = 719_468;

/// Days of 400 years.
const ERA_DAYS: u64 = 146_097;

/// Eras before the year 0 from which days with a sign are counted.
const ERAS: u64 = 5_000;

/// Days with a sign that are farther from 1970 count as the last of these.
const MAX_DAYS: u64 = 700_000_000;

/// The day from which on all units have begun after the last day of 16 bits.
const LATE_DAY: u64 = 66_000;

/// What `part` of `day` is. Days are of 16 bits without sign, of 32 bits without sign and then below 2^20, or of 32 bits
/// with a sign.
///
/// # Errors
/// If the day is of another type.
pub fn part_of_day(graph: &mut Graph, part: DayPart, day: NodeId) -> Built {
    let mut on = Steps { graph };
    let date = on.date(day)?;
    match part {
        DayPart::Year => on.year(&date),
        DayPart::Month => on.month(&date),
        DayPart::DayOfMonth => on.day_of_month(&date),
        DayPart::Quarter => {
            let month = on.month(&date)?;
            let next = on.constant(BinaryOp::Add, month, 2)?;
            on.constant(BinaryOp::IntDiv, next, 3)
        }
        DayPart::DayOfYear => {
            let before = on.days_since_new_year(&date)?;
            on.constant(BinaryOp::Add, before, 1)
        }
        DayPart::YearMonth => on.year_month(&date),
        DayPart::YearMonthDay => {
            let high = on.year_month(&date)?;
            let day = on.day_of_month(&date)?;
            on.digits(high, day)
        }
    }
}

/// Monday 1 to Sunday 7. Days are as for [`part_of_day`].
///
/// # Errors
/// If the day is of another type.
pub fn day_of_week(graph: &mut Graph, day: NodeId) -> Built {
    let mut on = Steps { graph };
    let from_monday = on.weekday(day)?;
    on.constant(BinaryOp::Add, from_monday, 1)
}

/// Where the `unit` that `day` is in begins, as a day of 16 bits: one before 1970 is 0, and a later one than there are
/// 65535. Days are as for [`part_of_day`].
///
/// # Errors
/// If the day is of another type.
pub fn start_of_day_unit(graph: &mut Graph, unit: DayUnit, day: NodeId) -> Built {
    let mut on = Steps { graph };
    let is_narrow = on.graph.type_of(day) == Type::U16;
    let day = on.near(day)?;
    let since = match unit {
        DayUnit::Month => {
            let date = on.date(day)?;
            on.days_since_month(&date)?
        }
        DayUnit::Year => {
            let date = on.date(day)?;
            on.days_since_new_year(&date)?
        }
        DayUnit::Week => on.weekday(day)?,
        DayUnit::SundayWeek => {
            let monday = on.weekday(day)?;
            let next = on.constant(BinaryOp::Add, monday, 1)?;
            on.constant(BinaryOp::Modulo, next, 7)?
        }
    };
    let mut start = on.graph.binary(BinaryOp::Subtract, day, since)?;
    if matches!(unit, DayUnit::Week | DayUnit::SundayWeek) {
        // 1970 began within a week.
        let zero = on.number(0);
        let is_before = on.graph.binary(BinaryOp::Less, day, since)?;
        start = on.graph.choose(is_before, zero, start)?;
    }
    if !is_narrow {
        start = on.at_most(start, u64::from(u16::MAX))?;
    }
    Ok(on.graph.cast(Type::U16, start))
}

/// The day of seconds without sign, in UTC: of 32 bits, below 2^16.
///
/// # Errors
/// If they are of another type.
pub fn day_of_seconds(graph: &mut Graph, seconds: NodeId) -> Built {
    Steps { graph }.constant(BinaryOp::IntDiv, seconds, 86_400)
}

/// How many steps of so many seconds are over, of `count` that make up the next unit.
///
/// # Errors
/// If seconds are no integer of 32 bits without sign.
pub fn part_of_seconds(graph: &mut Graph, seconds: NodeId, step: u32, count: u32) -> Built {
    let mut on = Steps { graph };
    let steps = match step {
        1 => seconds,
        step => on.constant(BinaryOp::IntDiv, seconds, step.into())?,
    };
    on.constant(BinaryOp::Modulo, steps, count.into())
}

/// Where the step of so many seconds begins, counted from 1970 in UTC.
///
/// # Errors
/// If seconds are no integer of 32 bits without sign.
pub fn start_of_seconds(graph: &mut Graph, seconds: NodeId, step: u32) -> Built {
    let mut on = Steps { graph };
    let since = on.constant(BinaryOp::Modulo, seconds, step.into())?;
    on.graph.binary(BinaryOp::Subtract, seconds, since)
}

/// Where a day is in the years that begin in March: integers of 32 bits without sign.
struct Date {
    century: NodeId,
    year_of_century: NodeId,
    /// Below 366.
    day_of_year: NodeId,
    /// Years from the year 0 to that from which centuries are counted; none if it is that.
    years_before: Option<NodeId>,
}

/// Adds nodes of integers of 32 bits without sign.
struct Steps<'a> {
    graph: &'a mut Graph,
}

impl Steps<'_> {
    fn number(&mut self, value: u64) -> NodeId {
        self.graph.constant(Type::U32, Some(value))
    }

    fn constant(&mut self, op: BinaryOp, left: NodeId, right: u64) -> Built {
        let right = self.number(right);
        self.graph.binary(op, left, right)
    }

    fn at_most(&mut self, value: NodeId, limit: u64) -> Built {
        let limit = self.number(limit);
        let is_less = self.graph.binary(BinaryOp::Less, value, limit)?;
        self.graph.choose(is_less, value, limit)
    }

    /// `high` with two digits more.
    fn digits(&mut self, high: NodeId, low: NodeId) -> Built {
        let high = self.constant(BinaryOp::Multiply, high, 100)?;
        self.graph.binary(BinaryOp::Add, high, low)
    }

    /// The day as one from 0 to [`LATE_DAY`].
    fn near(&mut self, day: NodeId) -> Built {
        match self.graph.type_of(day) {
            Type::I32 => {
                let late = self.graph.constant(Type::I32, Some(LATE_DAY));
                let zero = self.graph.constant(Type::I32, Some(0));
                let day = self.clamped(day, (zero, late))?;
                Ok(self.graph.cast(Type::U32, day))
            }
            _ => Ok(self.graph.cast(Type::U32, day)),
        }
    }

    fn clamped(&mut self, value: NodeId, (least, greatest): (NodeId, NodeId)) -> Built {
        let is_less = self.graph.binary(BinaryOp::Less, value, least)?;
        let value = self.graph.choose(is_less, least, value)?;
        let is_greater = self.graph.binary(BinaryOp::Greater, value, greatest)?;
        self.graph.choose(is_greater, greatest, value)
    }

    /// Days from Monday on, 0 to 6.
    fn weekday(&mut self, day: NodeId) -> Built {
        let is_signed = self.graph.type_of(day) == Type::I32;
        let day = self.graph.cast(Type::U32, day);
        if !is_signed {
            // 1970 began with a Thursday.
            let since = self.constant(BinaryOp::Add, day, 3)?;
            return self.constant(BinaryOp::Modulo, since, 7);
        }
        // The least day that there is was a Tuesday: day + 2^31 modulo 7, and one more.
        let since = self.constant(BinaryOp::BitXor, day, 1 << 31)?;
        let since = self.constant(BinaryOp::Modulo, since, 7)?;
        let since = self.constant(BinaryOp::Add, since, 1)?;
        self.constant(BinaryOp::Modulo, since, 7)
    }

    /// The date of a day.
    fn date(&mut self, day: NodeId) -> Result<Date, IllTyped> {
        if self.graph.type_of(day) != Type::I32 {
            let day = self.graph.cast(Type::U32, day);
            let since = self.constant(BinaryOp::Add, day, DAYS_TO_1970)?;
            return self.date_since(since);
        }
        let limit = |graph: &mut Graph, days: u64| graph.constant(Type::I32, Some(days));
        let limits = (
            limit(self.graph, MAX_DAYS.wrapping_neg()),
            limit(self.graph, MAX_DAYS),
        );
        let day = self.clamped(day, limits)?;
        let day = self.graph.cast(Type::U32, day);
        let since = self.constant(BinaryOp::Add, day, DAYS_TO_1970 + ERAS * ERA_DAYS)?;
        let era = self.constant(BinaryOp::IntDiv, since, ERA_DAYS)?;
        let day_of_era = self.constant(BinaryOp::Modulo, since, ERA_DAYS)?;
        let years = self.constant(BinaryOp::Multiply, era, 400)?;
        let years = self.constant(BinaryOp::Subtract, years, 400 * ERAS)?;
        Ok(Date {
            years_before: Some(years),
            ..self.date_since(day_of_era)?
        })
    }

    /// The date so many days, fewer than 2^29, after the first of March of a year 0.
    fn date_since(&mut self, days: NodeId) -> Result<Date, IllTyped> {
        use BinaryOp::{BitOr, IntDiv, Modulo, Multiply, ShiftRight};
        let quarters = self.constant(Multiply, days, 4)?;
        let quarters = self.constant(BitOr, quarters, 3)?;
        let century = self.constant(IntDiv, quarters, ERA_DAYS)?;
        let rest = self.constant(Modulo, quarters, ERA_DAYS)?;
        let rest = self.constant(BitOr, rest, 3)?;
        let year_of_century = self.constant(IntDiv, rest, 1_461)?;
        let rest = self.constant(Modulo, rest, 1_461)?;
        let day_of_year = self.constant(ShiftRight, rest, 2)?;
        Ok(Date {
            century,
            year_of_century,
            day_of_year,
            years_before: None,
        })
    }

    /// Whether it is January or February, which belong to the year that began in March before.
    fn is_next_year(&mut self, date: &Date) -> Built {
        self.constant(BinaryOp::GreaterOrEqual, date.day_of_year, 306)
    }

    fn year(&mut self, date: &Date) -> Built {
        let year = self.constant(BinaryOp::Multiply, date.century, 100)?;
        let mut year = self
            .graph
            .binary(BinaryOp::Add, year, date.year_of_century)?;
        if let Some(years) = date.years_before {
            year = self.graph.binary(BinaryOp::Add, year, years)?;
        }
        let next = self.is_next_year(date)?;
        let next = self.graph.cast(Type::U32, next);
        self.graph.binary(BinaryOp::Add, year, next)
    }

    /// Months in the upper 16 bits, and in the lower ones what is over: a year that begins in March has months of 30.6
    /// days.
    fn months(&mut self, date: &Date) -> Built {
        let months = self.constant(BinaryOp::Multiply, date.day_of_year, 2_141)?;
        self.constant(BinaryOp::Add, months, 197_913)
    }

    fn month(&mut self, date: &Date) -> Built {
        let months = self.months(date)?;
        let month = self.constant(BinaryOp::ShiftRight, months, 16)?;
        // January and February are the months 13 and 14.
        let of_year = self.constant(BinaryOp::Subtract, month, 12)?;
        let is_next_year = self.is_next_year(date)?;
        self.graph.choose(is_next_year, of_year, month)
    }

    fn days_since_month(&mut self, date: &Date) -> Built {
        let months = self.months(date)?;
        let rest = self.constant(BinaryOp::BitAnd, months, 0xFFFF)?;
        self.constant(BinaryOp::IntDiv, rest, 2_141)
    }

    fn day_of_month(&mut self, date: &Date) -> Built {
        let since = self.days_since_month(date)?;
        self.constant(BinaryOp::Add, since, 1)
    }

    /// The year times 100 and the month.
    fn year_month(&mut self, date: &Date) -> Built {
        let (year, month) = (self.year(date)?, self.month(date)?);
        self.digits(year, month)
    }

    /// Days since the first of January.
    fn days_since_new_year(&mut self, date: &Date) -> Built {
        use BinaryOp::{Add, And, BitAnd, Equal, NotEqual, Or, Subtract};
        // Until March there are 59 days, and one more in years that four divides, but of centuries only a fourth one.
        let rest = self.constant(BitAnd, date.year_of_century, 3)?;
        let is_fourth = self.constant(Equal, rest, 0)?;
        let is_no_century = self.constant(NotEqual, date.year_of_century, 0)?;
        let rest = self.constant(BitAnd, date.century, 3)?;
        let is_fourth_century = self.constant(Equal, rest, 0)?;
        let is_long = self.graph.binary(Or, is_no_century, is_fourth_century)?;
        let is_leap = self.graph.binary(And, is_fourth, is_long)?;
        let is_leap = self.graph.cast(Type::U32, is_leap);
        let after = self.constant(Add, date.day_of_year, 59)?;
        let after = self.graph.binary(Add, after, is_leap)?;
        let before = self.constant(Subtract, date.day_of_year, 306)?;
        let is_next_year = self.is_next_year(date)?;
        self.graph.choose(is_next_year, before, after)
    }
}
