//! Appends rows to a table's files and gives readers those that are there.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use basalt_error::{Error, Result};
use basalt_profile::Account;
use parking_lot::Mutex;

use super::append::{ColumnAppender, cut};
use super::arrays::{ColumnBytes, array, damaged};
use super::extent::{Extent, Node};
use super::log::{self, Committed};
use crate::MAX_BATCH_ROWS;
use crate::disk::{Disk, SystemDisk};
use crate::squash::squashed;

/// Maps of a column, behind which one of the whole file takes their place.
const MAX_MAPS: usize = 64;

/// A table of mapped column files.
#[derive(Debug)]
pub struct MmapTable {
    schema: SchemaRef,
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    state: Mutex<State>,
}

/// What is known of the files.
#[derive(Debug, Default)]
struct State {
    committed: Committed,
    extents: Vec<Extent>,
    /// The rows of the first extents.
    batches: Arc<Vec<RecordBatch>>,
    num_mapped: usize,
    num_maps: usize,
}

impl MmapTable {
    /// A table in a folder, which is made by the first insert; its rows have the fields of `schema`.
    pub fn new(folder: PathBuf, schema: SchemaRef) -> Self {
        Self {
            schema,
            folder,
            disk: Arc::new(SystemDisk),
            state: Mutex::default(),
        }
    }

    /// The same table on another disk.
    #[cfg(test)]
    pub(super) fn on_disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Fields of the rows.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds all rows of an insert at once.
    ///
    /// # Errors
    /// If they cannot be written: then none of them is there.
    pub fn insert(&self, batches: Vec<RecordBatch>) -> Result<()> {
        let extents = cut(squashed(batches)?)?;
        if extents.is_empty() {
            return Ok(());
        }
        let mut state = self.state.lock();
        self.refresh(&mut state)?;
        let folder = &self.folder;
        if state.committed == Committed::default() {
            self.create_folder()?;
        }
        let mut new: Vec<Extent> = Vec::with_capacity(extents.len());
        for batch in &extents {
            let num_rows = u32::try_from(batch.num_rows());
            new.push(Extent {
                num_rows: num_rows.map_err(|_| Error::bug("too many rows at once"))?,
                columns: Vec::new(),
            });
        }
        for column in 0..self.schema.fields().len() {
            let path = state.committed.column_path(folder, column);
            let nodes = self.append_column(&path, state.column_end(column), &extents, column);
            let nodes = nodes.map_err(|e| e.within(path.display()))?;
            let pairs = new.iter_mut().zip(nodes);
            pairs.for_each(|(extent, node)| extent.columns.push(node));
        }
        let path = state.committed.log_path(folder);
        let record = log::record(&new);
        let append = || -> std::io::Result<()> {
            let mut file = self.disk.append(&path, state.committed.log_bytes)?;
            file.write_all(&record)?;
            file.sync()?;
            self.disk.sync_folder(folder)
        };
        append().map_err(|e| Error::from(e).within(path.display()))?;
        let committed = Committed {
            log_bytes: state.committed.log_bytes + record.len() as u64,
            ..state.committed
        };
        committed.write(self.disk.as_ref(), folder)?;
        state.committed = committed;
        state.extents.extend(new);
        Ok(())
    }

    /// Makes the folder, and has the system keep those that it is in: a table may be in a new database.
    fn create_folder(&self) -> Result<()> {
        let created = self.disk.create_folder(&self.folder);
        created.map_err(|e| Error::from(e).within(self.folder.display()))?;
        for folder in self.folder.ancestors().take(3).skip(1) {
            let synced = self.disk.sync_folder(folder);
            synced.map_err(|e| Error::from(e).within(folder.display()))?;
        }
        Ok(())
    }

    fn append_column(
        &self,
        path: &Path,
        end: u64,
        extents: &[RecordBatch],
        column: usize,
    ) -> Result<Vec<Node>> {
        let mut file = ColumnAppender::new(self.disk.append(path, end)?, end);
        let nodes = extents
            .iter()
            .map(|batch| file.append(batch.column(column)));
        let nodes = nodes.collect::<Result<_>>()?;
        file.sync()?;
        Ok(nodes)
    }

    /// The rows as they are now.
    ///
    /// # Errors
    /// If files are damaged or cannot be read.
    pub fn snapshot(&self) -> Result<Arc<Vec<RecordBatch>>> {
        let mut state = self.state.lock();
        self.refresh(&mut state)?;
        if state.num_mapped < state.extents.len() {
            if state.num_maps >= MAX_MAPS {
                (state.num_maps, state.num_mapped) = (0, 0);
                state.batches = Arc::default();
            }
            let new = self.mapped(&state)?;
            Arc::make_mut(&mut state.batches).extend(new);
            state.num_mapped = state.extents.len();
            state.num_maps += 1;
        }
        Ok(Arc::clone(&state.batches))
    }

    /// Puts what other processes have changed into `state`.
    fn refresh(&self, state: &mut State) -> Result<()> {
        let committed = Committed::read(self.disk.as_ref(), &self.folder)?;
        if committed.generation != state.committed.generation
            || committed.log_bytes < state.committed.log_bytes
        {
            *state = State::default();
            state.committed.generation = committed.generation;
        }
        let start = state.committed.log_bytes;
        if committed.log_bytes > start {
            let path = committed.log_path(&self.folder);
            let num_bytes = usize::try_from(committed.log_bytes - start);
            let mut bytes = vec![0; num_bytes.map_err(|_| Error::bug("a log beyond memory"))?];
            let read = self.disk.read_range(&path, start, &mut bytes);
            read.map_err(|e| Error::from(e).within(path.display()))?;
            let fields = self.schema.fields().iter();
            let types: Vec<&ArrowType> = fields.map(|f| f.data_type()).collect();
            let new = log::extents((&path, start), &bytes, &types)?;
            state.extents.extend(new);
        }
        state.committed = committed;
        Ok(())
    }

    /// The rows of extents that are not mapped yet.
    fn mapped(&self, state: &State) -> Result<Vec<RecordBatch>> {
        // What stays for the next query is nobody's.
        let nobody = Account::nobody();
        let _entered = nobody.enter();
        let extents = &state.extents[state.num_mapped..];
        let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::new(); extents.len()];
        for (i, field) in self.schema.fields().iter().enumerate() {
            let path = state.committed.column_path(&self.folder, i);
            let bytes = ColumnBytes::open(self.disk.as_ref(), &path);
            for (extent, arrays) in extents.iter().zip(&mut columns) {
                let node = &extent.columns[i];
                let column = array(node, field.data_type(), &|piece| bytes.of(piece));
                arrays.push(column.map_err(|e| damaged(field.name(), &path, e))?);
            }
        }
        let mut batches = Vec::new();
        for arrays in columns {
            let whole = RecordBatch::try_new(Arc::clone(&self.schema), arrays);
            let whole = whole.map_err(|e| damaged("", &self.folder, e))?;
            let starts = (0..whole.num_rows()).step_by(MAX_BATCH_ROWS);
            let len = |start: usize| (whole.num_rows() - start).min(MAX_BATCH_ROWS);
            batches.extend(starts.map(|start| whole.slice(start, len(start))));
        }
        Ok(batches)
    }

    /// Number of rows; none if the files are damaged.
    pub fn num_rows(&self) -> Option<usize> {
        let mut state = self.state.lock();
        self.refresh(&mut state).ok()?;
        Some(state.extents.iter().map(|e| e.num_rows as usize).sum())
    }

    /// Bytes of the columns; none if the files are damaged.
    pub fn size_bytes(&self) -> Option<u64> {
        let mut state = self.state.lock();
        self.refresh(&mut state).ok()?;
        let columns = 0..self.schema.fields().len();
        Some(columns.map(|column| state.column_end(column)).sum())
    }

    /// Removes all rows; who reads them keeps them.
    ///
    /// # Errors
    /// If the list of rows cannot be written: then all are there.
    pub fn truncate(&self) -> Result<()> {
        let mut state = self.state.lock();
        let old = Committed::read(self.disk.as_ref(), &self.folder)?;
        if old.log_bytes == 0 {
            return Ok(());
        }
        let committed = Committed {
            generation: old.generation + 1,
            log_bytes: 0,
        };
        committed.write(self.disk.as_ref(), &self.folder)?;
        *state = State {
            committed,
            ..State::default()
        };
        let columns = 0..self.schema.fields().len();
        let columns = columns.map(|column| old.column_path(&self.folder, column));
        for path in columns.chain([old.log_path(&self.folder)]) {
            // What stays is nobody's, and goes with the table.
            let _ = self.disk.remove(&path);
        }
        Ok(())
    }

    /// Compares all bytes with their checksums.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` with the column and file that are damaged.
    pub fn check(&self) -> Result<()> {
        let mut state = self.state.lock();
        self.refresh(&mut state)?;
        for (i, field) in self.schema.fields().iter().enumerate() {
            let path = state.committed.column_path(&self.folder, i);
            let bytes = ColumnBytes::open(self.disk.as_ref(), &path);
            for piece in state.extents.iter().flat_map(|e| e.columns[i].pieces()) {
                let found = bytes
                    .of(piece)
                    .map_err(|e| damaged(field.name(), &path, e))?;
                if !piece.is_whole(&found) {
                    let at = format!("other bytes than were written at {}", piece.offset);
                    return Err(damaged(field.name(), &path, at));
                }
            }
        }
        Ok(())
    }
}

impl State {
    /// Bytes of a column's file that count.
    fn column_end(&self, column: usize) -> u64 {
        let ends = self.extents.iter().map(|e| e.columns[column].end());
        ends.max().unwrap_or(0)
    }
}
