//! Aggregates all rows into one, also if there are none.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arrow::array::{Array, ArrayRef, RecordBatch};
use basalt_adapt::{Choice, WorkUnit};
use basalt_analyzer::into_plan_error;
use basalt_error::Error;
use basalt_functions::aggregate::Groups;
use basalt_jit::Compiled;
use datafusion::error::Result;

use super::Grouping;
use super::compiling::{Compiling, Turns};
use super::distinct::Held;
use super::fused_filter::pick;
use super::merged::{Emit, Merged, Whole, result_batch};
use super::observed::Observed;
use super::spill::Share;
use super::states::{Exported, States};
use crate::compile::CompiledTotals;
use crate::predicate::Predicate;
use crate::report::figures;

/// All rows are of one group.
const ONE_GROUP: Groups<'_> = Groups {
    ids: None,
    num_groups: 1,
    num_rows: 1,
};

/// Decides, once there is code, whether batches go through it: LLVM's loops are not always better than the
/// kernels.
pub static AGGREGATE_ALL: Choice = Choice::new(
    "aggregate_all",
    "how aggregations without keys that are compiled run",
    WorkUnit::Row,
    &["kernels", "compiled"],
);

/// The states of one task.
pub(super) struct Totals {
    grouping: Arc<Grouping>,
    /// Picks rows; all count if there is none.
    predicate: Option<Predicate>,
    compiling: Option<Compiling<CompiledTotals>>,
    turns: Turns,
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
            compiling: None,
            turns: Turns::new(&AGGREGATE_ALL),
            states,
            share,
        }
    }

    /// The same, in compiled code as soon as there is some.
    pub(super) fn with_compiling(self, compiling: Option<Compiling<CompiledTotals>>) -> Self {
        Self { compiling, ..self }
    }

    /// Adds the rows of a batch.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let grouping = Arc::clone(&self.grouping);
        let Some(compiling) = self.compiling.clone() else {
            return grouping.for_each_piece(batch, |piece| self.push_piece(piece));
        };
        let Compiling {
            compiled: totals,
            switch,
            verifies,
            ..
        } = &compiling;
        let started = Instant::now();
        let row_bytes = totals.program().row_bytes();
        let (code, turn) = self.turns.begin(&compiling, row_bytes, batch);
        let Some(code) = code else {
            grouping.for_each_piece(batch, |piece| self.push_piece(piece))?;
            switch.went_usual_way(batch.num_rows(), started.elapsed());
            self.turns.end(turn);
            return Ok(());
        };
        if *verifies {
            grouping.for_each_piece(batch, |piece| self.verify_piece(totals, code, piece))?;
            switch.verified();
        } else if totals.has_order() {
            // In the same pieces as without code: they are part of the order of rows.
            grouping.for_each_piece(batch, |piece| self.run_piece(totals, code, piece))?;
        } else {
            self.run_piece(totals, code, batch)?;
        }
        switch.went_compiled_way(batch.num_rows(), started.elapsed());
        self.turns.end(turn);
        Ok(())
    }

    /// Adds rows by compiled code.
    fn run_piece(
        &mut self,
        totals: &CompiledTotals,
        code: &Compiled,
        batch: &RecordBatch,
    ) -> Result<()> {
        match totals.states(code, batch)? {
            Some(states) => self.states.merge(&states, &[0], ONE_GROUP),
            None => self.push_piece(batch),
        }
    }

    /// Adds rows both ways, of which one counts.
    fn verify_piece(
        &mut self,
        totals: &CompiledTotals,
        code: &Compiled,
        batch: &RecordBatch,
    ) -> Result<()> {
        let Some(compiled) = totals.states(code, batch)? else {
            return self.push_piece(batch);
        };
        let mut usual = States::new(&self.grouping);
        self.update(&mut usual, batch)?;
        let usual = usual.export(1)?;
        let differs = |(a, b): &(&Exported, &Exported)| !a.is_same(b);
        if let Some((usual, compiled)) = usual.iter().zip(&compiled).find(differs) {
            let program = totals.program();
            return Err(into_plan_error(Error::bug(format!(
                "Compiled code gives {compiled:?} for {usual:?}:\n{program}"
            ))));
        }
        self.states.merge(&usual, &[0], ONE_GROUP)
    }

    /// Adds rows to `states`.
    fn update(&self, states: &mut States, batch: &RecordBatch) -> Result<()> {
        if let Some(predicate) = &self.predicate {
            return match pick(&self.grouping, predicate, batch)? {
                Some(picked) => states.update_picked(&picked),
                None => Ok(()),
            };
        }
        let args = self.grouping.args(batch)?;
        let num_rows = batch.num_rows();
        states.update(
            &args,
            Groups {
                num_rows,
                ..ONE_GROUP
            },
        )
    }

    fn push_piece(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut states = std::mem::take(&mut self.states);
        let updated = self.update(&mut states, batch);
        self.states = states;
        updated?;
        if self.share.hold(self.states.size_bytes())? {
            self.states.spill_distinct(self.share.budget())?;
            return self.share.keep(self.states.size_bytes());
        }
        Ok(())
    }
}

/// Merges the tasks' states into those of the first.
pub(super) async fn merge(
    grouping: Arc<Grouping>,
    totals: Vec<Totals>,
    observed: &Observed,
) -> Result<Arc<dyn Merged>> {
    let num_tasks = totals.len();
    note_sets(&totals, observed);
    let mut totals = totals.into_iter();
    let (mut first, mut share) = match totals.next() {
        Some(first) => (first.states, Some(first.share)),
        None => (States::new(&grouping), None),
    };
    // What is not merged at once is held until it is.
    let mut shares = Vec::with_capacity(num_tasks);
    for mut other in totals {
        let memory = other.share.new_memory();
        let ordering = other.states.reserve_ordering(Some(&memory))?;
        first.merge(&other.states.export(1)?, &[0], ONE_GROUP)?;
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

/// Notes how sets of distinct values are going to be merged, if there are any: those of the aggregate that has most.
fn note_sets(totals: &[Totals], observed: &Observed) {
    let by_task: Vec<Vec<Held>> = totals.iter().map(|t| t.states.held_distinct()).collect();
    let num_sets = by_task.first().map_or(0, Vec::len);
    let of_all_tasks = |i: usize| {
        let held = || by_task.iter().filter_map(|task| task.get(i));
        Held {
            num_values: held().map(|held| held.num_values).sum(),
            num_parts: held().map(|held| held.num_parts).max().unwrap_or(0),
        }
    };
    let all = (0..num_sets).map(of_all_tasks);
    let Some(Held {
        num_values,
        num_parts,
    }) = all.max_by_key(|held| (held.num_values, held.num_parts))
    else {
        return;
    };
    if totals.iter().any(|task| task.states.has_blocks()) {
        return observed.merges("files", format!("sets of {num_parts} parts are in files"));
    }
    let values = figures::counted(num_values as u64, "value");
    let sets = figures::counted(totals.len() as u64, "set");
    match num_parts {
        1 => observed.merges("table", format!("{values} in {sets}")),
        _ => observed.merges(
            "partitions",
            format!("{values} in {sets} of up to {num_parts} parts"),
        ),
    }
}

/// The groups with the keys that are there over no rows.
pub(super) fn over_no_rows(grouping: &Grouping, keys: &[ArrayRef]) -> Result<Arc<dyn Merged>> {
    let num_groups = keys.first().map_or(0, |key| key.len());
    let group = |i: usize| -> Result<Box<dyn Emit>> {
        let states = States::new(grouping).finish(0..1)?;
        let keys = keys.iter().map(|key| key.slice(i, 1));
        let row = result_batch(grouping, keys.chain(states).collect(), 1)?;
        Ok(Box::new(TakenRow(Some(row))))
    };
    let groups: Vec<_> = (0..num_groups).map(group).collect::<Result<_>>()?;
    Ok(Arc::new(Whole::new(groups)))
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
