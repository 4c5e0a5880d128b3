//! Decides batch by batch whether an aggregation goes through compiled code.

use std::sync::Arc;

use arrow::array::RecordBatch;
use basalt_adapt::{Choice, Chooser, MIN_MEASURED_BYTES, Turn, Work};
use basalt_jit::Compiled;

use crate::compile::Switch;

/// The arm of choices between code and what else there is that is not compiled.
const KERNELS: usize = 0;

/// What the tasks of a query that may go over to compiled code share.
#[derive(Debug)]
pub(super) struct Compiling<P> {
    pub(super) compiled: Arc<P>,
    pub(super) switch: Arc<Switch>,
    /// Whether both ways are gone and compared.
    pub(super) verifies: bool,
    /// Whether all that can be compiled has to be.
    pub(super) is_forced: bool,
}

impl<P> Clone for Compiling<P> {
    fn clone(&self) -> Self {
        Self {
            compiled: Arc::clone(&self.compiled),
            switch: Arc::clone(&self.switch),
            ..*self
        }
    }
}

/// The turns that a task takes.
pub(super) struct Turns {
    choice: &'static Choice,
    chooser: Option<Chooser>,
}

impl Turns {
    /// No turns yet of a choice whose arms are kernels and compiled code.
    pub(super) fn new(choice: &'static Choice) -> Self {
        Self {
            choice,
            chooser: None,
        }
    }

    /// The code for a batch, if there is some and it is to be taken, and the turn that is to be ended; none if it
    /// must be compiled, or if the batch is so short that measuring would tell nothing.
    pub(super) fn begin<'a, P>(
        &mut self,
        compiling: &'a Compiling<P>,
        row_bytes: usize,
        batch: &RecordBatch,
    ) -> (Option<&'a Arc<Compiled>>, Option<Turn>) {
        let Some(code) = compiling.switch.code() else {
            return (None, None);
        };
        let work = Work::rows(batch.num_rows(), row_bytes);
        let is_short = work.size_bytes < MIN_MEASURED_BYTES;
        if compiling.is_forced || compiling.verifies || is_short {
            return (Some(code), None);
        }
        let choice = self.choice;
        let chooser = self.chooser.get_or_insert_with(|| Chooser::new(choice));
        let turn = chooser.begin(work);
        let is_compiled = turn.arm() != KERNELS;
        (is_compiled.then_some(code), Some(turn))
    }

    /// Ends a turn.
    pub(super) fn end(&mut self, turn: Option<Turn>) {
        if let (Some(chooser), Some(turn)) = (&mut self.chooser, turn) {
            chooser.end(turn);
        }
    }
}
