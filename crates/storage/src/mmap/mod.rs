//! Keeps a table as raw column files that are mapped and scanned where they lie.
//!
//! An insert appends to the file of each column the buffers of its rows as Arrow has them in memory, and then one
//! record to the log, which makes all of them visible. The bytes are specified in `docs/format/mmap.md`.
//!
//! | module | owns |
//! |---|---|
//! | [`table`] | [`MmapTable`]: inserts, snapshots for readers, removal |
//! | [`extent`] | [`Extent`]: where the buffers of some rows lie |
//! | [`log`] | the records that tell which extents are the table's |
//! | [`append`] | arrays written behind a column's file |
//! | [`arrays`] | mapped bytes as arrays |

mod append;
mod arrays;
mod extent;
mod log;
mod table;
#[cfg(test)]
mod tests;

pub use table::MmapTable;
