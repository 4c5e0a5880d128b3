//! Runs functions that look at all rows of a group at the end, over a [`RowLog`].

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBufferBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;
use basalt_error::Result;
use basalt_types::DataType;

use super::row_log::{RowLog, Sealed, list_type};
use super::rows::Rows;
use super::{Aggregator, BoundAggregate, Groups};

/// A function of all rows of a group, in the order of arrival.
pub(crate) trait RowsFunction: Debug + Send + Sync + 'static {
    /// Results of the groups in `range`.
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef>;

    /// Most rows of a group that count; later ones are not even kept.
    fn limit(&self) -> Option<u64> {
        None
    }

    /// Whether rows with NULLs are left out.
    fn skips_nulls(&self) -> bool {
        true
    }
}

/// The bound form of a function over rows of the types `args`.
pub(crate) fn bind_collected<F: RowsFunction>(
    return_type: DataType,
    args: &[DataType],
    function: F,
) -> BoundAggregate {
    let (physical, state_types) = types_of(args);
    let function = Arc::new(function);
    BoundAggregate::new(return_type, state_types, move || Collected {
        function: Arc::clone(&function),
        log: RowLog::new(physical.clone()),
        counts: Vec::new(),
    })
}

/// Physical types of arguments, and of the states that hold them.
fn types_of(args: &[DataType]) -> (Vec<ArrowType>, Vec<ArrowType>) {
    let physical: Vec<ArrowType> = args.iter().map(DataType::physical).collect();
    let state_types = physical.iter().map(list_type).collect();
    (physical, state_types)
}

#[derive(Debug)]
struct Collected<F> {
    function: Arc<F>,
    log: RowLog,
    /// Rows of each group, if the function has a limit.
    counts: Vec<u64>,
}

/// Takes the rows beyond the limit of each group out, of which `counts` are there.
fn apply_limit(counts: &mut Vec<u64>, rows: &mut Rows<'_>, limit: u64, num_groups: usize) {
    counts.resize(num_groups.max(counts.len()), 0);
    let mut kept = BooleanBufferBuilder::new(rows.len);
    kept.append_n(rows.len, false);
    rows.for_each(|row, group| {
        if counts[group] < limit {
            counts[group] += 1;
            kept.set_bit(row, true);
        }
    });
    rows.valid = Some(NullBuffer::new(kept.finish()));
}

impl<F: RowsFunction> Aggregator for Collected<F> {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let mut rows = if self.function.skips_nulls() {
            Rows::new(args, groups)?
        } else {
            Rows::all(args, groups)?
        };
        if let Some(limit) = self.function.limit() {
            apply_limit(&mut self.counts, &mut rows, limit, groups.num_groups);
        }
        self.log.push(args, &rows)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.log.merge(states, groups)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let sealed = self.log.sealed(range.end)?;
        self.function.finish(sealed, range)
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.log.states(range)
    }

    fn ordering_bytes(&self) -> usize {
        self.log.ordering_bytes()
    }

    fn size_bytes(&self) -> usize {
        self.log.size_bytes() + self.counts.capacity() * size_of::<u64>()
    }
}
