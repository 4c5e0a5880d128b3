//! Chooses between reading all columns at once and reading those of the filter first.
//!
//! Columns of the filter first: of the other columns only rows that pass are decoded (in Parquet files), or
//! they are not read at all where no row passes (in parts on disk), which costs more where most rows pass.
//! The first row groups of a query are read this way, and tell how many rows
//! pass. If few do, it stays so; else row groups are read both ways and measured, and the way of the
//! lesser time for a row goes on. (A chooser of `basalt_adapt` is for many small pieces of work: it
//! would spend several row groups on each way.)

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{and, prep_null_mask_filter};
use arrow::datatypes::SchemaRef;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::split_conjunction;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};

use crate::sort::KeyBound;

/// Share of rows up to which reading late is taken for cheaper without measuring the other way.
const FEW_ROWS: f64 = 0.1;

/// Rows of a batch while nobody knows how many rows pass.
const FIRST_BATCH_ROWS: usize = 1024;

/// Rows of a batch, however few pass.
const MIN_BATCH_ROWS: usize = 128;

/// Row groups of each way that are measured before they are compared.
const MIN_MEASURED: u32 = 1;

/// How a row group is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// All columns at once.
    AtOnce,
    /// The columns of the filter first.
    Late,
}

/// The filters of a scan, and what a top-N above wants, to be evaluated in it.
#[derive(Clone, Debug)]
pub(super) struct LateFilter {
    /// The filters, if there are any.
    expr: Option<Arc<dyn PhysicalExpr>>,
    /// The bound, and which of the columns it is for.
    bound: Option<(usize, Arc<KeyBound>)>,
    /// The columns of the table that the filters and the bound need, in their order.
    pub(super) columns: Vec<usize>,
    /// Fields of these columns.
    pub(super) schema: SchemaRef,
}

impl LateFilter {
    /// The filter `expr` over the table's columns, of which the first `num_columns` are in files; `None`
    /// if reading late cannot gain anything for these columns of the result.
    pub(super) fn new(
        expr: &Arc<dyn PhysicalExpr>,
        table: &SchemaRef,
        num_columns: usize,
        projection: &[usize],
    ) -> Option<Self> {
        let columns: Vec<usize> = collect_columns(expr).iter().map(|c| c.index()).collect();
        let mut late = Self::of_columns(columns, table, num_columns, projection)?;
        let expr = reassign_expr_columns(Arc::clone(expr), &late.schema).ok()?;
        late.expr = Some(expr);
        Some(late)
    }

    /// The filter `condition`, if there is one, and a bound for a column of the table; `None` as for
    /// [`LateFilter::new`].
    pub(super) fn bounded(
        condition: Option<&Arc<dyn PhysicalExpr>>,
        (key, bound): (usize, &Arc<KeyBound>),
        (table, num_columns): (&SchemaRef, usize),
        projection: &[usize],
    ) -> Option<Self> {
        let columns = condition.map(collect_columns).unwrap_or_default();
        let mut columns: Vec<usize> = columns.iter().map(|c| c.index()).collect();
        columns.push(key);
        let mut late = Self::of_columns(columns, table, num_columns, projection)?;
        let place = late.columns.iter().position(|column| *column == key)?;
        late.bound = Some((place, Arc::clone(bound)));
        if let Some(condition) = condition {
            late.expr = Some(reassign_expr_columns(Arc::clone(condition), &late.schema).ok()?);
        }
        Some(late)
    }

    fn of_columns(
        mut columns: Vec<usize>,
        table: &SchemaRef,
        num_columns: usize,
        projection: &[usize],
    ) -> Option<Self> {
        columns.sort_unstable();
        columns.dedup();
        let is_in_file = |c: &usize| *c < num_columns;
        let has_others = projection
            .iter()
            .any(|c| is_in_file(c) && !columns.contains(c));
        if columns.is_empty() || !has_others || !columns.iter().all(is_in_file) {
            return None;
        }
        let schema = Arc::new(table.project(&columns).ok()?);
        Some(Self {
            expr: None,
            bound: None,
            columns,
            schema,
        })
    }

    /// How to read the next row group.
    pub(super) fn way(&self, ways: &Ways) -> Way {
        match &self.bound {
            // Few rows are wanted once some are known.
            Some((_, bound)) if bound.is_known() => Way::Late,
            Some(_) if self.expr.is_none() => Way::AtOnce,
            _ => ways.next(),
        }
    }

    /// Which rows pass, to be asked once for each: what passes counts among the best that are known, and
    /// lowers the bound. Where the filter fails all do: the step above the scan will find out again.
    pub(super) fn passing(&self, batch: &RecordBatch) -> BooleanArray {
        let num_rows = batch.num_rows();
        let wanted = self.bound.as_ref();
        let wanted = wanted.and_then(|(column, bound)| bound.wanted(batch.column(*column)));
        let fulfilling = self.expr.as_ref().and_then(|expr| {
            let evaluated = expr.evaluate(batch);
            let array = evaluated.and_then(|v| v.into_array(num_rows)).ok()?;
            let passing = array.as_boolean_opt()?;
            (passing.len() == num_rows).then(|| passing.clone())
        });
        let is_known = fulfilling.is_some() || self.expr.is_none();
        let passing = match (wanted, fulfilling) {
            (Some(wanted), Some(fulfilling)) => and(&wanted, &fulfilling).unwrap_or(wanted),
            (one, other) => {
                let passing = one.or(other);
                passing.unwrap_or_else(|| BooleanArray::from(vec![true; num_rows]))
            }
        };
        let passing = match passing.nulls() {
            Some(_) => prep_null_mask_filter(&passing),
            None => passing,
        };
        match &self.bound {
            // Rows of which nobody knows whether they pass would drive out others.
            Some((column, bound)) if is_known => bound.first_of(batch.column(*column), passing),
            _ => passing,
        }
    }
}

/// Whether `condition`, over the fields of `table`, says just what `predicate`, over fields of the same names,
/// says.
pub(super) fn says_the_same(
    condition: Option<&Arc<dyn PhysicalExpr>>,
    predicate: Option<&Arc<dyn PhysicalExpr>>,
    table: &SchemaRef,
) -> bool {
    let (Some(condition), Some(predicate)) = (condition, predicate) else {
        return condition.is_none() && predicate.is_none();
    };
    let Ok(predicate) = reassign_expr_columns(Arc::clone(predicate), table) else {
        return false;
    };
    let one: HashSet<_> = split_conjunction(condition).into_iter().collect();
    let other: HashSet<_> = split_conjunction(&predicate).into_iter().collect();
    one == other
}

/// What was measured of one way.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    row_groups: u32,
    num_rows: u64,
    elapsed: Duration,
}

impl Measured {
    fn row_seconds(&self) -> f64 {
        self.elapsed.as_secs_f64() / self.num_rows.max(1) as f64
    }
}

#[derive(Debug, Default)]
struct Known {
    late: Measured,
    at_once: Measured,
    /// Of the rows of `late`.
    num_passing: u64,
}

/// What the row groups of a query have told so far; shared by its threads.
#[derive(Debug, Default)]
pub(super) struct Ways(Mutex<Known>);

impl Ways {
    /// How to read the next row group, by what was measured.
    pub(super) fn next(&self) -> Way {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let share = known.num_passing as f64 / known.late.num_rows.max(1) as f64;
        if known.late.row_groups < MIN_MEASURED || share <= FEW_ROWS {
            return Way::Late;
        }
        if known.at_once.row_groups < MIN_MEASURED
            || known.at_once.row_seconds() <= known.late.row_seconds()
        {
            Way::AtOnce
        } else {
            Way::Late
        }
    }

    /// Rows of a batch, so that one comes from about `batch_rows` rows of the file: it keeps all pages that
    /// its strings lie in.
    pub(super) fn batch_rows(&self, way: Way, batch_rows: usize) -> usize {
        if way == Way::AtOnce {
            return batch_rows;
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.late.row_groups == 0 {
            return FIRST_BATCH_ROWS;
        }
        let share = known.num_passing as f64 / known.late.num_rows.max(1) as f64;
        ((batch_rows as f64 * share) as usize).clamp(MIN_BATCH_ROWS, batch_rows)
    }

    /// Tells how long a row group took, and how many of its rows came out.
    pub(super) fn report(&self, way: Way, num_rows: u64, num_passing: u64, elapsed: Duration) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let measured = match way {
            Way::Late => {
                known.num_passing += num_passing;
                &mut known.late
            }
            Way::AtOnce => &mut known.at_once,
        };
        measured.row_groups += 1;
        measured.num_rows += num_rows;
        measured.elapsed += elapsed;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Way, Ways};

    #[test]
    fn few_rows_are_read_late_and_many_the_cheaper_way() {
        let ms = Duration::from_millis;
        let few = Ways::default();
        few.report(Way::Late, 1000, 10, ms(5));
        assert_eq!(few.next(), Way::Late);
        for (at_once, wanted) in [(1, Way::AtOnce), (9, Way::Late)] {
            let many = Ways::default();
            assert_eq!(many.next(), Way::Late);
            many.report(Way::Late, 1000, 900, ms(5));
            assert_eq!(many.next(), Way::AtOnce);
            many.report(Way::AtOnce, 1000, 1000, ms(at_once));
            assert_eq!(many.next(), wanted);
        }
    }
}
