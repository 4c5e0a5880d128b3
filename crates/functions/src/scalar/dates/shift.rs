//! Adds units of time to dates and times: `addDays`, `subtractMonths`, `addInterval`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StructArray};
use basalt_error::{Error, Result};
use basalt_types::{DataType, IntervalUnit};

use super::moment::zone_argument;
use super::{any_case, entry};
use crate::scalar::core::arithmetic::{BinaryOp, resolve_binary};
use crate::scalar::core::numeric::map1;
use crate::{Arg, Call, Column, Resolved, ScalarFunction};

/// Functions that add or subtract one unit, then those of intervals.
pub const FUNCTIONS: &[&[ScalarFunction]] = &[&UNITS, INTERVALS];

macro_rules! units {
    ($($name:literal)*) => {
        [$(entry(
            &[$name],
            concat!($name, "(t, n[, time_zone])"),
            "A date or time some units later or earlier.",
            by_name,
        ),)*]
    };
}

const UNITS: [ScalarFunction; 22] = units! {
    "addNanoseconds" "addMicroseconds" "addMilliseconds" "addSeconds" "addMinutes" "addHours"
    "addDays" "addWeeks" "addMonths" "addQuarters" "addYears"
    "subtractNanoseconds" "subtractMicroseconds" "subtractMilliseconds" "subtractSeconds"
    "subtractMinutes" "subtractHours" "subtractDays" "subtractWeeks" "subtractMonths"
    "subtractQuarters" "subtractYears"
};

const INTERVALS: &[ScalarFunction] = &[
    any_case(entry(
        &["addDate"],
        "addDate(t, interval)",
        "A date or time plus an interval.",
        |call| with_interval(call, BinaryOp::Plus),
    )),
    any_case(entry(
        &["subDate"],
        "subDate(t, interval)",
        "A date or time minus an interval.",
        |call| with_interval(call, BinaryOp::Minus),
    )),
    entry(
        &["addInterval"],
        "addInterval(intervals, interval)",
        "A tuple of intervals with one more added.",
        |call| append_interval(call, 1),
    ),
    entry(
        &["subtractInterval"],
        "subtractInterval(intervals, interval)",
        "A tuple of intervals with one more subtracted.",
        |call| append_interval(call, -1),
    ),
    entry(
        &["addTupleOfIntervals"],
        "addTupleOfIntervals(t, intervals)",
        "A date or time plus each of a tuple of intervals.",
        |call| with_tuple(call, BinaryOp::Plus),
    ),
    entry(
        &["subtractTupleOfIntervals"],
        "subtractTupleOfIntervals(t, intervals)",
        "A date or time minus each of a tuple of intervals.",
        |call| with_tuple(call, BinaryOp::Minus),
    ),
];

/// `addDays` is `plus` with an `IntervalDay`.
fn by_name(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let (op, units) = match call.name.strip_prefix("subtract") {
        Some(units) => (BinaryOp::Minus, units),
        None => (
            BinaryOp::Plus,
            call.name.strip_prefix("add").unwrap_or_default(),
        ),
    };
    let unit = units.strip_suffix('s').and_then(IntervalUnit::from_name);
    let unit = unit.ok_or_else(|| Error::bug(format!("{} names no unit", call.name)))?;
    call.expect_type(0, |t| t.is_date_or_time() || *t == DataType::String)?;
    call.expect_type(1, |t| t.is_integer() || t.is_float())?;
    let moment = match (zone_argument(call, 2)?, call.data_type(0)) {
        (None, t) => t.clone(),
        (zone, DataType::DateTime(_)) => DataType::DateTime(zone),
        (zone, DataType::DateTime64(precision, _)) => DataType::DateTime64(*precision, zone),
        _ => return Err(call.illegal_type(0)),
    };
    let args = [Arg::new(moment), Arg::new(DataType::Interval(unit))];
    let sum = resolve_binary(op, &args, call.context)?;
    let eval = sum.eval;
    Resolved::new(sum.return_type, move |columns, num_rows| {
        let amounts = &columns[1];
        let amounts = Column {
            array: map1::<i64, i64>(
                &Column::new(Arc::clone(&amounts.array)),
                amounts.array.len(),
                |n| n,
            )?,
            is_const: amounts.is_const,
        };
        eval(&[columns[0].clone(), amounts], num_rows)
    })
}

fn with_interval(call: &Call<'_>, op: BinaryOp) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| t.is_date_or_time() || *t == DataType::String)?;
    call.expect_type(1, |t| matches!(t, DataType::Interval(_)))?;
    resolve_binary(op, call.args, call.context)
}

fn with_tuple(call: &Call<'_>, op: BinaryOp) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_date_or_time)?;
    call.expect_type(1, |t| matches!(t, DataType::Tuple(_)))?;
    resolve_binary(op, call.args, call.context)
}

/// The intervals of the first argument and the second one, added to the last of the same unit.
fn append_interval(call: &Call<'_>, sign: i64) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let DataType::Interval(unit) = *call.data_type(1) else {
        return Err(call.illegal_type(1));
    };
    let is_interval = |t: &DataType| matches!(t, DataType::Interval(_));
    let is_tuple = !is_interval(call.data_type(0));
    let mut types = match call.data_type(0) {
        DataType::Tuple(tuple) if tuple.types.iter().all(is_interval) => tuple.types.clone(),
        DataType::Interval(unit) => vec![DataType::Interval(*unit)],
        _ => return Err(call.illegal_type(0)),
    };
    let merges = types.last() == Some(&DataType::Interval(unit));
    if !merges {
        types.push(DataType::Interval(unit));
    }
    let result = DataType::tuple(types);
    let arrow::datatypes::DataType::Struct(fields) = result.physical() else {
        return Err(Error::bug("a tuple is a struct"));
    };
    Resolved::new(result, move |columns, num_rows| {
        let first = columns[0].expand(num_rows)?;
        let mut parts: Vec<ArrayRef> = match first.as_struct_opt() {
            Some(tuple) if is_tuple => tuple.columns().to_vec(),
            _ => vec![first],
        };
        let more = map1::<i64, i64>(&columns[1], num_rows, |n| n.wrapping_mul(sign))?;
        match parts.last_mut() {
            Some(last) if merges => {
                let sum = arrow::compute::kernels::numeric::add_wrapping(last, &more);
                *last = sum.map_err(|e| Error::bug(e.to_string()))?;
            }
            _ => parts.push(more),
        }
        let tuple = StructArray::try_new(fields.clone(), parts, None);
        Ok(Arc::new(tuple.map_err(|e| Error::bug(e.to_string()))?))
    })
}
