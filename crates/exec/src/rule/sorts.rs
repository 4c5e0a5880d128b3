//! Puts our sort in the place of DataFusion's.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};

use crate::sort::{Limit, SortRowsExec, Strategy};

/// Rows up to which DataFusion's operator keeps the best rows only, which is faster than to sort all.
const MAX_TOP_ROWS: usize = 8192;

/// Swaps sorts once a plan has all that it needs.
#[derive(Debug)]
pub struct SwapSorts {
    strategy: Strategy,
}

impl SwapSorts {
    /// A rule whose sorts work as `strategy` says.
    pub fn new(strategy: Strategy) -> Self {
        Self { strategy }
    }

    /// Our operator for the one at `node`, whose inputs may be ours already.
    fn swap(&self, node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let ours = if let Some(sort) = node.downcast_ref::<SortExec>() {
            self.sort(sort)?
        } else if let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() {
            merged(merge)?
        } else if let Some(limit) = node.downcast_ref::<GlobalLimitExec>() {
            limited(limit)
        } else {
            None
        };
        Ok(ours.map(|sort| Arc::new(sort) as _))
    }

    fn sort(&self, sort: &SortExec) -> Result<Option<SortRowsExec>> {
        let is_top = sort.fetch().is_some_and(|fetch| fetch <= MAX_TOP_ROWS);
        if is_top || !SortRowsExec::supports(sort.input(), sort.expr()) {
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
            skip: 0,
            fetch: sort.fetch(),
        };
        Ok(Some(ours.with_strategy(self.strategy).with_limit(limit)))
    }
}

/// One sort of all rows instead of a sort of each partition and a merge.
fn merged(merge: &SortPreservingMergeExec) -> Result<Option<SortRowsExec>> {
    let Some(sort) = merge.input().downcast_ref::<SortRowsExec>() else {
        return Ok(None);
    };
    if merge.expr() != sort.ordering() || sort.limit().skip > 0 {
        return Ok(None);
    }
    let fetch = match (merge.fetch(), sort.limit().fetch) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let Some(input) = sort.children().first().map(|input| all_partitions(input)) else {
        return Ok(None);
    };
    let ours = sort.over(input, false)?;
    Ok(Some(ours.with_limit(Limit { skip: 0, fetch })))
}

/// A sort that leaves out what the limit does: parts of no wanted row need not be sorted.
fn limited(limit: &GlobalLimitExec) -> Option<SortRowsExec> {
    let sort = limit.input().downcast_ref::<SortRowsExec>()?;
    if sort.limit().skip > 0 {
        return None;
    }
    let skip = limit.skip();
    // The sort's own limit counts the rows that are skipped.
    let given = sort.limit().fetch.map(|fetch| fetch.saturating_sub(skip));
    let fetch = match (limit.fetch(), given) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    Some(sort.clone().with_limit(Limit { skip, fetch }))
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
        let swap = |node: Arc<dyn ExecutionPlan>| {
            Ok(match self.swap(&node)? {
                Some(ours) => Transformed::yes(ours),
                None => Transformed::no(node),
            })
        };
        plan.transform_up(swap).data()
    }

    fn name(&self) -> &str {
        "SwapSorts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
