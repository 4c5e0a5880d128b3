//! Lists the slots of time that an interval touches: `timeSlots`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, Decimal128Type, Int64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::physical::item_field;
use basalt_types::text::time::ticks_per_second;

use super::fallible_entry as entry;
use super::moment::{Moments, Reading};
use crate::scalar::core::numeric::{Numbers, array_of};
use crate::scalar::strings::output::offset_of;
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[entry(
    &["timeSlots"],
    "timeSlots(start, duration[, slot_seconds])",
    "Starts of the slots, by default half hours, that a time and a duration in seconds touch.",
    time_slots,
)];

/// Most slots that one batch may make.
const MAX_SLOTS: usize = 100_000_000;

/// Ticks of one scale: start and duration of each row, and the size of a slot.
struct Slots {
    moments: Moments,
    /// Start and duration are multiplied to come to the finest scale of all arguments.
    start_factor: i64,
    duration_factor: i64,
    slot: i64,
}

fn time_slots(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    call.expect_type(0, DataType::is_date_time)?;
    let moments = Moments::of_argument(call, 0, None)?;
    let (is_wide, precision) = match call.data_type(0) {
        DataType::DateTime64(precision, _) => (true, *precision),
        _ => (false, 0),
    };
    let duration_scale = duration_scale(call, 1, is_wide)?;
    let slot_scale = if call.args.len() > 2 {
        slot_scale(call, is_wide)?
    } else {
        0
    };
    let scale = precision.max(duration_scale).max(slot_scale);
    let slot = slot_ticks(
        call,
        ticks_per_second(scale - slot_scale),
        ticks_per_second(scale),
    )?;
    let result = match call.data_type(0) {
        DataType::DateTime64(_, zone) => DataType::DateTime64(scale, *zone),
        other => other.clone(),
    };
    let slots = Slots {
        moments,
        start_factor: ticks_per_second(scale - precision),
        duration_factor: ticks_per_second(scale - duration_scale),
        slot,
    };
    let field = item_field(&result);
    Resolved::new(DataType::array(result), move |columns, num_rows| {
        let (starts, offsets) = slots.list(columns, num_rows)?;
        let values: ArrayRef = if is_wide {
            array_of(starts)
        } else {
            array_of(starts.into_iter().map(|s| s as u32).collect::<Vec<u32>>())
        };
        let offsets = OffsetBuffer::new(offsets.into());
        let list = ListArray::try_new(Arc::clone(&field), offsets, values, None);
        Ok(Arc::new(list.map_err(|e| Error::bug(e.to_string()))?))
    })
}

/// Scale of the duration: whole seconds for a DateTime, a Decimal for a DateTime64.
fn duration_scale(call: &Call<'_>, idx: usize, is_wide: bool) -> Result<u8> {
    match call.data_type(idx) {
        DataType::UInt32 if !is_wide => Ok(0),
        DataType::Decimal { precision, scale } if is_wide && *precision <= 18 => {
            Ok((*scale).min(9))
        }
        _ => Err(call.illegal_type(idx)),
    }
}

fn slot_scale(call: &Call<'_>, is_wide: bool) -> Result<u8> {
    if is_wide {
        return duration_scale(call, 2, true);
    }
    call.expect_type(2, DataType::is_unsigned)?;
    Ok(0)
}

/// The constant size of a slot, half an hour by default.
fn slot_ticks(call: &Call<'_>, factor: i64, per_second: i64) -> Result<i64> {
    let slot = if call.args.len() > 2 {
        let value = integers(call.constant(2)?)?;
        value.first().copied().unwrap_or(0).checked_mul(factor)
    } else {
        Some(1800 * per_second)
    };
    slot.filter(|s| *s > 0).ok_or_else(|| {
        Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!(
                "Argument 3 of function {} must be a positive number",
                call.name
            ),
        )
    })
}

/// Integers, or the unscaled numbers of decimals.
fn integers(array: &ArrayRef) -> Result<Vec<i64>> {
    if let Some(decimals) = array.as_primitive_opt::<Decimal128Type>() {
        // At most 18 digits fit.
        return Ok(decimals.values().iter().map(|v| *v as i64).collect());
    }
    if matches!(array.data_type(), ArrowType::Int64) {
        return Ok(array.as_primitive::<Int64Type>().values().to_vec());
    }
    Numbers::converted(array.as_ref())
}

impl Slots {
    fn list(&self, columns: &[Column], num_rows: usize) -> Result<(Vec<i64>, Vec<i32>)> {
        let starts = self.moments.values(Reading::Ticks, &columns[0], num_rows)?;
        let durations = integers(&columns[1].array)?;
        let (mut slots, mut offsets) = (Vec::new(), vec![0]);
        for (row, start) in starts.iter().enumerate() {
            let start = start.wrapping_mul(self.start_factor);
            let duration = durations[columns[1].row(row)].wrapping_mul(self.duration_factor);
            let end = start.saturating_add(duration);
            let mut slot = start.wrapping_sub(start.rem_euclid(self.slot));
            while slot <= end {
                slots.push(slot);
                if slots.len() > MAX_SLOTS {
                    return Err(Error::new(
                        ErrorCode::TOO_LARGE_ARRAY_SIZE,
                        "Too many time slots in one batch; use longer slots",
                    ));
                }
                slot = slot.saturating_add(self.slot);
            }
            offsets.push(offset_of(slots.len())?);
        }
        Ok((slots, offsets))
    }
}
