//! Has aggregations without keys and expressions compiled: condition, arguments and folds become one loop over columns, and
//! so do the functions of an expression.
//!
//! | module | owns |
//! |---|---|
//! | [`expression`] | expressions of a plan as nodes of a program |
//! | [`function`] | calls of the dialect's functions as nodes |
//! | [`columns`] | Arrow arrays as columns of a program |
//! | [`rows`] | expressions that give a value for each row |
//! | [`totals`] | an aggregation as a program, and what that gives as states of the aggregates |
//! | [`told`] | what was compiled, for EXPLAIN ANALYZE |
//! | [`switch`] | when a query goes over to compiled code |
//!
//! What does not become a program, because it could fail or because `basalt_jit` has no words for it, stays
//! as it is. Compiled code gives bit for bit what the aggregators give.

mod columns;
mod expression;
mod function;
mod rows;
mod switch;
mod told;
mod totals;

pub use basalt_jit::background::stop;
pub use rows::EXPRESSION;
pub(crate) use rows::{Evaluation, condition_with_compiled, with_compiled};
pub(crate) use switch::Switch;
use told::Told;
pub use told::compiled_facts;
pub(crate) use totals::CompiledTotals;

/// Nodes of the largest program that is compiled: LLVM takes some milliseconds for each.
const MAX_NODES: usize = 200;

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
    /// Queries with the same aggregation or expression from which on it is compiled unless it is known that this does
    /// not pay; 0 is at once, and the query waits for it.
    pub min_count: u64,
    /// Runs both ways for all rows and compares. For tests.
    pub verifies: bool,
}
