//! `retention`, `sequenceMatch`, `sequenceCount`: chains of events.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt8Array, UInt64Array};
use arrow::datatypes::{DataType as ArrowType, Int64Type, UInt8Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::physical::item_field;

use super::pattern::{Event, Pattern};
use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_log::{Sealed, list_of};
use crate::aggregate::values::primitive;
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "retention",
        syntax: "retention(condition1, condition2, ...)",
        description: "For each condition whether it and the first one held in some rows.",
        resolve: resolve_retention,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sequenceMatch",
        max_params: 1,
        syntax: "sequenceMatch(pattern)(time, condition1, ...)",
        description: "Whether the events match the pattern.",
        resolve: |call| resolve_sequence(call, true),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sequenceCount",
        max_params: 1,
        syntax: "sequenceCount(pattern)(time, condition1, ...)",
        description: "Number of times that the events match the pattern.",
        resolve: |call| resolve_sequence(call, false),
        ..AggregateFunction::BASE
    },
];

/// Most conditions of a call.
pub(super) const MAX_CONDITIONS: usize = 32;

pub(super) fn check_conditions(call: &AggregateCall<'_>, first: usize) -> Result<()> {
    (first..call.types.len()).try_for_each(|idx| {
        call.expect_type(idx, |t| matches!(t, DataType::UInt8 | DataType::Bool))
    })
}

fn check_time(call: &AggregateCall<'_>) -> Result<()> {
    call.expect_type(0, |t| t.is_unsigned() || t.is_date_or_time())
}

/// A bit for each condition that holds, row by row.
fn condition_bits(conditions: &[ArrayRef]) -> Result<Vec<u32>> {
    let mut bits = vec![0; conditions.first().map_or(0, |c| c.len())];
    for (idx, condition) in conditions.iter().enumerate() {
        let flags = primitive::<UInt8Type>(condition)?.values();
        for (bits, flag) in bits.iter_mut().zip(flags) {
            *bits |= u32::from(*flag != 0) << idx;
        }
    }
    Ok(bits)
}

/// The events of a group in the order of time.
fn sorted_events(rows: Range<usize>, times: &[i64], bits: &[u32]) -> Vec<Event> {
    let mut events: Vec<Event> = rows
        .map(|row| Event {
            time: times[row],
            conditions: bits[row],
        })
        .filter(|e| e.conditions != 0)
        .collect();
    events.sort_by_key(|e| e.time);
    events
}

pub(super) fn times_and_bits(rows: &Sealed) -> Result<(Vec<i64>, Vec<u32>)> {
    let times = arrow::compute::cast(&rows.columns[0], &ArrowType::Int64).map_err(bug)?;
    let times = primitive::<Int64Type>(&times)?.values().to_vec();
    Ok((times, condition_bits(&rows.columns[1..])?))
}

fn resolve_retention(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=MAX_CONDITIONS)?;
    check_conditions(call, 0)?;
    let num_conditions = call.types.len();
    let return_type = DataType::array(DataType::UInt8);
    Ok(bind_collected(
        return_type,
        call.types,
        Retention { num_conditions },
    ))
}

#[derive(Debug)]
struct Retention {
    num_conditions: usize,
}

impl RowsFunction for Retention {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let bits = condition_bits(&rows.columns)?;
        let mut flags = Vec::with_capacity(range.len() * self.num_conditions);
        let offsets: Vec<usize> = (0..=range.len()).map(|i| i * self.num_conditions).collect();
        for group in range {
            let seen = bits[rows.rows(group)].iter().fold(0, |all, b| all | b);
            let held = |idx: usize| u8::from(seen & 1 == 1 && seen >> idx & 1 == 1);
            flags.extend((0..self.num_conditions).map(held));
        }
        let flags: ArrayRef = Arc::new(UInt8Array::from(flags));
        list_of(&flags, &offsets, item_field(&DataType::UInt8))
    }
}

fn resolve_sequence(call: &AggregateCall<'_>, only_once: bool) -> Result<BoundAggregate> {
    if call.types.len() < 3 {
        return Err(Error::new(
            ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
            format!("Give {} a time and at least two conditions", call.name),
        ));
    }
    call.expect_args(3..=MAX_CONDITIONS + 1)?;
    call.expect_params(1..=1)?;
    check_time(call)?;
    check_conditions(call, 1)?;
    let text = String::from_utf8_lossy(&call.param_bytes(0)?).into_owned();
    let pattern = Pattern::parse(&text, call.types.len() - 1)?;
    let return_type = if only_once {
        DataType::UInt8
    } else {
        DataType::UInt64
    };
    Ok(bind_collected(
        return_type,
        call.types,
        Sequence { pattern, only_once },
    ))
}

#[derive(Debug)]
struct Sequence {
    pattern: Pattern,
    only_once: bool,
}

impl RowsFunction for Sequence {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let (times, bits) = times_and_bits(rows)?;
        let counts = range
            .map(|group| {
                let events = sorted_events(rows.rows(group), &times, &bits);
                match self.only_once {
                    true => self.pattern.matches(&events).map(u64::from),
                    false => self.pattern.count(&events),
                }
            })
            .collect::<Result<Vec<u64>>>()?;
        Ok(if self.only_once {
            Arc::new(UInt8Array::from_iter_values(
                counts.iter().map(|c| *c as u8),
            ))
        } else {
            Arc::new(UInt64Array::from(counts))
        })
    }
}
