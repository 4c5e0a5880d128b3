//! Puts arrays and elements together: `arrayConcat`, `arrayPushBack`, `arrayResize` and kin.

use std::sync::Arc;

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::construct::MAX_LEN;
use super::integers::Integers;
use super::lists::{Lists, OffsetsBuilder, Picks, bug, concat, list_of, too_large};
use super::unify::{Unify, element_type, element_types, null_result};
use crate::scalar::core::defaults::default_array;
use crate::{Call, Column, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayConcat",
        syntax: "arrayConcat(arr, ...)",
        description: "The arrays one after the other.",
        resolve: resolve_concat,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayPushBack",
        nulls: Nulls::Own,
        syntax: "arrayPushBack(arr, x)",
        description: "The array with an element behind it.",
        resolve: |call| resolve_push(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayPushFront",
        nulls: Nulls::Own,
        syntax: "arrayPushFront(arr, x)",
        description: "The array with an element in front of it.",
        resolve: |call| resolve_push(call, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayResize",
        nulls: Nulls::Own,
        syntax: "arrayResize(arr, length[, x])",
        description: "The array cut or filled up to a length, at its front if the length is negative.",
        resolve: resolve_resize,
        ..ScalarFunction::BASE
    },
];

/// Arrays of the arguments' elements; also the way in for `concat`.
///
/// # Errors
/// `ILLEGAL_TYPE_OF_ARGUMENT` if an argument is no array, `NO_COMMON_TYPE`.
pub fn resolve_concat(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    let types = element_types(call)?;
    let element = least_supertype(&types)?;
    let list = DataType::array(element);
    let casts = Unify::all(&call.data_types(), &list, call.context)?;
    Resolved::new(list.clone(), move |columns, num_rows| {
        let columns = columns.iter().zip(&casts).map(|(c, cast)| cast.column(c));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        concat_rows(&columns, num_rows, &list)
    })
}

fn concat_rows(columns: &[Column], num_rows: usize, list: &DataType) -> Result<ArrayRef> {
    let lists = columns.iter().map(Lists::of).collect::<Result<Vec<_>>>()?;
    if let ([only], [column]) = (&lists[..], columns) {
        let _ = only;
        return column.expand(num_rows);
    }
    let mut bases = Vec::with_capacity(lists.len());
    let mut base = 0_usize;
    for lists in &lists {
        bases.push(base);
        base += lists.values().len();
    }
    u32::try_from(base).map_err(|_| too_large(base))?;
    let mut picks = Picks::with_capacity(num_rows, base);
    for row in 0..num_rows {
        for (lists, base) in lists.iter().zip(&bases) {
            let range = lists.range(row);
            picks.extend(range.start + base..range.end + base);
        }
        picks.end_row()?;
    }
    let parts: Vec<&dyn arrow::array::Array> = lists.iter().map(|l| l.values().as_ref()).collect();
    let values = arrow::compute::concat(&parts).map_err(bug)?;
    picks.finish(list, &values)
}

fn resolve_push(call: &Call<'_>, in_front: bool) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    if *call.data_type(0) == DataType::Nothing.to_nullable() {
        return null_result();
    }
    let element = least_supertype(&[element_type(call, 0)?.clone(), call.data_type(1).clone()])?;
    let list = DataType::array(element.clone());
    let list_cast = Unify::new(call.data_type(0), &list, call.context)?;
    let value_cast = Unify::new(call.data_type(1), &element, call.context)?;
    Resolved::new(list.clone(), move |columns, num_rows| {
        let arrays = list_cast.column(&columns[0])?;
        let pushed = value_cast.column(&columns[1])?;
        let lists = Lists::of(&arrays)?;
        let base = lists.values().len();
        let values = concat(lists.values(), &pushed.array)?;
        let mut picks = Picks::with_capacity(num_rows, base + num_rows);
        for row in 0..num_rows {
            let value = base + pushed.row(row);
            if in_front {
                picks.push(value);
            }
            picks.extend(lists.range(row));
            if !in_front {
                picks.push(value);
            }
            picks.end_row()?;
        }
        picks.finish(&list, &values)
    })
}

fn resolve_resize(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let mut element = element_type(call, 0)?.clone();
    let is_length = |t: &DataType| t.is_number() && !t.is_decimal() && !t.is_nullable();
    call.expect_type(1, is_length)?;
    if let Some(fill) = call.args.get(2) {
        element = least_supertype(&[element, fill.data_type.clone()])?;
    }
    if element == DataType::Nothing {
        return Err(Error::not_implemented("A default value of type Nothing"));
    }
    let list = DataType::array(element.clone());
    let list_cast = Unify::new(call.data_type(0), &list, call.context)?;
    let fill = call
        .args
        .get(2)
        .map(|a| Unify::new(&a.data_type, &element, call.context));
    let fill = fill.transpose()?;
    Resolved::new(list.clone(), move |columns, num_rows| {
        let arrays = list_cast.column(&columns[0])?;
        let fill = match &fill {
            Some(cast) => cast.column(&columns[2])?,
            None => Column::constant(default_array(&element, 1)?),
        };
        resize_rows((&arrays, &columns[1], &fill), num_rows, &list)
    })
}

fn resize_rows(
    (arrays, lengths, fill): (&Column, &Column, &Column),
    num_rows: usize,
    list: &DataType,
) -> Result<ArrayRef> {
    let lists = Lists::of(arrays)?;
    let lengths = Integers::of(lengths)?;
    let base = lists.values().len();
    let values = concat(lists.values(), &fill.array)?;
    let mut picks = Picks::for_lists(&lists, num_rows);
    for row in 0..num_rows {
        let wanted = lengths.value(row);
        if wanted.unsigned_abs() > MAX_LEN as u64 {
            return Err(Error::new(
                ErrorCode::TOO_LARGE_ARRAY_SIZE,
                format!("Too large array size: {wanted}, maximum: {MAX_LEN}"),
            ));
        }
        let range = lists.range(row);
        let wanted_len = wanted.unsigned_abs() as usize;
        let kept = range.len().min(wanted_len);
        let (fill_idx, missing) = (base + fill.row(row), wanted_len - kept);
        if wanted < 0 {
            picks.repeat(fill_idx, missing)?;
            picks.extend(range.end - kept..range.end);
        } else {
            picks.extend(range.start..range.start + kept);
            picks.repeat(fill_idx, missing)?;
        }
        picks.end_row()?;
    }
    picks.finish(list, &values)
}

/// Arrays of all parts of inner arrays: one level of nesting less.
///
/// # Errors
/// `LOGICAL_ERROR` if the arrays are not nested.
pub fn flatten_once(array: &ArrayRef, list: &DataType) -> Result<ArrayRef> {
    let (outer, inner) = super::lists::flat_list(array)?;
    let (inner, values) = super::lists::flat_list(&inner)?;
    let mut offsets = OffsetsBuilder::with_capacity(outer.len());
    for window in outer.windows(2) {
        let (start, end) = (inner[window[0] as usize], inner[window[1] as usize]);
        offsets.push((end - start) as usize)?;
    }
    list_of(list, offsets.finish(), Arc::clone(&values))
}
