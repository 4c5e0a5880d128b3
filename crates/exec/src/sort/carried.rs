//! Lets words carry the columns that are no keys, where these are narrow, in the place of the rows' numbers.
//!
//! ```text
//! | keys | batch, row |      the row is looked up at the end: as a rule, it is in no cache
//! | keys | columns    |      all that the result has is in the word
//! ```

use std::sync::Arc;

use arrow::compute::SortOptions;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Time;

use super::layout::{KeyColumn, Layout, whole_field};
use super::ordinal::Kind;
use super::parts::{Cut, batches_of_tasks};
use super::range::Range;
use super::rows::{Rows, joined};
use crate::report::clock::timed;

/// Columns from which on a look at the first batch is not expected to find them narrow.
const MAX_COLUMNS: usize = 8;

/// The layout with `columns` of the rows in words that need no more bits than with rows' places; none if they do
/// not fit. `clock` gets the time of all tasks.
pub(super) async fn with_carried(
    rows: &Arc<Rows>,
    layout: &Layout,
    columns: &[usize],
    cut: Cut,
    clock: &Time,
) -> Result<Option<Layout>> {
    let Some(first) = rows
        .batches
        .first()
        .filter(|_| columns.len() <= MAX_COLUMNS)
    else {
        return Ok(None);
    };
    let is_number = |column: &usize| {
        let kind = Kind::of(first.column(*column).data_type());
        matches!(kind, Some(Kind::Narrow | Kind::Wide))
    };
    if !columns.iter().all(is_number) {
        return Ok(None);
    }
    // All batches are looked at only if the columns of the first one fit.
    if carrying(rows, layout, columns, &ranges(rows, columns, 0..1)).is_none() {
        return Ok(None);
    }
    let tasks = batches_of_tasks(rows, cut.num_tasks)
        .into_iter()
        .map(|batches| {
            let (rows, columns) = (Arc::clone(rows), columns.to_vec());
            let ranges = async move { Ok(ranges(&rows, &columns, batches)) };
            SpawnedTask::spawn(timed(clock.clone(), ranges))
        });
    let mut all = vec![Range::default(); columns.len()];
    for ranges in joined(tasks.collect()).await? {
        let ranges = all.iter_mut().zip(&ranges);
        ranges.for_each(|(all, range)| all.merge(range));
    }
    Ok(carrying(rows, layout, columns, &all))
}

/// What the values of columns have in common in some batches.
fn ranges(rows: &Rows, columns: &[usize], batches: std::ops::Range<usize>) -> Vec<Range> {
    let range = |column: &usize| {
        let mut range = Range::default();
        for batch in &rows.batches[batches.clone()] {
            let values = batch.column(*column);
            range.include(key_column(rows, *column).kind, values.as_ref());
        }
        range
    };
    columns.iter().map(range).collect()
}

/// A column as if it were a key.
fn key_column(rows: &Rows, column: usize) -> KeyColumn {
    let schema = rows.batches[0].schema_ref();
    KeyColumn::new(schema.field(column).data_type(), SortOptions::default())
}

fn carrying(rows: &Rows, layout: &Layout, columns: &[usize], ranges: &[Range]) -> Option<Layout> {
    let key_bits = layout.key_bits();
    let mut room = word_bits(key_bits + layout.place_bits()) - key_bits;
    let mut carried = Vec::new();
    for (column, range) in columns.iter().zip(ranges) {
        let field = whole_field(*column, key_column(rows, *column), range, room)?;
        room -= field.total_bits();
        carried.push(field);
    }
    Some(layout.carrying(carried))
}

/// Bits of the narrowest word that has so many.
fn word_bits(bits: u32) -> u32 {
    bits.next_power_of_two().max(u32::BITS)
}
