//! Generates consecutive numbers or zeros.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt8Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use basalt_error::{Error, Result};
use basalt_kernels::widest::{Loop, widest};

use super::{BatchIter, MorselSource, ScanRequest, TableKind};

/// Rows of a batch; one morsel has several, so that taking one costs nothing.
const BATCH_ROWS: u64 = 65_536;
const BATCHES_PER_MORSEL: u64 = 16;

/// What the one column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumbersKind {
    /// `number`: `start`, `start + step`, …
    Numbers {
        /// First number.
        start: u64,
        /// Distance of numbers.
        step: u64,
    },
    /// `zero`: nothing but zeros.
    Zeros,
}

/// The table functions `numbers`, `numbers_mt`, `zeros`, `zeros_mt` and `system.numbers`.
#[derive(Clone, Copy, Debug)]
pub struct NumbersTable {
    /// What the column holds.
    pub kind: NumbersKind,
    /// Number of rows.
    pub num_rows: u64,
    /// Name of the column.
    pub column: &'static str,
    /// Whether several threads may generate rows even if that mixes their order up.
    pub is_parallel: bool,
}

impl TableKind for NumbersTable {
    fn schema(&self) -> SchemaRef {
        let field = match self.kind {
            NumbersKind::Numbers { .. } => Field::new(self.column, DataType::UInt64, false),
            NumbersKind::Zeros => Field::new(self.column, DataType::UInt8, false),
        };
        Arc::new(Schema::new(vec![field]))
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let limit = request.limit.map_or(u64::MAX, |l| l as u64);
        let in_order = request.control.keeps_order() && !self.is_parallel;
        let schema = self.schema().project(&request.projection);
        Ok(Arc::new(NumbersSource {
            table: NumbersTable {
                num_rows: self.num_rows.min(limit),
                ..*self
            },
            morsel_rows: if in_order {
                u64::MAX
            } else {
                BATCH_ROWS * BATCHES_PER_MORSEL
            },
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
        }))
    }
}

/// A scan of a [`NumbersTable`].
#[derive(Debug)]
pub struct NumbersSource {
    table: NumbersTable,
    morsel_rows: u64,
    schema: SchemaRef,
}

impl MorselSource for NumbersSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        usize::try_from(self.table.num_rows.div_ceil(self.morsel_rows)).unwrap_or(usize::MAX)
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let first = (morsel as u64).saturating_mul(self.morsel_rows);
        let end = first
            .saturating_add(self.morsel_rows)
            .min(self.table.num_rows);
        let (kind, schema) = (self.table.kind, Arc::clone(&self.schema));
        let mut row = first;
        Ok(Box::new(std::iter::from_fn(move || {
            if row >= end {
                return None;
            }
            let count = BATCH_ROWS.min(end - row);
            let batch = batch(kind, row, count, &schema);
            row += count;
            Some(batch)
        })))
    }

    fn num_rows(&self) -> Option<usize> {
        usize::try_from(self.table.num_rows).ok()
    }

    fn is_counted(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        format!("numbers, {} rows", self.table.num_rows)
    }
}

fn batch(kind: NumbersKind, row: u64, count: u64, schema: &SchemaRef) -> Result<RecordBatch> {
    let num_rows = usize::try_from(count).unwrap_or(usize::MAX);
    let column: ArrayRef = match kind {
        NumbersKind::Numbers { start, step } => {
            let first = start.wrapping_add(row.wrapping_mul(step));
            let mut numbers = vec![0; num_rows];
            widest(Progression {
                first,
                step,
                numbers: &mut numbers,
            });
            Arc::new(UInt64Array::from(numbers))
        }
        NumbersKind::Zeros => Arc::new(UInt8Array::from(vec![0; num_rows])),
    };
    let columns = if schema.fields().is_empty() {
        Vec::new()
    } else {
        vec![column]
    };
    let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|e| Error::bug(e.to_string()))
}

/// Fills a slice with numbers that are `step` apart.
struct Progression<'a> {
    first: u64,
    step: u64,
    numbers: &'a mut [u64],
}

impl Loop for Progression<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut next = self.first;
        for number in self.numbers {
            *number = next;
            next = next.wrapping_add(self.step);
        }
    }
}
