//! The step of window functions: needs all rows of its partitions, sorted, and adds columns.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::{Frame, Unit, Window, WindowColumn, WindowFunction};
use basalt_error::{Error, Result};
use datafusion::execution::memory_pool::MemoryReservation;

use super::frames::{Frames, Layout};
use super::{aggregate, rows};
use crate::memory;
use crate::stream::{Step, bug, positions};

/// The step of a [`Window`].
pub(crate) struct WindowStep {
    window: Window,
    input: SchemaRef,
    output: SchemaRef,
    batches: Vec<RecordBatch>,
    memory: MemoryReservation,
}

impl WindowStep {
    pub(crate) fn new(
        input: SchemaRef,
        output: SchemaRef,
        window: Window,
        memory: MemoryReservation,
    ) -> Self {
        Self {
            window,
            input,
            output,
            batches: Vec::new(),
            memory,
        }
    }

    fn columns(&self, batch: &RecordBatch, names: &[String]) -> Result<Vec<ArrayRef>> {
        let positions = positions(&self.input, names)?;
        Ok(positions
            .into_iter()
            .map(|p| Arc::clone(batch.column(p)))
            .collect())
    }

    fn layout(&self, batch: &RecordBatch) -> Result<Layout> {
        let order: Vec<String> = self.window.order.iter().map(|o| o.name.clone()).collect();
        let partition = self.columns(batch, &self.window.partition)?;
        let order = self.columns(batch, &order)?;
        Layout::new(&partition, &order, batch.num_rows())
    }

    /// All rows in one batch.
    fn rows(&mut self) -> Result<RecordBatch> {
        let batches = std::mem::take(&mut self.batches);
        // They are there twice while they are put together.
        let copy = self.memory.new_empty();
        memory::grow(&copy, self.memory.size())?;
        arrow::compute::concat_batches(&self.input, &batches).map_err(bug)
    }

    fn frames(&self, batch: &RecordBatch, layout: &Layout, frame: &Frame) -> Result<Frames> {
        let Unit::Range(Some(name)) = &frame.unit else {
            return Ok(layout.frames(frame));
        };
        let key = self.columns(batch, std::slice::from_ref(name))?;
        let descending = self
            .window
            .order
            .last()
            .is_some_and(|order| order.descending);
        match key.first() {
            Some(key) => layout.range_frames(frame, key, descending),
            None => Err(Error::bug("key of a RANGE frame")),
        }
    }

    fn column(
        &self,
        batch: &RecordBatch,
        layout: &Layout,
        column: &WindowColumn,
    ) -> Result<ArrayRef> {
        let args = self.columns(batch, &column.args)?;
        // What is needed for this column only.
        let memory = self.memory.new_empty();
        let frames = || {
            memory::grow(&memory, Frames::size_bytes(batch.num_rows()))?;
            self.frames(batch, layout, &column.frame)
        };
        match &column.function {
            WindowFunction::Aggregate(udaf) => aggregate::column(udaf, &args, &frames()?, &memory),
            WindowFunction::Offset { lead } => rows::offset(&args, &frames()?, *lead),
            WindowFunction::NthValue => rows::nth_value(&args, &frames()?),
            WindowFunction::NonNegativeDerivative { ticks } => {
                rows::derivative(&args, layout, *ticks)
            }
            ranking => rows::ranking(ranking, layout),
        }
    }
}

impl Step for WindowStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        memory::grow(&self.memory, memory::batch_bytes(&batch))?;
        self.batches.push(batch);
        Ok(RecordBatch::new_empty(Arc::clone(&self.output)))
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.rows()?;
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        let layout = self.layout(&batch)?;
        memory::grow(&self.memory, layout.size_bytes())?;
        let mut columns = batch.columns().to_vec();
        for column in &self.window.functions {
            let column = self.column(&batch, &layout, column)?;
            memory::grow(&self.memory, column.get_array_memory_size())?;
            columns.push(column);
        }
        RecordBatch::try_new(Arc::clone(&self.output), columns)
            .map(Some)
            .map_err(bug)
    }
}
