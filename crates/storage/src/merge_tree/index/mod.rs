//! Skipping indexes: what a group's values of a column tell without being read.
//!
//! | module | owns |
//! |---|---|
//! | [`value`] | values as bytes that are ordered as they are |
//! | [`entry`] | what an index keeps of a group |

mod entry;
mod value;

use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::Path;

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use xxhash_rust::xxh3::xxh3_128;

pub use value::IndexedValue;

use super::layout::Layout;
use super::syncing::Unsynced;
use crate::disk::{Disk, NewFile};
use entry::{Entry, put_count, take_count};

/// Name of the file.
pub(super) const FILE: &str = "part.index";

const MAGIC: &[u8] = b"BSLTINDX";
const VERSION: usize = 1;
const CHECKSUM_BYTES: usize = 16;

/// What an index keeps of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IndexKind {
    /// The least and the greatest value.
    MinMax,
    /// Hashes of all values, if there are so many at most; 0: however many.
    Set(u64),
    /// A Bloom filter with this share of false answers.
    BloomFilter(f64),
}

/// An index of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// The column.
    pub column: usize,
    /// What it keeps.
    pub kind: IndexKind,
}

impl fmt::Display for IndexKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MinMax => f.write_str("minmax"),
            Self::Set(max) => write!(f, "set({max})"),
            Self::BloomFilter(share) => write!(f, "bloom_filter({share})"),
        }
    }
}

/// How a value is compared with those of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The column's value is equal.
    Equal,
    /// It is less, or equal.
    AtMost,
    /// It is greater, or equal.
    AtLeast,
}

/// An index's entries of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartIndex {
    name: String,
    kind: String,
    column: String,
    groups: Vec<Entry>,
}

impl PartIndex {
    fn write(&self, bytes: &mut Vec<u8>) {
        for text in [&self.name, &self.kind, &self.column] {
            put_count(text.len(), bytes);
            bytes.extend_from_slice(text.as_bytes());
        }
        put_count(self.groups.len(), bytes);
        self.groups.iter().for_each(|entry| entry.write(bytes));
    }
}

/// All indexes of a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PartIndexes(Vec<PartIndex>);

impl PartIndexes {
    /// The indexes of a table, of which no group is known yet.
    pub(super) fn new(layout: &Layout) -> Self {
        let index = |index: &Index| PartIndex {
            name: index.name.clone(),
            kind: index.kind.to_string(),
            column: layout.columns[index.column].name.clone(),
            groups: Vec::new(),
        };
        Self(layout.indexes.iter().map(index).collect())
    }

    /// Adds a group, whose values `column` gives.
    pub(super) fn push(
        &mut self,
        layout: &Layout,
        column: &mut dyn FnMut(usize) -> Result<ArrayRef>,
    ) -> Result<()> {
        for (index, described) in self.0.iter_mut().zip(&layout.indexes) {
            let values = column(described.column)?;
            index.groups.push(Entry::of(described.kind, &values));
        }
        Ok(())
    }

    /// The entries of some groups alone.
    pub(super) fn only(mut self, groups: &[usize]) -> Self {
        for index in &mut self.0 {
            let entries = groups.iter().map(|group| index.groups.get(*group).cloned());
            // Without an entry for each group nothing is known of any.
            index.groups = entries.collect::<Option<_>>().unwrap_or_default();
        }
        self
    }

    /// Bytes that an index takes in the file.
    pub(super) fn bytes_of(&self, name: &str) -> u64 {
        let mut bytes = Vec::new();
        let meant = self.0.iter().filter(|index| index.name == name);
        meant.for_each(|index| index.write(&mut bytes));
        bytes.len() as u64
    }

    /// Whether a column can have a value of a group that is in that relation to `value`.
    pub(super) fn can_hold(
        &self,
        (column, group): (&str, usize),
        relation: Relation,
        value: &IndexedValue,
    ) -> bool {
        let mut known = self.0.iter().filter(|index| index.column == column);
        known.all(|index| {
            let entry = index.groups.get(group);
            entry.is_none_or(|entry| entry.can_hold(relation, value))
        })
    }

    /// Writes the file, unless there is no index; it is still to be synced.
    pub(super) fn write(&self, disk: &dyn Disk, folder: &Path) -> Result<Option<Unsynced>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let path = folder.join(FILE);
        let write = || -> std::io::Result<Box<dyn NewFile>> {
            let mut file = disk.create(&path)?;
            file.write_all(&self.to_bytes())?;
            Ok(file)
        };
        let file = write().map_err(|e| Error::from(e).within(path.display()))?;
        Ok(Some((path, file)))
    }

    /// What the file of a part tells; nothing if it is not there or damaged, as nobody needs it.
    pub(super) fn read(disk: &dyn Disk, folder: &Path) -> Self {
        let bytes = disk.read(&folder.join(FILE)).unwrap_or_default();
        Self::from_bytes(&bytes).unwrap_or_default()
    }

    /// Checks the file of a part, if it is there.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` if it is damaged: queries go on without it, and read more.
    pub(super) fn check(disk: &dyn Disk, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        match disk.read(&path) {
            Ok(bytes) if Self::from_bytes(&bytes).is_some() => Ok(()),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            Err(e) => Err(Error::from(e).within(path.display())),
            Ok(_) => Err(Error::new(
                ErrorCode::CORRUPTED_DATA,
                format!("The skipping indexes are damaged: {}", path.display()),
            )),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; CHECKSUM_BYTES];
        bytes.extend_from_slice(MAGIC);
        put_count(VERSION, &mut bytes);
        put_count(self.0.len(), &mut bytes);
        self.0.iter().for_each(|index| index.write(&mut bytes));
        let checksum = xxh3_128(&bytes[CHECKSUM_BYTES..]).to_le_bytes();
        bytes[..CHECKSUM_BYTES].copy_from_slice(&checksum);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (checksum, mut rest) = bytes.split_at_checked(CHECKSUM_BYTES)?;
        if xxh3_128(rest).to_le_bytes() != checksum || rest.split_off(..MAGIC.len())? != MAGIC {
            return None;
        }
        if take_count(&mut rest)? != VERSION {
            return None;
        }
        let mut indexes = Vec::new();
        for _ in 0..take_count(&mut rest)? {
            let mut text = || -> Option<String> {
                let len = take_count(&mut rest)?;
                String::from_utf8(rest.split_off(..len)?.to_vec()).ok()
            };
            let (name, kind, column) = (text()?, text()?, text()?);
            let num_groups = take_count(&mut rest)?;
            let groups = (0..num_groups).map(|_| Entry::read(&mut rest));
            indexes.push(PartIndex {
                name,
                kind,
                column,
                groups: groups.collect::<Option<_>>()?,
            });
        }
        rest.is_empty().then_some(Self(indexes))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array};

    use super::entry::Entry;
    use super::{IndexKind, IndexedValue, PartIndex, PartIndexes, Relation};

    #[test]
    fn what_is_damaged_rules_nothing_out() {
        let values: ArrayRef = Arc::new(Int32Array::from(vec![1, 5, 7]));
        let kinds = [
            IndexKind::MinMax,
            IndexKind::Set(10),
            IndexKind::BloomFilter(0.1),
        ];
        let index = |kind: IndexKind| PartIndex {
            name: "i".to_owned(),
            kind: kind.to_string(),
            column: "k".to_owned(),
            groups: vec![Entry::of(kind, &values)],
        };
        let indexes = PartIndexes(kinds.into_iter().map(index).collect());
        let bytes = indexes.to_bytes();
        assert_eq!(PartIndexes::from_bytes(&bytes), Some(indexes.clone()));
        assert!(indexes.bytes_of("i") > 0 && indexes.bytes_of("i") < bytes.len() as u64);
        assert_eq!(indexes.bytes_of("k"), 0);
        let other = IndexedValue::integer(100);
        assert!(!indexes.can_hold(("k", 0), Relation::Equal, &other));
        assert!(indexes.can_hold(("k", 1), Relation::Equal, &other));
        assert!(indexes.can_hold(("l", 0), Relation::Equal, &other));
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 0x10;
            assert_eq!(PartIndexes::from_bytes(&damaged), None);
            assert_eq!(PartIndexes::from_bytes(&bytes[..i]), None);
        }
        assert!(PartIndexes::default().can_hold(("k", 0), Relation::Equal, &other));
    }
}
