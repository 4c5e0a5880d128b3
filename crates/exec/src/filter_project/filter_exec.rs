//! The operator that drops rows.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, stream};

use super::condition::Condition;
use super::kept_rows::{KeptRows, Sizes};
use super::projected_rows::{ProjectedRows, Projection};
use crate::one_input::only_input;
use crate::report::Account;

/// The rows of `input` for which a condition holds, in their order.
#[derive(Debug)]
pub struct FilterRowsExec {
    /// What it does the work of: who plans knows the same of both.
    filter: FilterExec,
    input: Arc<dyn ExecutionPlan>,
    condition: Condition,
    /// Where the columns of the result are in the input's.
    places: Arc<[usize]>,
    limit: Option<usize>,
    /// Whether rows of different batches stay apart.
    keeps_batches: bool,
    /// What is computed of the rows; none gives them as they are.
    projection: Option<Projection>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl FilterRowsExec {
    /// Does what `filter` does. Plans know the same of it, but no rule finds its condition: it comes last.
    pub fn of(filter: &FilterExec) -> Self {
        let input = filter.input();
        let places = match filter.projection() {
            Some(places) => places.iter().copied().collect(),
            None => (0..input.schema().fields().len()).collect(),
        };
        Self {
            filter: filter.clone(),
            condition: Condition::new(filter.predicate(), &input.schema()),
            input: Arc::clone(input),
            places,
            limit: filter.fetch(),
            keeps_batches: false,
            projection: None,
            properties: Arc::clone(filter.properties()),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The same with a batch for each batch of the input that has rows which pass: which rows come together does not
    /// depend on which thread gets which batches.
    pub(crate) fn by_batch(&self) -> Self {
        Self {
            keeps_batches: true,
            ..self.over(Arc::clone(&self.input))
        }
    }

    /// Does what `above`, which reads this operator, does, too; none if it must come behind.
    pub(crate) fn with_projection(&self, above: &ProjectionExec) -> Option<Self> {
        if self.limit.is_some() {
            return None;
        }
        let projection = match &self.projection {
            Some(below) => below.followed_by(above.expr(), above.schema())?,
            None => {
                let schemas = (above.schema(), &*self.schema());
                Projection::try_new(above.expr(), schemas, &self.condition)?
            }
        };
        Some(Self {
            projection: Some(projection),
            properties: Arc::clone(above.properties()),
            ..self.over(Arc::clone(&self.input))
        })
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        Self {
            filter: self.filter.clone(),
            input,
            condition: self.condition.clone(),
            places: Arc::clone(&self.places),
            limit: self.limit,
            keeps_batches: self.keeps_batches,
            projection: self.projection.clone(),
            properties: Arc::clone(&self.properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// What it tells of its last run.
    pub(crate) fn account(&self) -> Account {
        let mut account = Account {
            name: "Filter".to_owned(),
            facts: self.condition.facts(),
            ..Account::default()
        };
        if let Some(projection) = &self.projection {
            account.name = "Filter and projection".to_owned();
            account.facts.extend(projection.facts());
            account.outputs = projection.outputs();
        }
        account
    }
}

impl DisplayAs for FilterRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FilterRowsExec: {}", self.condition.expr())?;
        if let Some(projection) = &self.projection {
            write!(f, ", expr={projection}")?;
        }
        match self.limit {
            Some(limit) => write!(f, ", fetch={limit}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for FilterRowsExec {
    fn name(&self) -> &str {
        "FilterRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        f(self.condition.expr())
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.over(only_input(children)?)))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.filter.child_stats_requests(partition)
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        match self.projection {
            Some(_) => Ok(Arc::new(Statistics::new_unknown(&self.schema()))),
            None => self.filter.statistics_from_inputs(inputs, args),
        }
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let max_rows = batch_rows(self.places.len(), context.session_config().batch_size());
        let sizes = Sizes {
            min_rows: max_rows / 2,
            max_rows,
            limit: self.limit,
        };
        let places = Arc::clone(&self.places);
        let kept = KeptRows::new(self.filter.schema(), places, sizes);
        let run = Run {
            input: self.input.execute(partition, context)?,
            condition: self.condition.clone(),
            output: match &self.projection {
                Some(projection) => {
                    Output::Values(ProjectedRows::new(projection.clone(), kept, sizes))
                }
                None => Output::Rows(kept),
            },
            keeps_batches: self.keeps_batches,
            metrics: BaselineMetrics::new(&self.metrics, partition),
            is_over: false,
        };
        let batches = stream::unfold(run, |mut run| async move {
            let next = run.next().await.transpose()?;
            Some((next, run))
        });
        let batches = RecordBatchStreamAdapter::new(self.schema(), batches);
        Ok(Box::pin(batches))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// Values of all columns in a batch of the rows that pass, at most.
const BATCH_VALUES: usize = 4 << 20;

/// Rows to which such a batch is not cut, however many columns there are.
const MIN_BATCH_ROWS: usize = 128;

/// Most rows of a batch of so many columns: rows that wait for others take memory.
fn batch_rows(num_columns: usize, wanted: usize) -> usize {
    wanted.min((BATCH_VALUES / num_columns.max(1)).max(MIN_BATCH_ROWS))
}

/// What comes out.
enum Output {
    /// The rows that pass.
    Rows(KeptRows),
    /// What is computed of them.
    Values(ProjectedRows),
}

impl Output {
    fn push(&mut self, batch: &RecordBatch, condition: &Condition) -> Result<()> {
        match self {
            Self::Rows(rows) => rows.push(batch, condition.rows(batch)?),
            Self::Values(values) => values.push(batch, condition),
        }
    }

    fn complete(&mut self) -> Result<()> {
        match self {
            Self::Rows(rows) => rows.complete(),
            Self::Values(values) => values.complete(),
        }
    }

    fn pop(&mut self) -> Option<RecordBatch> {
        match self {
            Self::Rows(rows) => rows.pop(),
            Self::Values(values) => values.pop(),
        }
    }

    fn is_full(&self) -> bool {
        matches!(self, Self::Rows(rows) if rows.is_full())
    }
}

/// A partition that is being read.
struct Run {
    input: SendableRecordBatchStream,
    condition: Condition,
    output: Output,
    keeps_batches: bool,
    metrics: BaselineMetrics,
    is_over: bool,
}

impl Run {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.output.pop() {
                self.metrics.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
            if self.is_over {
                return Ok(None);
            }
            let batch = match self.output.is_full() {
                true => None,
                false => self.input.next().await.transpose()?,
            };
            let _clock = self.metrics.elapsed_compute().timer();
            match batch {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => {
                    self.output.push(&batch, &self.condition)?;
                    if self.keeps_batches {
                        self.output.complete()?;
                    }
                }
                None => {
                    self.output.complete()?;
                    self.is_over = true;
                    // What is below need not run any more.
                    self.input = empty(self.input.schema());
                }
            }
        }
    }
}

fn empty(schema: arrow::datatypes::SchemaRef) -> SendableRecordBatchStream {
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::empty()))
}

#[cfg(test)]
mod tests {
    use super::batch_rows;

    #[test]
    fn batches_of_many_columns_have_fewer_rows() {
        assert_eq!(batch_rows(0, 65_505), 65_505);
        assert_eq!(batch_rows(50, 65_505), 65_505);
        assert_eq!(batch_rows(5000, 65_505), 838);
        assert_eq!(batch_rows(5000, 3), 3);
        assert_eq!(batch_rows(1_000_000, 65_505), 128);
    }
}
