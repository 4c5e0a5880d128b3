//! Lets a cancelled query leave a join that compares all rows of both sides.
//!
//! DataFusion's joins evaluate their filter for pieces of the product of both sides and give control
//! back only when enough rows have passed it. A filter that lets nothing pass would keep a thread for
//! as long as the product takes, so the filter itself looks whether the query may go on. One batch of
//! each side can also make more rows than anybody wants to wait for while no source is asked for
//! another batch, so each batch that leaves a join is a moment to look as well.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema};
use basalt_analyzer::into_plan_error;
use datafusion::common::config::ConfigOptions;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder, SortMergeJoinExec,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::{StreamExt, TryStreamExt, stream};

use crate::QueryControl;
use crate::one_input::{ReadExec, Reading};
use crate::rule::swapped;

/// The rule that makes the filters of joins interruptible.
#[derive(Debug)]
pub struct InterruptibleJoins {
    control: Arc<QueryControl>,
}

impl InterruptibleJoins {
    /// For the joins of the query that `control` belongs to.
    pub fn new(control: Arc<QueryControl>) -> Self {
        Self { control }
    }

    fn filter(&self, filter: &JoinFilter) -> JoinFilter {
        let expr = Interruptible {
            inner: Arc::clone(filter.expression()),
            control: Arc::clone(&self.control),
        };
        JoinFilter::new(
            Arc::new(expr),
            filter.column_indices().to_vec(),
            Arc::clone(filter.schema()),
        )
    }

    /// A join that copies each row of its left side for every row of a batch of the right one: in a query
    /// with a limit of memory, these batches are short if the copies may be long.
    fn in_short_batches(&self, node: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        let Some(join) = node.downcast_ref::<CrossJoinExec>() else {
            return node;
        };
        let left = join.left().schema();
        let is_wide = |field: &FieldRef| field.data_type().primitive_width().is_none();
        if self.control.account().is_nobody() || !left.fields().iter().any(is_wide) {
            return node;
        }
        let right = ReadExec::new(Arc::clone(join.right()), ShortBatches);
        let left = Arc::clone(join.left());
        Arc::new(CrossJoinExec::new(left, Arc::new(right)))
    }

    fn join(&self, node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>()
            && let Some(filter) = join.filter()
        {
            let filter = Some(self.filter(filter));
            let join = NestedLoopJoinExecBuilder::from(join).with_filter(filter);
            return Ok(Some(Arc::new(join.build()?)));
        }
        if let Some(join) = node.downcast_ref::<HashJoinExec>()
            && let Some(filter) = join.filter()
        {
            let filter = Some(self.filter(filter));
            return join.builder().with_filter(filter).build_exec().map(Some);
        }
        Ok(None)
    }
}

impl PhysicalOptimizerRule for InterruptibleJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, |node| {
            if !is_join(node) {
                return Ok(None);
            }
            let node = self.in_short_batches(Arc::clone(node));
            let join = self.join(&node)?.unwrap_or(node);
            let reading = UntilEnd(Arc::clone(&self.control));
            Ok(Some(Arc::new(ReadExec::new(join, reading)) as _))
        })
    }

    fn name(&self) -> &str {
        "InterruptibleJoins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn is_join(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.is::<HashJoinExec>()
        || node.is::<SortMergeJoinExec>()
        || node.is::<NestedLoopJoinExec>()
        || node.is::<CrossJoinExec>()
}

/// Rows of a short batch.
const SHORT_ROWS: usize = 512;

/// Cuts batches.
#[derive(Debug)]
struct ShortBatches;

impl Reading for ShortBatches {
    const NAME: &'static str = "ShortBatchesExec";

    fn anew(&self) -> Self {
        Self
    }

    fn read(
        &self,
        batches: SendableRecordBatchStream,
        _partition: usize,
    ) -> SendableRecordBatchStream {
        let schema = batches.schema();
        let cut = |batch: RecordBatch| {
            let num_rows = batch.num_rows();
            let starts = (0..num_rows).step_by(SHORT_ROWS);
            stream::iter(
                starts.map(move |start| Ok(batch.slice(start, SHORT_ROWS.min(num_rows - start)))),
            )
        };
        let cut = batches.map_ok(cut).try_flatten();
        Box::pin(RecordBatchStreamAdapter::new(schema, cut))
    }
}

/// Fails at the next batch when its query must end.
#[derive(Debug)]
struct UntilEnd(Arc<QueryControl>);

impl Reading for UntilEnd {
    const NAME: &'static str = "InterruptibleExec";

    fn anew(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    fn read(
        &self,
        batches: SendableRecordBatchStream,
        _partition: usize,
    ) -> SendableRecordBatchStream {
        until_end(&self.0, batches)
    }
}

/// The batches, of which the next is an error when the query must end.
pub(crate) fn until_end(
    control: &Arc<QueryControl>,
    batches: SendableRecordBatchStream,
) -> SendableRecordBatchStream {
    let (control, schema) = (Arc::clone(control), batches.schema());
    let batches = batches.map(move |batch| {
        control.check().map_err(into_plan_error)?;
        batch
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, batches))
}

/// An expression that fails when its query must end.
#[derive(Debug)]
struct Interruptible {
    inner: Arc<dyn PhysicalExpr>,
    control: Arc<QueryControl>,
}

impl PartialEq for Interruptible {
    fn eq(&self, other: &Self) -> bool {
        self.inner.eq(&other.inner)
    }
}

impl Eq for Interruptible {}

impl Hash for Interruptible {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl fmt::Display for Interruptible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PhysicalExpr for Interruptible {
    fn data_type(&self, input: &Schema) -> Result<DataType> {
        self.inner.data_type(input)
    }

    fn nullable(&self, input: &Schema) -> Result<bool> {
        self.inner.nullable(input)
    }

    fn return_field(&self, input: &Schema) -> Result<FieldRef> {
        self.inner.return_field(input)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.control.check().map_err(into_plan_error)?;
        self.inner.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match <[Arc<dyn PhysicalExpr>; 1]>::try_from(children) {
            Ok([inner]) => Ok(Arc::new(Self {
                inner,
                control: Arc::clone(&self.control),
            })),
            Err(_) => internal_err!("an interruptible expression has one child"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
