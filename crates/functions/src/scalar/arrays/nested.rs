//! Turns arrays of arrays, repeats values, counts nested elements: `arrayTranspose`, `replicate`.

use std::sync::Arc;

use arrow::array::{Array, UInt64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::lists::{Lists, OffsetsBuilder, Picks, list_of, take};
use super::unify::element_type;
use crate::{Call, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayTranspose",
        syntax: "arrayTranspose(arr)",
        description: "The array of arrays with rows and columns exchanged.",
        resolve: resolve_transpose,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "replicate",
        nulls: Nulls::Own,
        syntax: "replicate(x, arr, ...)",
        description: "An array as long as the second argument, all of whose elements are x.",
        resolve: resolve_replicate,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayFlattenedLength",
        syntax: "arrayFlattenedLength(arr)",
        description: "Number of elements that are no arrays, at any depth.",
        resolve: resolve_flattened_length,
        ..ScalarFunction::BASE
    },
];

fn resolve_transpose(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let inner = element_type(call, 0)?.clone();
    if !matches!(inner, DataType::Array(_)) {
        return Err(call.illegal_type(0));
    }
    let outer = call.data_type(0).clone();
    Resolved::new(outer.clone(), move |columns, num_rows| {
        let rows = Lists::of(&columns[0])?;
        let inner_lists = Lists::of_array(rows.values())?;
        let mut offsets = OffsetsBuilder::with_capacity(num_rows);
        let mut picks = Picks::with_capacity(num_rows, inner_lists.values().len());
        for row in 0..num_rows {
            let lines = rows.range(row);
            let width = lines.clone().next().map_or(0, |line| inner_lists.len(line));
            if lines.clone().any(|line| inner_lists.len(line) != width) {
                return Err(Error::new(
                    ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                    "The inner arrays of function arrayTranspose must have equal lengths",
                ));
            }
            for place in 0..width {
                let column = lines
                    .clone()
                    .map(|line| inner_lists.range(line).start + place);
                picks.extend(column);
                picks.end_row()?;
            }
            offsets.push(width)?;
        }
        let transposed = picks.finish(&inner, inner_lists.values())?;
        list_of(&outer, offsets.finish(), transposed)
    })
}

fn resolve_replicate(call: &Call<'_>) -> Result<Resolved> {
    if call.args.len() < 2 {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            "Function replicate takes at least 2 arguments",
        ));
    }
    for idx in 1..call.args.len() {
        element_type(call, idx)?;
    }
    let list = DataType::array(call.data_type(0).clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[1])?;
        let mut offsets = OffsetsBuilder::with_capacity(num_rows);
        let mut indices = Vec::new();
        for row in 0..num_rows {
            let len = lists.len(row);
            offsets.push(len)?;
            indices.extend(std::iter::repeat_n(columns[0].row(row) as u32, len));
        }
        let values = take(&columns[0].array, indices)?;
        list_of(&list, offsets.finish(), values)
    })
}

fn resolve_flattened_length(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let mut depth = 1;
    let mut element = element_type(call, 0)?;
    while let DataType::Array(inner) = element {
        element = inner;
        depth += 1;
    }
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let mut array = columns[0].expand(num_rows)?;
        let mut ends: Vec<(usize, usize)> = (0..num_rows).map(|row| (row, row + 1)).collect();
        for _ in 0..depth {
            let values = {
                let lists = Lists::of_array(&array)?;
                for (start, end) in &mut ends {
                    let is_empty = start == end;
                    let first = if is_empty {
                        0
                    } else {
                        lists.range(*start).start
                    };
                    let last = if is_empty {
                        0
                    } else {
                        lists.range(*end - 1).end
                    };
                    (*start, *end) = (first, last);
                }
                Arc::clone(lists.values())
            };
            array = values;
        }
        let lengths = ends.iter().map(|(start, end)| (end - start) as u64);
        let lengths = UInt64Array::from_iter_values(lengths);
        debug_assert_eq!(lengths.len(), num_rows);
        Ok(Arc::new(lengths))
    })
}
