//! Nests and unnests: `arrayZip`, `arrayZipUnaligned`, `arrayFlatten`.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::construct::empty_lists;
use super::grow::flatten_once;
use super::lists::{Lists, OffsetsBuilder, bug, different_lengths, flat_list, list_of, struct_of};
use super::unify::{element_type, element_types};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayZip",
        syntax: "arrayZip(arr, ...)",
        description: "An array of tuples of the arrays' elements; the arrays are equally long.",
        resolve: resolve_zip,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayZipUnaligned",
        syntax: "arrayZipUnaligned(arr, ...)",
        description: "An array of tuples of the arrays' elements; NULL where an array has ended.",
        resolve: resolve_unaligned,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayFlatten",
        aliases: &["flatten"],
        syntax: "arrayFlatten(arr)",
        description: "One array of all elements of nested arrays.",
        resolve: resolve_flatten,
        ..ScalarFunction::BASE
    },
];

fn resolve_zip(call: &Call<'_>) -> Result<Resolved> {
    let tuple = DataType::tuple(element_types(call)?);
    let list = DataType::array(tuple.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let mut ends = None;
        let mut elements = Vec::with_capacity(columns.len());
        for column in columns {
            let (offsets, values) = flat_list(&column.expand(num_rows)?)?;
            if ends
                .as_ref()
                .is_some_and(|ends: &arrow::buffer::OffsetBuffer<i32>| ends[..] != offsets[..])
            {
                return Err(different_lengths("arrayZip"));
            }
            ends = Some(offsets);
            elements.push(values);
        }
        let Some(offsets) = ends else {
            return empty_lists(&list, &tuple, num_rows);
        };
        let len = elements.first().map_or(0, |e| e.len());
        list_of(&list, offsets, struct_of(&tuple.physical(), elements, len)?)
    })
}

fn resolve_unaligned(call: &Call<'_>) -> Result<Resolved> {
    let types = element_types(call)?;
    if let Some(other) = types
        .iter()
        .find(|t| !t.is_nullable() && !t.can_be_nullable())
    {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("Nested type {other} cannot be inside Nullable type"),
        ));
    }
    let tuple = DataType::tuple(types.into_iter().map(DataType::to_nullable).collect());
    let list = DataType::array(tuple.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = columns.iter().map(Lists::of).collect::<Result<Vec<_>>>()?;
        let mut offsets = OffsetsBuilder::with_capacity(num_rows);
        let mut indices: Vec<Vec<Option<u32>>> = vec![Vec::new(); lists.len()];
        for row in 0..num_rows {
            let longest = lists.iter().map(|l| l.len(row)).max().unwrap_or(0);
            offsets.push(longest)?;
            for (lists, indices) in lists.iter().zip(&mut indices) {
                let range = lists.range(row);
                let len = range.len();
                indices.extend(range.map(|i| Some(i as u32)));
                indices.extend(std::iter::repeat_n(None, longest - len));
            }
        }
        let len = indices.first().map_or(0, Vec::len);
        let take = |(lists, indices): (&Lists<'_>, Vec<Option<u32>>)| {
            arrow::compute::take(lists.values(), &UInt32Array::from(indices), None).map_err(bug)
        };
        let elements = lists
            .iter()
            .zip(indices)
            .map(take)
            .collect::<Result<Vec<ArrayRef>>>()?;
        list_of(
            &list,
            offsets.finish(),
            struct_of(&tuple.physical(), elements, len)?,
        )
    })
}

fn resolve_flatten(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let mut depth = 0_usize;
    let mut element = element_type(call, 0)?;
    while let DataType::Array(inner) = element {
        depth += 1;
        element = inner;
    }
    // Types of the arrays without the outermost levels, from the innermost on.
    let list = DataType::array(element.clone());
    let mut levels = vec![list.clone()];
    for _ in 1..depth {
        levels.push(DataType::array(levels[levels.len() - 1].clone()));
    }
    Resolved::new(list, move |columns, num_rows| {
        let mut array = Arc::clone(&columns[0].array);
        for level in levels[..depth].iter().rev() {
            array = flatten_once(&array, level)?;
        }
        let flat = Column {
            array,
            is_const: columns[0].is_const,
        };
        flat.expand(num_rows)
    })
}
