//! Writes rows behind those that are there.
//!
//! What is written is nobody's until it counts: an insert that fails leaves bytes at the ends of the files, which it cuts
//! off, or the next one does.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use basalt_error::{Error, Result};
use parking_lot::MutexGuard;
use xxhash_rust::xxh3::xxh3_64;

use super::aligned;
use super::encode::{EncodedNode, MAX_STRING_BYTES, string_bytes};
use super::log::Extent;
use super::node::{Node, StoredBuffer};
use super::table::{MmapTable, Target};
use crate::merge_tree::{Unsynced, UnsyncedPart};
use crate::squash::squashed;
use crate::{MAX_BATCH_ROWS, disk::NewFile};

/// Rows that wait to be written together: small batches are joined, on all threads.
const WAITING_ROWS: usize = 16 * MAX_BATCH_ROWS;

/// Memory of the rows that wait, at most.
const WAITING_BYTES: usize = 1 << 28;

/// Rows on their way into a table; nobody sees them before [`Insert::finish`].
pub struct Insert<'t> {
    table: &'t MmapTable,
    /// Whether to wait on while another one writes.
    check: &'t dyn Fn() -> Result<()>,
    waiting: Vec<RecordBatch>,
    num_rows: usize,
    size_bytes: usize,
    writer: Option<Writer<'t>>,
}

/// Files that are written; other inserts wait.
struct Writer<'t> {
    _writing: MutexGuard<'t, ()>,
    target: Target,
    columns: Vec<ColumnWriter>,
    extents: Vec<Extent>,
    /// Whether what was written is to be cut off again.
    is_undone: bool,
}

struct ColumnWriter {
    path: PathBuf,
    file: Box<dyn NewFile>,
    offset: u64,
}

impl MmapTable {
    /// Begins an insert. It waits for others only when it has rows to write; `check` says then whether to wait on.
    pub fn insert<'t>(&'t self, check: &'t dyn Fn() -> Result<()>) -> Insert<'t> {
        Insert {
            table: self,
            check,
            waiting: Vec::new(),
            num_rows: 0,
            size_bytes: 0,
            writer: None,
        }
    }
}

impl Insert<'_> {
    /// Adds rows.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let schema = Arc::clone(self.table.schema());
        let typed = RecordBatch::try_new(schema, batch.columns().to_vec());
        let batch = typed.map_err(|e| Error::bug(e.to_string()))?;
        self.num_rows += batch.num_rows();
        self.size_bytes = self
            .size_bytes
            .saturating_add(batch.get_array_memory_size());
        self.waiting.push(batch);
        if self.num_rows >= WAITING_ROWS || self.size_bytes >= WAITING_BYTES {
            self.write()?;
        }
        Ok(())
    }

    /// Makes all rows visible at once.
    ///
    /// # Errors
    /// If they cannot be written; then none of them is there.
    pub fn finish(mut self) -> Result<()> {
        if self.num_rows > 0 {
            self.write()?;
        }
        match self.writer.take() {
            Some(writer) => writer.finish(self.table),
            None => Ok(()),
        }
    }

    fn write(&mut self) -> Result<()> {
        (self.num_rows, self.size_bytes) = (0, 0);
        let batches = squashed(std::mem::take(&mut self.waiting))?;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::new(self.table, self.check)?),
        };
        batches.iter().try_for_each(|batch| writer.write(batch))
    }
}

impl<'t> Writer<'t> {
    fn new(table: &'t MmapTable, check: &dyn Fn() -> Result<()>) -> Result<Self> {
        let writing = table.writing(check)?;
        let target = table.target(&writing)?;
        let mut writer = Self {
            _writing: writing,
            target,
            columns: Vec::new(),
            extents: Vec::new(),
            is_undone: true,
        };
        for column in 0..table.schema().fields().len() {
            let (files, disk) = (&writer.target.files, &writer.target.disk);
            let (path, offset) = (files.path(column), files.end(column));
            let file = disk.append(&path, offset);
            let file = file.map_err(|e| Error::from(e).within(path.display()))?;
            writer.columns.push(ColumnWriter { path, file, offset });
        }
        Ok(writer)
    }

    /// Writes an extent, or several if its strings are too long for one.
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let num_rows = batch.num_rows();
        let is_large = |column: &ArrayRef| string_bytes(column) > MAX_STRING_BYTES;
        if num_rows > 1 && batch.columns().iter().any(is_large) {
            let half = num_rows / 2;
            self.write(&batch.slice(0, half))?;
            return self.write(&batch.slice(half, num_rows - half));
        }
        let columns = self.columns.iter_mut().zip(batch.columns());
        let columns = columns.map(|(writer, values)| writer.write(values));
        self.extents.push(Extent {
            columns: columns.collect::<Result<_>>()?,
            num_rows: num_rows as u64,
        });
        Ok(())
    }

    fn finish(mut self, table: &MmapTable) -> Result<()> {
        if self.extents.is_empty() {
            return Ok(());
        }
        let extents = std::mem::take(&mut self.extents);
        let record = table.log_of(&self.target, &extents)?;
        let written = self.columns.drain(..);
        let mut written: Vec<Unsynced> = written.map(|column| (column.path, column.file)).collect();
        written.push(self.target.write_log(&record)?);
        let written = UnsyncedPart {
            disk: Arc::clone(&self.target.disk),
            folder: self.target.files.folder().to_owned(),
            files: written,
        };
        written.sync()?;
        let old = self.target.committed;
        let log_bytes = old.log_bytes + record.len() as u64;
        self.is_undone = false;
        let committed = table.commit(extents, (old, log_bytes));
        committed.map_err(|(e, is_absent)| {
            self.is_undone = is_absent;
            e
        })
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if self.is_undone {
            self.target.cut();
        }
    }
}

impl Target {
    /// Writes behind what counts of the log.
    fn write_log(&self, bytes: &[u8]) -> Result<Unsynced> {
        let path = self.files.log_path();
        let write = || -> io::Result<Box<dyn NewFile>> {
            let mut file = self.disk.append(&path, self.committed.log_bytes)?;
            file.write_all(bytes)?;
            Ok(file)
        };
        match write() {
            Ok(file) => Ok((path, file)),
            Err(e) => Err(Error::from(e).within(path.display())),
        }
    }

    /// Cuts off what does not count; what is left, the next insert does.
    fn cut(&self) {
        let columns = 0..self.files.num_columns();
        let columns = columns.map(|column| (self.files.path(column), self.files.end(column)));
        for (path, end) in columns.chain([(self.files.log_path(), self.committed.log_bytes)]) {
            let _ = self.disk.append(&path, end);
        }
    }
}

impl ColumnWriter {
    /// Writes the values of an extent; gives their place.
    fn write(&mut self, values: &ArrayRef) -> Result<(u64, Node)> {
        let encoded = EncodedNode::of(values.as_ref());
        let encoded = encoded.map_err(|e| e.within(self.path.display()))?;
        let written = self.pad().and_then(|()| {
            let offset = self.offset;
            Ok((offset, self.put(&encoded)?))
        });
        written.map_err(|e| Error::from(e).within(self.path.display()))
    }

    fn put(&mut self, encoded: &EncodedNode) -> io::Result<Node> {
        let mut buffers = Vec::with_capacity(encoded.buffers.len());
        for bytes in &encoded.buffers {
            self.pad()?;
            self.file.write_all(bytes)?;
            self.offset += bytes.len() as u64;
            buffers.push(StoredBuffer {
                num_bytes: bytes.len() as u64,
                checksum: xxh3_64(bytes),
            });
        }
        let children = encoded.children.iter().map(|child| self.put(child));
        Ok(Node {
            num_values: encoded.num_values as u64,
            buffers,
            children: children.collect::<io::Result<_>>()?,
        })
    }

    /// Goes on to where the next buffer may begin.
    fn pad(&mut self) -> io::Result<()> {
        let start = aligned(self.offset).ok_or(io::ErrorKind::FileTooLarge)?;
        let zeros = [0; super::ALIGNMENT as usize];
        let num_zeros = usize::try_from(start - self.offset).unwrap_or_default();
        self.file.write_all(&zeros[..num_zeros])?;
        self.offset = start;
        Ok(())
    }
}
