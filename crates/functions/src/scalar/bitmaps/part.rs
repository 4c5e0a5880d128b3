//! Tells about one bitmap and takes parts of it.

use std::sync::Arc;

use arrow::array::{UInt8Array, UInt64Array};
use basalt_error::Result;
use basalt_types::DataType;

use super::{Bitmaps, bitmap_argument};
use crate::aggregate::bitmap::{Bitmap, bitmap_type, member_of, write_bitmaps};
use crate::scalar::core::numeric::{map1, values};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "bitmapCardinality",
        syntax: "bitmapCardinality(bitmap)",
        description: "Number of integers in a bitmap.",
        resolve: |call| resolve_number(call, |set, _| set.len() as u64),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmapMin",
        syntax: "bitmapMin(bitmap)",
        description: "The least integer of a bitmap; the greatest of its width if there is none.",
        resolve: |call| resolve_number(call, |set, none| set.iter().min().unwrap_or(none)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmapMax",
        syntax: "bitmapMax(bitmap)",
        description: "The greatest integer of a bitmap; 0 if there is none.",
        resolve: |call| resolve_number(call, |set, _| set.iter().max().unwrap_or(0)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmapContains",
        syntax: "bitmapContains(bitmap, n)",
        description: "Whether a bitmap has an integer.",
        resolve: resolve_contains,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmapSubsetInRange",
        syntax: "bitmapSubsetInRange(bitmap, start, end)",
        description: "The integers from the start on and below the end.",
        resolve: |call| {
            resolve_part(call, |sorted, start, end| {
                let from = sorted.partition_point(|v| *v < start);
                from..sorted.partition_point(|v| *v < end)
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmapSubsetLimit",
        syntax: "bitmapSubsetLimit(bitmap, start, limit)",
        description: "At most so many integers from the start on.",
        resolve: |call| {
            resolve_part(call, |sorted, start, limit| {
                let from = sorted.partition_point(|v| *v < start);
                from..from.saturating_add(saturated(limit))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "subBitmap",
        syntax: "subBitmap(bitmap, offset, limit)",
        description: "At most so many integers behind the `offset` least ones.",
        resolve: |call| {
            resolve_part(call, |_, offset, limit| {
                saturated(offset)..saturated(offset.saturating_add(limit))
            })
        },
        ..ScalarFunction::BASE
    },
];

fn saturated(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A loop from bitmaps to numbers; `number` also gets the greatest number of their width.
fn resolve_number(call: &Call<'_>, number: fn(&Bitmap, u64) -> u64) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let greatest = member_of(u64::MAX, bitmap_argument(call, 0)?);
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let sets = Bitmaps::of(&columns[0])?;
        let numbers = (0..num_rows).map(|row| number(sets.row(row), greatest));
        Ok(Arc::new(UInt64Array::from_iter_values(numbers)))
    })
}

fn resolve_contains(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let number = bitmap_argument(call, 0)?.clone();
    call.expect_type(1, DataType::is_integer)?;
    let signed = number.is_signed();
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let sets = Bitmaps::of(&columns[0])?;
        let wanted = map1::<u64, u64>(&columns[1], num_rows, |v| v)?;
        let wanted = values::<u64>(wanted.as_ref())?;
        let contains = (0..num_rows).map(|row| {
            let bits = wanted[row];
            let member = if signed {
                member_of(bits, &number)
            } else {
                bits
            };
            u8::from(sets.row(row).contains(member))
        });
        Ok(Arc::new(UInt8Array::from_iter_values(contains)))
    })
}

/// Which of the sorted members are left, from two numbers.
type Part = fn(&[u64], u64, u64) -> std::ops::Range<usize>;

fn resolve_part(call: &Call<'_>, part: Part) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    let number = bitmap_argument(call, 0)?.clone();
    call.expect_type(1, DataType::is_unsigned)?;
    call.expect_type(2, DataType::is_unsigned)?;
    Resolved::new(bitmap_type(number), move |columns, num_rows| {
        let sets = Bitmaps::of(&columns[0])?;
        let first = map1::<u64, u64>(&columns[1], num_rows, |v| v)?;
        let second = map1::<u64, u64>(&columns[2], num_rows, |v| v)?;
        let first = values::<u64>(first.as_ref())?;
        let second = values::<u64>(second.as_ref())?;
        let part = |row: usize| -> Bitmap {
            let sorted = sets.row(row).sorted();
            let range = part(&sorted, first[row], second[row]);
            let end = range.end.min(sorted.len());
            sorted[range.start.min(end)..end].iter().copied().collect()
        };
        write_bitmaps(&(0..num_rows).map(part).collect::<Vec<_>>())
    })
}
