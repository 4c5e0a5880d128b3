//! `-Resample(start, end, step)`: aggregates apart for each interval of the last argument.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanBufferBuilder};
use arrow::datatypes::{DataType as ArrowType, FieldRef, Int64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::physical::item_field;

use super::array::used_values;
use crate::aggregate::defaults::{bug, filter_rows};
use crate::aggregate::groups::check_num_groups;
use crate::aggregate::of_inner::of_inner;
use crate::aggregate::row_log::{list_of, list_type};
use crate::aggregate::rows::Rows;
use crate::aggregate::values::{column, primitive, wrong_array};
use crate::aggregate::{
    AggregateCall, AggregateNulls, Aggregator, BoundAggregate, Groups, binding,
};
use arrow::array::AsArray;

/// Most intervals of a call.
const MAX_INTERVALS: u128 = 1 << 20;

/// Binds `-Resample`.
pub(super) fn bind(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=usize::MAX)?;
    call.expect_params(3..=usize::MAX)?;
    let own = call.params.len() - 3;
    let (start, end) = (call.param_i64(own)?, call.param_i64(own + 1)?);
    let step = call.param_u64(own + 2)?;
    let last = call.types.len() - 1;
    call.expect_type(last, |t| {
        (t.is_integer() || t.is_date_or_time()) && !t.is_nullable()
    })?;
    let num_intervals = intervals(call.name, start, end, step)?;
    // Rows with NULLs are left out here, so that intervals without rows are not NULL.
    let sees_nulls = binding::find(call.name).is_some_and(|f| f.nulls == AggregateNulls::Own);
    let types: Vec<DataType> = call.types[..last]
        .iter()
        .map(|t| {
            if sees_nulls || *t.base() == DataType::Nothing {
                t.clone()
            } else {
                t.base().clone()
            }
        })
        .collect();
    let bound = binding::bind(&AggregateCall {
        types: &types,
        params: &call.params[..own],
        ..*call
    })?;
    let item = item_field(&bound.return_type);
    let factory = Arc::clone(&bound.factory);
    Ok(BoundAggregate {
        return_type: DataType::array(bound.return_type.clone()),
        state_types: bound.state_types.iter().map(list_type).collect(),
        shortcut: None,
        skips_nulls: false,
        factory: Arc::new(move || {
            Box::new(Resample {
                inner: factory(),
                start,
                end,
                step,
                num_intervals,
                item: Arc::clone(&item),
                sees_nulls,
            })
        }),
        ..bound
    })
}

fn intervals(name: &str, start: i64, end: i64, step: u64) -> Result<usize> {
    let out_of_bound = |reason: &str| {
        Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!("The {reason} in function {name}Resample"),
        )
    };
    if step == 0 {
        return Err(out_of_bound("step should not be zero"));
    }
    let width = (i128::from(end) - i128::from(start)).max(0) as u128;
    let number = width.div_ceil(u128::from(step));
    if number > MAX_INTERVALS {
        return Err(out_of_bound("range has too many steps"));
    }
    Ok(if end <= start { 0 } else { number as usize })
}

#[derive(Debug)]
struct Resample {
    inner: Box<dyn Aggregator>,
    start: i64,
    end: i64,
    step: u64,
    num_intervals: usize,
    item: FieldRef,
    sees_nulls: bool,
}

impl Resample {
    fn interval(&self, key: i64) -> Option<usize> {
        if key < self.start || key >= self.end {
            return None;
        }
        let distance = i128::from(key) - i128::from(self.start);
        usize::try_from(distance / i128::from(self.step)).ok()
    }

    /// Number of inner groups, which can all be told apart.
    fn num_inner(&self, groups: Groups<'_>) -> Result<usize> {
        let num_inner = groups.num_groups.saturating_mul(self.num_intervals);
        check_num_groups(num_inner).map(|()| num_inner)
    }

    fn inner_range(&self, range: &Range<usize>) -> Range<usize> {
        range.start * self.num_intervals..range.end * self.num_intervals
    }

    fn lists(&self, values: &ArrayRef, len: usize, item: FieldRef) -> Result<ArrayRef> {
        let offsets: Vec<usize> = (0..=len).map(|i| i * self.num_intervals).collect();
        list_of(values, &offsets, item)
    }
}

impl Aggregator for Resample {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let last = args.len().saturating_sub(1);
        let keys = arrow::compute::cast(column(args, last)?, &ArrowType::Int64).map_err(bug)?;
        let keys = primitive::<Int64Type>(&keys)?.values();
        let valid = if self.sees_nulls {
            None
        } else {
            Rows::new(&args[..last], groups)?.valid
        };
        let num_groups = self.num_inner(groups)?;
        let mut taken = BooleanBufferBuilder::new(groups.num_rows);
        let mut ids = Vec::new();
        Rows::all(&[], groups)?.for_each(|row, group| {
            let is_valid = valid.as_ref().is_none_or(|v| v.is_valid(row));
            let interval = self.interval(keys[row]).filter(|_| is_valid);
            taken.append(interval.is_some());
            ids.extend(interval.map(|i| (group * self.num_intervals + i) as u32));
        });
        let taken = taken.finish();
        let args = args[..last]
            .iter()
            .map(|a| filter_rows(a, &taken))
            .collect::<Result<Vec<_>>>()?;
        let inner = Groups {
            ids: Some(&ids),
            num_groups,
            num_rows: ids.len(),
        };
        self.inner.update(&args, inner)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let mut columns = Vec::with_capacity(states.len());
        for state in states {
            let list = state
                .as_list_opt::<i32>()
                .ok_or_else(|| wrong_array(state))?;
            columns.push(used_values(list));
        }
        let num_groups = self.num_inner(groups)?;
        let mut ids = Vec::with_capacity(groups.num_rows * self.num_intervals);
        Rows::all(&[], groups)?.for_each(|_, group| {
            let first = group * self.num_intervals;
            ids.extend((first..first + self.num_intervals).map(|inner| inner as u32));
        });
        let inner = Groups {
            ids: Some(&ids),
            num_groups,
            num_rows: ids.len(),
        };
        self.inner.merge(&columns, inner)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let values = self.inner.finish(self.inner_range(&range))?;
        self.lists(&values, range.len(), Arc::clone(&self.item))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let states = self.inner.states(self.inner_range(&range))?;
        let lists = states
            .iter()
            .map(|state| match list_type(state.data_type()) {
                ArrowType::List(item) => self.lists(state, range.len(), item),
                _ => Err(wrong_array(state)),
            });
        lists.collect()
    }

    of_inner!(size_bytes, ordering_bytes, exports_parts);
}
