//! Makes bitmaps of arrays, arrays of bitmaps, and replaces members.

use std::sync::Arc;

use basalt_error::Result;
use basalt_types::DataType;

use super::{Bitmaps, bitmap_argument, numbers_of};
use crate::aggregate::bitmap::{Bitmap, bitmap_type, member_of, write_bitmaps};
use crate::scalar::arrays::integers::Integers;
use crate::scalar::arrays::lists::{Lists, OffsetsBuilder, bad_arguments, list_of};
use crate::scalar::arrays::unify::element_type;
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "bitmapBuild",
        syntax: "bitmapBuild(arr)",
        description: "The bitmap of an array's integers.",
        resolve: resolve_build,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmapToArray",
        syntax: "bitmapToArray(bitmap)",
        description: "The integers of a bitmap as an array.",
        resolve: resolve_to_array,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmapTransform",
        syntax: "bitmapTransform(bitmap, from, to)",
        description: "The bitmap with each number of the first array replaced by the one of the second.",
        resolve: resolve_transform,
        ..ScalarFunction::BASE
    },
];

fn resolve_build(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let number = element_type(call, 0)?.clone();
    if !number.is_integer() || number.is_nullable() {
        return Err(call.illegal_type(0));
    }
    Resolved::new(bitmap_type(number.clone()), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let members = members(&lists, &number)?;
        let set = |row| members[lists.range(row)].iter().copied().collect();
        let rows = if lists.is_const() {
            num_rows.min(1)
        } else {
            num_rows
        };
        let sets: Vec<Bitmap> = (0..rows).map(set).collect();
        let column = Column {
            array: write_bitmaps(&sets)?,
            is_const: lists.is_const(),
        };
        column.expand(num_rows)
    })
}

/// The elements of arrays of integers as members of bitmaps.
fn members(lists: &Lists<'_>, number: &DataType) -> Result<Vec<u64>> {
    let values = lists.values();
    let column = Column::new(Arc::clone(values));
    let array = crate::scalar::core::numeric::map1::<u64, u64>(&column, values.len(), |v| v)?;
    let bits = crate::scalar::core::numeric::values::<u64>(array.as_ref())?;
    Ok(bits.iter().map(|b| member_of(*b, number)).collect())
}

fn resolve_to_array(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let number = bitmap_argument(call, 0)?.clone();
    let list = DataType::array(number.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let sets = Bitmaps::of(&columns[0])?;
        let mut offsets = OffsetsBuilder::with_capacity(num_rows);
        let mut all = Vec::new();
        for row in 0..num_rows {
            offsets.push(sets.row(row).len())?;
            all.extend(sets.row(row).iter());
        }
        list_of(&list, offsets.finish(), numbers_of(all, &number)?)
    })
}

fn resolve_transform(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    let number = bitmap_argument(call, 0)?.clone();
    for idx in [1, 2] {
        if !element_type(call, idx)?.is_integer() {
            return Err(call.illegal_type(idx));
        }
    }
    let result = bitmap_type(number.clone());
    Resolved::new(result, move |columns, num_rows| {
        let sets = Bitmaps::of(&columns[0])?;
        let (from, to) = (Lists::of(&columns[1])?, Lists::of(&columns[2])?);
        let values = |lists: &Lists<'_>| Integers::of(&Column::new(Arc::clone(lists.values())));
        let (from_values, to_values) = (values(&from)?, values(&to)?);
        let mut transformed = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            if from.len(row) != to.len(row) {
                return Err(bad_arguments(
                    "The arrays of function bitmapTransform must be of one length",
                ));
            }
            let mut set = sets.row(row).clone();
            for (a, b) in from.range(row).zip(to.range(row)) {
                let member = |value: i64| member_of(value as u64, &number);
                let (a, b) = (member(from_values.value(a)), member(to_values.value(b)));
                if a != b && set.contains(a) {
                    set = set.difference(&std::iter::once(a).collect());
                    set.insert(b);
                }
            }
            transformed.push(set.sorted().into_iter().collect());
        }
        write_bitmaps(&transformed)
    })
}
