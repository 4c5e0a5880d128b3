//! `-Distinct`: feeds each combination of arguments once for each group.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, BooleanBufferBuilder};
use basalt_error::Result;
use basalt_types::DataType;

use crate::aggregate::defaults::filter_rows;
use crate::aggregate::distinct_set::DistinctSet;
use crate::aggregate::row_keys::row_keys;
use crate::aggregate::row_log::{RowLog, list_type};
use crate::aggregate::rows::Rows;
use crate::aggregate::{
    AggregateCall, Aggregator, AggregatorFactory, BoundAggregate, Groups, binding, group_ids,
};

/// Binds `-Distinct`.
pub(super) fn bind(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=usize::MAX)?;
    Ok(wrap(binding::bind(call)?, call.types))
}

/// The aggregate fed with each combination of arguments once.
pub(in crate::aggregate) fn wrap(bound: BoundAggregate, types: &[DataType]) -> BoundAggregate {
    let physical: Vec<_> = types.iter().map(DataType::physical).collect();
    let factory = Arc::clone(&bound.factory);
    let skips_nulls = bound.skips_nulls;
    BoundAggregate {
        shortcut: None,
        state_types: physical.iter().map(list_type).collect(),
        factory: Arc::new(move || {
            Box::new(Distinct {
                make: Arc::clone(&factory),
                seen: DistinctSet::new(),
                log: RowLog::new(physical.clone()),
                skips_nulls,
            })
        }),
        ..bound
    }
}

struct Distinct {
    make: AggregatorFactory,
    seen: DistinctSet<u128>,
    /// The rows that were new.
    log: RowLog,
    skips_nulls: bool,
}

impl std::fmt::Debug for Distinct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Distinct").field(&self.log).finish()
    }
}

impl Distinct {
    fn add(&mut self, args: &[ArrayRef], rows: &Rows<'_>) -> Result<()> {
        let keys = row_keys(args)?;
        let mut fresh = BooleanBufferBuilder::new(rows.len);
        fresh.append_n(rows.len, false);
        let mut ids = Vec::new();
        rows.for_each(|row, group| {
            if self.seen.insert(group, keys[row]) {
                fresh.set_bit(row, true);
                ids.push(group as u32);
            }
        });
        let fresh = BooleanArray::new(fresh.finish(), None);
        let taken = args
            .iter()
            .map(|a| filter_rows(a, fresh.values()))
            .collect::<Result<Vec<_>>>()?;
        self.log.push_chunk_of(taken, &ids);
        Ok(())
    }

    /// The inner states of the groups in `range`, numbered from 0.
    fn inner(&mut self, range: &Range<usize>) -> Result<Box<dyn Aggregator>> {
        let sealed = self.log.sealed(range.end)?;
        let mut inner = (self.make)();
        let first = sealed.offsets[range.start];
        let num_rows = sealed.offsets[range.end] - first;
        let args: Vec<ArrayRef> = sealed
            .columns
            .iter()
            .map(|c| c.slice(first, num_rows))
            .collect();
        let ids = range
            .clone()
            .flat_map(|g| std::iter::repeat_n(g - range.start, sealed.rows(g).len()));
        let ids = group_ids(ids, range.len())?;
        inner.update(
            &args,
            Groups {
                ids: Some(&ids),
                num_groups: range.len(),
                num_rows,
            },
        )?;
        Ok(inner)
    }
}

impl Aggregator for Distinct {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.seen.resize(groups.num_groups)?;
        let rows = if self.skips_nulls {
            Rows::new(args, groups)?
        } else {
            Rows::all(args, groups)?
        };
        self.add(args, &rows)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let mut other = RowLog::new(self.log.types().to_vec());
        other.merge(states, groups)?;
        self.seen.resize(groups.num_groups)?;
        let sealed = other.sealed(groups.num_groups)?;
        let num_rows = sealed.offsets.last().copied().unwrap_or(0);
        let ids = (0..groups.num_groups).flat_map(|g| std::iter::repeat_n(g, sealed.rows(g).len()));
        let ids = group_ids(ids, groups.num_groups)?;
        let rows = Rows::all(
            &sealed.columns,
            Groups {
                ids: Some(&ids),
                num_groups: groups.num_groups,
                num_rows,
            },
        )?;
        self.add(&sealed.columns, &rows)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.inner(&range)?.finish(0..range.len())
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.log.states(range)
    }

    fn ordering_bytes(&self) -> usize {
        self.log.ordering_bytes()
    }

    fn size_bytes(&self) -> usize {
        self.seen.size_bytes() + self.log.size_bytes()
    }
}
