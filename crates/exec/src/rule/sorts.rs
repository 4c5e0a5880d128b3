//! Puts our sort in the place of DataFusion's.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};

use super::swapped;
use crate::sort::{Limit, Options, SortRowsExec};
use crate::stream::StreamExec;

/// Swaps sorts once a plan has all that it needs.
#[derive(Debug)]
pub struct SwapSorts {
    options: Options,
}

impl SwapSorts {
    /// A rule whose sorts work as `options` say.
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    /// The same, with a part of the memory for each of the sorts that hold rows at the same time: both sides of joins that
    /// merge them.
    fn shared_by_joins(&self, plan: &Arc<dyn ExecutionPlan>) -> Result<Self> {
        let mut num_sides = 0;
        plan.apply(|node| {
            num_sides += 2 * usize::from(node.is::<SortMergeJoinExec>());
            Ok(TreeNodeRecursion::Continue)
        })?;
        let part = |bytes: usize| (bytes / num_sides.max(1)).max(1);
        Ok(Self::new(Options {
            external_bytes: self.options.external_bytes.map(part),
            ..self.options
        }))
    }

    /// Our operator for the one at `node`, whose inputs may be ours already.
    fn swap(&self, node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if let Some(sort) = node.downcast_ref::<SortExec>() {
            Ok(self.sort(sort)?.map(|sort| Arc::new(sort) as _))
        } else if let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() {
            merged(merge)
        } else if let Some(limit) = node.downcast_ref::<GlobalLimitExec>() {
            limited(limit)
        } else if let Some(step) = node.downcast_ref::<StreamExec>() {
            let input = limited_with_ties(step)?;
            input
                .map(|input| replace_children_if_necessary(Arc::clone(node), vec![input]))
                .transpose()
        } else {
            Ok(None)
        }
    }

    fn sort(&self, sort: &SortExec) -> Result<Option<SortRowsExec>> {
        if !SortRowsExec::supports(sort.input(), sort.expr()) {
            return Ok(None);
        }
        let num_partitions = sort.input().output_partitioning().partition_count();
        let is_partitioned = sort.preserve_partitioning() && num_partitions > 1;
        let input = if is_partitioned {
            Arc::clone(sort.input())
        } else {
            all_partitions(sort.input())
        };
        let ours = SortRowsExec::try_new(input, sort.expr().clone(), is_partitioned)?;
        let limit = Limit {
            fetch: sort.fetch(),
            ..Limit::default()
        };
        Ok(Some(ours.with_options(self.options).with_limit(limit)))
    }
}

/// The sort of a plan that only computes columns of its rows.
fn sort_below(plan: &Arc<dyn ExecutionPlan>) -> Option<&SortRowsExec> {
    match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => sort_below(projection.input()),
        None => plan.downcast_ref::<SortRowsExec>(),
    }
}

/// The same plan with another sort.
fn with_sort(plan: &Arc<dyn ExecutionPlan>, sort: SortRowsExec) -> Result<Arc<dyn ExecutionPlan>> {
    match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => {
            let input = with_sort(projection.input(), sort)?;
            replace_children_if_necessary(Arc::clone(plan), vec![input])
        }
        None => Ok(Arc::new(sort)),
    }
}

/// One sort of all rows instead of a sort of each partition and a merge.
fn merged(merge: &SortPreservingMergeExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(sort) = sort_below(merge.input()) else {
        return Ok(None);
    };
    if sort.limit().skip > 0 {
        return Ok(None);
    }
    let fetch = match (merge.fetch(), sort.limit().fetch) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let Some(input) = sort.children().first().map(|input| all_partitions(input)) else {
        return Ok(None);
    };
    let whole = sort.over(input, false)?.with_limit(Limit {
        fetch,
        ..Limit::default()
    });
    let ours = with_sort(merge.input(), whole)?;
    let sort = merge.input().downcast_ref::<SortRowsExec>();
    // A sort leaves out keys that are the same in all rows, which its merge has.
    let is_same = sort.is_some_and(|sort| merge.expr() == sort.ordering())
        || ours
            .equivalence_properties()
            .ordering_satisfy(merge.expr().iter().cloned())?;
    Ok(is_same.then_some(ours))
}

/// A sort that leaves out what the limit does: parts of no wanted row need not be sorted.
fn limited(limit: &GlobalLimitExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let sort = sort_below(limit.input()).filter(|sort| !sort.is_partitioned());
    let Some(sort) = sort.filter(|sort| sort.limit().skip == 0) else {
        return Ok(None);
    };
    let skip = limit.skip();
    // The sort's own limit counts the rows that are skipped.
    let given = sort.limit().fetch.map(|fetch| fetch.saturating_sub(skip));
    let fetch = match (limit.fetch(), given) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let sort = sort.clone().with_limit(Limit {
        skip,
        fetch,
        with_ties: false,
    });
    with_sort(limit.input(), sort).map(Some)
}

/// The input of LIMIT … WITH TIES with a sort that gives no rows that are surely after these.
fn limited_with_ties(step: &StreamExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(num_rows) = step.rows_before_ties() else {
        return Ok(None);
    };
    let Ok([input]) = <[_; 1]>::try_from(step.children()) else {
        return Ok(None);
    };
    let is_whole =
        |sort: &&SortRowsExec| sort.limit() == Limit::default() && !sort.is_partitioned();
    let Some(sort) = sort_below(input).filter(is_whole) else {
        return Ok(None);
    };
    let sort = sort.clone().with_limit(Limit {
        fetch: Some(num_rows),
        with_ties: true,
        ..Limit::default()
    });
    with_sort(input, sort).map(Some)
}

/// The plan below steps that only bring partitions together or deal batches out.
fn all_partitions(input: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    if let Some(coalesce) = input.downcast_ref::<CoalescePartitionsExec>()
        && coalesce.fetch().is_none()
    {
        return all_partitions(coalesce.input());
    }
    if let Some(dealt) = input.downcast_ref::<RepartitionExec>()
        && matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_))
    {
        return all_partitions(dealt.input());
    }
    Arc::clone(input)
}

impl PhysicalOptimizerRule for SwapSorts {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let ours = self.shared_by_joins(&plan)?;
        swapped(plan, |node| ours.swap(node))
    }

    fn name(&self) -> &str {
        "SwapSorts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
