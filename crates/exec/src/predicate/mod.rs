//! Which rows a condition holds for: comparisons of columns with constants and with each other by kernels, into bits.
//!
//! Conjuncts that compare numbers, or a short string with a constant, come first whatever their place was:
//! they cost next to nothing, cannot fail, and spare the others rows. Among them, and among the others, those come
//! first that drop most rows for their time ([`measured`]); a conjunct that may fail for some rows, or is another each time, is passed by none.

mod comparison;
mod flag;
mod measured;
mod rest;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::datatypes::{DataType as ArrowType, Schema, SchemaRef};
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};

use self::comparison::ColumnComparison;
use self::flag::FlagExpr;
use self::measured::{Measured, Seen, in_order};
pub use self::rest::FILTER;
use self::rest::Rest;
use crate::compile::Evaluation;
use crate::report::sql_of;

/// Rows on which conjuncts are tried out: one that takes a microsecond a row takes some milliseconds for them.
const TRIED_ROWS: usize = 4096;

/// Rows of a word of bits.
const WORD_ROWS: usize = 64;

/// A condition on rows, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    whole: Arc<dyn PhysicalExpr>,
    comparisons: Vec<Conjunct<ColumnComparison>>,
    /// The other conjuncts, in their order.
    rest: Vec<Conjunct<Rest>>,
    /// Whether a kernel makes a part of them.
    has_flags: bool,
    /// Whether the others have been tried out, in any thread.
    is_tried: Arc<AtomicBool>,
}

/// A part of a condition that must hold, and what it took so far in all threads.
#[derive(Clone, Debug)]
struct Conjunct<T> {
    expr: Arc<dyn PhysicalExpr>,
    evaluation: T,
    measured: Measured,
}

impl<T> Conjunct<T> {
    fn new(expr: &Arc<dyn PhysicalExpr>, evaluation: T) -> Self {
        Self {
            expr: Arc::clone(expr),
            evaluation,
            measured: Measured::default(),
        }
    }

    fn fact(&self) -> Option<(&'static str, String)> {
        let measured = self.measured.fact()?;
        Some(("Conjunct", format!("{}: {measured}", sql_of(&self.expr))))
    }
}

impl Predicate {
    /// The condition over rows of `schema`, if parts of it are comparisons that kernels do.
    pub(crate) fn try_new(whole: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Self> {
        let new = Self::of_any(whole, schema)?;
        (!new.comparisons.is_empty() || new.has_flags).then_some(new)
    }

    /// The condition over rows of `schema`, also if there are no comparisons in it that kernels do.
    pub(crate) fn of_any(whole: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Self> {
        let mut new = Self {
            whole: Arc::clone(whole),
            comparisons: Vec::new(),
            rest: Vec::new(),
            has_flags: false,
            is_tried: Arc::default(),
        };
        for conjunct in split_conjunction(whole) {
            if let Some(comparison) = ColumnComparison::try_new(conjunct, schema) {
                new.comparisons.push(Conjunct::new(conjunct, comparison));
            } else if let Some(flag) = FlagExpr::try_new(conjunct, schema) {
                new.has_flags = true;
                let rest = Rest::try_new(Arc::new(flag)).ok()?;
                new.rest.push(Conjunct::new(conjunct, rest));
            } else {
                let rest = Rest::try_new(Arc::clone(conjunct)).ok()?;
                new.rest.push(Conjunct::new(conjunct, rest));
            }
        }
        Some(new)
    }

    /// The same where what can be compiled is of the conjuncts that kernels do not evaluate; none if that is nothing.
    ///
    /// # Errors
    /// If the condition is damaged.
    pub(crate) fn with_compiled(
        &self,
        schema: &Schema,
        evaluation: Evaluation,
    ) -> Result<Option<Self>> {
        let mut changed = self.clone();
        let mut is_changed = false;
        for conjunct in &mut changed.rest {
            if let Some(rest) = conjunct.evaluation.with_compiled(schema, evaluation)? {
                *conjunct = Conjunct::new(&conjunct.expr, rest);
                is_changed = true;
            }
        }
        Ok(is_changed.then_some(changed))
    }

    /// The condition as it was.
    pub(crate) fn whole(&self) -> &Arc<dyn PhysicalExpr> {
        &self.whole
    }

    /// The rows of `batch` for which it holds.
    ///
    /// # Errors
    /// What the conjuncts report that are no comparisons.
    pub(crate) fn rows(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        let num_rows = batch.num_rows();
        let mut words = vec![u64::MAX; num_rows.div_ceil(WORD_ROWS)];
        if let Some(last) = words.last_mut()
            && !num_rows.is_multiple_of(WORD_ROWS)
        {
            *last = (1 << (num_rows % WORD_ROWS)) - 1;
        }
        self.compare(batch, &mut words)?;
        if words.iter().any(|word| *word != 0) {
            self.try_out(batch)?;
        }
        let mut rows = BooleanBuffer::new(Buffer::from_vec(words), 0, num_rows);
        for conjunct in self.rest_in_order() {
            let started = Instant::now();
            let (held, seen) = conjunct.evaluation.hold_too(batch, rows)?;
            let num_kept = held.count_set_bits();
            conjunct.measured.add(seen, num_kept, started.elapsed());
            rows = held;
        }
        Ok(rows)
    }

    /// Clears the bits of rows for which a comparison does not hold.
    fn compare(&self, batch: &RecordBatch, words: &mut [u64]) -> Result<()> {
        if let ([only], []) = (self.comparisons.as_slice(), self.rest.as_slice()) {
            return only.evaluation.retain(batch, words);
        }
        let mut num_left = batch.num_rows();
        for conjunct in in_order(self.comparisons.iter(), |c| &c.measured) {
            let started = Instant::now();
            conjunct.evaluation.retain(batch, words)?;
            let elapsed = started.elapsed();
            let num_kept = words.iter().map(|word| word.count_ones() as usize).sum();
            let seen = Seen {
                num_rows: batch.num_rows(),
                num_left,
                is_whole: true,
            };
            conjunct.measured.add(seen, num_kept, elapsed);
            num_left = num_kept;
            if num_left == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Measures the other conjuncts on a few rows of the first batch that is large, each on all of these: behind others
    /// it would only see what they leave.
    fn try_out(&self, batch: &RecordBatch) -> Result<()> {
        let is_large = batch.num_rows() > 2 * TRIED_ROWS;
        if self.rest.len() < 2 || !is_large || self.is_tried.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let sample = batch.slice(0, TRIED_ROWS);
        let movable = self.rest.iter().filter(|c| c.evaluation.is_movable());
        for conjunct in movable {
            let started = Instant::now();
            let num_kept = conjunct.evaluation.count(&sample)?;
            let seen = Seen {
                num_rows: TRIED_ROWS,
                num_left: TRIED_ROWS,
                is_whole: true,
            };
            conjunct.measured.add(seen, num_kept, started.elapsed());
        }
        Ok(())
    }

    /// The other conjuncts in the order of least expected time. One that may fail keeps its place, and those on both
    /// sides of it stay there: it must not see rows that one before it drops.
    fn rest_in_order(&self) -> Vec<&Conjunct<Rest>> {
        let is_movable = |conjunct: &Conjunct<Rest>| conjunct.evaluation.is_movable();
        let runs = self.rest.chunk_by(|a, b| is_movable(a) && is_movable(b));
        runs.flat_map(|run| in_order(run.iter(), |c| &c.measured))
            .collect()
    }

    /// What was measured of the conjuncts, in the order in which they are evaluated; nothing if there is only one.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let is_alone = self.comparisons.len() + self.rest.len() < 2;
        let comparisons = in_order(self.comparisons.iter(), |c| &c.measured).into_iter();
        let mut facts: Vec<_> = comparisons.filter_map(Conjunct::fact).collect();
        for conjunct in self.rest_in_order() {
            facts.extend(conjunct.fact());
            facts.extend(conjunct.evaluation.compiled_facts());
        }
        // Of one conjunct the operator tells what is measured.
        facts.retain(|(name, _)| !is_alone || *name != "Conjunct");
        facts
    }
}

/// A condition that operators which are not ours evaluate by kernels, too.
#[derive(Clone, Debug)]
pub(crate) struct PredicateExpr(Predicate, SchemaRef);

impl PredicateExpr {
    /// The condition as an expression, if kernels do parts of it.
    pub(crate) fn try_new(
        whole: &Arc<dyn PhysicalExpr>,
        schema: &SchemaRef,
    ) -> Option<Arc<dyn PhysicalExpr>> {
        let predicate = Predicate::try_new(whole, schema)?;
        Some(Arc::new(Self(predicate, Arc::clone(schema))))
    }

    /// The same with compiled parts; none if nothing can be compiled.
    ///
    /// # Errors
    /// If the condition is damaged.
    pub(crate) fn with_compiled(&self, evaluation: Evaluation) -> Result<Option<Self>> {
        let compiled = self.0.with_compiled(&self.1, evaluation)?;
        Ok(compiled.map(|predicate| Self(predicate, Arc::clone(&self.1))))
    }

    /// What evaluates it.
    pub(crate) fn predicate(&self) -> &Predicate {
        &self.0
    }
}

impl PartialEq for PredicateExpr {
    fn eq(&self, other: &Self) -> bool {
        self.0.whole.eq(&other.0.whole)
    }
}

impl Eq for PredicateExpr {}

impl Hash for PredicateExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.whole.hash(state);
    }
}

impl fmt::Display for PredicateExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.whole.fmt(f)
    }
}

impl PhysicalExpr for PredicateExpr {
    fn data_type(&self, _input_schema: &Schema) -> Result<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn nullable(&self, _input_schema: &Schema) -> Result<bool> {
        Ok(false)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let rows = BooleanArray::new(self.0.rows(batch)?, None);
        Ok(ColumnarValue::Array(Arc::new(rows)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.0.whole]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match children.as_slice() {
            [whole] => Ok(Self::try_new(whole, &self.1).unwrap_or_else(|| Arc::clone(whole))),
            _ => internal_err!("a condition is one expression"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.whole.fmt_sql(f)
    }
}
