//! Runs plans: the operators that are ours, and the rule that puts them into a plan.
//!
//! | module | owns |
//! |---|---|
//! | [`compile`] | aggregations in machine code |
//! | [`codes`] | strings that are grouped by numbers |
//! | [`accounted_tasks`] | tasks that work for the query that starts them |
//! | [`control`] | a running query's counters, cancellation and deadline |
//! | [`scan`] | reading rows: numbers, memory, Parquet, text formats, in parallel by morsels |
//! | [`stream`] | steps over a stream: ARRAY JOIN, LIMIT BY, WITH TIES, WITH FILL |
//! | [`predicate`] | the rows for which a condition holds, by kernels |
//! | [`filter_project`] | the operator that drops the others |
//! | [`window`] | window functions over sorted rows |
//! | `handover` | a share of the work for threads that are idle |
//! | [`group_by`] | grouping rows by any keys, in parallel |
//! | [`sort`] | putting rows in order, in parallel |
//! | `speed_limits` | ends queries that read too slowly |
//! | [`spill`] | what operators need to go on in temporary files |
//! | [`report`] | what operators tell of their runs |
//! | [`recursion`] | ends recursions that would go on for ever |
//! | [`rule`] | swaps DataFusion's operators for ours where ours are better |
//! | [`temporary`] | temporary files, gone with their last user |
//! | `quota` | the bytes that these may have |
//! | [`memory`] | watches what is taken from a pool of memory |
//! | [`one_input`] | what operators with one input do alike |
//! | [`interruptible`] | lets a cancelled query leave a join |
//! | [`read_once`] | lets the left side of a join run only once |
//! | [`optimizer`] | the rules that logical plans go through |
//! | [`deal`] | deals batches out to threads that are ready for them |
//! | [`ordered_output`] | keeps the order of sorted rows on their way to the reader and to what follows it |
//! | [`planner`] | plans the nodes that only the dialect has |

#![forbid(unsafe_code)]

pub mod accounted_tasks;
pub mod codes;
pub mod compile;
pub mod control;
pub mod deal;
pub mod filter_project;
pub mod group_by;
mod handover;
pub mod interruptible;
pub mod memory;
mod one_input;
pub mod optimizer;
pub mod ordered_output;
pub mod planner;
mod predicate;
mod quota;
pub mod read_once;
pub mod recursion;
pub mod report;
pub mod rule;
pub mod scan;
pub mod sort;
mod speed_limits;
mod spill;
pub mod stream;
pub mod temporary;
mod window;

pub use control::{QueryControl, ReadLimits};
pub use planner::StreamPlanner;
pub use predicate::FILTER;
pub use speed_limits::SpeedLimits;
pub use spill::PlanFiles;
pub use temporary::{TemporaryFiles, remove_all as remove_temporary_files};
