//! Evaluates a conjunct that is no comparison when those before it have dropped rows: for all rows of a
//! batch, or for those that are left.
//!
//! All rows are read one behind the other, and nothing is copied; those that are left are fewer, but have
//! to be taken out. What costs less depends on the condition and on how many are left, so it is measured.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::Schema;
use basalt_adapt::{Choice, Chooser, MIN_MEASURED_BYTES, Work, WorkUnit};
use basalt_analyzer::lazy_logic::{lazy, may_fail};
use datafusion::common::internal_err;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use parking_lot::Mutex;

use super::measured::Seen;
use crate::compile::{Evaluation, compiled_facts, with_compiled};

/// Decides whether such a conjunct is evaluated for all rows of a batch.
pub static FILTER: Choice = Choice::new(
    "filter",
    "for which rows a condition is evaluated after comparisons",
    WorkUnit::Row,
    &["all", "selected"],
);

/// The arm of [`FILTER`] that looks at the rows which are left.
const SELECTED: usize = 1;

/// Octaves of the part of the rows that is left, in each of which it is measured what is better: from more
/// than a half down to one in 128. If no more are left, only those are looked at.
const OCTAVES: usize = 7;

/// Of this many rows one must be left for the others to be worth looking at all of them, as far as nothing
/// is measured.
const FEW: usize = 5;

/// Bytes of a row, for how much a batch tells: columns have at least that many.
const ROW_BYTES: usize = 8;

/// A conjunct that is no comparison.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// Over its own columns.
    expr: Arc<dyn PhysicalExpr>,
    /// Where these are in a batch: no others are taken out of it.
    columns: Vec<usize>,
    /// Whether it must not see rows that the conjuncts before it have dropped.
    may_fail: bool,
    is_volatile: bool,
    /// One for each octave that has been met, for all threads.
    choosers: Arc<Mutex<[Option<Chooser>; OCTAVES]>>,
}

impl Rest {
    /// What `expr` says.
    ///
    /// # Errors
    /// If the expression is damaged.
    pub(super) fn try_new(expr: Arc<dyn PhysicalExpr>) -> Result<Self> {
        let columns = collect_columns(&expr);
        let columns: BTreeSet<usize> = columns.iter().map(Column::index).collect();
        let columns: Vec<usize> = columns.into_iter().collect();
        Ok(Self {
            may_fail: may_fail(&expr),
            is_volatile: is_volatile(&expr),
            expr: over_columns(lazy(expr)?.data, &columns)?,
            columns,
            choosers: Arc::default(),
        })
    }

    /// The same with what can be compiled of it, over rows of `schema`; none if that is nothing.
    ///
    /// # Errors
    /// If the expression is damaged.
    pub(super) fn with_compiled(
        &self,
        schema: &Schema,
        evaluation: Evaluation,
    ) -> Result<Option<Self>> {
        let own = schema.project(&self.columns)?;
        let compiled = with_compiled(&self.expr, &own, evaluation)?;
        Ok(compiled.map(|expr| Self {
            expr,
            choosers: Arc::default(),
            ..self.clone()
        }))
    }

    /// What its compiled parts did.
    pub(super) fn compiled_facts(&self) -> Vec<(&'static str, String)> {
        compiled_facts(&self.expr)
    }

    /// Whether it may come before others, or be evaluated once more: it cannot fail, and gives the same for the same row.
    pub(super) fn is_movable(&self) -> bool {
        !self.may_fail && !self.is_volatile
    }

    /// Those of `rows` for which it holds as well, and which it has looked at.
    pub(super) fn hold_too(
        &self,
        batch: &RecordBatch,
        rows: BooleanBuffer,
    ) -> Result<(BooleanBuffer, Seen)> {
        let (num_rows, num_left) = (batch.num_rows(), rows.count_set_bits());
        // Numbers of rows count on over the batches.
        if num_left == 0 && !self.is_volatile {
            return Ok((rows, Seen::default()));
        }
        let (held, is_whole) = self.hold(batch, rows, num_left)?;
        let seen = Seen {
            num_rows: if is_whole { num_rows } else { num_left },
            num_left,
            is_whole,
        };
        Ok((held, seen))
    }

    /// How many rows of a batch it holds for.
    pub(super) fn count(&self, batch: &RecordBatch) -> Result<usize> {
        let all = BooleanBuffer::new_set(batch.num_rows());
        Ok(self.of_all(batch, all)?.count_set_bits())
    }

    /// Those of `rows` for which it holds as well, and whether all rows were looked at.
    fn hold(
        &self,
        batch: &RecordBatch,
        rows: BooleanBuffer,
        num_left: usize,
    ) -> Result<(BooleanBuffer, bool)> {
        let num_rows = batch.num_rows();
        // Where all rows are left, they are those that are selected.
        if num_left == num_rows {
            return Ok((self.of_all(batch, rows)?, true));
        }
        // Which rows it gets must not depend on measurements if they make it another one.
        if self.is_volatile && !self.may_fail {
            return Ok((self.of_all(batch, rows)?, true));
        }
        if self.may_fail || num_left << OCTAVES <= num_rows {
            return Ok((self.of_selected(batch, rows)?, false));
        }
        let work = Work::rows(num_rows, ROW_BYTES);
        if FILTER.forced().is_none() && work.size_bytes < MIN_MEASURED_BYTES {
            return Ok(match num_left.saturating_mul(FEW) < num_rows {
                true => (self.of_selected(batch, rows)?, false),
                false => (self.of_all(batch, rows)?, true),
            });
        }
        let octave = (num_rows / num_left).ilog2() as usize;
        let turn = self.chooser(octave, |chooser| chooser.begin(work));
        let hold = match turn.arm() {
            SELECTED => (self.of_selected(batch, rows)?, false),
            _ => (self.of_all(batch, rows)?, true),
        };
        self.chooser(octave, |chooser| chooser.end(turn));
        Ok(hold)
    }

    /// Lets `f` use the chooser of an octave.
    fn chooser<T>(&self, octave: usize, f: impl FnOnce(&mut Chooser) -> T) -> T {
        let chooser = &mut self.choosers.lock()[octave];
        f(chooser.get_or_insert_with(|| Chooser::new(&FILTER)))
    }

    fn of_all(&self, batch: &RecordBatch, rows: BooleanBuffer) -> Result<BooleanBuffer> {
        let batch = batch.project(&self.columns)?;
        both(rows, self.expr.evaluate(&batch)?, batch.num_rows())
    }

    fn of_selected(&self, batch: &RecordBatch, rows: BooleanBuffer) -> Result<BooleanBuffer> {
        let batch = batch.project(&self.columns)?;
        let selection = BooleanArray::new(rows.clone(), None);
        let value = self.expr.evaluate_selection(&batch, &selection)?;
        both(rows, value, batch.num_rows())
    }
}

/// The expression over the columns at `columns` alone.
fn over_columns(expr: Arc<dyn PhysicalExpr>, columns: &[usize]) -> Result<Arc<dyn PhysicalExpr>> {
    let own = expr.transform_up(|expr| {
        let Some(column) = expr.downcast_ref::<Column>() else {
            return Ok(Transformed::no(expr));
        };
        let Ok(index) = columns.binary_search(&column.index()) else {
            return internal_err!("column {} is none of the condition", column.name());
        };
        Ok(Transformed::yes(Arc::new(Column::new(
            column.name(),
            index,
        ))))
    })?;
    Ok(own.data)
}

/// Those of `rows` for which the condition's value is true.
fn both(rows: BooleanBuffer, value: ColumnarValue, num_rows: usize) -> Result<BooleanBuffer> {
    let flags = value.into_array(num_rows)?;
    let Some(flags) = flags.as_boolean_opt() else {
        return internal_err!("a condition of type {}", flags.data_type());
    };
    let hold = &rows & flags.values();
    Ok(match flags.nulls() {
        Some(nulls) => &hold & nulls.inner(),
        None => hold,
    })
}
