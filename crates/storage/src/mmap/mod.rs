//! Keeps a table as files of raw columns, which are mapped into memory and used where they lie.
//!
//! The bytes are specified in `docs/format/mmap.md`. Every column is a file that only grows: an insert appends an
//! extent for each of its batches, and one record to the log. Then a small file is replaced that says how much of the
//! log counts, which makes all of its rows visible at once.
//!
//! | module | owns |
//! |---|---|
//! | [`table`] | [`MmapTable`]: which rows there are, who sees which, removal |
//! | [`snapshot`] | [`Snapshot`]: the rows that a query sees |
//! | [`insert`] | [`Insert`]: rows on their way into the files |
//! | [`check`] | checksums of everything |
//! | [`extent`] | the rows of a batch as they lie in the files |
//! | [`files`] | the files of the columns: mapped, or read where they are small |
//! | [`committed`] | how much of which log counts |
//! | [`log`] | the log as bytes: header and records |
//! | [`node`] | how many buffers an array has, and how long they are |
//! | [`encode`] | arrays as buffers |
//! | [`decode`] | buffers as arrays, checked |

mod check;
mod committed;
mod decode;
mod encode;
mod extent;
mod files;
mod insert;
mod log;
mod node;
mod snapshot;
mod table;
#[cfg(test)]
mod tests;

pub use check::Checked;
pub use insert::Insert;
pub use snapshot::Snapshot;
pub use table::MmapTable;

/// What the beginnings of buffers are multiples of in a file: a line of a cache, and the alignment that Arrow asks for.
const ALIGNMENT: u64 = 64;

/// The next place at which a buffer may begin.
fn aligned(offset: u64) -> Option<u64> {
    offset.checked_next_multiple_of(ALIGNMENT)
}
