//! Puts a whole sort and a limit in the place of a top-N of DataFusion that would drop wanted rows.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;

use super::swapped;

/// Sorts all rows where keys are arrays or tuples.
///
/// DataFusion's top-N drops rows that are not less than the last of those that it keeps; it compares by Arrow's
/// comparison, for which NULLs inside of a key are less than values, and sorts by Arrow's rows, for which they
/// are greater. Ours has neither fault.
#[derive(Debug)]
pub struct WholeSorts;

/// The whole sort and limit for a top-N by such keys.
fn whole_sort(node: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let sort = node.downcast_ref::<SortExec>()?;
    let fetch = sort.fetch()?;
    let schema = sort.input().schema();
    let is_nested = |key: &PhysicalSortExpr| {
        let key = key.expr.data_type(&schema);
        key.is_ok_and(|key| key.is_nested())
    };
    if !sort.expr().iter().any(is_nested) {
        return None;
    }
    let whole = ExecutionPlan::with_fetch(sort, None)?;
    Some(Arc::new(LocalLimitExec::new(whole, fetch)))
}

impl PhysicalOptimizerRule for WholeSorts {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, |node| Ok(whole_sort(node)))
    }

    fn name(&self) -> &str {
        "WholeSorts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
