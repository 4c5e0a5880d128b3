//! Values of expressions for the rows that pass: filter and projection in one step.
//!
//! ```text
//! selected:  batch ─▶ condition ─▶ rows are copied ─▶ expressions of these ─▶ batches
//! all:       piece ─▶ condition ─▶ expressions of all its rows ─▶ values are copied ─▶ batches
//! ```
//!
//! A piece is so small that it stays in the cache, and nothing but results leaves it; but rows that do not pass are
//! computed, too. Which way costs less depends on how many pass and on what is computed, so it is measured.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use basalt_adapt::{Choice, Chooser, Work, WorkUnit};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::projection::ProjectionExpr;
use parking_lot::Mutex;

use super::condition::Condition;
use super::kept_rows::{KeptRows, Sizes};
use crate::compile::{cannot_fail, compiled_facts};
use crate::report::{figures, sql_of};

/// Decides for which rows the expressions behind a condition are evaluated.
pub static PROJECTION: Choice = Choice::new(
    "projection",
    "for which rows expressions of numbers behind a condition are evaluated",
    WorkUnit::Row,
    &["selected", "all"],
);

/// The arm of [`PROJECTION`] that evaluates them for all rows of a piece.
const ALL: usize = 1;

/// Rows of a piece: columns of them are in the second level of caches.
const PIECE_ROWS: usize = 8192;

/// What is computed of the rows that pass, and what was learnt of it.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    /// Each over the columns that the one before gives.
    stages: Vec<Stage>,
    /// Bytes of the values that a row has in the columns that are read, about.
    row_bytes: usize,
    chooser: Arc<Mutex<Option<Chooser>>>,
}

/// Expressions, and the columns that they give.
#[derive(Clone, Debug)]
struct Stage {
    exprs: Arc<[ProjectionExpr]>,
    schema: SchemaRef,
}

impl Stage {
    /// `exprs` over rows of `input`; none if it may matter for which rows they are evaluated.
    fn try_new(exprs: &[ProjectionExpr], schema: SchemaRef, input: &Schema) -> Option<Self> {
        let is_free = |p: &ProjectionExpr| p.expr.is::<Column>() || cannot_fail(&p.expr, input);
        exprs.iter().all(is_free).then(|| Self {
            exprs: exprs.into(),
            schema,
        })
    }

    /// The values for the rows of `batch`.
    fn of(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let num_rows = batch.num_rows();
        let value = |p: &ProjectionExpr| p.expr.evaluate(batch)?.into_array(num_rows);
        let columns = self.exprs.iter().map(value).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }
}

impl Projection {
    /// `exprs` over rows of `kept` for which `condition` holds; none if it may matter for which rows they are
    /// evaluated, or if they compute nothing.
    pub(super) fn try_new(
        exprs: &[ProjectionExpr],
        (schema, kept): (SchemaRef, &Schema),
        condition: &Condition,
    ) -> Option<Self> {
        let computes = !exprs.iter().all(|p| p.expr.is::<Column>());
        if !computes || is_volatile(condition.expr()) {
            return None;
        }
        Some(Self {
            stages: vec![Stage::try_new(exprs, schema, kept)?],
            row_bytes: size_of::<u64>() * kept.fields().len().max(1),
            chooser: Arc::default(),
        })
    }

    /// The same with `exprs` over what it gives; none if these must be evaluated behind it.
    pub(super) fn followed_by(&self, exprs: &[ProjectionExpr], schema: SchemaRef) -> Option<Self> {
        let next = Stage::try_new(exprs, schema, &self.schema())?;
        let stages = self.stages.iter().cloned().chain([next]);
        Some(Self {
            stages: stages.collect(),
            row_bytes: self.row_bytes,
            chooser: Arc::default(),
        })
    }

    /// The columns that it gives.
    fn schema(&self) -> SchemaRef {
        let last = self.stages.last();
        last.map_or_else(|| Arc::new(Schema::empty()), |s| Arc::clone(&s.schema))
    }

    fn exprs(&self) -> impl Iterator<Item = &ProjectionExpr> {
        self.stages.iter().flat_map(|stage| stage.exprs.iter())
    }

    /// Columns and what is computed for them, as people write it.
    pub(super) fn outputs(&self) -> Vec<(String, String)> {
        let output = |p: &ProjectionExpr| (p.alias.clone(), sql_of(&p.expr));
        self.exprs().map(output).collect()
    }

    /// What EXPLAIN ANALYZE shows of it.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let last = self.stages.last().into_iter();
        let texts: Vec<String> = last
            .flat_map(|stage| stage.exprs.iter())
            .map(|p| sql_of(&p.expr))
            .collect();
        let mut facts = vec![("Expressions", texts.join(", "))];
        facts.extend(self.exprs().flat_map(|p| compiled_facts(&p.expr)));
        let chooser = self.chooser.lock();
        let of_arm = |(arm, name): (usize, &&str)| {
            let ns = chooser.as_ref()?.mean_ns(arm)?;
            Some(format!("{name} rows {}", figures::ns_per_row(ns)))
        };
        let arms = PROJECTION.arms().iter().enumerate().filter_map(of_arm);
        let measured: Vec<String> = arms.collect();
        if !measured.is_empty() {
            facts.push(("Evaluated for", measured.join(", ")));
        }
        facts
    }

    /// The values for the rows of `batch`.
    fn of(&self, batch: RecordBatch) -> Result<RecordBatch> {
        self.stages
            .iter()
            .try_fold(batch, |rows, stage| stage.of(&rows))
    }
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.exprs().map(ToString::to_string).collect();
        write!(f, "[{}]", texts.join(", "))
    }
}

/// Collects the values for the rows that pass.
pub(super) struct ProjectedRows {
    projection: Projection,
    /// Rows that passed, and are still to be computed of.
    selected: KeptRows,
    /// Values for rows that passed.
    values: KeptRows,
    complete: VecDeque<RecordBatch>,
}

impl ProjectedRows {
    /// No rows yet; `selected` takes those that pass.
    pub(super) fn new(projection: Projection, selected: KeptRows, sizes: Sizes) -> Self {
        let schema = projection.schema();
        let places = (0..schema.fields().len()).collect();
        Self {
            values: KeptRows::new(schema, places, sizes),
            projection,
            selected,
            complete: VecDeque::new(),
        }
    }

    /// Adds the values for the rows of `batch` that pass `condition`.
    ///
    /// # Errors
    /// What evaluating them reports.
    pub(super) fn push(&mut self, batch: &RecordBatch, condition: &Condition) -> Result<()> {
        let turn = {
            let mut chooser = self.projection.chooser.lock();
            let chooser = chooser.get_or_insert_with(|| Chooser::new(&PROJECTION));
            chooser.begin(Work::rows(batch.num_rows(), self.projection.row_bytes))
        };
        let is_all = turn.arm() == ALL;
        // Rows stay in their order.
        self.flush(!is_all)?;
        if is_all {
            self.push_all(batch, condition)?;
        } else {
            self.selected.push(batch, condition.rows(batch)?)?;
            self.compute_selected()?;
        }
        if let Some(chooser) = self.projection.chooser.lock().as_mut() {
            chooser.end(turn);
        }
        Ok(())
    }

    fn push_all(&mut self, batch: &RecordBatch, condition: &Condition) -> Result<()> {
        let num_rows = batch.num_rows();
        let kept = batch.project(self.selected.places())?;
        for start in (0..num_rows).step_by(PIECE_ROWS) {
            let num_rows = PIECE_ROWS.min(num_rows - start);
            let rows = condition.rows(&batch.slice(start, num_rows))?;
            if rows.count_set_bits() > 0 {
                let values = self.projection.of(kept.slice(start, num_rows))?;
                self.values.push(&values, rows)?;
            }
        }
        Ok(())
    }

    /// Computes the values for rows that were collected.
    fn compute_selected(&mut self) -> Result<()> {
        while let Some(batch) = self.selected.pop() {
            self.complete.push_back(self.projection.of(batch)?);
        }
        Ok(())
    }

    /// Completes the batch that is being made of values, or that of rows.
    fn flush(&mut self, of_values: bool) -> Result<()> {
        if of_values {
            self.values.complete()?;
            self.complete
                .extend(std::iter::from_fn(|| self.values.pop()));
            return Ok(());
        }
        self.selected.complete()?;
        self.compute_selected()
    }

    /// Completes the batch that is being made, if it has rows.
    ///
    /// # Errors
    /// What evaluating reports.
    pub(super) fn complete(&mut self) -> Result<()> {
        self.flush(true)?;
        self.flush(false)
    }

    /// The next batch that is complete.
    pub(super) fn pop(&mut self) -> Option<RecordBatch> {
        self.complete.pop_front().or_else(|| self.values.pop())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, AsArray, Int32Array, Int64Array, RecordBatch};
    use arrow::compute::{concat_batches, filter_record_batch};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
    use basalt_adapt::Chooser;
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{BinaryExpr, Column, IsNullExpr, lit};
    use datafusion::physical_plan::projection::ProjectionExpr;

    use super::super::condition::Condition;
    use super::super::kept_rows::{KeptRows, Sizes};
    use super::{ALL, PROJECTION, ProjectedRows, Projection};

    fn input_schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("small", DataType::Int32, true),
            Field::new("large", DataType::Int64, false),
        ]))
    }

    /// Rows with their number in all batches.
    fn batches() -> Vec<RecordBatch> {
        let mut next = 0;
        let lens = [9000, 1, 4096, 4097, 12_345, 100, 8000].into_iter().cycle();
        let batch = |len: i64| {
            let numbers = next..next + len;
            next += len;
            let small = numbers.clone().map(|n| (n % 3 != 0).then_some(n as i32));
            let columns: [Arc<dyn Array>; 2] = [
                Arc::new(small.collect::<Int32Array>()),
                Arc::new(Int64Array::from_iter_values(numbers)),
            ];
            RecordBatch::try_new(input_schema(), columns.into()).unwrap()
        };
        lens.take(40).map(batch).collect()
    }

    /// `large`, and whether `small` is NULL, of a result whose columns stand the other way round.
    fn exprs() -> Vec<ProjectionExpr> {
        let is_null = IsNullExpr::new(Arc::new(Column::new("small", 1)));
        vec![
            projected(Arc::new(Column::new("large", 0)), "n"),
            projected(Arc::new(is_null), "is_null"),
        ]
    }

    /// These the other way round.
    fn turned() -> Vec<ProjectionExpr> {
        vec![
            projected(Arc::new(Column::new("is_null", 1)), "is_null"),
            projected(Arc::new(Column::new("n", 0)), "n"),
        ]
    }

    fn projected(expr: Arc<dyn PhysicalExpr>, alias: &str) -> ProjectionExpr {
        let alias = alias.to_owned();
        ProjectionExpr { expr, alias }
    }

    fn values(chooser: Chooser, condition: &Condition, sizes: Sizes) -> Vec<RecordBatch> {
        let kept = Arc::new(input_schema().project(&[1, 0]).unwrap());
        let schema: SchemaRef = Arc::new(Schema::new(vec![
            Field::new("n", DataType::Int64, false),
            Field::new("is_null", DataType::Boolean, false),
        ]));
        let turned_schema = Arc::new(schema.project(&[1, 0]).unwrap());
        let first = Projection::try_new(&exprs(), (schema, &kept), condition).unwrap();
        let projection = first.followed_by(&turned(), turned_schema).unwrap();
        *projection.chooser.lock() = Some(chooser);
        let selected = KeptRows::new(kept, [1, 0].into(), sizes);
        let mut values = ProjectedRows::new(projection, selected, sizes);
        let mut all = Vec::new();
        for batch in batches() {
            values.push(&batch, condition).unwrap();
            all.extend(std::iter::from_fn(|| values.pop()));
        }
        values.complete().unwrap();
        all.extend(std::iter::from_fn(|| values.pop()));
        all
    }

    #[test]
    fn rows_keep_their_order_whichever_way_they_go() {
        let large: Arc<dyn PhysicalExpr> = Arc::new(Column::new("large", 1));
        for limit in [0_i64, 40_000, 150_000, i64::MAX] {
            let condition = BinaryExpr::new(Arc::clone(&large), Operator::Lt, lit(limit));
            let condition: Arc<dyn PhysicalExpr> = Arc::new(condition);
            let condition = Condition::new(&condition, &input_schema());
            let expected: Vec<i64> = batches()
                .iter()
                .flat_map(|batch| {
                    let passes = condition.rows(batch).unwrap();
                    let kept = filter_record_batch(batch, &passes.into()).unwrap();
                    kept.column(1).as_primitive::<Int64Type>().values().to_vec()
                })
                .collect();
            for (min_rows, max_rows) in [(1, 700), (10_000, 20_000), (1 << 30, 1 << 30)] {
                let sizes = Sizes {
                    min_rows,
                    max_rows,
                    limit: None,
                };
                let choosers = [
                    Chooser::new(&PROJECTION),
                    Chooser::new(&PROJECTION).limited_to(|arm| arm == ALL),
                    Chooser::new(&PROJECTION).limited_to(|arm| arm != ALL),
                ];
                for chooser in choosers {
                    let found = values(chooser, &condition, sizes);
                    let is_cut = |b: &RecordBatch| (1..=max_rows).contains(&b.num_rows());
                    assert!(found.iter().all(is_cut));
                    let Some(first) = found.first() else {
                        assert!(expected.is_empty());
                        continue;
                    };
                    let found = concat_batches(&first.schema(), &found).unwrap();
                    let numbers = found.column(1).as_primitive::<Int64Type>();
                    assert_eq!(numbers.values(), &expected[..]);
                    let is_null = found.column(0).as_boolean();
                    let expected = expected.iter().map(|n| n % 3 == 0);
                    assert!(is_null.iter().flatten().eq(expected));
                }
            }
        }
    }
}
