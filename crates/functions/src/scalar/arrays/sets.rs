//! Treats arrays as sets: intersection, union, differences, similarity.
//!
//! Results keep the order in which elements first appear.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::lists::{Lists, Picks, bug, list_of};
use super::matching::{Ids, RowSet};
use super::unify::{Unify, element_type, element_types};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayIntersect",
        syntax: "arrayIntersect(arr, ...)",
        description: "The different elements that are in all arrays.",
        resolve: resolve_intersect,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayUnion",
        syntax: "arrayUnion(arr, ...)",
        description: "The different elements of all arrays.",
        resolve: |call| resolve_counted(call, |count, _| count > 0),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arraySymmetricDifference",
        syntax: "arraySymmetricDifference(arr, ...)",
        description: "The different elements that are not in all arrays.",
        resolve: |call| resolve_counted(call, |count, arrays| count < arrays),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayExcept",
        syntax: "arrayExcept(arr, without)",
        description: "The elements of the first array that are not in the second.",
        resolve: resolve_except,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayJaccardIndex",
        syntax: "arrayJaccardIndex(a, b)",
        description: "Number of elements in both arrays as a share of those in either.",
        resolve: resolve_jaccard,
        ..ScalarFunction::BASE
    },
];

/// The arguments' arrays with elements of one type, and numbers of these.
struct Sets<'a> {
    lists: Vec<Lists<'a>>,
    values: Vec<ArrayRef>,
    ids: Ids,
}

impl<'a> Sets<'a> {
    fn of(columns: &'a [Column], casts: &[Unify]) -> Result<Self> {
        let lists = columns.iter().map(Lists::of).collect::<Result<Vec<_>>>()?;
        let values = lists
            .iter()
            .zip(casts)
            .map(|(l, cast)| cast.array(l.values()));
        let values = values.collect::<Result<Vec<_>>>()?;
        let ids = Ids::new(&values.iter().collect::<Vec<_>>())?;
        Ok(Self { lists, values, ids })
    }

    /// Counts in how many arrays of a row each element is.
    fn count(&self, row: usize, counts: &mut Counts) {
        counts.clear();
        for (idx, lists) in self.lists.iter().enumerate() {
            counts.seen.clear();
            for i in lists.range(row) {
                let id = self.ids.of(idx)[i];
                if counts.seen.insert(id) {
                    counts.add(id);
                }
            }
        }
    }
}

/// Counts by element number that are emptied by going over what was counted.
struct Counts {
    counts: Vec<u32>,
    counted: Vec<u32>,
    seen: RowSet,
}

impl Counts {
    fn new(num_ids: usize) -> Self {
        Self {
            counts: vec![0; num_ids],
            counted: Vec::new(),
            seen: RowSet::new(num_ids),
        }
    }

    fn clear(&mut self) {
        for id in self.counted.drain(..) {
            self.counts[id as usize] = 0;
        }
    }

    fn add(&mut self, id: u32) {
        if self.counts[id as usize] == 0 {
            self.counted.push(id);
        }
        self.counts[id as usize] += 1;
    }
}

/// The narrowest of the elements' types whose values the intersection may have.
fn intersection_type(types: &[DataType]) -> Result<DataType> {
    least_supertype(types)?;
    let nullable = types.iter().all(DataType::is_nullable);
    let narrow = types.iter().map(DataType::base).reduce(|a, b| {
        let size = |t: &DataType| match t {
            DataType::Nothing => 0,
            t if t.is_float() => 100,
            t => t.fixed_size_bytes().unwrap_or(usize::MAX),
        };
        let keeps = size(a) < size(b) || (size(a) == size(b) && a.is_unsigned());
        if keeps || size(a) == size(b) && !b.is_unsigned() {
            a
        } else {
            b
        }
    });
    let narrow = narrow.cloned().unwrap_or(DataType::Nothing);
    Ok(if nullable {
        narrow.to_nullable()
    } else {
        narrow
    })
}

fn resolve_intersect(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    let types = element_types(call)?;
    let result = intersection_type(&types)?;
    let common = least_supertype(&types)?;
    let casts = Unify::all(&types, &common, call.context)?;
    let list = DataType::array(result.clone());
    let back = if result == DataType::Nothing {
        None
    } else {
        Some(Unify::new(&common, &result, call.context)?)
    };
    Resolved::new(list.clone(), move |columns, num_rows| {
        let Some(back) = &back else {
            return super::construct::empty_lists(&list, &DataType::Nothing, num_rows);
        };
        let sets = Sets::of(columns, &casts)?;
        let num_arrays = sets.lists.len() as u32;
        let mut counts = Counts::new(sets.ids.num_ids());
        let mut done = RowSet::new(sets.ids.num_ids());
        let mut picks = Picks::with_capacity(num_rows, 0);
        for row in 0..num_rows {
            sets.count(row, &mut counts);
            done.clear();
            for i in sets.lists[0].range(row) {
                let id = sets.ids.of(0)[i];
                if counts.counts[id as usize] == num_arrays && done.insert(id) {
                    picks.push(i);
                }
            }
            picks.end_row()?;
        }
        let (offsets, values) = picks.gather(&sets.values[0])?;
        list_of(&list, offsets, back.array(&values)?)
    })
}

/// The different elements of all arrays whose number of arrays fits.
fn resolve_counted(call: &Call<'_>, fits: fn(u32, u32) -> bool) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    let types = element_types(call)?;
    let common = least_supertype(&types)?;
    let casts = Unify::all(&types, &common, call.context)?;
    let list = DataType::array(common);
    Resolved::new(list.clone(), move |columns, num_rows| {
        let sets = Sets::of(columns, &casts)?;
        let num_arrays = sets.lists.len() as u32;
        let mut counts = Counts::new(sets.ids.num_ids());
        let mut done = RowSet::new(sets.ids.num_ids());
        let mut picks = Picks::with_capacity(num_rows, 0);
        for row in 0..num_rows {
            sets.count(row, &mut counts);
            done.clear();
            let mut base = 0;
            for (idx, lists) in sets.lists.iter().enumerate() {
                for i in lists.range(row) {
                    let id = sets.ids.of(idx)[i];
                    if fits(counts.counts[id as usize], num_arrays) && done.insert(id) {
                        picks.push(base + i);
                    }
                }
                base += sets.values[idx].len();
            }
            picks.end_row()?;
        }
        let parts: Vec<&dyn Array> = sets.values.iter().map(AsRef::as_ref).collect();
        picks.finish(&list, &arrow::compute::concat(&parts).map_err(bug)?)
    })
}

fn resolve_except(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let (element, without) = (element_type(call, 0)?, element_type(call, 1)?);
    if element.base() != without.base() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Function arrayExcept requires both arrays to have exactly the same element type. \
                 Got {} and {}",
                call.data_type(0),
                call.data_type(1)
            ),
        ));
    }
    let list = call.data_type(0).clone();
    let keep = vec![Unify::default(), Unify::default()];
    Resolved::new(list.clone(), move |columns, num_rows| {
        let sets = Sets::of(columns, &keep)?;
        let mut gone = RowSet::new(sets.ids.num_ids());
        let mut picks = Picks::for_lists(&sets.lists[0], num_rows);
        for row in 0..num_rows {
            gone.clear();
            for i in sets.lists[1].range(row) {
                gone.insert(sets.ids.of(1)[i]);
            }
            let range = sets.lists[0].range(row);
            picks.extend(range.filter(|i| !gone.contains(sets.ids.of(0)[*i])));
            picks.end_row()?;
        }
        picks.finish(&list, &sets.values[0])
    })
}

fn resolve_jaccard(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let types = element_types(call)?;
    if types.iter().all(|t| *t == DataType::Nothing) {
        return Err(call.illegal_type(0));
    }
    let common = least_supertype(&types)?;
    let casts = Unify::all(&types, &common, call.context)?;
    Resolved::new(DataType::Float64, move |columns, num_rows| {
        let sets = Sets::of(columns, &casts)?;
        let mut counts = Counts::new(sets.ids.num_ids());
        let index = |row| {
            sets.count(row, &mut counts);
            let in_both = counts
                .counted
                .iter()
                .filter(|id| counts.counts[**id as usize] == 2);
            in_both.count() as f64 / counts.counted.len() as f64
        };
        let index: Vec<f64> = (0..num_rows).map(index).collect();
        Ok(Arc::new(Float64Array::from(index)))
    })
}
