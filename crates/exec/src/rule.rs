//! Swaps DataFusion's operators for ours where ours are better.

use std::sync::Arc;

use basalt_analyzer::udaf::AggregateUdf;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;

use crate::group_by::{AggregateSpec, GroupByExec, Grouping, Options, Thresholds};
use crate::sort;

mod compile_expressions;
mod extremes;
mod filter_rows;
mod filters;
mod grouping_sets;
mod helpful;
mod hold_projections;
mod keep_sorts;
mod known_counts;
mod merge_joins;
mod number_keys;
mod row_counts;
mod sorts;
mod top_bounds;
mod top_groups;
mod whole_sorts;

pub use compile_expressions::CompileExpressions;
pub use filter_rows::SwapFilterRows;
pub use filters::SwapFilters;
pub use helpful::HelpfulRules;
use hold_projections::{HoldProjections, MOVES_PROJECTIONS};
pub use keep_sorts::KeepSorts;
pub(crate) use keep_sorts::{follows_rows, follows_sort, keeps_order};
use known_counts::known_counts;
pub use merge_joins::{Joins, MergeJoins};
pub use number_keys::NumberKeys;
pub use sorts::SwapSorts;
pub use top_bounds::BoundScans;
pub use whole_sorts::WholeSorts;

/// The rule that gives every partition and order that an operator needs; ours must come before.
const DISTRIBUTION_RULE: &str = "EnsureRequirements";

/// A rule that answers aggregates of DataFusion from statistics: none of ours is one of them.
const STATISTICS_RULE: &str = "aggregate_statistics";

/// The rule that checks plans; behind it operators change, but not what they give.
const LAST_RULE: &str = "SanityCheckPlan";

/// Swaps operators in a plan whose partitions and orders are not arranged yet.
#[derive(Debug)]
pub struct SwapOperators {
    group_by: Option<Options>,
}

impl SwapOperators {
    /// A rule that groups rows as `group_by` says; none leaves that to DataFusion.
    pub fn new(group_by: Option<Options>) -> Self {
        Self { group_by }
    }

    /// DataFusion's rules with ours at their places; `sort` says how rows are sorted, `joins` how they find those
    /// of another table.
    pub fn rules(
        group_by: Option<Options>,
        sort: Option<sort::Options>,
        joins: Joins,
    ) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
        let mut rules = PhysicalOptimizer::new().rules;
        rules.retain(|rule| rule.name() != STATISTICS_RULE);
        for rule in &mut rules {
            if rule.name() == MOVES_PROJECTIONS {
                *rule = Arc::new(HoldProjections(Arc::clone(rule)));
            }
        }
        let place = rules.iter().position(|r| r.name() == DISTRIBUTION_RULE);
        if let Some(place) = place {
            rules.insert(place, Arc::new(Self::new(group_by)));
            rules.insert(place + 1, Arc::new(KeepSorts));
            if joins == Joins::Merge {
                rules.insert(place, Arc::new(MergeJoins));
            }
        }
        if let Some(options) = sort {
            let place = rules.iter().position(|r| r.name() == LAST_RULE);
            let place = place.unwrap_or(rules.len());
            rules.insert(place, Arc::new(SwapSorts::new(options)));
            rules.insert(place + 1, Arc::new(BoundScans));
        }
        if let Some(options) = group_by {
            let (keys, external_bytes) = (options.numbered_keys, options.external_bytes);
            rules.push(Arc::new(NumberKeys::new(keys, external_bytes)));
        }
        rules.push(Arc::new(SwapFilters));
        rules.push(Arc::new(WholeSorts));
        rules
    }
}

/// The plan with what `swap` gives for an operator in its place; inputs come before what reads them.
pub(crate) fn swapped(
    plan: Arc<dyn ExecutionPlan>,
    mut swap: impl FnMut(&Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let visit = |node: Arc<dyn ExecutionPlan>| {
        Ok(match swap(&node)? {
            Some(other) => Transformed::yes(other),
            None => Transformed::no(node),
        })
    };
    plan.transform_up(visit).data()
}

impl PhysicalOptimizerRule for SwapOperators {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(options) = self.group_by else {
            return Ok(plan);
        };
        let num_partitions = config.execution.target_partitions;
        swapped(plan, |node| {
            let sort = node.downcast_ref::<SortExec>();
            let limit = node.downcast_ref::<GlobalLimitExec>();
            let of_sort = sort.and_then(top_groups::sort_of_top);
            match of_sort.or_else(|| limit.and_then(top_groups::first_groups)) {
                Some(input) => {
                    replace_children_if_necessary(Arc::clone(node), vec![input]).map(Some)
                }
                None => group_by(node, num_partitions, options),
            }
        })
    }

    fn name(&self) -> &str {
        "SwapOperators"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Our operator for an aggregation that ends at `node`.
fn group_by(
    node: &Arc<dyn ExecutionPlan>,
    num_partitions: usize,
    options: Options,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(last) = node.downcast_ref::<AggregateExec>() else {
        return Ok(None);
    };
    let Some(first) = first_stage(last) else {
        return Ok(None);
    };
    let Some(grouping) = grouping(first, last) else {
        return Ok(None);
    };
    let make = |input: Arc<dyn ExecutionPlan>, grouping: Grouping| {
        let exec = GroupByExec::try_new(input, Arc::new(grouping), num_partitions)?;
        Ok(exec.with_options(options))
    };
    if !GroupByExec::supports(first.input(), &grouping.keys) {
        return Ok(None);
    }
    let ours = match first.group_expr() {
        keys if keys.is_single() => {
            let group = |input, grouping| Ok(Arc::new(make(input, grouping)?) as _);
            if let Some(known) = known_counts(first.input(), &grouping, &group)? {
                return Ok(Some(known));
            }
            let input = match row_counts::input_of_counts(first.input(), &grouping) {
                Some(input) => Some(input),
                None => extremes::input_of_extremes(first.input(), &grouping)?,
            };
            make(input.unwrap_or_else(|| Arc::clone(first.input())), grouping)?
        }
        sets => grouping_sets::by_sets(first.input(), sets, grouping, &make)?,
    };
    Ok(Some(Arc::new(ours)))
}

/// The stage that reads the rows; `None` if `last` does not end an aggregation.
fn first_stage(last: &AggregateExec) -> Option<&AggregateExec> {
    match last.mode() {
        AggregateMode::Single | AggregateMode::SinglePartitioned => Some(last),
        AggregateMode::Final | AggregateMode::FinalPartitioned => {
            let first = last.input().downcast_ref::<AggregateExec>()?;
            (*first.mode() == AggregateMode::Partial).then_some(first)
        }
        AggregateMode::Partial | AggregateMode::PartialReduce => None,
    }
}

/// What both stages compute, if our operator can.
fn grouping(first: &AggregateExec, last: &AggregateExec) -> Option<Grouping> {
    let stages = [first, last];
    let is_plain = |stage: &&AggregateExec| {
        stage.limit_options().is_none() && stage.filter_expr().iter().all(Option::is_none)
    };
    if !stages.iter().all(is_plain) {
        return None;
    }
    Some(Grouping {
        keys: first.group_expr().input_exprs(),
        aggregates: first
            .aggr_expr()
            .iter()
            .map(|a| aggregate(a))
            .collect::<Option<_>>()?,
        schema: last.schema(),
        thresholds: Thresholds::default(),
        top: None,
        kept_keys: None,
    })
}

/// The aggregate, if it is one of ours without DISTINCT and ORDER BY.
fn aggregate(expr: &AggregateFunctionExpr) -> Option<AggregateSpec> {
    let udf = expr.fun().inner().downcast_ref::<AggregateUdf>()?;
    let is_plain = !expr.is_distinct() && !expr.is_reversed() && expr.order_bys().is_empty();
    is_plain.then(|| AggregateSpec {
        bound: udf.bound().clone(),
        args: expr.expressions(),
    })
}
