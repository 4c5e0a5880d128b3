//! Keeps a table as sorted parts in a folder, the columns of each part in compressed blocks.
//!
//! The bytes are specified in `docs/format/part.md`.
//!
//! | module | owns |
//! |---|---|
//! | [`table`] | [`MergeTree`]: the list of parts, who sees which, removal |
//! | [`insert`] | [`Insert`]: rows on their way to new parts; merges |
//! | [`layout`] | [`Layout`]: columns, codecs and keys of a table |
//! | [`part`] | [`Part`]: a part that can be read |
//! | [`metadata`] | what a part tells of itself |
//! | [`manifest`] | the list of a table's parts as bytes |
//! | [`order`] | the order of rows, and where partitions end |
//! | [`encode`] | arrays as blocks |
//! | [`decode`] | blocks as arrays |
//! | [`write`] | the files of a part |

mod decode;
mod encode;
mod insert;
mod layout;
mod manifest;
mod metadata;
mod order;
mod part;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub use insert::Insert;
pub use layout::{ColumnCodec, Layout, StoredColumn};
pub use metadata::{Bounds, ColumnMetadata, GroupMetadata, PartMetadata};
pub use part::Part;
pub use table::MergeTree;

/// Rows of a group at most: every column has its blocks for each group.
const GROUP_ROWS: usize = 65_536;

/// Bytes that a group's values have at most in a column, unless one value has more.
const GROUP_BYTES: usize = 1 << 26;

/// Rows of a part that an insert makes, at most.
const PART_ROWS: usize = 1 << 20;
