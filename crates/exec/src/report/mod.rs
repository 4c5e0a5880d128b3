//! Tells what operators did: what EXPLAIN ANALYZE and `system.adaptive_choices` show.
//!
//! DataFusion's metrics carry the figures: rows, times, bytes, spills. What is no figure (a choice, its
//! reason, when it changed) is in an [`Account`] that an operator of ours gives after its run. All is
//! counted per batch or less often, never per row.
//!
//! | module | owns |
//! |---|---|
//! | [`clock`] | time of work that no stream's reader waits for |
//! | [`figures`] | numbers, bytes and times for people |
//! | [`sql`] | expressions as people write them |
//! | [`measured`] | a plan whose operators are all measured, for EXPLAIN ANALYZE |

pub(crate) mod clock;
pub mod figures;
mod measured;
mod sql;

use std::time::Duration;

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

pub use measured::{Figures, measure, measured};
pub use sql::sql_of;

use crate::filter_project::FilterRowsExec;
use crate::group_by::{self, GroupByExec};
use crate::scan::ScanExec;
use crate::sort::SortRowsExec;
use crate::stream::StreamExec;

/// What an operator tells of its last run.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// What it does, in the words of SQL.
    pub name: String,
    /// The run in a few words.
    pub summary: String,
    /// Further facts, each under a title.
    pub facts: Vec<(&'static str, String)>,
    /// Columns that it makes, each with what it stands for.
    pub outputs: Vec<(String, String)>,
    /// Parts of the operator's own time, summed over threads.
    pub stages: Vec<(&'static str, Duration)>,
    /// The most memory that it held at once.
    pub peak_memory_bytes: Option<u64>,
    /// What it decided.
    pub decisions: Vec<Decision>,
}

/// A choice between ways to do the same work, as it was made in one run.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// The choice's name.
    pub name: &'static str,
    /// What is decided.
    pub description: &'static str,
    /// Why the winner is it.
    pub reason: String,
    /// Whether a setting forced it.
    pub is_forced: bool,
    /// The candidates.
    pub arms: Vec<DecidedArm>,
}

/// A candidate of a [`Decision`].
#[derive(Clone, Debug, Default)]
pub struct DecidedArm {
    /// Its name.
    pub name: &'static str,
    /// Whether it is what the operator ended with.
    pub is_chosen: bool,
    /// Rows that it worked on.
    pub num_rows: u64,
    /// Time that it took for them, summed over threads, if it was measured.
    pub elapsed: Option<Duration>,
    /// Rows of all threads after which it took over from another.
    pub changed_at_rows: Option<u64>,
}

impl DecidedArm {
    /// Nanoseconds for a row, if it was measured.
    pub fn ns_per_row(&self) -> Option<f64> {
        let elapsed = self.elapsed.filter(|_| self.num_rows > 0)?;
        Some(elapsed.as_nanos() as f64 / self.num_rows as f64)
    }
}

/// What an operator of ours tells; none of DataFusion's do.
pub fn account(operator: &dyn ExecutionPlan) -> Option<Account> {
    let mut account = if let Some(group_by) = operator.downcast_ref::<GroupByExec>() {
        group_by.account()
    } else if let Some(sort) = operator.downcast_ref::<SortRowsExec>() {
        sort.account()
    } else if let Some(stream) = operator.downcast_ref::<StreamExec>() {
        stream.account()?
    } else if let Some(filter) = operator.downcast_ref::<FilterRowsExec>() {
        filter.account()
    } else {
        operator.downcast_ref::<ScanExec>()?.account()
    };
    // A clock that was never started still tells of a nanosecond.
    account.stages.retain(|(_, time)| time.as_nanos() > 1);
    Some(account)
}

/// The decisions of all operators of a plan that has run, each with its operator's name.
pub fn decisions(plan: &dyn ExecutionPlan) -> Vec<(String, Decision)> {
    let account = account(plan).unwrap_or_default();
    let name = account.name;
    let own = account.decisions.into_iter().map(|d| (name.clone(), d));
    let foreign = plan.downcast_ref::<AggregateExec>();
    let foreign = foreign.and_then(group_by::of_datafusion);
    let own = own.chain(foreign.map(|d| ("GROUP BY".to_owned(), d)));
    let below = plan
        .children()
        .into_iter()
        .flat_map(|c| decisions(c.as_ref()));
    own.chain(below.collect::<Vec<_>>()).collect()
}
