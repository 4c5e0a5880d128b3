//! Finds how many rows a query had before its LIMIT, which some formats tell.

use std::sync::Arc;

use basalt_exec::deal::DealExec;
use basalt_exec::filter_project::FilterRowsExec;
use basalt_exec::stream::StreamExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::projection::ProjectionExec;

/// The rows that came to the limit at the top of a plan that has run; `None` if there is no limit, or
/// nobody counted.
///
/// There may have been more: what is below a limit ends with it.
pub(crate) fn rows_before_limit(plan: &Arc<dyn ExecutionPlan>) -> Option<u64> {
    let mut node = plan;
    let mut is_below_limit = false;
    loop {
        let is_limit = node.fetch().is_some() && !node.is::<FilterRowsExec>();
        let step = node.downcast_ref::<StreamExec>();
        let passes_rows = is_limit
            || node.is::<ProjectionExec>()
            || node.is::<CooperativeExec>()
            || node.is::<DealExec>()
            || step.is_some_and(StreamExec::keeps_rows);
        is_below_limit |= is_limit;
        match (node.children().as_slice(), passes_rows) {
            ([child], true) => node = child,
            _ if is_below_limit => {
                let rows = node.metrics()?.output_rows()?;
                return Some(rows as u64);
            }
            _ => return None,
        }
    }
}
