//! Aggregates all rows into one, also if there are none.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use basalt_functions::aggregate::Groups;
use datafusion::error::Result;

use super::Grouping;
use super::fused_filter::pick;
use super::merged::{Emit, Merged, result_batch};
use super::spill::Share;
use super::states::States;
use crate::predicate::Predicate;

/// The states of one task.
pub(super) struct Totals {
    grouping: Arc<Grouping>,
    /// Picks rows; all count if there is none.
    predicate: Option<Predicate>,
    states: States,
    share: Share,
}

impl Totals {
    /// No rows yet.
    pub(super) fn new(grouping: Arc<Grouping>, predicate: Option<Predicate>, share: Share) -> Self {
        let states = States::new(&grouping);
        Self {
            grouping,
            predicate,
            states,
            share,
        }
    }

    /// Adds the rows of a batch.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let grouping = Arc::clone(&self.grouping);
        grouping.for_each_piece(batch, |piece| self.push_piece(piece))
    }

    fn push_piece(&mut self, batch: &RecordBatch) -> Result<()> {
        if let Some(predicate) = &self.predicate {
            if let Some(picked) = pick(&self.grouping, predicate, batch)? {
                self.states.update_picked(&picked)?;
            }
        } else {
            let args = self.grouping.args(batch)?;
            let groups = Groups {
                ids: None,
                num_groups: 1,
                num_rows: batch.num_rows(),
            };
            self.states.update(&args, groups)?;
        }
        if self.share.hold(self.states.size_bytes())? {
            self.states.spill_distinct(self.share.budget())?;
            return self.share.keep(self.states.size_bytes());
        }
        Ok(())
    }
}

/// Merges the tasks' states into those of the first.
pub(super) async fn merge(grouping: Arc<Grouping>, totals: Vec<Totals>) -> Result<Arc<dyn Merged>> {
    let num_tasks = totals.len();
    let mut totals = totals.into_iter();
    let (mut first, mut share) = match totals.next() {
        Some(first) => (first.states, Some(first.share)),
        None => (States::new(&grouping), None),
    };
    // What is not merged at once is held until it is.
    let mut shares = Vec::with_capacity(num_tasks);
    for mut other in totals {
        let groups = Groups {
            ids: None,
            num_groups: 1,
            num_rows: 1,
        };
        let memory = other.share.new_memory();
        let ordering = other.states.reserve_ordering(Some(&memory))?;
        first.merge(&other.states.export(1)?, &[0], groups)?;
        drop(ordering);
        if first.has_distinct() {
            shares.push(other.share);
        } else if let Some(share) = &mut share {
            drop(other);
            share.keep(first.size_bytes())?;
        }
    }
    if let Some(share) = &share {
        first.settle(num_tasks, &share.new_memory()).await?;
    }
    drop(shares);
    let memory = share.as_ref().map(Share::new_memory);
    let ordering = first.reserve_ordering(memory.as_ref())?;
    let columns = first.finish(0..1)?;
    drop((share, ordering));
    let row = result_batch(&grouping, columns, 1)?;
    Ok(Arc::new(OneRow(Mutex::new(Some(row)))))
}

/// The one row of the result, until it is taken.
struct OneRow(Mutex<Option<RecordBatch>>);

impl Merged for OneRow {
    fn next_groups(&self) -> Result<Option<Box<dyn Emit>>> {
        let row = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(row.map(|row| -> Box<dyn Emit> { Box::new(TakenRow(Some(row))) }))
    }
}

struct TakenRow(Option<RecordBatch>);

impl Emit for TakenRow {
    fn next_batch(&mut self, _max_rows: usize) -> Result<Option<RecordBatch>> {
        Ok(self.0.take())
    }
}
