//! Reads a part: a folder with a file of blocks for each column.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::block_cache::BlockCache;
use super::decoders::Decoders;
use super::index::{self, IndexedValue, PartIndexes, Relation};
use super::layout::Layout;
use super::metadata::{self, PartMetadata};
use super::read::Reading;
use crate::disk::Disk;

/// A part whose metadata has been read.
#[derive(Debug)]
pub struct Part {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) name: PartName,
    pub(super) folder: PathBuf,
    pub(super) types: Vec<DataType>,
    pub(super) metadata: PartMetadata,
    metadata_bytes: u64,
    modified: SystemTime,
    is_obsolete: AtomicBool,
    /// Read when a query first asks.
    indexes: OnceLock<PartIndexes>,
    pub(super) reading: Reading,
}

/// `partition_min_max_level[_mutation]`: the inserts that a part comes from, how often it was merged,
/// and by which change it was written anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartName {
    pub(super) partition_id: String,
    pub(super) min_block: u64,
    pub(super) max_block: u64,
    pub(super) level: u32,
    pub(super) mutation: Option<u64>,
}

impl PartName {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut pieces = text.split('_');
        let partition_id = pieces.next()?;
        let min_block = pieces.next()?.parse().ok()?;
        let max_block = pieces.next()?.parse().ok()?;
        let level = pieces.next()?.parse().ok()?;
        let mutation = match pieces.next() {
            Some(number) => Some(number.parse().ok()?),
            None => None,
        };
        if pieces.next().is_some() {
            return None;
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_plain = !partition_id.is_empty() && partition_id.chars().all(is_plain);
        is_plain.then(|| Self {
            partition_id: partition_id.to_owned(),
            min_block,
            max_block,
            level,
            mutation,
        })
    }
}

impl std::fmt::Display for PartName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            partition_id,
            min_block,
            max_block,
            level,
            mutation,
        } = self;
        write!(f, "{partition_id}_{min_block}_{max_block}_{level}")?;
        match mutation {
            Some(mutation) => write!(f, "_{mutation}"),
            None => Ok(()),
        }
    }
}

/// Whether a text is the name of a part.
pub fn is_part_name(text: &str) -> bool {
    PartName::parse(text).is_some()
}

/// Name of the file of a column.
pub(super) fn column_file(column: usize) -> String {
    format!("{column}.blocks")
}

impl Part {
    /// Reads the metadata of a part of a table's folder.
    pub(super) fn open(
        disk: &Arc<dyn Disk>,
        table: &Path,
        name: PartName,
        layout: &Layout,
        (decoders, cache): (&Decoders, &Arc<BlockCache>),
    ) -> Result<Self> {
        let folder = table.join(name.to_string());
        let file = folder.join(metadata::FILE);
        let bytes = disk.read(&file).map_err(|e| missing(&file, &e))?;
        let modified = disk.modified(&file);
        let metadata = PartMetadata::from_bytes(&bytes);
        let metadata = metadata.map_err(|e| e.within(format!("Part {name}")))?;
        let is_same = metadata.columns.len() == layout.columns.len()
            && metadata
                .columns
                .iter()
                .zip(&layout.columns)
                .all(|(c, l)| c.name == l.name && c.data_type == l.data_type.to_string());
        if !is_same {
            let message = format!("Part {name} has other columns than its table");
            return Err(Error::new(ErrorCode::CORRUPTED_DATA, message));
        }
        let reading = Reading::new(&metadata, decoders.clone(), Arc::clone(cache));
        Ok(Self {
            disk: Arc::clone(disk),
            name,
            folder,
            types: layout.columns.iter().map(|c| c.data_type.clone()).collect(),
            metadata,
            metadata_bytes: bytes.len() as u64,
            modified: modified.unwrap_or(SystemTime::UNIX_EPOCH),
            is_obsolete: AtomicBool::new(false),
            indexes: OnceLock::new(),
            reading,
        })
    }

    pub(super) fn name_parts(&self) -> &PartName {
        &self.name
    }

    /// Its name, which is that of its folder.
    pub fn name(&self) -> String {
        self.name.to_string()
    }

    /// What its partition is called in names.
    pub fn partition_id(&self) -> &str {
        &self.name.partition_id
    }

    /// The first and the last of the inserts that it comes from.
    pub fn block_numbers(&self) -> (u64, u64) {
        (self.name.min_block, self.name.max_block)
    }

    /// How often its rows were merged.
    pub fn level(&self) -> u32 {
        self.name.level
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// When it was written.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// Rows, columns and groups.
    pub fn metadata(&self) -> &PartMetadata {
        &self.metadata
    }

    /// Bytes of a column's file.
    pub fn column_bytes(&self, column: usize) -> u64 {
        let groups = &self.metadata.columns[column].groups;
        groups.iter().map(|g| g.num_bytes).sum()
    }

    /// Bytes of all its files.
    pub fn bytes_on_disk(&self) -> u64 {
        let columns = 0..self.metadata.columns.len();
        let blocks: u64 = columns.map(|c| self.column_bytes(c)).sum();
        blocks + self.metadata_bytes + self.index_bytes()
    }

    /// Bytes of the file of its skipping indexes; 0 if it has none.
    pub fn index_bytes(&self) -> u64 {
        let bytes = self.disk.len(&self.folder.join(index::FILE));
        bytes.unwrap_or(0)
    }

    /// Has the folder be removed when nobody reads the part any more.
    pub(super) fn set_obsolete(&self) {
        self.is_obsolete.store(true, Ordering::Relaxed);
    }

    /// Checks the file of the skipping indexes.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` if it is damaged.
    pub(super) fn check_indexes(&self) -> Result<()> {
        PartIndexes::check(self.disk.as_ref(), &self.folder)
    }

    /// Whether a column can have a value of a group that is in that relation to `value`, as far as
    /// skipping indexes tell.
    pub fn can_hold(
        &self,
        (column, group): (usize, usize),
        relation: Relation,
        value: &IndexedValue,
    ) -> bool {
        let column = &self.metadata.columns[column].name;
        self.indexes().can_hold((column, group), relation, value)
    }

    /// Bytes of one of its skipping indexes.
    pub fn bytes_of_index(&self, name: &str) -> u64 {
        self.indexes().bytes_of(name)
    }

    fn indexes(&self) -> &PartIndexes {
        let read = || PartIndexes::read(self.disk.as_ref(), &self.folder);
        self.indexes.get_or_init(read)
    }

    /// Whether it has a file of skipping indexes.
    pub(super) fn has_indexes(&self) -> bool {
        self.disk.len(&self.folder.join(index::FILE)).is_ok()
    }

    /// Names of its files.
    pub(super) fn files(&self) -> Vec<String> {
        let columns = (0..self.metadata.columns.len()).map(column_file);
        let mut files: Vec<String> = columns.chain([metadata::FILE.to_owned()]).collect();
        if self.has_indexes() {
            files.push(index::FILE.to_owned());
        }
        files
    }

    /// Puts an empty file of that name into the folder.
    pub(super) fn mark(&self, name: &str) -> std::io::Result<()> {
        self.disk.create(&self.folder.join(name))?.sync()
    }
}

/// The error for a file of a part that cannot be read.
pub(super) fn missing(path: &Path, e: &std::io::Error) -> Error {
    let message = format!("Cannot read {}: {e}", path.display());
    Error::new(ErrorCode::CANNOT_OPEN_FILE, message)
}

impl Drop for Part {
    fn drop(&mut self) {
        self.reading.forget(&self.metadata);
        if *self.is_obsolete.get_mut() {
            // What is left is removed when the table is opened to write.
            let _ = self.disk.remove_folder(&self.folder);
        }
    }
}
