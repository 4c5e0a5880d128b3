//! `-ArgMin`, `-ArgMax`: feeds only the rows whose last argument is the least or greatest.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use basalt_error::Result;

use crate::aggregate::arg_extreme::{BestKeys, keys_for};
use crate::aggregate::defaults::bug;
use crate::aggregate::extreme::{Direction, Greatest, Least};
use crate::aggregate::of_inner::of_inner;
use crate::aggregate::rows::Rows;
use crate::aggregate::values::column;
use crate::aggregate::{AggregateCall, Aggregator, BoundAggregate, Groups, binding, group_ids};

/// Binds `-ArgMin`.
pub(super) fn bind_min(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    bind::<Least>(call)
}

/// Binds `-ArgMax`.
pub(super) fn bind_max(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    bind::<Greatest>(call)
}

fn bind<D: Direction>(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=usize::MAX)?;
    let last = call.types.len() - 1;
    let key = call.types[last].physical();
    // Checked here, so that making the states cannot fail.
    keys_for::<D>(&key)?;
    let bound = binding::bind(&AggregateCall {
        types: &call.types[..last],
        ..*call
    })?;
    let mut state_types = bound.state_types.clone();
    state_types.push(key.clone());
    let factory = Arc::clone(&bound.factory);
    let skips_nulls = bound.skips_nulls;
    Ok(BoundAggregate {
        state_types,
        shortcut: None,
        skips_nulls,
        factory: Arc::new(move || {
            Box::new(OfBest {
                inner: factory(),
                skips_nulls,
                keys: keys_for::<D>(&key),
                current: Vec::new(),
                num_inner: 0,
            })
        }),
        ..bound
    })
}

/// Each time a group gets a better key, it moves on to a new, empty inner group.
#[derive(Debug)]
struct OfBest {
    inner: Box<dyn Aggregator>,
    /// Whether rows in which an argument of `inner` is NULL are none, whatever their key is.
    skips_nulls: bool,
    keys: Result<Box<dyn BestKeys>>,
    /// The inner group of each group.
    current: Vec<usize>,
    num_inner: usize,
}

impl OfBest {
    fn resize(&mut self, num_groups: usize) -> Result<()> {
        while self.current.len() < num_groups {
            self.current.push(self.num_inner);
            self.num_inner += 1;
        }
        let keys = self.keys.as_mut().map_err(|e| e.clone())?;
        keys.resize(num_groups);
        Ok(())
    }

    /// The rows that have their group's best key, with the inner group of each.
    fn best_rows(&mut self, key: &ArrayRef, rows: &Rows<'_>) -> Result<(UInt64Array, Vec<u32>)> {
        let keys = self.keys.as_mut().map_err(|e| e.clone())?;
        let mut better = Vec::new();
        keys.offer(key, rows, &mut better)?;
        better.sort_unstable();
        better.dedup_by_key(|pair| pair.0);
        for (group, _) in better {
            self.current[group] = self.num_inner;
            self.num_inner += 1;
        }
        let mut pairs = Vec::new();
        keys.equal(key, rows, &mut pairs)?;
        let taken = pairs.iter().map(|(_, row)| *row as u64);
        let ids = pairs.iter().map(|(group, _)| self.current[*group]);
        let ids = group_ids(ids, self.num_inner)?;
        Ok((UInt64Array::from_iter_values(taken), ids))
    }

    fn feed(&mut self, columns: &[ArrayRef], groups: Groups<'_>, merges: bool) -> Result<()> {
        self.resize(groups.num_groups)?;
        let last = columns.len().saturating_sub(1);
        let key = column(columns, last)?;
        let rows = if self.skips_nulls && !merges {
            Rows::new(columns, groups)?
        } else {
            Rows::new(std::slice::from_ref(key), groups)?
        };
        let (taken, ids) = self.best_rows(key, &rows)?;
        let columns = columns[..last]
            .iter()
            .map(|c| arrow::compute::take(c, &taken, None).map_err(bug))
            .collect::<Result<Vec<_>>>()?;
        let inner = Groups {
            ids: Some(&ids),
            num_groups: self.num_inner,
            num_rows: ids.len(),
        };
        if merges {
            self.inner.merge(&columns, inner)
        } else {
            self.inner.update(&columns, inner)
        }
    }

    fn pick(&self, values: &ArrayRef, range: Range<usize>) -> Result<ArrayRef> {
        let current = self.current[range].iter().map(|id| *id as u64);
        let current = UInt64Array::from_iter_values(current);
        arrow::compute::take(values, &current, None).map_err(bug)
    }
}

impl Aggregator for OfBest {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.feed(args, groups, false)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.feed(states, groups, true)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end)?;
        let values = self.inner.finish(0..self.num_inner)?;
        self.pick(&values, range)
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end)?;
        let mut columns = Vec::new();
        for state in self.inner.states(0..self.num_inner)? {
            columns.push(self.pick(&state, range.clone())?);
        }
        let keys = self.keys.as_ref().map_err(Clone::clone)?;
        columns.push(keys.gather(range)?);
        Ok(columns)
    }

    of_inner!(ordering_bytes, exports_parts);

    fn size_bytes(&self) -> usize {
        let keys = self.keys.as_ref().map_or(0, |k| k.size_bytes());
        self.inner.size_bytes() + keys + self.current.capacity() * size_of::<usize>()
    }
}
