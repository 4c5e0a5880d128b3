//! `groupArray` and its kind: the values of a group as an array.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::compute::SortOptions;
use arrow::datatypes::FieldRef;
use arrow::row::{RowConverter, SortField};
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::physical::item_field;

use super::collected::{RowsFunction, bind_collected};
use super::combinators::distinct;
use super::defaults::bug;
use super::extreme_bytes::exchanged;
use super::row_log::{Sealed, list_of};
use super::{AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "groupArray",
        aliases: &["array_agg"],
        nulls: AggregateNulls::SkipNotNull,
        max_params: 1,
        syntax: "groupArray[(max_size)](x)",
        description: "Array of the values, at most max_size of them.",
        resolve: |call| resolve(call, Part::First, false),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupArrayLast",
        nulls: AggregateNulls::SkipNotNull,
        max_params: 1,
        syntax: "groupArrayLast(max_size)(x)",
        description: "Array of the last max_size values.",
        resolve: |call| resolve(call, Part::Last, true),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupArraySorted",
        nulls: AggregateNulls::SkipNotNull,
        max_params: 1,
        syntax: "groupArraySorted(max_size)(x)",
        description: "Array of the max_size least values in ascending order.",
        resolve: |call| resolve(call, Part::Least, true),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupUniqArray",
        nulls: AggregateNulls::SkipNotNull,
        max_params: 1,
        syntax: "groupUniqArray[(max_size)](x)",
        description: "Array of the distinct values, at most max_size of them.",
        resolve: resolve_unique,
        ..AggregateFunction::BASE
    },
];

fn resolve(call: &AggregateCall<'_>, part: Part, needs_size: bool) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let max_size = match call.params.len() {
        0 if !needs_size => None,
        _ => Some(max_size(call)?),
    };
    let function = Collect {
        part,
        max_size,
        item: item_field(&call.types[0]),
        is_uuid: *call.types[0].base() == DataType::Uuid,
    };
    let return_type = DataType::array(call.types[0].clone());
    Ok(bind_collected(return_type, call.types, function))
}

fn max_size(call: &AggregateCall<'_>) -> Result<u64> {
    match call.param_u64(0)? {
        0 => Err(call.bad_param(0, &"the size must be positive")),
        size => Ok(size),
    }
}

fn resolve_unique(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let bound = resolve(call, Part::First, false)?;
    Ok(distinct::wrap(bound, call.types))
}

/// Which values of a group are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    First,
    Last,
    Least,
}

#[derive(Debug)]
struct Collect {
    part: Part,
    max_size: Option<u64>,
    item: FieldRef,
    is_uuid: bool,
}

/// Places of the least values, in their order.
fn least(values: &ArrayRef, limit: usize, is_uuid: bool) -> Result<Vec<u32>> {
    let options = SortOptions {
        descending: false,
        nulls_first: false,
    };
    if let Some(uuids) = values.as_fixed_size_binary_opt().filter(|_| is_uuid) {
        let mut places: Vec<u32> = (0..values.len() as u32).collect();
        places.sort_by_cached_key(|i| exchanged(uuids.value(*i as usize)));
        places.truncate(limit);
        return Ok(places);
    }
    if values.data_type().is_nested() {
        let field = SortField::new_with_options(values.data_type().clone(), options);
        let converter = RowConverter::new(vec![field]).map_err(bug)?;
        let rows = converter.convert_columns(std::slice::from_ref(values));
        let rows = rows.map_err(bug)?;
        let mut places: Vec<u32> = (0..values.len() as u32).collect();
        places.sort_by(|a, b| rows.row(*a as usize).cmp(&rows.row(*b as usize)));
        places.truncate(limit);
        return Ok(places);
    }
    let sorted = arrow::compute::sort_to_indices(values, Some(options), Some(limit));
    Ok(sorted.map_err(bug)?.values().to_vec())
}

impl Collect {
    /// Rows of a group that are given, in the order in which they are.
    fn choose(&self, values: &ArrayRef, rows: Range<usize>, order: &mut Vec<u64>) -> Result<()> {
        let limit = self.max_size.map_or(usize::MAX, |n| n as usize);
        match self.part {
            Part::First => {
                let end = rows.start.saturating_add(limit).min(rows.end);
                order.extend(rows.start as u64..end as u64);
            }
            Part::Last => {
                // The order of a ring buffer: value `i` of the group is in place `i % limit`.
                let kept = limit.min(rows.len());
                let first = rows.len() - kept;
                order.extend((0..kept).map(|place| {
                    let behind = (place + limit - first % limit) % limit;
                    (rows.start + first + behind) as u64
                }));
            }
            Part::Least => {
                let group = values.slice(rows.start, rows.len());
                let sorted = least(&group, limit.min(rows.len()), self.is_uuid)?;
                order.extend(sorted.iter().map(|i| rows.start as u64 + u64::from(*i)));
            }
        }
        Ok(())
    }
}

impl RowsFunction for Collect {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = &rows.columns[0];
        let Some(_) = self.max_size else {
            let offsets = &rows.offsets[range.start..=range.end];
            return list_of(values, offsets, Arc::clone(&self.item));
        };
        let mut order = Vec::new();
        let mut offsets = vec![0];
        for group in range {
            self.choose(values, rows.rows(group), &mut order)?;
            offsets.push(order.len());
        }
        let order = UInt64Array::from(order);
        let values = arrow::compute::take(values, &order, None).map_err(bug)?;
        list_of(&values, &offsets, Arc::clone(&self.item))
    }

    fn limit(&self) -> Option<u64> {
        self.max_size.filter(|_| self.part == Part::First)
    }
}
