//! Which rows a condition holds for: comparisons of columns with constants by kernels, into bits.
//!
//! Conjuncts that compare an integer or a short string with a constant come first whatever their place was:
//! they cost next to nothing, cannot fail, and spare the others rows.

mod comparison;
mod flag;
mod rest;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::datatypes::{DataType as ArrowType, Schema, SchemaRef};
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};

use self::comparison::ColumnComparison;
use self::flag::FlagExpr;
pub use self::rest::FILTER;
use self::rest::Rest;

/// A condition on rows, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    whole: Arc<dyn PhysicalExpr>,
    comparisons: Vec<ColumnComparison>,
    /// The other conjuncts, in their order.
    rest: Vec<Rest>,
    /// Whether a kernel makes a part of them.
    has_flags: bool,
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
        };
        for conjunct in split_conjunction(whole) {
            if let Some(comparison) = ColumnComparison::try_new(conjunct, schema) {
                new.comparisons.push(comparison);
            } else if let Some(flag) = FlagExpr::try_new(conjunct, schema) {
                new.has_flags = true;
                new.rest.push(Rest::try_new(Arc::new(flag)).ok()?);
            } else {
                new.rest.push(Rest::try_new(Arc::clone(conjunct)).ok()?);
            }
        }
        Some(new)
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
        let mut words = vec![u64::MAX; num_rows.div_ceil(64)];
        for comparison in &self.comparisons {
            comparison.retain(batch, &mut words)?;
        }
        let mut rows = BooleanBuffer::new(Buffer::from_vec(words), 0, num_rows);
        for conjunct in &self.rest {
            rows = conjunct.hold_too(batch, rows)?;
        }
        Ok(rows)
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
