//! Turns functions of dates and times into nodes, where integers of 16 and 32 bits say all.
//!
//! That is Date, Date32 and DateTime; the clock of a DateTime must show UTC, except where whole minutes since 1970 are
//! cut into steps, which ClickHouse does in UTC for all zones. What the functions do stands in
//! `basalt_functions::scalar::dates`, how it is computed in [`basalt_jit::calendar`].

use basalt_jit::calendar::{
    DayPart, DayUnit, day_of_seconds, day_of_week, part_of_day, part_of_seconds, start_of_day_unit,
    start_of_seconds,
};
use basalt_jit::{BinaryOp, Graph, NodeId, Type};

use super::function::Pair;
use super::signature::{CAST, Kind, Operand, Signature};

/// Adds the call of a function that has to do with dates or times; none if it is not one that programs can say.
pub(super) fn translated(
    graph: &mut Graph,
    signature: &Signature<'_>,
    args: &[NodeId],
) -> Option<NodeId> {
    let result = signature.result;
    match (signature.name, args, signature.args.as_slice()) {
        (CAST, [arg], [from]) => converted(graph, *arg, *from, result),
        ("plus", [left, right], [a, b]) => {
            let op = BinaryOp::Add;
            let is_moved = moves(*a, *b, result) || moves(*b, *a, result);
            is_moved.then(|| in_type(graph, op, (*left, *right), result))?
        }
        ("minus", [left, right], [a, b]) => {
            let is_taken = moves(*a, *b, result) || is_difference(*a, *b, result);
            is_taken.then(|| in_type(graph, BinaryOp::Subtract, (*left, *right), result))?
        }
        (name, [arg], [from]) => unary(graph, name, (*arg, from.kind), result),
        _ => None,
    }
}

/// Whether `moment` plus or minus `number` is a moment again. It wraps around.
fn moves(moment: Operand, number: Operand, result: Operand) -> bool {
    let is_number = number.kind == Kind::Number && number.data_type.is_integer();
    moment.kind != Kind::Number && moment == result && is_number
}

/// Whether two moments of one type are taken from each other, which gives an integer of 32 bits.
fn is_difference(a: Operand, b: Operand, result: Operand) -> bool {
    let is_of_type = match (a.kind, b.kind) {
        (Kind::DateTime { .. }, Kind::DateTime { .. }) => true,
        (a, b) => a == b && a != Kind::Number,
    };
    is_of_type && result.kind == Kind::Number && result.data_type == Type::I32
}

/// `op` in the lowest bits of the result's type.
fn in_type(
    graph: &mut Graph,
    op: BinaryOp,
    (left, right): Pair,
    result: Operand,
) -> Option<NodeId> {
    let left = graph.cast(result.data_type, left);
    let right = graph.cast(result.data_type, right);
    graph.binary(op, left, right).ok()
}

/// Conversions between dates and times, and to numbers. Those from numbers are left out: large ones are not days but
/// seconds.
fn converted(graph: &mut Graph, arg: NodeId, from: Operand, to: Operand) -> Option<NodeId> {
    let is_date = |kind: Kind| matches!(kind, Kind::Date | Kind::Date32);
    let value = match (from.kind, to.kind) {
        (Kind::Number, _) => return None,
        (_, Kind::Number) | (Kind::DateTime { .. }, Kind::DateTime { .. }) => arg,
        (a, b) if is_date(a) && is_date(b) => arg,
        (Kind::DateTime { is_utc: true }, _) => day_of_seconds(graph, arg).ok()?,
        (_, Kind::DateTime { is_utc: true }) => {
            let day = graph.cast(Type::U32, arg);
            let day_seconds = graph.constant(Type::U32, Some(86_400));
            graph.binary(BinaryOp::Multiply, day, day_seconds).ok()?
        }
        _ => return None,
    };
    Some(graph.cast(to.data_type, value))
}

/// A function of one date or time.
fn unary(
    graph: &mut Graph,
    name: &str,
    (arg, kind): (NodeId, Kind),
    result: Operand,
) -> Option<NodeId> {
    let value = match result.kind {
        Kind::DateTime { .. } => {
            let step = step_of(name, kind)?;
            start_of_seconds(graph, arg, step).ok()?
        }
        Kind::Date => {
            let unit = day_unit(name)?;
            let day = day_of(graph, arg, kind)?;
            start_of_day_unit(graph, unit, day).ok()?
        }
        Kind::Number => match clock_part(name, kind) {
            Some((step, count)) => part_of_seconds(graph, arg, step, count).ok()?,
            None => part(graph, name, (arg, kind))?,
        },
        Kind::Date32 => return None,
    };
    // Numbers of functions may lose their upper bits, as those of years do that are far away.
    Some(graph.cast(result.data_type, value))
}

fn part(graph: &mut Graph, name: &str, (arg, kind): (NodeId, Kind)) -> Option<NodeId> {
    let part = match name {
        "toYear" | "toRelativeYearNum" => DayPart::Year,
        "toQuarter" => DayPart::Quarter,
        "toMonth" => DayPart::Month,
        "toDayOfMonth" => DayPart::DayOfMonth,
        "toDayOfYear" => DayPart::DayOfYear,
        "toYYYYMM" => DayPart::YearMonth,
        "toYYYYMMDD" => DayPart::YearMonthDay,
        "toDayOfWeek" => {
            let day = day_of(graph, arg, kind)?;
            return day_of_week(graph, day).ok();
        }
        "toUnixTimestamp" => return matches!(kind, Kind::DateTime { .. }).then_some(arg),
        _ => return None,
    };
    let day = day_of(graph, arg, kind)?;
    part_of_day(graph, part, day).ok()
}

/// The day on the calendar.
fn day_of(graph: &mut Graph, arg: NodeId, kind: Kind) -> Option<NodeId> {
    match kind {
        Kind::Date | Kind::Date32 => Some(arg),
        Kind::DateTime { is_utc: true } => day_of_seconds(graph, arg).ok(),
        Kind::Number | Kind::DateTime { is_utc: false } => None,
    }
}

/// The unit of days that a function finds the start of, without a mode.
fn day_unit(name: &str) -> Option<DayUnit> {
    Some(match name {
        "toStartOfYear" => DayUnit::Year,
        "toStartOfMonth" => DayUnit::Month,
        "toMonday" => DayUnit::Week,
        "toStartOfWeek" => DayUnit::SundayWeek,
        _ => return None,
    })
}

/// Seconds of the steps that a function finds the start of.
fn step_of(name: &str, kind: Kind) -> Option<u32> {
    let Kind::DateTime { is_utc } = kind else {
        return None;
    };
    Some(match name {
        "toStartOfDay" if is_utc => 86_400,
        "toStartOfHour" if is_utc => 3_600,
        "toStartOfMinute" => 60,
        "toStartOfFiveMinutes" => 300,
        "toStartOfTenMinutes" => 600,
        "toStartOfFifteenMinutes" => 900,
        "timeSlot" => 1_800,
        _ => return None,
    })
}

/// Seconds of the steps that a function counts, and how many of them make up the next unit.
fn clock_part(name: &str, kind: Kind) -> Option<(u32, u32)> {
    if kind != (Kind::DateTime { is_utc: true }) {
        return None;
    }
    Some(match name {
        "toHour" => (3_600, 24),
        "toMinute" => (60, 60),
        "toSecond" => (1, 60),
        _ => return None,
    })
}
