//! Lets those rows through for which a condition holds.
//!
//! ```text
//! batch ─▶ condition ─▶ bits ─▶ rows are appended to columns ─▶ batches
//! ```
//!
//! Rows are copied once: from a batch to the columns of the next batch of the result, by a kernel for each width. A
//! batch of which all rows pass is handed on as it is.
//!
//! | module | owns |
//! |---|---|
//! | [`filter_exec`] | the operator in a plan |
//! | [`condition`] | which rows of a batch pass |
//! | [`kept_rows`] | batches of the rows that passed |
//! | [`kept_column`] | one of their columns |
//! | [`projected_rows`] | values of expressions for these rows, evaluated before or behind the condition |

mod condition;
mod filter_exec;
mod kept_column;
mod kept_rows;
mod projected_rows;

pub use filter_exec::FilterRowsExec;
pub(crate) use kept_column::Selection;
pub use projected_rows::PROJECTION;
