//! Puts maps together: from arrays, one map into another, end to end.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::parts::entry_types;
use crate::scalar::arrays::lists::{
    Lists, Picks, bad_arguments, bug, concat, different_lengths, entries, flat_list, map_of,
    too_large,
};
use crate::scalar::arrays::matching::{Ids, RowSet};
use crate::scalar::arrays::unify::{Unify, element_type};
use crate::{Call, Dictionaries, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "mapFromArrays",
        dictionaries: Dictionaries::KeptInside,
        aliases: &["MAP_FROM_ARRAYS"],
        syntax: "mapFromArrays(keys, values)",
        description: "A map of an array's elements to those of another.",
        resolve: resolve_from_arrays,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapUpdate",
        syntax: "mapUpdate(map, changes)",
        description: "The first map with the entries of the second in place of those with the same keys.",
        resolve: resolve_update,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapConcat",
        dictionaries: Dictionaries::KeptInside,
        syntax: "mapConcat(map, ...)",
        description: "The entries of all maps, one map after the other.",
        resolve: resolve_concat,
        ..ScalarFunction::BASE
    },
];

fn resolve_from_arrays(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let key = match element_type(call, 0)? {
        DataType::Nullable(inner) => inner.as_ref().clone(),
        other => other.clone(),
    };
    super::construct::check_key(&key)?;
    let map = DataType::map(key, element_type(call, 1)?.clone());
    Resolved::new(map.clone(), move |columns, num_rows| {
        let (key_ends, keys) = flat_list(&columns[0].expand(num_rows)?)?;
        let (value_ends, values) = flat_list(&columns[1].expand(num_rows)?)?;
        if key_ends[..] != value_ends[..] {
            return Err(different_lengths("mapFromArrays"));
        }
        if keys.null_count() > 0 {
            return Err(bad_arguments(
                "The keys that function mapFromArrays gets must not contain NULLs",
            ));
        }
        map_of(&map, key_ends, keys, values)
    })
}

fn resolve_update(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let (a, b) = (entry_types(call, 0)?, entry_types(call, 1)?);
    let common = |x: &DataType, y: &DataType| {
        least_supertype(&[x.clone(), y.clone()]).map_err(|_| {
            Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                "The maps of function mapUpdate must have the same types of keys and values",
            )
        })
    };
    let map = DataType::map(common(a.0, b.0)?, common(a.1, b.1)?);
    let casts = Unify::all(&call.data_types(), &map, call.context)?;
    Resolved::new(map.clone(), move |columns, num_rows| {
        let (old, new) = (casts[0].column(&columns[0])?, casts[1].column(&columns[1])?);
        let (old, new) = (Lists::of(&old)?, Lists::of(&new)?);
        let base = old.values().len();
        let ids = Ids::new(&[entries(&old)?.0, entries(&new)?.0])?;
        let mut replaced = RowSet::new(ids.num_ids());
        let mut picks = Picks::with_capacity(num_rows, base + new.values().len());
        for row in 0..num_rows {
            replaced.clear();
            for i in new.range(row) {
                replaced.insert(ids.of(1)[i]);
            }
            picks.extend(old.range(row).filter(|i| !replaced.contains(ids.of(0)[*i])));
            picks.extend(new.range(row).map(|i| base + i));
            picks.end_row()?;
        }
        picks.finish(&map, &concat(old.values(), new.values())?)
    })
}

fn resolve_concat(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    for idx in 0..call.args.len() {
        entry_types(call, idx)?;
    }
    let map = least_supertype(&call.data_types())?;
    let casts = Unify::all(&call.data_types(), &map, call.context)?;
    Resolved::new(map.clone(), move |columns, num_rows| {
        let columns = columns.iter().zip(&casts).map(|(c, cast)| cast.column(c));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let lists = columns.iter().map(Lists::of).collect::<Result<Vec<_>>>()?;
        let parts: Vec<&dyn Array> = lists.iter().map(|l| l.values().as_ref()).collect();
        let all: ArrayRef = match lists.as_slice() {
            [only] => Arc::clone(only.values()),
            _ => arrow::compute::concat(&parts).map_err(bug)?,
        };
        u32::try_from(all.len()).map_err(|_| too_large(all.len()))?;
        let mut picks = Picks::with_capacity(num_rows, all.len());
        for row in 0..num_rows {
            let mut base = 0;
            for lists in &lists {
                picks.extend(lists.range(row).map(|i| base + i));
                base += lists.values().len();
            }
            picks.end_row()?;
        }
        picks.finish(&map, &all)
    })
}
