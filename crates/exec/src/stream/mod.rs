//! Runs the dialect's steps over a stream of batches.
//!
//! | module | owns |
//! |---|---|
//! | [`stream_exec`] | the operator in a plan |
//! | [`rows_of_operator`] | columns and order of its rows, and of those that it wants |
//! | [`state`] | feeds batches to a step |
//! | [`array_join`] | ARRAY JOIN |
//! | `array_join_lists` | where ARRAY JOIN has its lists from |
//! | `cells` | how long the rows of a column are |
//! | [`at_most`] | limits of settings |
//! | [`asof_join`] | ASOF JOIN |
//! | [`fill_cursor`] | the values that WITH FILL inserts |
//! | [`interpolate`] | INTERPOLATE of WITH FILL |
//! | [`kept`] | rows until they are asked for, in files if need be |
//! | [`key_groups`] | numbers of keys |
//! | [`key_rows`] | bytes of keys, to compare rows by |
//! | `keys_at_most` | limits of the groups of a GROUP BY |
//! | [`limit_by`] | LIMIT BY |
//! | [`limit_by_end`] | LIMIT BY that counts from the end |
//! | [`limit_rows`] | LIMIT of the last rows, or of a share |
//! | [`limit_with_ties`] | LIMIT … WITH TIES |
//! | [`shared`] | rows that two plans of a query read |
//! | [`with_fill`] | ORDER BY … WITH FILL |

pub mod array_join;
mod array_join_lists;
pub mod asof_join;
mod at_most;
mod cells;
mod fill_cursor;
mod interpolate;
mod kept;
mod key_groups;
mod key_rows;
mod keys_at_most;
pub mod limit_by;
mod limit_by_end;
pub mod limit_rows;
pub mod limit_with_ties;
mod rows_of_operator;
mod shared;
mod state;
pub mod stream_exec;
pub mod with_fill;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use basalt_error::{Error, Result};

pub use stream_exec::StreamExec;

/// A step over the batches of one stream, in order.
pub(crate) trait Step: Send {
    /// Takes a batch; gives the rows that are ready.
    ///
    /// # Errors
    /// What the step finds wrong with the rows.
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch>;

    /// Gives further rows that what was pushed led to, until there are none. For steps that may make many
    /// rows of one.
    ///
    /// # Errors
    /// As [`Step::push`].
    fn ready(&mut self) -> Result<Option<RecordBatch>> {
        Ok(None)
    }

    /// Gives the rows that remain behind the last batch; [`Step::ready`] may give more.
    ///
    /// # Errors
    /// As [`Step::push`].
    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        Ok(None)
    }

    /// Whether no further row will come out, whatever goes in.
    fn is_done(&self) -> bool {
        false
    }
}

/// Positions of columns by name.
pub(crate) fn positions(schema: &SchemaRef, names: &[String]) -> Result<Vec<usize>> {
    let position = |name: &String| schema.index_of(name).map_err(bug);
    names.iter().map(position).collect()
}

/// Arrow's error as a broken invariant of ours.
pub(crate) fn bug(e: ArrowError) -> Error {
    Error::bug(e.to_string())
}
