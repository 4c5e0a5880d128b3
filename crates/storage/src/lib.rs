//! Holds tables: in memory, in folders of sorted parts, and in mapped files.
//!
//! | module | owns |
//! |---|---|
//! | [`memory`] | [`MemoryTable`]: batches in memory, with snapshots for readers |
//! | [`extremes`] | [`Extremes`]: least and greatest values of batches in memory |
//! | [`merge_tree`] | [`MergeTree`]: sorted parts in a folder, compressed column by column |
//! | [`mmap`] | [`MmapTable`]: raw column files, scanned where they lie |
//! | [`disk`] | the operations on files that all of this needs |
//! | `faulty_disk` | the same for tests: they fail, or forget what was not synced |
//! | `checked_text` | small files with a checksum, replaced as a whole |
//! | [`mapping`] | files that are used where they lie |
//! | [`squash`] | small batches joined to larger ones |

#![deny(unsafe_code)]

pub mod memory;
pub mod merge_tree;
pub mod mmap;

mod checked_text;
mod disk;
mod extremes;
#[cfg(test)]
mod faulty_disk;
mod mapping;
mod squash;

pub use disk::{Disk, Entry, NewFile, SystemDisk};
pub use extremes::Extremes;
pub use mapping::MappedFile;
pub use memory::{MAX_BATCH_ROWS, MemoryRows, MemoryTable};
pub use merge_tree::{BlockCache, ColumnCodec, Layout, MergeTree, Options, Part, StoredColumn};
pub use mmap::MmapTable;
