//! Functions of bitmaps, the sets of integers that `groupBitmapState` and `bitmapBuild` make.
//!
//! | module | owns |
//! |---|---|
//! | [`build`] | bitmaps from arrays and back |
//! | [`combine`] | two bitmaps: `bitmapAnd`, `bitmapOrCardinality`, `bitmapHasAny` and kin |
//! | [`part`] | one bitmap: its size, bounds, members and parts |

pub mod build;
pub mod combine;
pub mod part;

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, UInt64Array};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::aggregate::bitmap::{Bitmap, number_type, read_bitmaps};
use crate::{Call, Column};

/// Type of the numbers of argument `idx`, which must be a bitmap.
fn bitmap_argument<'a>(call: &Call<'a>, idx: usize) -> Result<&'a DataType> {
    number_type(call.data_type(idx)).ok_or_else(|| {
        Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Argument {} of function {} must be a bitmap, got {}",
                idx + 1,
                call.name,
                call.data_type(idx)
            ),
        )
    })
}

/// The bitmaps of a column, by row.
struct Bitmaps {
    sets: Vec<Bitmap>,
    is_const: bool,
}

impl Bitmaps {
    fn of(column: &Column) -> Result<Self> {
        Ok(Self {
            sets: read_bitmaps(&column.array)?,
            is_const: column.is_const,
        })
    }

    fn row(&self, row: usize) -> &Bitmap {
        &self.sets[if self.is_const { 0 } else { row }]
    }
}

/// The members of bitmaps as an array of their numbers' type.
fn numbers_of(members: Vec<u64>, number: &DataType) -> Result<ArrayRef> {
    let physical = number.physical();
    let array: ArrayRef = if !number.is_signed() {
        Arc::new(UInt64Array::from(members))
    } else if number.fixed_size_bytes() == Some(8) {
        Arc::new(Int64Array::from_iter_values(
            members.into_iter().map(|m| m as i64),
        ))
    } else {
        // Narrow signed numbers are kept as the unsigned ones of 32 bits.
        Arc::new(Int64Array::from_iter_values(
            members.into_iter().map(|m| i64::from(m as u32 as i32)),
        ))
    };
    if physical == ArrowType::UInt64 || physical == ArrowType::Int64 {
        return Ok(array);
    }
    arrow::compute::cast(&array, &physical).map_err(|e| Error::bug(e.to_string()))
}
