//! Holds what a grouping computes: key expressions, aggregates and their arguments.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use basalt_functions::aggregate::{BoundAggregate, Shortcut};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr_common::physical_expr::is_volatile;

use super::bounds::Interval;
use super::options::Thresholds;
use super::row_order::{follows_sort, looks_back, shows_order};
use super::top::TopGroups;

/// An aggregate function with its arguments.
#[derive(Clone, Debug)]
pub struct AggregateSpec {
    /// The function.
    pub bound: BoundAggregate,
    /// Its arguments, over the input's rows.
    pub args: Vec<Arc<dyn PhysicalExpr>>,
}

/// Keys and aggregates over an input.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// The keys, over the input's rows.
    pub keys: Vec<Arc<dyn PhysicalExpr>>,
    /// The aggregates.
    pub aggregates: Vec<AggregateSpec>,
    /// Fields of the result: keys, then aggregates.
    pub schema: SchemaRef,
    /// When sets of distinct values fall apart.
    pub thresholds: Thresholds,
    /// Which groups are wanted, if not all.
    pub top: Option<Arc<TopGroups>>,
    /// Keys of groups that are there even if there are no rows, if any are.
    pub kept_keys: Option<Vec<ArrayRef>>,
}

/// What is known of the keys before the first row is seen.
#[derive(Clone, Debug)]
pub(super) struct PlannedKeys {
    /// Types of the columns.
    pub(super) types: Vec<ArrowType>,
    /// Least and greatest values.
    pub(super) bounds: Vec<Interval>,
    /// Most ordinals for which it pays to make arrays at once.
    pub(super) max_len: usize,
}

/// Rows whose keys and arguments are computed together.
const PIECE_ROWS: usize = 16 << 10;

/// Arguments of each aggregate for the rows of a batch.
pub(super) type AggregateArgs = Vec<Vec<ArrayRef>>;

impl Grouping {
    /// The same for a run of its own.
    pub(super) fn fresh(&self) -> Self {
        let top = self.top.as_ref().map(|top| Arc::new(top.fresh()));
        Self {
            top,
            ..self.clone()
        }
    }

    /// Whether a result follows the order of the rows.
    pub(super) fn follows_order(&self) -> bool {
        self.aggregates.iter().any(|a| shows_order(&a.bound.name)) || self.looks_back()
    }

    /// Whether a result follows the order of rows that are sorted.
    pub(super) fn follows_sort(&self) -> bool {
        self.aggregates.iter().any(|a| follows_sort(&a.bound.name)) || self.looks_back()
    }

    /// Gives the rows of a batch to `f`, some at a time if anything is computed from them: what is
    /// computed stays in the core's cache until it is aggregated.
    pub(super) fn for_each_piece(
        &self,
        batch: &RecordBatch,
        mut f: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let num_rows = batch.num_rows();
        if num_rows <= PIECE_ROWS || !self.computes() || self.sees_blocks() {
            return f(batch);
        }
        (0..num_rows)
            .step_by(PIECE_ROWS)
            .try_for_each(|start| f(&batch.slice(start, PIECE_ROWS.min(num_rows - start))))
    }

    /// Whether the states of a group are no more than a few numbers for each aggregate.
    pub(super) fn has_small_states(&self) -> bool {
        let is_small = |spec: &AggregateSpec| {
            let is_set = matches!(spec.bound.shortcut, Some(Shortcut::UniqExact { .. }));
            let mut types = spec.bound.state_types.iter();
            !is_set && types.all(ArrowType::is_primitive)
        };
        self.aggregates.iter().all(is_small)
    }

    /// Whether a key or an argument is more than a column of the input.
    pub(super) fn computes(&self) -> bool {
        self.exprs()
            .any(|expr| expr.downcast_ref::<Column>().is_none())
    }

    /// Whether a key or an argument may tell how many rows are computed together, as `blockSize()` does.
    fn looks_back(&self) -> bool {
        self.exprs().any(looks_back)
    }

    fn sees_blocks(&self) -> bool {
        self.exprs().any(is_volatile)
    }

    fn exprs(&self) -> impl Iterator<Item = &Arc<dyn PhysicalExpr>> {
        let args = self.aggregates.iter().flat_map(|spec| &spec.args);
        self.keys.iter().chain(args)
    }

    /// The key columns of a batch.
    pub(super) fn key_columns(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        self.keys.iter().map(|key| evaluate(key, batch)).collect()
    }

    /// The arguments of all aggregates for a batch.
    pub(super) fn args(&self, batch: &RecordBatch) -> Result<AggregateArgs> {
        let of_one = |spec: &AggregateSpec| {
            if spec.bound.shortcut == Some(Shortcut::CountAll) {
                return Ok(Vec::new());
            }
            spec.args.iter().map(|arg| evaluate(arg, batch)).collect()
        };
        self.aggregates.iter().map(of_one).collect()
    }
}

fn evaluate(expr: &Arc<dyn PhysicalExpr>, batch: &RecordBatch) -> Result<ArrayRef> {
    expr.evaluate(batch)?.into_array(batch.num_rows())
}
