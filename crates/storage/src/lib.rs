//! Holds tables: in memory, and in folders of sorted parts.
//!
//! | module | owns |
//! |---|---|
//! | [`memory`] | [`MemoryTable`]: batches in memory, with snapshots for readers |
//! | [`merge_tree`] | [`MergeTree`]: sorted parts in a folder, compressed column by column |
//! | [`squash`] | small batches joined to larger ones |

#![deny(unsafe_code)]

pub mod memory;
pub mod merge_tree;

mod squash;

pub use memory::{MAX_BATCH_ROWS, MemoryTable};
pub use merge_tree::{BlockCache, ColumnCodec, Layout, MergeTree, Options, Part, StoredColumn};
