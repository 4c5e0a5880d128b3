//! Filters, counts, finds, splits and fills by a predicate.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt8Array, UInt32Array};
use arrow::buffer::OffsetBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::flat::{Flags, Flat, Predicate, element, expect_flags, expect_predicate};
use super::{HigherOrderCall, HigherOrderFunction};
use crate::scalar::arrays::lists::{OffsetsBuilder, Picks, list_of, take, with_default};

const PREDICATE: HigherOrderFunction = HigherOrderFunction {
    return_type: |name, body, types| {
        expect_predicate(name, body)?;
        Ok(DataType::array(element(name, 0, types)?.clone()))
    },
    ..HigherOrderFunction::BASE
};

const FIRST: HigherOrderFunction = HigherOrderFunction {
    return_type: |name, body, types| {
        expect_predicate(name, body)?;
        Ok(element(name, 0, types)?.clone())
    },
    ..HigherOrderFunction::BASE
};

const FIRST_OR_NULL: HigherOrderFunction = HigherOrderFunction {
    return_type: first_or_null_type,
    ..HigherOrderFunction::BASE
};

const INDEX: HigherOrderFunction = HigherOrderFunction {
    return_type: |name, body, types| {
        expect_predicate(name, body)?;
        element(name, 0, types)?;
        Ok(DataType::UInt32)
    },
    ..HigherOrderFunction::BASE
};

const FLAG: HigherOrderFunction = HigherOrderFunction {
    lambda_is_optional: true,
    return_type: |name, body, types| {
        expect_flags(name, body, types)?;
        Ok(DataType::UInt8)
    },
    ..HigherOrderFunction::BASE
};

const SPLIT: HigherOrderFunction = HigherOrderFunction {
    return_type: |name, body, types| {
        expect_predicate(name, body)?;
        Ok(DataType::array(DataType::array(
            element(name, 0, types)?.clone(),
        )))
    },
    ..HigherOrderFunction::BASE
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[HigherOrderFunction] = &[
    HigherOrderFunction {
        name: "arrayFilter",
        syntax: "arrayFilter(x -> ..., arr, ...)",
        description: "The elements for which the lambda is true.",
        eval: eval_filter,
        ..PREDICATE
    },
    HigherOrderFunction {
        name: "arrayCount",
        syntax: "arrayCount([x -> ...,] arr, ...)",
        description: "Number of elements for which the lambda is true.",
        return_type: |name, body, types| {
            expect_flags(name, body, types)?;
            Ok(DataType::UInt32)
        },
        eval: eval_count,
        ..FLAG
    },
    HigherOrderFunction {
        name: "arrayExists",
        syntax: "arrayExists([x -> ...,] arr, ...)",
        description: "Whether the lambda is true for at least one element.",
        eval: |call| {
            eval_flag(call, "arrayExists", |flags, mut range| {
                range.any(|i| flags.get(i))
            })
        },
        ..FLAG
    },
    HigherOrderFunction {
        name: "arrayAll",
        syntax: "arrayAll([x -> ...,] arr, ...)",
        description: "Whether the lambda is true for every element.",
        eval: |call| {
            eval_flag(call, "arrayAll", |flags, mut range| {
                range.all(|i| flags.get(i))
            })
        },
        ..FLAG
    },
    HigherOrderFunction {
        name: "arrayFirst",
        syntax: "arrayFirst(x -> ..., arr, ...)",
        description: "The first element for which the lambda is true, or the type's default.",
        eval: |call| eval_found(call, "arrayFirst", first),
        ..FIRST
    },
    HigherOrderFunction {
        name: "arrayLast",
        syntax: "arrayLast(x -> ..., arr, ...)",
        description: "The last element for which the lambda is true, or the type's default.",
        eval: |call| eval_found(call, "arrayLast", last),
        ..FIRST
    },
    HigherOrderFunction {
        name: "arrayFirstOrNull",
        syntax: "arrayFirstOrNull(x -> ..., arr, ...)",
        description: "The first element for which the lambda is true, or NULL.",
        eval: |call| eval_found(call, "arrayFirstOrNull", first),
        ..FIRST_OR_NULL
    },
    HigherOrderFunction {
        name: "arrayLastOrNull",
        syntax: "arrayLastOrNull(x -> ..., arr, ...)",
        description: "The last element for which the lambda is true, or NULL.",
        eval: |call| eval_found(call, "arrayLastOrNull", last),
        ..FIRST_OR_NULL
    },
    HigherOrderFunction {
        name: "arrayFirstIndex",
        syntax: "arrayFirstIndex(x -> ..., arr, ...)",
        description: "Position from 1 of the first element for which the lambda is true, else 0.",
        eval: |call| eval_index(call, "arrayFirstIndex", first),
        ..INDEX
    },
    HigherOrderFunction {
        name: "arrayLastIndex",
        syntax: "arrayLastIndex(x -> ..., arr, ...)",
        description: "Position from 1 of the last element for which the lambda is true, else 0.",
        eval: |call| eval_index(call, "arrayLastIndex", last),
        ..INDEX
    },
    HigherOrderFunction {
        name: "arraySplit",
        syntax: "arraySplit(x -> ..., arr, ...)",
        description: "The array cut in front of each element for which the lambda is true.",
        eval: |call| eval_split(call, "arraySplit", false),
        ..SPLIT
    },
    HigherOrderFunction {
        name: "arrayReverseSplit",
        syntax: "arrayReverseSplit(x -> ..., arr, ...)",
        description: "The array cut behind each element for which the lambda is true.",
        eval: |call| eval_split(call, "arrayReverseSplit", true),
        ..SPLIT
    },
    HigherOrderFunction {
        name: "arrayFill",
        syntax: "arrayFill(x -> ..., arr, ...)",
        description: "The array with elements for which the lambda is false replaced by the one before.",
        eval: |call| eval_fill(call, "arrayFill", false),
        ..PREDICATE
    },
    HigherOrderFunction {
        name: "arrayReverseFill",
        syntax: "arrayReverseFill(x -> ..., arr, ...)",
        description: "The array with elements for which the lambda is false replaced by the one behind.",
        eval: |call| eval_fill(call, "arrayReverseFill", true),
        ..PREDICATE
    },
];

type Range = std::ops::Range<usize>;

fn first_or_null_type(name: &str, body: &DataType, types: &[DataType]) -> Result<DataType> {
    expect_predicate(name, body)?;
    let element = element(name, 0, types)?;
    let nullable = element.clone().to_nullable();
    if nullable.is_nullable() {
        return Ok(nullable);
    }
    Err(Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!("Nested type {element} cannot be inside Nullable type"),
    ))
}

/// The elements of the first array for which the predicate holds, with the rows' new ends.
pub(super) fn filtered(
    call: &HigherOrderCall<'_>,
    flat: &Flat,
) -> Result<(OffsetBuffer<i32>, ArrayRef)> {
    let predicate = Predicate::of(flat, call)?;
    let flags = predicate.flags()?;
    let mut picks = Picks::with_capacity(flat.num_rows(), flat.rows.len());
    for row in 0..flat.num_rows() {
        picks.extend(flat.range(row).filter(|i| flags.get(*i)));
        picks.end_row()?;
    }
    picks.gather(&flat.elements[0])
}

fn eval_filter(call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
    let flat = Flat::of(call, "arrayFilter")?;
    let (offsets, values) = filtered(call, &flat)?;
    list_of(call.return_type, offsets, values)
}

fn eval_count(call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
    let flat = Flat::of(call, "arrayCount")?;
    let predicate = Predicate::of(&flat, call)?;
    let flags = predicate.flags()?;
    let count = |row| match flags.without_nulls() {
        Some(values) => values[flat.range(row)].iter().filter(|v| **v != 0).count() as u32,
        None => flat.range(row).filter(|i| flags.get(*i)).count() as u32,
    };
    Ok(Arc::new(UInt32Array::from_iter_values(
        (0..flat.num_rows()).map(count),
    )))
}

/// One flag a row, from the flags of its elements.
pub(super) fn eval_flag(
    call: &HigherOrderCall<'_>,
    name: &str,
    holds: impl Fn(&Flags<'_>, Range) -> bool,
) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let predicate = Predicate::of(&flat, call)?;
    let flags = predicate.flags()?;
    let flag = |row| u8::from(holds(&flags, flat.range(row)));
    Ok(Arc::new(UInt8Array::from_iter_values(
        (0..flat.num_rows()).map(flag),
    )))
}

fn first(flags: &Flags<'_>, mut range: Range) -> Option<usize> {
    range.find(|i| flags.get(*i))
}

fn last(flags: &Flags<'_>, range: Range) -> Option<usize> {
    range.rev().find(|i| flags.get(*i))
}

type Find = fn(&Flags<'_>, Range) -> Option<usize>;

fn eval_found(call: &HigherOrderCall<'_>, name: &str, find: Find) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let predicate = Predicate::of(&flat, call)?;
    let flags = predicate.flags()?;
    let values = &flat.elements[0];
    let missing = values.len();
    let found = |row| find(&flags, flat.range(row)).unwrap_or(missing) as u32;
    let indices: Vec<u32> = (0..flat.num_rows()).map(found).collect();
    if !indices.contains(&(missing as u32)) {
        return take(values, indices);
    }
    take(&with_default(values, call.return_type)?, indices)
}

fn eval_index(call: &HigherOrderCall<'_>, name: &str, find: Find) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let predicate = Predicate::of(&flat, call)?;
    let flags = predicate.flags()?;
    let index = |row| {
        let range = flat.range(row);
        find(&flags, range.clone()).map_or(0, |i| (i - range.start + 1) as u32)
    };
    Ok(Arc::new(UInt32Array::from_iter_values(
        (0..flat.num_rows()).map(index),
    )))
}

fn eval_split(call: &HigherOrderCall<'_>, name: &str, behind: bool) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let predicate = Predicate::of(&flat, call)?;
    let flags = predicate.flags()?;
    let mut parts = OffsetsBuilder::with_capacity(flat.rows.len());
    let mut outer = OffsetsBuilder::with_capacity(flat.num_rows());
    for row in 0..flat.num_rows() {
        let range = flat.range(row);
        let (mut num_parts, mut start) = (0, range.start);
        for i in range.clone() {
            let cut = if behind { i + 1 } else { i };
            if flags.get(i) && cut > start && cut < range.end {
                parts.push(cut - start)?;
                num_parts += 1;
                start = cut;
            }
        }
        if start < range.end {
            parts.push(range.end - start)?;
            num_parts += 1;
        }
        outer.push(num_parts)?;
    }
    let DataType::Array(inner) = call.return_type else {
        return Err(Error::bug("arrays of arrays"));
    };
    let parts = list_of(inner, parts.finish(), Arc::clone(&flat.elements[0]))?;
    list_of(call.return_type, outer.finish(), parts)
}

fn eval_fill(call: &HigherOrderCall<'_>, name: &str, reverse: bool) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let predicate = Predicate::of(&flat, call)?;
    let flags = predicate.flags()?;
    let mut indices: Vec<u32> = (0..flat.rows.len() as u32).collect();
    for row in 0..flat.num_rows() {
        let range = flat.range(row);
        // The first element has none before it and stays as it is.
        if reverse {
            for i in range.rev().skip(1) {
                if !flags.get(i) {
                    indices[i] = indices[i + 1];
                }
            }
        } else {
            for i in range.skip(1) {
                if !flags.get(i) {
                    indices[i] = indices[i - 1];
                }
            }
        }
    }
    let values = take(&flat.elements[0], indices)?;
    flat.with_values(call.return_type, values)
}
