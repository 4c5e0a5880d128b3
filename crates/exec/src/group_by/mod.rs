//! Groups rows by key and drives the aggregate functions' states itself.
//!
//! Every input partition is consumed by a task with a table of its own. Integer keys index arrays
//! as long as the range of all keys so far is small; any other keys are hashed. A table that outgrows
//! the cache without finding keys again stops: further rows are only split by the hash of their
//! keys. When all input is read, the tasks' groups are merged: at once if there are few, else
//! partition by partition of the hash, on the threads that ask for the result. Past a limit of memory
//! groups and rows go to temporary files, and are merged from there.
//!
//! | module | owns |
//! |---|---|
//! | [`group_by_exec`] | the operator in a plan |
//! | [`start`] | its tasks, once for all partitions of the result |
//! | [`grouping`] | what to compute: keys and aggregates as expressions |
//! | [`options`] | what settings may force |
//! | [`key_form`] | what a form of key does, and which one fits which types |
//! | [`key_numbers`] | numbers for keys of any form, for other operators |
//! | [`word_form`] | keys packed into a word |
//! | [`bytes_form`] | a string, or a row of any types as bytes |
//! | [`string_keys`] | such strings on their way to a table |
//! | [`packed_rows`] | a row of strings and values of fixed width as bytes |
//! | [`dense`], [`dense_merge`], [`layout`], [`bounds`], [`digits`] | integer keys of a small range, which index arrays |
//! | [`key_bounds`] | that range, where expressions tell it |
//! | [`pack`] | columns into words and back |
//! | [`counts`], [`sums`] | numbers of rows and sums of integers, the states that nearly every grouping has |
//! | [`ascending`] | rows whose groups are neighbours in their order |
//! | [`touched`] | stretches of groups that had no rows |
//! | `row_order` | which functions follow the order of the rows |
//! | [`states`] | states of all aggregates of one thread |
//! | [`distinct`] | distinct values of all groups |
//! | [`rows`], [`group_set`] | rows on their way to a table; a table with its states |
//! | [`strategy`] | how tasks share the work |
//! | [`keyed`] | rows on their way there, in compiled code where it is faster |
//! | [`compiling`] | which batches go through compiled code |
//! | [`local`] | one task's groups, if the strategy is to adapt |
//! | [`part`] | what one task has in the end |
//! | [`staging`] | its rows that are only split by hash |
//! | [`top`], [`ranks`] | groups that a LIMIT above does not want, by their results |
//! | [`first_keys`] | rows of groups that a LIMIT above does not want |
//! | [`flushed`] | groups that a full table has given away |
//! | [`merged`] | the tasks' groups, merged and handed out |
//! | [`spill`] | groups and rows in temporary files |
//! | [`observed`], [`account`], [`decisions`] | what a run notes, what is told of it, and of its choices |
//! | [`no_keys`] | aggregation of all rows into one |
//! | [`stages`] | a grouping in two: one that ends with states, one that goes on from these |
//! | [`set_rows`] | every row once for each grouping set |
//! | [`fused_filter`] | the same of the rows that a condition picks |

pub mod group_by_exec;
pub mod grouping;
pub mod options;

mod account;
mod ascending;
mod bounds;
mod bytes_form;
mod compiling;
mod counts;
mod decisions;
mod dense;
mod dense_merge;
mod digits;
mod distinct;
mod first_keys;
mod flushed;
mod fused_filter;
mod group_set;
mod key_bounds;
mod key_form;
mod key_numbers;
mod keyed;
mod layout;
mod local;
mod merged;
mod no_keys;
mod observed;
mod pack;
mod packed_rows;
mod part;
mod ranks;
pub(crate) mod row_order;
mod rows;
mod set_rows;
mod spill;
mod stages;
mod staging;
mod start;
mod states;
mod strategy;
mod string_keys;
mod sums;
mod top;
mod touched;
mod word_form;

pub(crate) use decisions::of_datafusion;
pub(crate) use first_keys::FirstKeys;
pub use group_by_exec::GroupByExec;
pub use grouping::{AggregateSpec, Grouping};
pub(crate) use key_bounds::few_values;
pub(crate) use key_numbers::{KeyNumbers, NOT_FOUND};
pub use keyed::AGGREGATE_BY_KEY;
pub use no_keys::AGGREGATE_ALL;
pub use options::{Options, Thresholds};
pub use set_rows::SetRowsExec;
pub(crate) use states::Exported;
pub use strategy::Strategy;
pub use top::TopOrder;
