//! Compares and combines two bitmaps.

use std::sync::Arc;

use arrow::array::{UInt8Array, UInt64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::{Bitmaps, bitmap_argument};
use crate::aggregate::bitmap::{Bitmap, bitmap_type, write_bitmaps};
use crate::{Call, Resolved, ScalarFunction};

/// Functions that make a bitmap of two, and those that only count its members.
macro_rules! operations {
    ($($name:literal, $count:literal, $combine:expr, $what:literal;)*) => {
        /// The functions of this file.
        pub const FUNCTIONS: &[ScalarFunction] = &[
            $(
                ScalarFunction {
                    name: $name,
                    syntax: concat!($name, "(a, b)"),
                    description: concat!("The bitmap of the integers in ", $what, "."),
                    resolve: |call| resolve_set(call, $combine),
                    ..ScalarFunction::BASE
                },
                ScalarFunction {
                    name: $count,
                    syntax: concat!($count, "(a, b)"),
                    description: concat!("Number of integers in ", $what, "."),
                    resolve: |call| resolve_count(call, $combine),
                    ..ScalarFunction::BASE
                },
            )*
            ScalarFunction {
                name: "bitmapHasAny",
                syntax: "bitmapHasAny(a, b)",
                description: "Whether both bitmaps have a member in common.",
                resolve: |call| resolve_test(call, |a, b| b.iter().any(|v| a.contains(v))),
                ..ScalarFunction::BASE
            },
            ScalarFunction {
                name: "bitmapHasAll",
                syntax: "bitmapHasAll(a, b)",
                description: "Whether the first bitmap has all members of the second.",
                resolve: |call| resolve_test(call, |a, b| b.iter().all(|v| a.contains(v))),
                ..ScalarFunction::BASE
            },
        ];
    };
}

operations! {
    "bitmapAnd", "bitmapAndCardinality", Bitmap::intersection, "both bitmaps";
    "bitmapOr", "bitmapOrCardinality", union, "either bitmap";
    "bitmapXor", "bitmapXorCardinality", Bitmap::symmetric_difference, "one of both bitmaps only";
    "bitmapAndnot", "bitmapAndnotCardinality", Bitmap::difference, "the first bitmap but not the second";
}

fn union(a: &Bitmap, b: &Bitmap) -> Bitmap {
    let mut union = a.clone();
    union.union(b);
    union
}

/// The type of the numbers of both arguments.
fn number_of_both(call: &Call<'_>) -> Result<DataType> {
    call.expect_args(2..=2)?;
    let (a, b) = (bitmap_argument(call, 0)?, bitmap_argument(call, 1)?);
    if a == b {
        return Ok(a.clone());
    }
    Err(Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!(
            "The bitmaps of function {} must hold numbers of one type, got {a} and {b}",
            call.name
        ),
    ))
}

fn resolve_set(call: &Call<'_>, combine: fn(&Bitmap, &Bitmap) -> Bitmap) -> Result<Resolved> {
    let number = number_of_both(call)?;
    Resolved::new(bitmap_type(number), move |columns, num_rows| {
        let (a, b) = (Bitmaps::of(&columns[0])?, Bitmaps::of(&columns[1])?);
        let sets = (0..num_rows).map(|row| combine(a.row(row), b.row(row)));
        write_bitmaps(&sets.collect::<Vec<_>>())
    })
}

fn resolve_count(call: &Call<'_>, combine: fn(&Bitmap, &Bitmap) -> Bitmap) -> Result<Resolved> {
    number_of_both(call)?;
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let (a, b) = (Bitmaps::of(&columns[0])?, Bitmaps::of(&columns[1])?);
        let counts = (0..num_rows).map(|row| combine(a.row(row), b.row(row)).len() as u64);
        Ok(Arc::new(UInt64Array::from_iter_values(counts)))
    })
}

fn resolve_test(call: &Call<'_>, test: fn(&Bitmap, &Bitmap) -> bool) -> Result<Resolved> {
    number_of_both(call)?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let (a, b) = (Bitmaps::of(&columns[0])?, Bitmaps::of(&columns[1])?);
        let tests = (0..num_rows).map(|row| u8::from(test(a.row(row), b.row(row))));
        Ok(Arc::new(UInt8Array::from_iter_values(tests)))
    })
}
