//! Keeps a table as sorted parts in a folder, the columns of each part in compressed blocks.
//!
//! The bytes are specified in `docs/format/part.md`.
//!
//! | module | owns |
//! |---|---|
//! | [`table`] | [`MergeTree`]: the list of parts, who sees which, removal |
//! | [`old_parts`] | parts that are no more the table's, and still read |
//! | [`insert`] | [`Insert`]: rows on their way to new parts |
//! | [`pressure`] | inserts that wait for merges |
//! | [`merge`] | several parts become one |
//! | [`background`] | merges that nobody waits for |
//! | [`combine`] | what becomes of rows with the same key |
//! | [`expiry`] | rows that a TTL has expired |
//! | [`options`] | limits and times of a table |
//! | [`layout`] | [`Layout`]: columns, codecs and keys of a table |
//! | [`part`] | [`Part`]: a part that can be read |
//! | [`metadata`] | what a part tells of itself |
//! | [`mask`] | parts that lose rows and keep their files |
//! | [`kept_rows`] | which rows of a part were not deleted |
//! | [`index`] | skipping indexes |
//! | [`rewrite`] | parts with other values or columns |
//! | [`attaching`] | detached parts come back once, whenever the process ends |
//! | [`partition`] | partitions that are dropped, detached and attached; checks of parts |
//! | [`manifest`] | the list of a table's parts as bytes |
//! | [`order`] | the order of rows, and where partitions end |
//! | [`packed_order`] | the same for keys of integers, sorted as words |
//! | [`row_order`] | the same for all other keys |
//! | [`permutation`] | which rows stand where in that order |
//! | [`pieces`] | where the rows of columns that lie in pieces are |
//! | [`sorted_column`] | the rows of columns in that order |
//! | [`key_converter`] | keys as bytes that compare as they do |
//! | [`text_bounds`] | between which texts the strings of a group lie |
//! | [`zeros`] | how many values are 0 or empty |
//! | [`learned`] | which chains have won for the blocks of columns |
//! | [`encode`] | arrays as blocks |
//! | [`decode`] | blocks as arrays |
//! | [`string_dictionary`] | strings of a group, each kept once |
//! | [`read`] | groups of a column: mapped, from files, from the cache |
//! | [`block_cache`] | [`BlockCache`]: decoded groups for the next query |
//! | [`decoders`] | what is learnt about the blocks of a column |
//! | [`write`] | the files of a part |
//! | [`syncing`] | files that the system keeps while the next are written |
//! | [`written`] | parts that are written and not yet the table's |
//! | [`writer`] | parts of an insert on another thread |

mod attaching;
mod background;
mod block_cache;
mod combine;
mod decode;
mod decoders;
mod encode;
mod expiry;
mod index;
mod insert;
mod kept_rows;
mod key_converter;
mod layout;
mod learned;
mod manifest;
mod mask;
mod merge;
mod metadata;
mod old_parts;
mod options;
mod order;
mod packed_order;
mod part;
mod partition;
mod permutation;
mod pieces;
mod pressure;
mod read;
mod rewrite;
mod row_order;
mod sorted_column;
mod string_dictionary;
mod syncing;
mod table;
#[cfg(test)]
mod tests;
mod text_bounds;
mod write;
mod writer;
mod written;
mod zeros;

pub use background::BackgroundMerges;
pub use block_cache::BlockCache;
pub use combine::{Combine, KeyedRows, Purpose, Replacing};
pub use decode::flat;
pub use decoders::FormUse;
pub use expiry::Expiry;
pub use index::{Index, IndexKind, IndexedValue, Relation};
pub use insert::Insert;
pub use kept_rows::KeptRows;
pub use layout::{ColumnCodec, Layout, StoredColumn};
pub use merge::{KeyPlace, MergedRows, Progress, WantedGroups, key_places};
pub use metadata::{Bounds, ColumnMetadata, GroupMetadata, PartMetadata};
pub use options::Options;
pub use order::partition_of;
pub use part::{Part, is_part_name};
pub use partition::Checked;
pub use read::Origin;
pub use rewrite::{ColumnSource, NewValues, PartChange};
pub(crate) use syncing::{Unsynced, UnsyncedPart};
pub use table::MergeTree;
pub use text_bounds::TextBounds;

/// Rows of a group at most: every column has its blocks for each group.
///
/// 64 fewer than 65,536: with the padding behind them decoded values fill what the allocator gives for a power of two,
/// where they would take a quarter more. The cache of `hits` takes 3.0 GB for the 2.8 that it may hold, and took 3.7.
const GROUP_ROWS: usize = 65_536 - 64;

/// Bytes that a group's values have at most in a column, unless one value has more.
const GROUP_BYTES: usize = 1 << 26;

/// Rows of a part that an insert makes, at most.
const PART_ROWS: usize = 1 << 20;
