//! Has aggregations without keys compiled: condition, arguments and folds become one loop over columns.
//!
//! | module | owns |
//! |---|---|
//! | [`expression`] | expressions of a plan as nodes of a program |
//! | [`function`] | calls of the dialect's functions as nodes |
//! | [`columns`] | Arrow arrays as columns of a program |
//! | [`totals`] | an aggregation as a program, and what that gives as states of the aggregates |
//! | [`switch`] | when a query goes over to compiled code |
//!
//! What does not become a program, because it could fail or because `basalt_jit` has no words for it, stays
//! as it is. Compiled code gives bit for bit what the aggregators give.

mod columns;
mod expression;
mod function;
mod switch;
mod totals;

pub use basalt_jit::background::stop;
pub(crate) use switch::{Switch, Told};
pub(crate) use totals::CompiledTotals;

/// Waits, when it is dropped, for the compilation that runs in the background: LLVM must not be at work
/// when the process ends.
#[derive(Debug, Default)]
pub struct WaitsForCompilation;

impl Drop for WaitsForCompilation {
    fn drop(&mut self) {
        basalt_jit::background::wait();
    }
}

/// What settings say about compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Queries with the same aggregation from which on it is compiled unless it is known that this does
    /// not pay; 0 is at once, and the query waits for it.
    pub min_count: u64,
    /// Runs both ways for all rows and compares. For tests.
    pub verifies: bool,
}
