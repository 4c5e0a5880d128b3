//! Groups in a plan: all partitions of the result come from one run over the input.

use std::fmt;
use std::sync::{Arc, Mutex};

use arrow::datatypes::{DataType, Fields, Schema};
use basalt_hashtable::Fold;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties, SendableRecordBatchStream,
};
use futures::future::{BoxFuture, Shared};

use super::Grouping;
use super::bytes_form::RowForm;
use super::fused_filter::{CompiledWhole, Fused};
use super::key_form::Form;
use super::merged::{Emit, Merged};
use super::observed::Observed;
use super::options::{Options, Tuning};
use super::top::{TopGroups, TopOrder};
use crate::compile::Switch;
use crate::handover::hand_over;
use crate::one_input::only_input;
use crate::predicate::Predicate;
use basalt_analyzer::lazy_logic::made_lazy;

/// Most rows of a batch of the result.
const MAX_BATCH_ROWS: usize = 65_505;

/// Rows of a limit up to which groups that it does not want are left out early.
const MAX_TOP_ROWS: usize = 8192;

pub(super) type MergedFuture =
    Shared<BoxFuture<'static, Result<Arc<dyn Merged>, Arc<DataFusionError>>>>;

/// Grouping of the rows of `input`.
#[derive(Debug)]
pub struct GroupByExec {
    pub(super) input: Arc<dyn ExecutionPlan>,
    pub(super) grouping: Arc<Grouping>,
    /// Picks rows of the input for aggregation without keys.
    pub(super) predicate: Option<Predicate>,
    /// The whole of it, if that can be compiled.
    pub(super) compiled: Option<CompiledWhole>,
    pub(super) form: Form,
    pub(super) options: Options,
    pub(super) forced_tuning: Option<Tuning>,
    pub(super) run: Mutex<Run>,
    /// Notes of the last run.
    pub(super) observed: Mutex<Option<Arc<Observed>>>,
    /// What the last run has compiled.
    pub(super) switch: Mutex<Option<Arc<Switch>>>,
    pub(super) metrics: ExecutionPlanMetricsSet,
    pub(super) properties: Arc<PlanProperties>,
}

/// The run over the input that partitions of the result share.
#[derive(Default)]
pub(super) struct Run {
    pub(super) merged: Option<MergedFuture>,
    /// Which partitions have been asked for; if one is again, a new run starts.
    pub(super) taken: Vec<bool>,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl GroupByExec {
    /// Whether keys of these expressions can be grouped.
    pub fn supports(input: &Arc<dyn ExecutionPlan>, keys: &[Arc<dyn PhysicalExpr>]) -> bool {
        match form(input, keys) {
            Ok(Form::Rows(types)) => RowForm::<Fold>::supports(&types),
            Ok(_) => true,
            Err(_) => false,
        }
    }

    /// Grouping of the rows of `input` into `num_partitions` partitions; one without keys.
    ///
    /// # Errors
    /// If the types of keys cannot be told.
    pub fn try_new(
        input: Arc<dyn ExecutionPlan>,
        grouping: Arc<Grouping>,
        num_partitions: usize,
    ) -> Result<Self> {
        let form = form(&input, &grouping.keys)?;
        let num_partitions = if grouping.keys.is_empty() {
            1
        } else {
            num_partitions.max(1)
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&grouping.schema)),
            Partitioning::UnknownPartitioning(num_partitions),
            EmissionType::Final,
            input.boundedness(),
        );
        Ok(Self {
            input,
            grouping,
            predicate: None,
            compiled: None,
            form,
            options: Options::default(),
            forced_tuning: None,
            run: Mutex::default(),
            observed: Mutex::default(),
            switch: Mutex::default(),
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(properties),
        })
    }

    /// The same with some things forced.
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self.forced_tuning = options.thresholds.forced_tuning();
        Arc::make_mut(&mut self.grouping).thresholds = options.thresholds;
        self
    }

    /// The same with the condition of a filter below as its own, if rows need not be copied then.
    ///
    /// # Errors
    /// If the plan is damaged.
    pub fn fused_with_filter(&self) -> Result<Option<Self>> {
        if !self.may_be_fused() || self.predicate.is_some() {
            return Ok(None);
        }
        let compiles = self.options.compile.is_some();
        let Some(fused) = Fused::of(&self.grouping, &self.input, compiles) else {
            return Ok(None);
        };
        let num_partitions = self.properties.partitioning.partition_count();
        let new = Self::try_new(fused.input, Arc::new(fused.grouping), num_partitions)?;
        Ok(Some(Self {
            predicate: Some(fused.predicate),
            compiled: fused.compiled,
            options: self.options,
            forced_tuning: self.forced_tuning,
            ..new
        }))
    }

    /// Whether rows are taken by tasks that may look at a condition first, and be compiled.
    fn may_be_fused(&self) -> bool {
        matches!(self.form, Form::NoKeys) || self.options.strategy.is_adaptive()
    }

    /// The same in compiled code as soon as it pays, if it can be compiled.
    ///
    /// # Errors
    /// If the plan is damaged.
    pub fn with_compiled(&self) -> Result<Option<Self>> {
        let is_asked = self.may_be_fused() && self.options.compile.is_some();
        if !is_asked || self.compiled.is_some() || self.predicate.is_some() {
            return Ok(None);
        }
        let schema = self.input.schema();
        let Some(compiled) = CompiledWhole::of(&self.grouping, None, &schema) else {
            return Ok(None);
        };
        let (input, grouping) = (Arc::clone(&self.input), Arc::clone(&self.grouping));
        let num_partitions = self.properties.partitioning.partition_count();
        Ok(Some(Self {
            compiled: Some(compiled),
            options: self.options,
            forced_tuning: self.forced_tuning,
            ..Self::try_new(input, grouping, num_partitions)?
        }))
    }

    /// What is computed.
    pub(crate) fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// Whether a limit on the result takes the first groups by their keys.
    pub(crate) fn takes_first_by_key(&self) -> bool {
        self.options.first_by_key
    }

    /// Whether a result follows the order of the input's rows.
    pub fn follows_order(&self) -> bool {
        self.grouping.follows_order()
    }

    /// Whether a result follows the order of rows that are sorted.
    pub fn follows_sort(&self) -> bool {
        self.grouping.follows_sort()
    }

    /// The same with sides of AND and OR in keys and arguments held back that may fail.
    ///
    /// # Errors
    /// If the plan is damaged.
    pub fn with_lazy_logic(&self) -> Result<Option<Self>> {
        let mut grouping = Grouping::clone(&self.grouping);
        let args = grouping.aggregates.iter_mut().flat_map(|a| &mut a.args);
        let mut is_changed = false;
        for expr in args.chain(&mut grouping.keys) {
            if let Some(lazy) = made_lazy(expr)? {
                *expr = lazy;
                is_changed = true;
            }
        }
        if !is_changed {
            return Ok(None);
        }
        let num_partitions = self.properties.partitioning.partition_count();
        let input = Arc::clone(&self.input);
        Ok(Some(Self {
            predicate: self.predicate.clone(),
            options: self.options,
            forced_tuning: self.forced_tuning,
            ..Self::try_new(input, Arc::new(grouping), num_partitions)?
        }))
    }

    /// The same with arguments for which `compiled` has put parts into compiled code, if there are such parts and it is not
    /// compiled as a whole.
    ///
    /// # Errors
    /// What `compiled` reports, and if the plan is damaged.
    pub(crate) fn with_compiled_args(
        &self,
        compiled: &impl Fn(&mut Arc<dyn PhysicalExpr>) -> Result<bool>,
    ) -> Result<Option<Self>> {
        if self.compiled.is_some() {
            return Ok(None);
        }
        let mut grouping = Grouping::clone(&self.grouping);
        let mut is_changed = false;
        for arg in grouping.aggregates.iter_mut().flat_map(|a| &mut a.args) {
            is_changed |= compiled(arg)?;
        }
        if !is_changed {
            return Ok(None);
        }
        let num_partitions = self.properties.partitioning.partition_count();
        let input = Arc::clone(&self.input);
        Ok(Some(Self {
            predicate: self.predicate.clone(),
            options: self.options,
            forced_tuning: self.forced_tuning,
            ..Self::try_new(input, Arc::new(grouping), num_partitions)?
        }))
    }

    /// The same over an input that has the numbers of strings in those keys for which `is_number` holds.
    ///
    /// # Errors
    /// If the plan is damaged.
    pub(crate) fn with_numbers(
        &self,
        input: Arc<dyn ExecutionPlan>,
        is_number: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let mut grouping = Grouping::clone(&self.grouping);
        let fields = grouping.schema.fields().iter().enumerate();
        let fields = fields.map(|(place, field)| match is_number(place) {
            true => Arc::new(field.as_ref().clone().with_data_type(DataType::UInt32)),
            false => Arc::clone(field),
        });
        grouping.schema = Arc::new(Schema::new(fields.collect::<Fields>()));
        let num_partitions = self.properties.partitioning.partition_count();
        Ok(Self {
            options: self.options,
            forced_tuning: self.forced_tuning,
            ..Self::try_new(input, Arc::new(grouping), num_partitions)?
        })
    }

    /// The same without groups that a sort by column `column` of the result with a limit of
    /// `order.num_rows` does not want; `None` if it cannot tell which these are.
    pub fn with_top(&self, column: usize, order: TopOrder) -> Option<Self> {
        let num_keys = self.grouping.keys.len();
        let aggregate = column.checked_sub(num_keys)?;
        // Whether its results have ranks is seen when there are some.
        self.grouping.aggregates.get(aggregate)?;
        if num_keys == 0 || order.num_rows == 0 || order.num_rows > MAX_TOP_ROWS {
            return None;
        }
        let mut grouping = Grouping::clone(&self.grouping);
        let top = TopGroups::new(aggregate, order);
        grouping.top = Some(Arc::new(top));
        let num_partitions = self.properties.partitioning.partition_count();
        let new = Self::try_new(Arc::clone(&self.input), Arc::new(grouping), num_partitions);
        Some(Self {
            options: self.options,
            forced_tuning: self.forced_tuning,
            ..new.ok()?
        })
    }
}

fn form(input: &Arc<dyn ExecutionPlan>, keys: &[Arc<dyn PhysicalExpr>]) -> Result<Form> {
    let schema = input.schema();
    let key = |key: &Arc<dyn PhysicalExpr>| Ok((key.data_type(&schema)?, key.nullable(&schema)?));
    let keys: Vec<_> = keys.iter().map(key).collect::<Result<_>>()?;
    Ok(Form::of(&keys))
}

impl DisplayAs for GroupByExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.grouping.keys.iter().map(|k| k.to_string()).collect();
        let names = self
            .grouping
            .aggregates
            .iter()
            .map(|a| a.bound.name.as_str());
        write!(
            f,
            "GroupByExec: keys=[{}], aggregates=[{}], strategy={}, table={}",
            keys.join(", "),
            names.collect::<Vec<_>>().join(", "),
            self.options.strategy.name(),
            self.form.name()
        )?;
        if let Some(predicate) = &self.predicate {
            write!(f, ", filter={}", predicate.whole())?;
        }
        match &self.grouping.top {
            Some(top) => write!(f, ", top={}", top.order.num_rows),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for GroupByExec {
    fn name(&self) -> &str {
        "GroupByExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let args = self.grouping.aggregates.iter().flat_map(|a| &a.args);
        for expr in self.grouping.keys.iter().chain(args) {
            if f(expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let num_partitions = self.properties.partitioning.partition_count();
        let grouping = Arc::clone(&self.grouping);
        let new = Self::try_new(only_input(children)?, grouping, num_partitions)?;
        Ok(Arc::new(Self {
            predicate: self.predicate.clone(),
            compiled: self.compiled.clone(),
            options: self.options,
            forced_tuning: self.forced_tuning,
            ..new
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let merged = self.merged(partition, &context)?;
        let max_rows = context
            .session_config()
            .batch_size()
            .clamp(1, MAX_BATCH_ROWS);
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let state = (merged, None::<Box<dyn Emit>>, true);
        let stream = futures::stream::try_unfold(state, move |(merged, mut groups, is_first)| {
            let metrics = metrics.clone();
            async move {
                let source = merged.clone().await.map_err(DataFusionError::Shared)?;
                if is_first {
                    // The other partitions have waited for the same.
                    hand_over().await;
                }
                let _timer = metrics.elapsed_compute().timer();
                loop {
                    if let Some(emit) = &mut groups
                        && let Some(batch) = emit.next_batch(max_rows)?
                    {
                        metrics.record_output(batch.num_rows());
                        return Ok(Some((batch, (merged, groups, false))));
                    }
                    // What is out needs its memory no more.
                    drop(groups.take());
                    groups = source.next_groups()?;
                    if groups.is_none() {
                        return Ok(None);
                    }
                }
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            stream,
        )))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
