//! Groups or rows of one partition in a file: key columns with states or arguments.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{Field, Schema, UInt64Type};
use basalt_functions::aggregate::Shortcut;
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

use crate::group_by::Grouping;
use crate::group_by::counts::Counts;
use crate::group_by::group_set::GroupSet;
use crate::group_by::grouping::{AggregateArgs, AggregateSpec};
use crate::group_by::key_form::KeyForm;
use crate::group_by::rows::Rows;
use crate::group_by::states::Exported;
use crate::spill::{SpillFile, compact};

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Groups: keys and states.
    Groups,
    /// Rows that are in no group yet: keys and arguments.
    Rows,
}

/// A batch in a file.
#[derive(Debug)]
pub(super) struct Block {
    file: Arc<SpillFile>,
    place: Range<u64>,
    content: Content,
    /// Columns of the keys, then of each aggregate.
    widths: Vec<usize>,
}

impl Block {
    /// Appends keys and the columns of each aggregate to `file`.
    pub(super) fn write(
        file: &Arc<SpillFile>,
        content: Content,
        keys: Vec<ArrayRef>,
        aggregates: AggregateArgs,
    ) -> Result<Self> {
        let widths = std::iter::once(keys.len()).chain(aggregates.iter().map(Vec::len));
        let widths = widths.collect();
        let columns = keys.into_iter().chain(aggregates.into_iter().flatten());
        let columns = columns.map(|c| compact(&c)).collect::<Result<Vec<_>>>()?;
        let field = |c: &ArrayRef| Field::new("", c.data_type().clone(), true);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let batch = RecordBatch::try_new(Arc::new(schema), columns)?;
        Ok(Self {
            place: file.append(&batch)?,
            file: Arc::clone(file),
            content,
            widths,
        })
    }

    /// Where it lies in the file.
    pub(super) fn place(&self) -> &Range<u64> {
        &self.place
    }

    /// Reads it and adds all to `groups`.
    pub(super) fn add_to<F: KeyForm>(
        &self,
        grouping: &Grouping,
        form: &F,
        groups: &mut GroupSet<F>,
    ) -> Result<()> {
        let batch = self.file.read(&self.place)?;
        let num_rows = batch.num_rows();
        let mut columns = batch.columns().iter().cloned();
        let mut widths = self.widths.iter();
        let num_keys = widths.next().copied().unwrap_or(0);
        let keys = form.encode(columns.by_ref().take(num_keys).collect())?;
        let args: AggregateArgs = widths
            .map(|width| columns.by_ref().take(*width).collect())
            .collect();
        if self.content == Content::Rows {
            return groups.push(&Rows { keys, args });
        }
        let states = grouping.aggregates.iter().zip(args);
        let states = states.map(|(spec, columns)| imported(spec, columns));
        let states = states.collect::<Result<Vec<_>>>()?;
        // A table has fewer than 2^32 groups.
        let rows: Vec<u32> = (0..num_rows as u32).collect();
        groups.merge_keys(&keys, &states, &rows)
    }
}

/// The states of some groups as columns.
pub(super) fn state_columns(states: &[Exported], rows: &[u32]) -> Result<AggregateArgs> {
    let indices = UInt32Array::from(rows.to_vec());
    let of_one = |states: &Exported| -> Result<Vec<ArrayRef>> {
        Ok(match states {
            Exported::Counts(counts) => {
                let counts = rows.iter().map(|row| counts.get(*row as usize));
                vec![Arc::new(UInt64Array::from_iter_values(counts))]
            }
            Exported::Sums(words) => {
                let words = rows.iter().map(|row| words[*row as usize]);
                vec![Arc::new(UInt64Array::from_iter_values(words))]
            }
            Exported::Distinct(sets) => vec![sets.lists(rows)?],
            Exported::Columns(columns) => {
                let taken = columns.iter().map(|c| take(c, &indices, None));
                taken.collect::<Result<_, _>>()?
            }
        })
    };
    states.iter().map(of_one).collect()
}

/// States from the columns that [`state_columns`] made of them.
fn imported(spec: &AggregateSpec, columns: Vec<ArrayRef>) -> Result<Exported> {
    let words = || -> Result<Vec<u64>> {
        let column = columns.first();
        let words = column.and_then(|c| c.as_primitive_opt::<UInt64Type>());
        let words = words.ok_or_else(|| internal_datafusion_err!("no words in a block"))?;
        Ok(words.values().to_vec())
    };
    Ok(match spec.bound.shortcut {
        Some(Shortcut::CountAll) => Exported::Counts(Counts::of(words()?)),
        Some(Shortcut::SumInteger) => Exported::Sums(words()?),
        Some(Shortcut::UniqExact { .. }) | None => Exported::Columns(columns),
    })
}
