//! Decides which rows of a batch pass.

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::Schema;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;

use crate::compile::{compiled_facts, is_compiled};
use crate::predicate::{Predicate, PredicateExpr};
use crate::report::sql_of;

/// A condition, evaluated in the way that suits it.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    /// Conjunct by conjunct.
    Parts(Predicate),
    /// As one expression, in which something is compiled.
    Whole(Arc<dyn PhysicalExpr>),
}

impl Condition {
    /// The condition over rows of `schema`.
    pub(super) fn new(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Self {
        if let Some(parts) = expr.downcast_ref::<PredicateExpr>() {
            return Self::Parts(parts.predicate().clone());
        }
        let parts = match is_compiled(expr) {
            false => Predicate::of_any(expr, schema),
            true => None,
        };
        parts.map_or_else(|| Self::Whole(Arc::clone(expr)), Self::Parts)
    }

    /// The condition as it was.
    pub(super) fn expr(&self) -> &Arc<dyn PhysicalExpr> {
        match self {
            Self::Parts(parts) => parts.whole(),
            Self::Whole(expr) => expr,
        }
    }

    /// The rows of `batch` that pass.
    ///
    /// # Errors
    /// What evaluating it reports.
    pub(super) fn rows(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        let expr = match self {
            Self::Parts(parts) => return parts.rows(batch),
            Self::Whole(expr) => expr,
        };
        let flags = expr.evaluate(batch)?.into_array(batch.num_rows())?;
        let Some(flags) = flags.as_boolean_opt() else {
            return internal_err!("a condition of type {}", flags.data_type());
        };
        Ok(match flags.nulls() {
            Some(nulls) => flags.values() & nulls.inner(),
            None => flags.values().clone(),
        })
    }

    /// What EXPLAIN ANALYZE shows of it.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("Condition", sql_of(self.expr()))];
        match self {
            Self::Parts(parts) => facts.extend(parts.facts()),
            Self::Whole(expr) => facts.extend(compiled_facts(expr)),
        }
        facts
    }
}
