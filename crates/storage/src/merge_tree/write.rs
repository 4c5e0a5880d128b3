//! Writes the files of a part, its columns in parallel.

use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use arrow::array::ArrayRef;
use basalt_error::{Error, Result};
use basalt_profile::Account;
use xxhash_rust::xxh3::xxh3_64;

use super::encode::ColumnEncoder;
use super::index::PartIndexes;
use super::kept_rows::KeptRows;
use super::layout::{Effort, StoredColumn};
use super::metadata::{self, ColumnMetadata, GroupMetadata, PartMetadata};
use super::part::column_file;
use super::sorted_column::SortedColumn;
use super::syncing::{Unsynced, UnsyncedPart};
use super::table::MergeTree;
use super::{GROUP_BYTES, GROUP_ROWS};
use crate::disk::{Disk, NewFile};

/// A part that is being written, into a new folder.
pub(super) struct PartWriter<'a> {
    table: &'a MergeTree,
    folder: PathBuf,
    columns: Vec<Mutex<ColumnWriter>>,
    indexes: PartIndexes,
    group_rows: Vec<u32>,
    num_threads: usize,
    effort: Effort,
}

impl<'a> PartWriter<'a> {
    /// An empty part; `num_threads` encode its columns.
    pub(super) fn create(
        table: &'a MergeTree,
        folder: &Path,
        (num_threads, effort): (usize, Effort),
    ) -> Result<Self> {
        let (disk, layout) = (table.disk(), table.layout());
        let created = disk.create_folder(folder);
        created.map_err(|e| Error::from(e).within(folder.display()))?;
        let columns = layout.columns.iter().enumerate();
        let columns = columns.map(|(i, column)| {
            let path = folder.join(column_file(i));
            let mut writer = ColumnWriter::create(disk, path, column, effort)?;
            let learned = table.learned().of(i, effort);
            writer.encoder = writer.encoder.going_on_with(learned);
            Ok(Mutex::new(writer))
        });
        Ok(Self {
            table,
            folder: folder.to_owned(),
            columns: columns.collect::<Result<_>>()?,
            indexes: PartIndexes::new(layout),
            group_rows: Vec::new(),
            num_threads,
            effort,
        })
    }

    /// Adds rows, all columns of them.
    pub(super) fn push(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let columns = columns.iter().map(|column| Arc::clone(column).into());
        self.push_sorted(&columns.collect::<Vec<_>>())
    }

    /// The same, of which some are put in order when they are encoded.
    pub(super) fn push_sorted(&mut self, columns: &[SortedColumn<'_>]) -> Result<()> {
        let groups = groups(columns);
        in_parallel(self.columns.len(), self.num_threads, |i| {
            let column = &self.columns[i];
            let mut column = column.lock().unwrap_or_else(PoisonError::into_inner);
            let mut rows = groups.windows(2);
            rows.try_for_each(|g| column.push(&columns[i].slice(g[0]..g[1]).values()?))
        })?;
        for group in groups.windows(2) {
            let mut values = |c: usize| columns[c].slice(group[0]..group[1]).values();
            self.indexes.push(self.table.layout(), &mut values)?;
        }
        let rows = groups.windows(2).map(|g| g[1] - g[0]);
        self.group_rows
            .extend(rows.map(|rows| u32::try_from(rows).unwrap_or(u32::MAX)));
        Ok(())
    }

    /// Number of rows so far.
    pub(super) fn num_rows(&self) -> u64 {
        self.group_rows.iter().map(|rows| u64::from(*rows)).sum()
    }

    /// Writes what the part tells of itself. The part is nobody's before it is synced.
    pub(super) fn finish(self, partition: String) -> Result<UnsyncedPart> {
        let (mut described, mut files) = (Vec::new(), Vec::new());
        for (i, column) in self.columns.into_iter().enumerate() {
            let column = column.into_inner().unwrap_or_else(PoisonError::into_inner);
            let learned = column.encoder.learned();
            self.table.learned().keep(i, self.effort, learned);
            described.push(column.described);
            files.push((column.path, column.file));
        }
        let metadata = PartMetadata {
            partition,
            columns: described,
            group_rows: self.group_rows,
            kept: KeptRows::default(),
        };
        files.extend(self.indexes.write(self.table.disk(), &self.folder)?);
        files.push(metadata_file(self.table.disk(), &self.folder, &metadata)?);
        Ok(UnsyncedPart {
            disk: Arc::clone(self.table.shared_disk()),
            folder: self.folder,
            files,
        })
    }
}

/// Writes what a part tells of itself.
fn metadata_file(disk: &dyn Disk, folder: &Path, metadata: &PartMetadata) -> Result<Unsynced> {
    let path = folder.join(metadata::FILE);
    let write = || -> std::io::Result<Box<dyn NewFile>> {
        let mut file = disk.create(&path)?;
        file.write_all(&metadata.to_bytes())?;
        Ok(file)
    };
    let file = write().map_err(|e| Error::from(e).within(path.display()))?;
    Ok((path, file))
}

/// Writes the indexes of a part and what it tells of itself, when its columns are written and kept, and has the
/// system keep them.
pub(super) fn write_metadata(
    disk: &Arc<dyn Disk>,
    folder: &Path,
    (indexes, metadata): (&PartIndexes, &PartMetadata),
) -> Result<()> {
    let mut files: Vec<Unsynced> = indexes.write(disk.as_ref(), folder)?.into_iter().collect();
    files.push(metadata_file(disk.as_ref(), folder, metadata)?);
    let part = UnsyncedPart {
        disk: Arc::clone(disk),
        folder: folder.to_owned(),
        files,
    };
    part.sync()
}

/// Where groups begin, and the end of the last: many rows, unless their values are large.
fn groups(columns: &[SortedColumn<'_>]) -> Vec<usize> {
    let num_rows = columns.first().map_or(0, SortedColumn::len);
    let mut starts = vec![0];
    let mut start = 0;
    while start < num_rows {
        let mut len = GROUP_ROWS.min(num_rows - start);
        let is_large = |len: usize| {
            let mut bytes = columns.iter().map(|c| c.value_bytes(start..start + len));
            bytes.any(|bytes| bytes > GROUP_BYTES)
        };
        while len > 1 && is_large(len) {
            len = len.div_ceil(2);
        }
        start += len;
        starts.push(start);
    }
    starts
}

/// A column's file that is being written.
pub(super) struct ColumnWriter {
    path: PathBuf,
    file: Box<dyn NewFile>,
    column: StoredColumn,
    encoder: ColumnEncoder,
    described: ColumnMetadata,
    offset: u64,
    stored: Vec<u8>,
}

impl ColumnWriter {
    pub(super) fn create(
        disk: &dyn Disk,
        path: PathBuf,
        column: &StoredColumn,
        effort: Effort,
    ) -> Result<Self> {
        let file = disk.create(&path);
        Ok(Self {
            file: file.map_err(|e| Error::from(e).within(path.display()))?,
            path,
            encoder: ColumnEncoder::new(column.codec, effort),
            described: ColumnMetadata {
                name: column.name.clone(),
                data_type: column.data_type.to_string(),
                ..ColumnMetadata::default()
            },
            column: column.clone(),
            offset: 0,
            stored: Vec::new(),
        })
    }

    /// Adds a group of rows.
    pub(super) fn push(&mut self, rows: &ArrayRef) -> Result<()> {
        self.stored.clear();
        let encoded = self
            .encoder
            .encode(rows, &self.column.data_type, &mut self.stored);
        let encoded = encoded.map_err(|e| e.within(format!("Column `{}`", self.column.name)))?;
        let written = self.file.write_all(&self.stored);
        written.map_err(|e| Error::from(e).within(self.path.display()))?;
        if self.described.groups.is_empty() {
            self.described.codec = encoded.chain;
        }
        self.described.decoded_bytes += encoded.decoded_bytes;
        self.described.groups.push(GroupMetadata {
            offset: self.offset,
            num_bytes: self.stored.len() as u64,
            checksum: xxh3_64(&encoded.checksums),
            bounds: encoded.statistics.bounds,
            null_count: encoded.statistics.null_count,
            zero_count: encoded.zero_count,
        });
        self.described.text_bounds.push(encoded.text_bounds);
        self.offset += self.stored.len() as u64;
        Ok(())
    }

    /// Has the system keep the file.
    pub(super) fn finish(&mut self) -> Result<ColumnMetadata> {
        let synced = self.file.sync();
        synced.map_err(|e| Error::from(e).within(self.path.display()))?;
        Ok(std::mem::take(&mut self.described))
    }
}

/// Threads that encode what somebody waits for.
pub(super) fn num_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Calls `f` with 0, 1, … on some threads.
pub(super) fn in_parallel<T: Send>(
    num: usize,
    num_threads: usize,
    f: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(num));
    let work = || -> Result<()> {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= num {
                return Ok(());
            }
            let result = f(i)?;
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((i, result));
        }
    };
    let account = Account::current();
    let counted = || {
        let _entered = account.enter();
        work()
    };
    thread::scope(|scope| {
        let others = 1..num_threads.min(num);
        let others: Vec<_> = others.map(|_| scope.spawn(counted)).collect();
        let own = work();
        let joined = others.into_iter().map(|other| match other.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.fold(own, Result::and)
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(i, _)| *i);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
