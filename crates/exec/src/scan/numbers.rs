//! Generates consecutive numbers or zeros.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt8Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use basalt_error::{Error, Result};
use basalt_kernels::widest::{Loop, widest};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use super::{BatchIter, MorselSource, ScanRequest, TableKind};

/// Rows of a morsel at least: several batches, so that taking one costs nothing.
const MORSEL_ROWS: u64 = 1 << 20;

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

    fn uses_filters(&self) -> bool {
        matches!(self.kind, NumbersKind::Numbers { .. })
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let limit = request.limit.map_or(u64::MAX, |l| l as u64);
        let in_order = request.control.keeps_order() && !self.is_parallel;
        let schema = self.schema().project(&request.projection);
        let narrow = self.within(&request.filters);
        let row_bytes = match self.kind {
            NumbersKind::Numbers { .. } => 8,
            NumbersKind::Zeros => 1,
        };
        let limits = request.control.read_limits();
        let batch_rows = (request.batch_rows as u64).max(1);
        Ok(Arc::new(NumbersSource {
            table: NumbersTable {
                num_rows: limits.allowed(narrow.num_rows.min(limit), row_bytes)?,
                ..narrow
            },
            batch_rows,
            morsel_rows: if in_order {
                u64::MAX
            } else {
                MORSEL_ROWS.next_multiple_of(batch_rows)
            },
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
        }))
    }
}

impl NumbersTable {
    /// The rows whose numbers can fulfil `filters`, as far as these compare the number with constants.
    fn within(&self, filters: &[Expr]) -> Self {
        let NumbersKind::Numbers { start, step } = self.kind else {
            return *self;
        };
        let (from, distance) = (u128::from(start), u128::from(step));
        let num_rows = u128::from(self.num_rows);
        let largest = from + num_rows.saturating_sub(1) * distance;
        if step == 0 || largest > u128::from(u64::MAX) {
            return *self;
        }
        let mut bounds = Bounds {
            min: from,
            end: largest + 1,
        };
        for filter in filters {
            bounds.narrow(filter, self.column);
        }
        let first = bounds.min.saturating_sub(from).div_ceil(distance);
        let end = bounds.end.saturating_sub(from).div_ceil(distance);
        let end = end.min(num_rows);
        let first = first.min(end);
        let narrow = |rows: u128| u64::try_from(rows).unwrap_or(u64::MAX);
        Self {
            kind: NumbersKind::Numbers {
                start: start.wrapping_add(narrow(first).wrapping_mul(step)),
                step,
            },
            num_rows: narrow(end - first),
            ..*self
        }
    }
}

/// Numbers from `min` up to but without `end`.
struct Bounds {
    min: u128,
    end: u128,
}

impl Bounds {
    /// Leaves out what a comparison of `column` with a constant rules out, and what each of several
    /// conditions does.
    fn narrow(&mut self, filter: &Expr, column: &str) {
        let Expr::BinaryExpr(BinaryExpr { left, op, right }) = filter else {
            return;
        };
        let is_column = |e: &Expr| matches!(e, Expr::Column(c) if c.name == column);
        let (op, value) = match (left.as_ref(), right.as_ref()) {
            (left, right) if *op == Operator::And => {
                self.narrow(left, column);
                return self.narrow(right, column);
            }
            (left, Expr::Literal(ScalarValue::UInt64(Some(v)), _)) if is_column(left) => {
                (Some(*op), u128::from(*v))
            }
            (Expr::Literal(ScalarValue::UInt64(Some(v)), _), right) if is_column(right) => {
                (op.swap(), u128::from(*v))
            }
            _ => return,
        };
        let (min, end) = match op {
            Some(Operator::Eq) => (value, value + 1),
            Some(Operator::Gt) => (value + 1, u128::MAX),
            Some(Operator::GtEq) => (value, u128::MAX),
            Some(Operator::Lt) => (0, value),
            Some(Operator::LtEq) => (0, value + 1),
            _ => return,
        };
        self.min = self.min.max(min);
        self.end = self.end.min(end);
    }
}

/// A scan of a [`NumbersTable`].
#[derive(Debug)]
pub struct NumbersSource {
    table: NumbersTable,
    batch_rows: u64,
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
        let (mut row, batch_rows) = (first, self.batch_rows);
        Ok(Box::new(std::iter::from_fn(move || {
            if row >= end {
                return None;
            }
            let count = batch_rows.min(end - row);
            let batch = batch(kind, row, count, &schema);
            row += count;
            Some(batch)
        })))
    }

    /// None if they are without end: to count them takes forever, too.
    fn num_rows(&self) -> Option<usize> {
        let num_rows = Some(self.table.num_rows).filter(|rows| *rows < u64::MAX);
        num_rows.and_then(|rows| usize::try_from(rows).ok())
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
            let numbers = Progression { first, step, count };
            Arc::new(UInt64Array::from(widest(numbers)))
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

/// Numbers that are `step` apart.
struct Progression {
    first: u64,
    step: u64,
    count: u64,
}

impl Loop for Progression {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run(self) -> Vec<u64> {
        let number = |i: u64| self.first.wrapping_add(i.wrapping_mul(self.step));
        (0..self.count).map(number).collect()
    }
}
