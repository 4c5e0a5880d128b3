//! Evaluates the filters of a scan stage by stage: those that rule out most rows for their time come first.
//!
//! A stage is the conjuncts over the same columns. Its columns are read when it is reached: where no row of a
//! group is left, the columns of later stages are not read. A stage over one column of strings that are
//! stored with a dictionary is evaluated once for each different string.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array,
};
use arrow::buffer::BooleanBuffer;
use arrow::compute::prep_null_mask_filter;
use arrow::datatypes::{DataType, Schema, SchemaRef, UInt16Type};
use arrow::error::ArrowError;
use basalt_analyzer::lazy_logic::made_lazy;
use basalt_analyzer::plan_error;
use basalt_error::{Error, Result};
use basalt_storage::merge_tree::flat;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::BinaryExpr;
use datafusion::physical_expr::split_conjunction;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr_common::physical_expr::is_volatile;

use crate::filter_project::Selection;
use crate::predicate::PredicateExpr;

/// Share of rows up to which a stage looks at those alone that are left.
const FEW_ROWS: f64 = 0.25;

/// The filters of a scan.
#[derive(Debug)]
pub(super) struct Stages(Vec<Stage>);

/// Conjuncts over the same columns.
#[derive(Debug)]
struct Stage {
    /// Columns of the table.
    columns: Vec<usize>,
    /// Their fields.
    schema: SchemaRef,
    /// The conjuncts, over these fields.
    expr: Arc<dyn PhysicalExpr>,
    is_volatile: bool,
    measured: Measured,
}

/// What a stage took so far, over all threads.
#[derive(Debug, Default)]
struct Measured {
    num_rows: AtomicU64,
    num_dropped: AtomicU64,
    /// Of reading and evaluation.
    total_ns: AtomicU64,
    evaluation_ns: AtomicU64,
}

/// Gives columns of a group, as they are stored.
pub(super) trait ReadColumn {
    /// The column with that number.
    fn column(&mut self, column: usize) -> Result<ArrayRef>;
}

impl Stages {
    /// The stages of a filter over the fields of `table`; none if some of it is about no column.
    pub(super) fn new(filter: &Arc<dyn PhysicalExpr>, table: &Schema) -> Option<Self> {
        let mut stages: Vec<(Vec<usize>, Arc<dyn PhysicalExpr>)> = Vec::new();
        for conjunct in split_conjunction(filter) {
            let columns = collect_columns(conjunct);
            let mut columns: Vec<usize> = columns.iter().map(|c| c.index()).collect();
            columns.sort_unstable();
            if columns.is_empty() {
                return None;
            }
            let conjunct = Arc::clone(conjunct);
            match stages.iter_mut().find(|stage| stage.0 == columns) {
                Some((_, expr)) => {
                    let both = BinaryExpr::new(Arc::clone(expr), Operator::And, conjunct);
                    *expr = Arc::new(both);
                }
                None => stages.push((columns, conjunct)),
            }
        }
        let stage = |(columns, expr): (Vec<usize>, Arc<dyn PhysicalExpr>)| {
            let schema = Arc::new(table.project(&columns).ok()?);
            let of_stage = reassign_expr_columns(Arc::clone(&expr), &schema).ok()?;
            Some(Stage {
                expr: PredicateExpr::try_new(&of_stage, &schema).unwrap_or(of_stage),
                is_volatile: is_volatile(&expr),
                columns,
                schema,
                measured: Measured::default(),
            })
        };
        stages
            .into_iter()
            .map(stage)
            .collect::<Option<_>>()
            .map(Self)
    }

    /// The columns that the stages need.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .flat_map(|stage| stage.columns.iter().copied())
    }

    /// Whether evaluating them before the rows are handed up may gain something even if no other column is
    /// wanted.
    pub(super) fn may_save_work(&self) -> bool {
        let is_of_strings = |stage: &Stage| {
            let fields = stage.schema.fields();
            !stage.is_volatile
                && fields.len() == 1
                && *fields[0].data_type() == DataType::BinaryView
        };
        self.0.len() > 1 || self.0.iter().any(is_of_strings)
    }

    /// Which of a group's rows pass, of those in `passing` if there is such a choice, and whether all of them
    /// do: where a stage fails, it lets all rows pass, and the step above the scan will find out again.
    pub(super) fn passing(
        &self,
        num_rows: usize,
        passing: Option<BooleanArray>,
        group: &mut dyn ReadColumn,
    ) -> Result<(BooleanArray, bool)> {
        let (mut passing, mut is_known) = (passing, true);
        for stage in self.order() {
            let num_left = passing.as_ref().map_or(num_rows, BooleanArray::true_count);
            if num_left == 0 {
                break;
            }
            let started = Instant::now();
            let read = |column: &usize| group.column(*column);
            let columns: Vec<ArrayRef> = stage.columns.iter().map(read).collect::<Result<_>>()?;
            let evaluation = Instant::now();
            let found = stage.evaluate(&columns, (num_rows, num_left), passing.as_ref())?;
            let elapsed = (started.elapsed(), evaluation.elapsed());
            is_known &= found.is_some();
            let found = match (found, passing.take()) {
                (Some(found), Some(before)) => {
                    let both = found.values() & before.values();
                    BooleanArray::from(both)
                }
                (found, before) => {
                    let found = found.or(before);
                    found.unwrap_or_else(|| BooleanArray::from(vec![true; num_rows]))
                }
            };
            // All rows are looked at, unless few are left.
            let num_seen = match is_few(num_left, num_rows) {
                true => num_left,
                false => num_rows,
            };
            let num_dropped = num_left.saturating_sub(found.true_count());
            stage.measured.add((num_seen, num_dropped), elapsed);
            passing = Some(found);
        }
        let passing = passing.unwrap_or_else(|| BooleanArray::from(vec![true; num_rows]));
        Ok((passing, is_known))
    }

    /// The stages, those that are expected to rule out most rows for their time first.
    fn order(&self) -> Vec<&Stage> {
        let mut stages: Vec<_> = self.0.iter().map(|stage| (stage.rank(), stage)).collect();
        stages.sort_by(|a, b| a.0.total_cmp(&b.0));
        stages.into_iter().map(|(_, stage)| stage).collect()
    }

    /// What evaluating them would take for so many rows, as far as it is known.
    pub(super) fn evaluation_time(&self, num_rows: usize) -> Duration {
        let of_row = |stage: &Stage| {
            let ns = stage.measured.evaluation_ns.load(Ordering::Relaxed) as f64;
            ns / stage.measured.num_rows.load(Ordering::Relaxed).max(1) as f64
        };
        let ns: f64 = self.0.iter().map(of_row).sum();
        Duration::from_nanos((ns * num_rows as f64) as u64)
    }
}

impl Measured {
    fn add(&self, (num_rows, num_dropped): (usize, usize), elapsed: (Duration, Duration)) {
        let ns = |elapsed: Duration| u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        for (sum, more) in [
            (&self.num_rows, num_rows as u64),
            (&self.num_dropped, num_dropped as u64),
            (&self.total_ns, ns(elapsed.0)),
            (&self.evaluation_ns, ns(elapsed.1)),
        ] {
            sum.fetch_add(more, Ordering::Relaxed);
        }
    }
}

impl Stage {
    /// Nanoseconds for each row that it rules out: the order of least expected time. Before anything is measured,
    /// narrow columns go first.
    fn rank(&self) -> f64 {
        let num_rows = self.measured.num_rows.load(Ordering::Relaxed);
        if num_rows == 0 {
            let bytes = |field: &Arc<arrow::datatypes::Field>| {
                field.data_type().primitive_width().unwrap_or(64) as f64
            };
            let width: f64 = self.schema.fields().iter().map(bytes).sum();
            // As if it took a quarter of a nanosecond for a byte and kept half of the rows.
            return width / 2.0;
        }
        let num_dropped = self.measured.num_dropped.load(Ordering::Relaxed);
        self.measured.total_ns.load(Ordering::Relaxed) as f64 / num_dropped.max(1) as f64
    }

    /// Which of all rows pass; rows that are not left may have any answer. None if it fails.
    fn evaluate(
        &self,
        columns: &[ArrayRef],
        (num_rows, num_left): (usize, usize),
        left: Option<&BooleanArray>,
    ) -> Result<Option<BooleanArray>> {
        if let [column] = columns
            && let Some(found) = self.evaluate_dictionary(column, num_left)
        {
            return Ok(Some(found));
        }
        let is_few = is_few(num_left, num_rows);
        let picked = left
            .filter(|_| is_few)
            .map(|left| Selection::new(left.values().clone()));
        let column = |column: &ArrayRef| match &picked {
            Some(picked) => flat(&picked.kept(column).map_err(plan_error)?),
            None => flat(column),
        };
        let columns: Vec<ArrayRef> = columns.iter().map(column).collect::<Result<_>>()?;
        let num_given = if picked.is_some() { num_left } else { num_rows };
        let found = self.of_rows(columns, num_given);
        Ok(match (found, left.filter(|_| picked.is_some())) {
            (Some(found), Some(left)) => Some(scattered(&found, left)),
            (found, _) => found,
        })
    }

    /// As [`Self::evaluate`], of a column that is stored with a dictionary that has fewer values than rows
    /// are left.
    fn evaluate_dictionary(&self, column: &ArrayRef, num_left: usize) -> Option<BooleanArray> {
        let strings = column.as_dictionary_opt::<UInt16Type>()?;
        let num_values = strings.values().len();
        if self.is_volatile || num_values > num_left {
            return None;
        }
        let found = self.of_rows(vec![Arc::clone(strings.values())], num_values)?;
        let found: Vec<bool> = found.values().iter().collect();
        let codes = strings.keys().values();
        let passes = |i: usize| found[usize::from(codes[i])];
        let rows = match strings.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => BooleanBuffer::collect_bool(codes.len(), passes),
            Some(nulls) => {
                let null = new_null_array(strings.values().data_type(), 1);
                let of_null = self.of_rows(vec![null], 1)?.value(0);
                BooleanBuffer::collect_bool(codes.len(), |i| match nulls.is_valid(i) {
                    true => passes(i),
                    false => of_null,
                })
            }
        };
        Some(BooleanArray::from(rows))
    }

    /// Which of these rows pass, without NULLs.
    fn of_rows(&self, columns: Vec<ArrayRef>, num_rows: usize) -> Option<BooleanArray> {
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options).ok()?;
        let value = self.expr.evaluate(&batch).ok()?;
        let array = value.into_array(num_rows).ok()?;
        let passing = array.as_boolean_opt()?;
        if passing.len() != num_rows {
            return None;
        }
        Some(without_nulls(passing))
    }
}

/// Which of the rows in `among` fulfil a condition over the fields of `all`, where a stage has failed.
///
/// # Errors
/// What evaluating the condition reports.
pub(super) fn passing_of(
    (condition, all): (&Arc<dyn PhysicalExpr>, &SchemaRef),
    among: &BooleanArray,
    group: &mut dyn ReadColumn,
) -> Result<BooleanArray> {
    if !among.has_true() {
        return Ok(among.clone());
    }
    let bug = |e: ArrowError| Error::bug(e.to_string());
    let columns = collect_columns(condition);
    let mut columns: Vec<usize> = columns.iter().map(|c| c.index()).collect();
    columns.sort_unstable();
    let schema = Arc::new(all.project(&columns).map_err(bug)?);
    let condition = reassign_expr_columns(Arc::clone(condition), &schema).map_err(plan_error)?;
    // A side of AND may fail where the other one does not hold.
    let lazy = made_lazy(&condition).map_err(plan_error)?;
    let picked = Selection::new(among.values().clone());
    let column = |column: &usize| {
        let values = group.column(*column)?;
        flat(&picked.kept(&values).map_err(plan_error)?)
    };
    let columns = columns.iter().map(column).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(among.true_count()));
    let batch = RecordBatch::try_new_with_options(schema, columns, &options).map_err(bug)?;
    let found = lazy.unwrap_or(condition).evaluate(&batch);
    let found = found.and_then(|found| found.into_array(batch.num_rows()));
    let found = found.map_err(plan_error)?;
    let found = found.as_boolean_opt();
    let found = found.ok_or_else(|| Error::bug("a condition that is no Bool"))?;
    Ok(scattered(&without_nulls(found), among))
}

/// The same with no row for NULL.
fn without_nulls(passing: &BooleanArray) -> BooleanArray {
    match passing.nulls() {
        Some(_) => prep_null_mask_filter(passing),
        None => passing.clone(),
    }
}

/// Whether a stage looks at those rows alone that are left.
fn is_few(num_left: usize, num_rows: usize) -> bool {
    (num_left as f64) < num_rows as f64 * FEW_ROWS
}

/// The answers for the rows that are left, at their places among all rows.
fn scattered(found: &BooleanArray, left: &BooleanArray) -> BooleanArray {
    let mut rows = vec![false; left.len()];
    for (row, is_passing) in left.values().set_indices().zip(found.values().iter()) {
        rows[row] = is_passing;
    }
    BooleanArray::from(rows)
}
