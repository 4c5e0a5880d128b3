//! Has aggregations, without keys or by few of them, and expressions compiled: condition, arguments and folds become one loop over columns, and
//! so do the functions of an expression.
//!
//! | module | owns |
//! |---|---|
//! | [`expression`] | expressions of a plan as nodes of a program |
//! | [`function`] | calls of the dialect's functions of numbers as nodes |
//! | [`bits`] | those of the bits of integers |
//! | [`dates`] | those of dates and times |
//! | [`signature`] | the types that a function was bound to |
//! | [`columns`] | Arrow arrays as columns of a program |
//! | [`rows`] | expressions that give a value for each row |
//! | [`aggregate`] | an aggregate function as outputs of a program, and what they give as its states |
//! | [`totals`] | an aggregation without keys as a program |
//! | [`groups`] | one with few small keys |
//! | [`told`] | what was compiled, for EXPLAIN ANALYZE |
//! | [`switch`] | when a query goes over to compiled code |
//!
//! Comparators of ORDER BY are not compiled, as sorts compare no rows: they deal words that all keys are packed into by
//! their digits, which takes a half to a quarter of the time that the best comparator needs (`basalt_kernels`, bench `sort_rows`).
//!
//! What does not become a program, because it could fail or because `basalt_jit` has no words for it, stays
//! as it is. Compiled code gives bit for bit what the aggregators give.

mod aggregate;
mod bits;
mod columns;
mod dates;
mod expression;
mod function;
mod groups;
mod rows;
mod signature;
mod switch;
mod told;
mod totals;

pub use basalt_jit::background::stop;
pub(crate) use groups::{CompiledGroups, FoundGroups};
pub use rows::EXPRESSION;
pub(crate) use rows::{Evaluation, cannot_fail, with_compiled};
pub(crate) use signature::function_of_floats;
pub(crate) use switch::Switch;
use told::Told;
pub use told::compiled_facts;
pub(crate) use told::is_compiled;
pub(crate) use totals::CompiledTotals;

/// Keeps at most so many bytes of compiled code, for the queries of all sessions.
pub fn set_code_limit(bytes: usize) {
    basalt_jit::CodeCache::global().set_limit(bytes);
}

/// What has been compiled since the process began.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Programs that were compiled.
    pub compilations: u64,
    /// Microseconds that this took.
    pub elapsed_us: u64,
    /// Queries that found their program compiled already.
    pub hits: u64,
    /// Bytes that are kept.
    pub size_bytes: u64,
}

/// The counters as they are now.
pub fn counters() -> Counters {
    let cache = basalt_jit::CodeCache::global();
    let counters = cache.counters();
    Counters {
        compilations: counters.compilations(),
        elapsed_us: counters.elapsed_us(),
        hits: counters.hits(),
        size_bytes: cache.size_bytes() as u64,
    }
}

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
