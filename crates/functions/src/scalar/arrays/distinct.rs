//! Tells elements apart: `arrayDistinct`, `arrayUniq`, and the numberings `arrayEnumerate…`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::buffer::OffsetBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use hashbrown::HashMap;

use super::lists::{Lists, OffsetsBuilder, Picks, different_lengths, flat_list, list_of};
use super::matching::{Ids, RowSet};
use super::unify::element_type;
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayDistinct",
        syntax: "arrayDistinct(arr)",
        description: "The different elements, each where it first occurs; NULL is left out.",
        resolve: resolve_distinct,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayUniq",
        syntax: "arrayUniq(arr, ...)",
        description: "Number of different elements, or of different tuples of several arrays' elements.",
        resolve: resolve_uniq,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayEnumerate",
        syntax: "arrayEnumerate(arr)",
        description: "The positions 1, 2, 3, … of the elements.",
        resolve: resolve_enumerate,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayEnumerateUniq",
        syntax: "arrayEnumerateUniq(arr, ...)",
        description: "For each element how often it has occurred up to there.",
        resolve: |call| resolve_numbering(call, occurrence),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayEnumerateDense",
        syntax: "arrayEnumerateDense(arr, ...)",
        description: "For each element a number, the same for equal ones, in order of appearance.",
        resolve: |call| resolve_numbering(call, appearance),
        ..ScalarFunction::BASE
    },
];

fn resolve_distinct(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let element = element_type(call, 0)?;
    let plain = match element {
        DataType::Nullable(inner) => inner.as_ref().clone(),
        other => other.clone(),
    };
    let list = DataType::array(plain);
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let ids = Ids::new(&[lists.values()])?;
        let nulls = lists.values().logical_nulls();
        let is_valid = |i| nulls.as_ref().is_none_or(|n| n.is_valid(i));
        let mut seen = RowSet::new(ids.num_ids());
        let mut picks = Picks::for_lists(&lists, num_rows);
        for row in 0..num_rows {
            seen.clear();
            picks.extend(
                lists
                    .range(row)
                    .filter(|i| is_valid(*i) && seen.insert(ids.of(0)[*i])),
            );
            picks.end_row()?;
        }
        let (offsets, values) = picks.gather(lists.values())?;
        list_of(&list, offsets, without_nulls(&values)?)
    })
}

/// The array without its validity, which says that all is valid.
fn without_nulls(array: &ArrayRef) -> Result<ArrayRef> {
    if array.nulls().is_none() {
        return Ok(Arc::clone(array));
    }
    let valid = array.to_data().into_builder().nulls(None).build();
    Ok(arrow::array::make_array(valid.map_err(super::lists::bug)?))
}

/// Arrays of equal lengths, seen as one array of tuples: their ends, and a number for each tuple.
struct Zipped {
    offsets: OffsetBuffer<i32>,
    ids: Vec<u32>,
    num_ids: usize,
}

impl Zipped {
    fn of(columns: &[Column], num_rows: usize, name: &str) -> Result<Self> {
        let mut zipped: Option<Self> = None;
        for column in columns {
            let (offsets, values) = flat_list(&column.expand(num_rows)?)?;
            let ids = Ids::new(&[&values])?;
            zipped = Some(match zipped {
                None => Self {
                    offsets,
                    ids: ids.of(0).to_vec(),
                    num_ids: ids.num_ids(),
                },
                Some(first) if first.offsets[..] == offsets[..] => first.combine(ids.of(0)),
                Some(_) => return Err(different_lengths(name)),
            });
        }
        zipped.ok_or_else(|| Error::bug("no array"))
    }

    fn combine(self, other: &[u32]) -> Self {
        let mut pairs: HashMap<(u32, u32), u32, ahash::RandomState> = HashMap::default();
        let ids = self.ids.iter().zip(other).map(|(a, b)| {
            let next = pairs.len() as u32;
            *pairs.entry((*a, *b)).or_insert(next)
        });
        let ids = ids.collect();
        Self {
            offsets: self.offsets,
            ids,
            num_ids: pairs.len(),
        }
    }

    fn row(&self, window: &[i32]) -> &[u32] {
        &self.ids[window[0] as usize..window[1] as usize]
    }
}

fn expect_arrays(call: &Call<'_>, code: ErrorCode) -> Result<()> {
    if call.args.is_empty() {
        return Err(Error::new(
            code,
            format!("Function {} takes at least 1 argument", call.name),
        ));
    }
    for idx in 0..call.args.len() {
        element_type(call, idx)?;
    }
    Ok(())
}

fn resolve_uniq(call: &Call<'_>) -> Result<Resolved> {
    expect_arrays(call, ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH)?;
    Resolved::new(DataType::UInt32, |columns, num_rows| {
        let zipped = Zipped::of(columns, num_rows, "arrayUniq")?;
        let mut seen = RowSet::new(zipped.num_ids);
        let uniq = zipped.offsets.windows(2).map(|window| {
            seen.clear();
            zipped
                .row(window)
                .iter()
                .filter(|id| seen.insert(**id))
                .count() as u32
        });
        Ok(Arc::new(UInt32Array::from_iter_values(uniq)))
    })
}

fn resolve_enumerate(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    element_type(call, 0)?;
    let list = DataType::array(DataType::UInt32);
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let mut offsets = OffsetsBuilder::with_capacity(num_rows);
        let mut numbers: Vec<u32> = Vec::new();
        for row in 0..num_rows {
            let len = lists.len(row);
            offsets.push(len)?;
            numbers.extend(1..=len as u32);
        }
        list_of(
            &list,
            offsets.finish(),
            Arc::new(UInt32Array::from(numbers)),
        )
    })
}

/// Number of an element, from the count of its equals so far and of the different ones so far.
type Number = fn(&mut u32, &mut u32) -> u32;

fn occurrence(count: &mut u32, _: &mut u32) -> u32 {
    *count += 1;
    *count
}

fn appearance(number: &mut u32, different: &mut u32) -> u32 {
    if *number == 0 {
        *different += 1;
        *number = *different;
    }
    *number
}

fn resolve_numbering(call: &Call<'_>, number: Number) -> Result<Resolved> {
    expect_arrays(call, ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION)?;
    let list = DataType::array(DataType::UInt32);
    let name = call.name.to_owned();
    Resolved::new(list.clone(), move |columns, num_rows| {
        let zipped = Zipped::of(columns, num_rows, &name)?;
        let mut numbers = Vec::with_capacity(zipped.ids.len());
        let mut counts = vec![0; zipped.num_ids];
        for window in zipped.offsets.windows(2) {
            let ids = zipped.row(window);
            let mut different = 0;
            numbers.extend(
                ids.iter()
                    .map(|id| number(&mut counts[*id as usize], &mut different)),
            );
            for id in ids {
                counts[*id as usize] = 0;
            }
        }
        list_of(&list, zipped.offsets, Arc::new(UInt32Array::from(numbers)))
    })
}
