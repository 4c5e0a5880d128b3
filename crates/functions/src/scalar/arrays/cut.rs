//! Takes parts of arrays in another order: slices, rotations, shifts, reversal, shingles.

use std::ops::Range;

use basalt_error::{Error, Result};
use basalt_types::DataType;

use super::integers::Integers;
use super::lists::{Lists, OffsetsBuilder, Picks, bad_arguments, concat, list_of};
use super::unify::{Unify, element_type, null_result};
use crate::scalar::core::defaults::type_default_array;
use crate::{Call, Column, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayPopBack",
        syntax: "arrayPopBack(arr)",
        description: "The array without its last element.",
        resolve: |call| {
            pick_rows(call, |range, picks| {
                picks.extend(range.start..range.end.saturating_sub(1).max(range.start))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayPopFront",
        syntax: "arrayPopFront(arr)",
        description: "The array without its first element.",
        resolve: |call| pick_rows(call, |range, picks| picks.extend(range.skip(1))),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayReverse",
        syntax: "arrayReverse(arr)",
        description: "The elements in reverse order.",
        resolve: |call| pick_rows(call, |range, picks| picks.extend(range.rev())),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arraySlice",
        nulls: Nulls::Own,
        syntax: "arraySlice(arr, offset[, length])",
        description: "A part of the array from a position on (from the end if negative); a negative length leaves out that many at the end.",
        resolve: resolve_slice,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayRotateLeft",
        syntax: "arrayRotateLeft(arr, n)",
        description: "The array turned by n elements, the first ones to the end.",
        resolve: |call| resolve_rotate(call, 1),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayRotateRight",
        syntax: "arrayRotateRight(arr, n)",
        description: "The array turned by n elements, the last ones to the front.",
        resolve: |call| resolve_rotate(call, -1),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayShiftLeft",
        syntax: "arrayShiftLeft(arr, n[, x])",
        description: "The array without its first n elements, filled up at the end.",
        resolve: |call| resolve_shift(call, 1),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayShiftRight",
        syntax: "arrayShiftRight(arr, n[, x])",
        description: "The array without its last n elements, filled up at the front.",
        resolve: |call| resolve_shift(call, -1),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayShingles",
        syntax: "arrayShingles(arr, length)",
        description: "All parts of that length.",
        resolve: resolve_shingles,
        ..ScalarFunction::BASE
    },
];

/// Arrays of the same type with the elements that `pick` chooses of each row's range.
fn pick_rows(call: &Call<'_>, pick: fn(Range<usize>, &mut Picks)) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    element_type(call, 0)?;
    let list = call.data_type(0).clone();
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let mut picks = Picks::for_lists(&lists, num_rows);
        for row in 0..num_rows {
            pick(lists.range(row), &mut picks);
            picks.end_row()?;
        }
        picks.finish(&list, lists.values())
    })
}

fn resolve_slice(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    if *call.data_type(0) == DataType::Nothing.to_nullable() {
        return null_result();
    }
    element_type(call, 0)?;
    for idx in 1..call.args.len() {
        let fits = |t: &DataType| t.is_integer() || *t.base() == DataType::Nothing;
        call.expect_type(idx, fits)?;
    }
    let list = call.data_type(0).clone();
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let offsets = Integers::of(&columns[1])?;
        let lengths = columns.get(2).map(Integers::of).transpose()?;
        let mut picks = Picks::for_lists(&lists, num_rows);
        for row in 0..num_rows {
            let length = lengths.as_ref().and_then(|l| l.get(row));
            picks.extend(slice(
                lists.range(row),
                offsets.get(row).unwrap_or(1),
                length,
            ));
            picks.end_row()?;
        }
        picks.finish(&list, lists.values())
    })
}

/// The part of `range` from position `offset` on; one before the first element eats up length.
fn slice(range: Range<usize>, offset: i64, length: Option<i64>) -> Range<usize> {
    let len = range.len() as i128;
    let start = match offset {
        0 => return range.start..range.start,
        1.. => i128::from(offset) - 1,
        _ => len + i128::from(offset),
    };
    let end = match length {
        None => len,
        Some(length @ 0..) => start + i128::from(length),
        Some(length) => len + i128::from(length),
    };
    let start = start.clamp(0, len);
    let end = end.clamp(start, len);
    range.start + start as usize..range.start + end as usize
}

fn resolve_rotate(call: &Call<'_>, direction: i128) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    element_type(call, 0)?;
    call.expect_type(1, DataType::is_integer)?;
    let list = call.data_type(0).clone();
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let turns = Integers::of(&columns[1])?;
        let mut picks = Picks::for_lists(&lists, num_rows);
        for row in 0..num_rows {
            let range = lists.range(row);
            if !range.is_empty() {
                let turn = i128::from(turns.value(row)) * direction;
                let cut = range.start + turn.rem_euclid(range.len() as i128) as usize;
                picks.extend(cut..range.end);
                picks.extend(range.start..cut);
            }
            picks.end_row()?;
        }
        picks.finish(&list, lists.values())
    })
}

fn resolve_shift(call: &Call<'_>, direction: i128) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let element = element_type(call, 0)?.clone();
    call.expect_type(1, DataType::is_integer)?;
    if element == DataType::Nothing {
        return Err(Error::not_implemented("A default value of type Nothing"));
    }
    let fill = match call.args.get(2) {
        Some(fill) => {
            if basalt_types::least_supertype(&[element.clone(), fill.data_type.clone()])?.base()
                != element.base()
            {
                return Err(call.illegal_type(2));
            }
            Some(Unify::new(&fill.data_type, &element, call.context)?)
        }
        None => None,
    };
    let list = call.data_type(0).clone();
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let shifts = Integers::of(&columns[1])?;
        let fill = match &fill {
            Some(cast) => cast.column(&columns[2])?,
            None => Column::constant(type_default_array(&element, 1)?),
        };
        let base = lists.values().len();
        let values = concat(lists.values(), &fill.array)?;
        let mut picks = Picks::for_lists(&lists, num_rows);
        for row in 0..num_rows {
            let range = lists.range(row);
            let shift = i128::from(shifts.value(row)) * direction;
            let gone = usize::try_from(shift.unsigned_abs()).unwrap_or(usize::MAX);
            let gone = gone.min(range.len());
            let filled = std::iter::repeat_n(base + fill.row(row), gone);
            if shift < 0 {
                picks.extend(filled);
                picks.extend(range.start..range.end - gone);
            } else {
                picks.extend(range.start + gone..range.end);
                picks.extend(filled);
            }
            picks.end_row()?;
        }
        picks.finish(&list, &values)
    })
}

fn resolve_shingles(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    element_type(call, 0)?;
    call.expect_type(1, DataType::is_integer)?;
    let inner = call.data_type(0).clone();
    let list = DataType::array(inner.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let lengths = Integers::of(&columns[1])?;
        let mut picks = Picks::for_lists(&lists, num_rows);
        let mut offsets = OffsetsBuilder::with_capacity(num_rows);
        for row in 0..num_rows {
            let range = lists.range(row);
            let len = usize::try_from(lengths.value(row)).unwrap_or(0);
            if len == 0 {
                return Err(bad_arguments(
                    "Shingle argument of function arrayShingles must be a positive integer",
                ));
            }
            if len > range.len() {
                return Err(bad_arguments(
                    "Shingle argument of function arrayShingles must be less or equal than the array length",
                ));
            }
            for start in range.start..=range.end - len {
                picks.extend(start..start + len);
                picks.end_row()?;
            }
            offsets.push(range.len() - len + 1)?;
        }
        let shingles = picks.finish(&inner, lists.values())?;
        list_of(&list, offsets.finish(), shingles)
    })
}
