//! Runs those rules that can change a plan.
//!
//! DataFusion's rules and ours walk a plan some forty times. In that of one SELECT from one table most of
//! them find nothing: there is no join, no window and no limit but that of a sort, no key of the sort is
//! constant, and our operators take their rows from as many partitions as there are, in any order. Planning is
//! most of the time of a short query, and takes four times as long behind a scan that went through all of the cache.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNode;
use datafusion::error::Result;
use datafusion::physical_optimizer::{
    ConfigOnlyContext, PhysicalOptimizerContext, PhysicalOptimizerRule,
};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// The rules that find something in a plain plan ([`is_plain`]).
const OF_PLAIN: &[&str] = &[
    "FilterPushdown",
    "SwapOperators",
    "ProjectionPushdown",
    "FilterPushdown(Post)",
    "EnsureCooperative",
    "SwapSorts",
    "BoundScans",
    "NumberKeys",
    "SwapFilters",
    "DealBatches",
    "CompileExpressions",
    "SwapFilterRows",
];

/// Those of them that look for a condition.
const OF_FILTERS: &[&str] = &["FilterPushdown", "FilterPushdown(Post)"];

/// All rules, of which each plan goes through those that can help.
#[derive(Debug)]
pub struct HelpfulRules {
    all: Vec<Rule>,
    of_plain: Vec<Rule>,
}

impl HelpfulRules {
    /// A choice among `rules`, which keep their order.
    pub fn new(rules: Vec<Rule>) -> Self {
        let mut of_plain: Vec<Rule> = Vec::new();
        for rule in &rules {
            let is_new = of_plain.iter().all(|known| known.name() != rule.name());
            if is_new && OF_PLAIN.contains(&rule.name()) {
                of_plain.push(Arc::clone(rule));
            }
        }
        Self {
            all: rules,
            of_plain,
        }
    }

    /// The plan behind the rules of plain plans; none if it is not plain, or keeps operators that need more.
    fn optimized_plain(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        context: &dyn PhysicalOptimizerContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if !is_plain(plan, context.config_options()) {
            return Ok(None);
        }
        let has_filter = plan.exists(|node| Ok(node.is::<FilterExec>()))?;
        let rules = self.of_plain.iter();
        let rules = rules.filter(|rule| has_filter || !OF_FILTERS.contains(&rule.name()));
        let plan = behind(rules, Arc::clone(plan), context)?;
        let is_ours =
            !plan.exists(|node| Ok(node.is::<AggregateExec>() || node.is::<SortExec>()))?;
        Ok(is_ours.then_some(plan))
    }
}

/// Whether the plan is that of one SELECT from one table: conditions, projections and aggregations, whose
/// rows a sort or its limit may end, over a source with a partition for every thread.
fn is_plain(plan: &Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> bool {
    let mut node = plan;
    let mut may_end = true;
    loop {
        let children = node.children();
        let is_limit = node.is::<GlobalLimitExec>();
        let is_step = match children.as_slice() {
            [] => return has_all_partitions(node, config),
            [_] if node.is::<ProjectionExec>() => true,
            [input] if is_limit => may_end && ends_in_sort(input),
            [_] => match node.downcast_ref::<SortExec>() {
                Some(sort) => std::mem::take(&mut may_end) && needs_all_keys(sort),
                None => node.is::<FilterExec>() || node.is::<AggregateExec>(),
            },
            _ => false,
        };
        if !is_step {
            return false;
        }
        may_end &= is_limit || node.is::<ProjectionExec>();
        node = children[0];
    }
}

/// Whether a sort has work to do with each of its keys. Where one is the same in all rows, other rules take it out,
/// perhaps the whole sort, and its limit goes to what is below.
fn needs_all_keys(sort: &SortExec) -> bool {
    let known = sort.input().equivalence_properties();
    let mut keys = sort.expr().iter();
    keys.all(|key| known.is_expr_constant(&key.expr).is_none())
        && known
            .ordering_satisfy(sort.expr().iter().cloned())
            .is_ok_and(|is_sorted| !is_sorted)
}

/// Whether a plan only computes columns of the rows of a sort.
fn ends_in_sort(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => ends_in_sort(projection.input()),
        None => plan.is::<SortExec>(),
    }
}

/// Whether rows of a source need not be dealt out to other threads: it has a partition for each, or one batch.
fn has_all_partitions(source: &Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> bool {
    let num_partitions = source.output_partitioning().partition_count();
    if num_partitions >= config.execution.target_partitions
        || !config.optimizer.enable_round_robin_repartition
    {
        return true;
    }
    let statistics = StatisticsContext::new().compute(source.as_ref(), &StatisticsArgs::new());
    statistics.is_ok_and(|statistics| match statistics.num_rows {
        Precision::Exact(num_rows) => num_rows <= config.execution.batch_size.get(),
        Precision::Inexact(_) | Precision::Absent => false,
    })
}

/// The plan as the rules rewrite it, one after the other.
fn behind<'a>(
    rules: impl Iterator<Item = &'a Rule>,
    mut plan: Arc<dyn ExecutionPlan>,
    context: &dyn PhysicalOptimizerContext,
) -> Result<Arc<dyn ExecutionPlan>> {
    for rule in rules {
        let optimized = rule.optimize_with_context(plan, context);
        plan = optimized.map_err(|e| e.context(rule.name()))?;
    }
    Ok(plan)
}

impl PhysicalOptimizerRule for HelpfulRules {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.optimize_with_context(plan, &ConfigOnlyContext::new(config))
    }

    fn optimize_with_context(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        context: &dyn PhysicalOptimizerContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match self.optimized_plain(&plan, context)? {
            Some(plan) => Ok(plan),
            None => behind(self.all.iter(), plan, context),
        }
    }

    fn name(&self) -> &str {
        "HelpfulRules"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
