//! `count`: the number of rows whose argument is not NULL.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use arrow::datatypes::{DataType as ArrowType, UInt64Type};
use basalt_error::Result;
use basalt_types::DataType;

use super::rows::Rows;
use super::values::{column, primitive};
use super::{
    AggregateCall, AggregateFunction, AggregateNulls, Aggregator, BoundAggregate, Groups,
    OnlyNulls, Shortcut,
};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "count",
    case_insensitive: true,
    nulls: AggregateNulls::SkipNotNull,
    only_nulls: OnlyNulls::Zero,
    syntax: "count([x])",
    description: "Number of rows, or of those in which x is not NULL.",
    resolve,
    ..AggregateFunction::BASE
}];

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(0..=1)?;
    let bound = BoundAggregate::new(DataType::UInt64, vec![ArrowType::UInt64], Count::default);
    // A Nullable argument takes the shortcut away again when the call is bound.
    Ok(bound.with_shortcut(Shortcut::CountAll))
}

#[derive(Debug, Default)]
struct Count {
    counts: Vec<u64>,
}

impl Count {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.counts.len() {
            self.counts.resize(num_groups, 0);
        }
    }
}

impl Aggregator for Count {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let rows = Rows::new(args, groups)?;
        match (rows.ids, self.counts.first_mut()) {
            (None, Some(count)) => *count += rows.num_valid() as u64,
            _ => rows.for_each(|_, group| self.counts[group] += 1),
        }
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let counts = primitive::<UInt64Type>(column(states, 0)?)?.values();
        Rows::all(states, groups)?.for_each(|row, group| {
            self.counts[group] = self.counts[group].wrapping_add(counts[row])
        });
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        let counts = self.counts[range].iter().copied();
        Ok(Arc::new(UInt64Array::from_iter_values(counts)))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.finish(range)?])
    }

    fn size_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u64>()
    }
}
