//! Numbers groups by their keys: one table per shape of key, fed whole batches.
//!
//! Every table gives each distinct key a *group*: a number from 0 up, in the order of first
//! appearance. What belongs to a group (its aggregate states) lives elsewhere, at that number.
//!
//! | module | owns |
//! |---|---|
//! | [`hash`] | hashes of words and bytes, and how a table is told which to use |
//! | [`word`] | [`Word`]: keys of 32, 64, 128 or 256 bits |
//! | [`direct`] | [`DirectTable`]: keys of few bits index an array |
//! | [`word_table`] | [`WordTable`]: open addressing over words |
//! | [`two_level_word_table`] | [`TwoLevelWordTable`]: many small tables over words |
//! | [`bytes_table`] | [`BytesTable`]: open addressing over byte strings |
//! | [`two_level_bytes_table`] | [`TwoLevelBytesTable`]: many small tables over byte strings |
//! | [`kept_bytes_table`] | [`KeptBytesTable`]: the same over byte strings that stay where rows have them |
//! | [`views`] | byte strings as 16-byte views, and the arena that holds the long ones |
//! | [`radix`] | splitting rows by the high bits of their hashes |
//! | [`word_slots`] | the array of slots of a table over words |
//! | [`bytes_slots`] | the same over byte strings, and the strings |
//! | [`bytes_probe`] | searches for many byte strings at once |
//! | [`filled`] | rows apart whose string is empty |
//! | [`kept_strings`] | strings where rows have them |
//! | [`runs`] | runs of equal keys |

#![forbid(unsafe_code)]

pub mod bytes_table;
pub mod direct;
pub mod hash;
pub mod kept_bytes_table;
pub mod radix;
pub mod two_level_bytes_table;
pub mod two_level_word_table;
pub mod views;
pub mod word;
pub mod word_table;

mod bytes_probe;
mod bytes_slots;
mod filled;
mod kept_strings;
mod runs;
mod word_slots;

pub use bytes_table::BytesTable;
pub use direct::DirectTable;
pub use hash::{Fold, HashBytes, HashKeys, HashWord, Zero};
pub use kept_bytes_table::KeptBytesTable;
pub use radix::{Partitions, fast_range, partition, partition_by};
pub use two_level_bytes_table::TwoLevelBytesTable;
pub use two_level_word_table::TwoLevelWordTable;
pub use views::{Arena, Views};
pub use word::{Word, Word256};
pub use word_table::WordTable;

/// A table has no number left for a new group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFull;

impl std::fmt::Display for TableFull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more than {MAX_GROUPS} groups in one table")
    }
}

impl std::error::Error for TableFull {}

/// Most groups of one table: numbers are kept in 32 bits, one of which means "none".
pub const MAX_GROUPS: usize = u32::MAX as usize - 1;

/// What a search gives for a key that has no group.
pub const NOT_FOUND: u32 = u32::MAX;

#[cfg(test)]
mod tests;
