//! Holds tables: today those in memory.
//!
//! | module | owns |
//! |---|---|
//! | [`memory`] | [`MemoryTable`]: batches in memory, with snapshots for readers |

#![forbid(unsafe_code)]

pub mod memory;

pub use memory::{MAX_BATCH_ROWS, MemoryTable};
