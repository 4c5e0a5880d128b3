//! Feeds a task's groups: by compiled code where there is some and it is faster, else as they come.
//!
//! The condition of a filter below is part of it: code looks at rows that do not pass as well, and the usual way copies
//! those that do, as the filter would.

use std::time::Instant;

use arrow::array::{RecordBatch, RecordBatchOptions};
use basalt_adapt::{Choice, WorkUnit};
use datafusion::error::Result;

use super::compiling::{Compiling, Turns};
use super::key_form::KeyForm;
use super::local::Local;
use crate::compile::CompiledGroups;
use crate::filter_project::Selection;
use crate::predicate::Predicate;

/// Decides, once there is code, whether batches go through it.
pub static AGGREGATE_BY_KEY: Choice = Choice::new(
    "aggregate_by_key",
    "how aggregations by few small keys that are compiled run",
    WorkUnit::Row,
    &["kernels", "compiled"],
);

/// The groups of one task, and how rows get there.
pub(super) struct Keyed<F: KeyForm> {
    local: Local<F>,
    predicate: Option<Predicate>,
    compiling: Option<Compiling<CompiledGroups>>,
    turns: Turns,
}

impl<F: KeyForm> Keyed<F> {
    /// Groups of the rows for which `predicate` holds, all if there is none.
    pub(super) fn new(
        local: Local<F>,
        predicate: Option<Predicate>,
        compiling: Option<Compiling<CompiledGroups>>,
    ) -> Self {
        Self {
            local,
            predicate,
            compiling,
            turns: Turns::new(&AGGREGATE_BY_KEY),
        }
    }

    /// The groups.
    pub(super) fn into_local(self) -> Local<F> {
        self.local
    }

    /// Adds the rows of a batch.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(compiling) = self.compiling.clone() else {
            return self.push_usual(batch);
        };
        let started = Instant::now();
        let row_bytes = compiling.compiled.program().row_bytes();
        let (code, turn) = self.turns.begin(&compiling, row_bytes, batch);
        let groups = match code {
            Some(code) => compiling.compiled.groups(code, batch, compiling.verifies)?,
            None => None,
        };
        match &groups {
            Some(groups) => self.local.push_groups(groups, batch.num_rows())?,
            None => self.push_usual(batch)?,
        }
        if groups.is_none() {
            compiling
                .switch
                .went_usual_way(batch.num_rows(), started.elapsed());
        } else {
            compiling
                .switch
                .went_compiled_way(batch.num_rows(), started.elapsed());
            if compiling.verifies {
                compiling.switch.verified();
            }
        }
        self.turns.end(turn);
        Ok(())
    }

    fn push_usual(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(predicate) = &self.predicate else {
            return self.local.push(batch);
        };
        let rows = predicate.rows(batch)?;
        let num_rows = rows.count_set_bits();
        if num_rows == batch.num_rows() {
            return self.local.push(batch);
        }
        let rows = Selection::new(rows);
        let columns = batch.columns().iter().map(|column| rows.kept(column));
        let columns = columns.collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let kept = RecordBatch::try_new_with_options(batch.schema(), columns, &options)?;
        self.local.push(&kept)
    }
}
