//! Takes maps apart: their keys, their values, entries with certain ones.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::UInt8Type;
use basalt_error::{Error, Result};
use basalt_types::DataType;

use crate::scalar::arrays::lists::{Lists, Picks, entries, rows_of_elements, take};
use crate::scalar::arrays::search::{Part, resolve_contains};
use crate::scalar::arrays::unify::with_elements;
use crate::{Arg, BoundFunction, Call, Column, Nulls, Resolved, ScalarFunction, registry};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "mapKeys",
        syntax: "mapKeys(map)",
        description: "The keys of a map.",
        resolve: |call| resolve_part(call, Part::Keys),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapValues",
        syntax: "mapValues(map)",
        description: "The values of a map.",
        resolve: |call| resolve_part(call, Part::Values),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapContains",
        aliases: &["mapContainsKey"],
        nulls: Nulls::Own,
        syntax: "mapContains(map, key)",
        description: "Whether a map has a key.",
        resolve: |call| resolve_contains(call, Part::Keys),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapContainsValue",
        nulls: Nulls::Own,
        syntax: "mapContainsValue(map, value)",
        description: "Whether a map has a value.",
        resolve: |call| resolve_contains(call, Part::Values),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapContainsKeyLike",
        syntax: "mapContainsKeyLike(map, pattern)",
        description: "Whether a map has a key that is LIKE a pattern.",
        resolve: |call| resolve_like(call, Part::Keys, Answer::Flag),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapContainsValueLike",
        syntax: "mapContainsValueLike(map, pattern)",
        description: "Whether a map has a value that is LIKE a pattern.",
        resolve: |call| resolve_like(call, Part::Values, Answer::Flag),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapExtractKeyLike",
        syntax: "mapExtractKeyLike(map, pattern)",
        description: "The entries whose keys are LIKE a pattern.",
        resolve: |call| resolve_like(call, Part::Keys, Answer::Entries),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapExtractValueLike",
        syntax: "mapExtractValueLike(map, pattern)",
        description: "The entries whose values are LIKE a pattern.",
        resolve: |call| resolve_like(call, Part::Values, Answer::Entries),
        ..ScalarFunction::BASE
    },
];

/// The types of keys and values of argument `idx`.
pub(super) fn entry_types<'a>(call: &Call<'a>, idx: usize) -> Result<(&'a DataType, &'a DataType)> {
    match call.data_type(idx) {
        DataType::Map(key, value) => Ok((key, value)),
        _ => Err(call.illegal_type(idx)),
    }
}

fn resolve_part(call: &Call<'_>, part: Part) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let (key, value) = entry_types(call, 0)?;
    let element = if part == Part::Keys { key } else { value };
    let list = DataType::array(element.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let (keys, values) = entries(&Lists::of(&columns[0])?)?;
        let elements = if part == Part::Keys { keys } else { values };
        let parts = Column {
            array: with_elements(&list, &columns[0].array, Arc::clone(elements))?,
            is_const: columns[0].is_const,
        };
        parts.expand(num_rows)
    })
}

/// What is wanted of the entries that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Flag,
    Entries,
}

fn resolve_like(call: &Call<'_>, part: Part, answer: Answer) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let (key, value) = entry_types(call, 0)?;
    let element = if part == Part::Keys { key } else { value };
    if !element.is_string() || !call.data_type(1).is_string() {
        return Err(call.illegal_type(0));
    }
    let pattern = call.args[1].clone();
    let args = [Arg::new(element.clone()), pattern];
    let like = BoundFunction::bind(registry::get_scalar("like")?, &args, call.context)?;
    let map = call.data_type(0).clone();
    let result = if answer == Answer::Flag {
        DataType::UInt8
    } else {
        map.clone()
    };
    Resolved::new(result, move |columns, num_rows| {
        let map_array = columns[0].expand(num_rows)?;
        let lists = Lists::of_array(&map_array)?;
        let fits = fits(&like, &map_array, &columns[1], part)?;
        let first = lists.range(0).start;
        let fits = |i: &usize| fits[*i - first];
        if answer == Answer::Flag {
            let flag = |row| u8::from(lists.range(row).any(|i| fits(&i)));
            let flags = (0..num_rows).map(flag);
            return Ok(Arc::new(arrow::array::UInt8Array::from_iter_values(flags)));
        }
        let mut picks = Picks::for_lists(&lists, num_rows);
        for row in 0..num_rows {
            picks.extend(lists.range(row).filter(fits));
            picks.end_row()?;
        }
        picks.finish(&map, lists.values())
    })
}

/// For each entry, from the first row's on, whether its key or value fits the row's pattern.
fn fits(like: &BoundFunction, maps: &ArrayRef, pattern: &Column, part: Part) -> Result<Vec<bool>> {
    let (offsets, flat) = crate::scalar::arrays::lists::flat_list(maps)?;
    let entries = flat.as_struct_opt();
    let entries = entries.ok_or_else(|| Error::bug("a map holds structs"))?;
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let texts = entries.column(usize::from(part == Part::Values));
    let patterns = if pattern.is_const {
        pattern.clone()
    } else {
        Column::new(take(&pattern.array, rows_of_elements(&offsets))?)
    };
    let flags = like.call(&[Column::new(Arc::clone(texts)), patterns], texts.len())?;
    let nulls = flags.logical_nulls();
    let flags = flags.as_primitive_opt::<UInt8Type>();
    let flags = flags.ok_or_else(|| Error::bug("LIKE gives UInt8"))?;
    let is_valid = |i| nulls.as_ref().is_none_or(|n| n.is_valid(i));
    Ok((0..flags.len())
        .map(|i| flags.value(i) != 0 && is_valid(i))
        .collect())
}
