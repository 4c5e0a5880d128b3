//! Counts: `range`.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::integers::Integers;
use super::lists::{OffsetsBuilder, list_of, too_large};
use crate::scalar::core::numeric::{FromNum, Num, array_of, with_native};
use crate::scalar::strings::shapes::validity_of;
use crate::{Call, Column, Resolved, ScalarFunction, memory};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "range",
    syntax: "range([start,] end[, step])",
    description: "The numbers from start (or 0) up to but without end.",
    resolve: resolve_range,
    ..ScalarFunction::BASE
}];

/// Setting of the most numbers that one call may produce.
const MAX_ELEMENTS: &str = "function_range_max_elements_in_block";

fn resolve_range(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    for idx in 0..call.args.len() {
        call.expect_type(idx, DataType::is_integer)?;
    }
    let element = least_supertype(&call.data_types())?;
    let num = Num::of(&element).ok_or_else(|| call.illegal_type(0))?;
    let is_unsigned = element.is_unsigned();
    let list = DataType::array(element);
    let setting = call.context.settings.get(MAX_ELEMENTS);
    let max_elements: usize = setting.and_then(|v| v.parse().ok()).unwrap_or(500_000_000);
    Resolved::new(list.clone(), move |columns, num_rows| {
        let bounds = Bounds::of(columns)?;
        let validity = validity_of(columns, num_rows);
        let is_valid = |row| validity.as_ref().is_none_or(|v| v.is_valid(row));
        let mut offsets = OffsetsBuilder::with_capacity(num_rows);
        let mut total = 0_usize;
        for row in 0..num_rows {
            let len = if is_valid(row) { bounds.len(row)? } else { 0 };
            total = total.saturating_add(len);
            if total > max_elements {
                return Err(too_many(total, max_elements));
            }
            offsets.push(len)?;
        }
        let offsets = offsets.finish();
        let values = with_native!(num, T => {
            memory::check(total.saturating_mul(size_of::<T>()))?;
            let mut values: Vec<T> = Vec::with_capacity(total);
            for (row, window) in offsets.windows(2).enumerate() {
                let (start, step) = bounds.start_and_step(row);
                let len = i64::from(window[1] - window[0]);
                values.extend((0..len).map(|i| {
                    let value = start.wrapping_add(i.wrapping_mul(step));
                    if is_unsigned { T::from_num(value as u64) } else { T::from_num(value) }
                }));
            }
            array_of(values)
        });
        list_of(&list, offsets, values)
    })
}

fn too_many(len: usize, max: usize) -> Error {
    Error::new(
        ErrorCode::ARGUMENT_OUT_OF_BOUND,
        format!(
            "A call to function range would produce {len} array elements, which is greater than \
             the allowed maximum of {max}"
        ),
    )
}

struct Bounds {
    start: Option<Integers>,
    end: Integers,
    step: Option<Integers>,
}

impl Bounds {
    fn of(columns: &[Column]) -> Result<Self> {
        Ok(match columns {
            [end] => Self {
                start: None,
                end: Integers::of(end)?,
                step: None,
            },
            [start, end, rest @ ..] => Self {
                start: Some(Integers::of(start)?),
                end: Integers::of(end)?,
                step: rest.first().map(Integers::of).transpose()?,
            },
            [] => return Err(Error::bug("range has arguments")),
        })
    }

    fn start_and_step(&self, row: usize) -> (i64, i64) {
        let start = self.start.as_ref().map_or(0, |s| s.value(row));
        (start, self.step.as_ref().map_or(1, |s| s.value(row)))
    }

    /// How many numbers a row has.
    fn len(&self, row: usize) -> Result<usize> {
        let (start, step) = self.start_and_step(row);
        let end = self.end.value(row);
        if self.start.is_none() && end < 0 {
            return Err(Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                "A call to function range overflows, only support positive values when only end \
                 is provided",
            ));
        }
        if step == 0 {
            return Err(Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                "A call to function range underflows, the 3rd argument step can't be zero",
            ));
        }
        let distance = i128::from(end) - i128::from(start);
        let step = i128::from(step);
        if distance == 0 || (distance > 0) != (step > 0) {
            return Ok(0);
        }
        let len = (distance.abs() + step.abs() - 1) / step.abs();
        usize::try_from(len).map_err(|_| too_large(len))
    }
}
