//! Sorts rows: keys packed into integers, split by their highest bits, each part sorted by a task.
//!
//! ```text
//! inputs ─▶ collect ─▶ ranges ─▶ layout ─▶ pack ─▶ split ─▶ parts ─▶ sort, gather ─▶ batches in order
//!           a task each                    a task each             tasks, a few parts ahead
//! ```
//!
//! | module | owns |
//! |---|---|
//! | [`ordinal`] | values as unsigned integers in their order |
//! | [`range`] | what the values of a key have in common |
//! | [`layout`] | which bits of a word hold what |
//! | [`word`], [`pack`] | words of 64 or 128 bits, made of rows and read back |
//! | [`radix`] | splitting and sorting words |
//! | [`rows`] | the input in memory |
//! | [`float_key`] | keys that stand for floats |
//! | [`parts`] | the work that is left once words are split |
//! | [`emit`] | rows of a part in order, equal words told apart |
//! | [`account`] | what a run notes, and what is told of it |
//! | [`sort_exec`] | the operator in a plan |
//!
//! All rows stay in memory: a query with a limit of memory keeps DataFusion's operator, which spills.

mod account;
mod emit;
mod float_key;
mod layout;
mod options;
mod ordinal;
mod pack;
mod parts;
mod radix;
mod range;
mod rows;
mod sort_exec;
mod word;

pub use options::Strategy;
pub use sort_exec::{Limit, SortRowsExec};

#[cfg(test)]
mod tests;
