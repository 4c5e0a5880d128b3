//! Holds the files of a table's columns: mapped where that pays, read where they are small.
//!
//! A file that has grown is mapped from the end of its last map on, so that arrays which lie in the others stay.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use basalt_codec::PaddedBuffer;
use basalt_profile::Disowned;
use bytes::Bytes;
use parking_lot::Mutex;

use crate::disk::Disk;
use crate::mapping::MappedFile;

/// The files of one generation: TRUNCATE begins another one.
#[derive(Debug)]
pub(super) struct Files {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    generation: u64,
    columns: Vec<ColumnFile>,
    is_obsolete: AtomicBool,
}

#[derive(Debug, Default)]
struct ColumnFile {
    /// Where the last complete insert ends.
    end: AtomicU64,
    /// One behind the other, from the file's beginning.
    maps: Mutex<Vec<(Range<u64>, MappedFile)>>,
}

/// Name of the folder of a generation.
pub(super) fn folder_name(generation: u64) -> String {
    generation.to_string()
}

impl Files {
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        table: &Path,
        generation: u64,
        num_columns: usize,
    ) -> Self {
        Self {
            disk: Arc::clone(disk),
            folder: table.join(folder_name(generation)),
            generation,
            columns: (0..num_columns).map(|_| ColumnFile::default()).collect(),
            is_obsolete: AtomicBool::new(false),
        }
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn num_columns(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn path(&self, column: usize) -> PathBuf {
        self.folder.join(format!("{column}.column"))
    }

    pub(super) fn log_path(&self) -> PathBuf {
        self.folder.join("extents.log")
    }

    /// Where the rows of complete inserts end in the file of a column.
    pub(super) fn end(&self, column: usize) -> u64 {
        self.columns[column].end.load(Ordering::Acquire)
    }

    /// Says that the rows of another insert are complete.
    pub(super) fn set_end(&self, column: usize, end: u64) {
        self.columns[column].end.store(end, Ordering::Release);
    }

    /// Has the folder be removed with its last reader.
    pub(super) fn set_obsolete(&self) {
        self.is_obsolete.store(true, Ordering::Relaxed);
    }

    /// Bytes of a column: where they lie, if they are worth a map.
    pub(super) fn bytes(&self, column: usize, range: Range<u64>) -> io::Result<Bytes> {
        let Some((start, map)) = self.map(column, &range) else {
            return self.read(column, range);
        };
        let within = |offset: u64| usize::try_from(offset - start);
        let (Ok(from), Ok(to)) = (within(range.start), within(range.end)) else {
            return Err(ErrorKind::UnexpectedEof.into());
        };
        let bytes = map.slice(from..to)?;
        map.load(from..to)?;
        Ok(bytes)
    }

    /// The map that a range lies in, and where that begins.
    fn map(&self, column: usize, range: &Range<u64>) -> Option<(u64, MappedFile)> {
        let mut maps = self.columns[column].maps.lock();
        let last = maps.last().map_or(0, |(mapped, _)| mapped.end);
        if range.end > last {
            let rest = last..self.end(column);
            let map = self.disk.map_range(&self.path(column), rest.clone()).ok()?;
            maps.push((rest, map));
        }
        let found = maps.partition_point(|(mapped, _)| mapped.end < range.end);
        let (mapped, map) = maps.get(found)?;
        (mapped.start <= range.start).then(|| (mapped.start, map.clone()))
    }

    /// Bytes of a column, never mapped.
    pub(super) fn read(&self, column: usize, range: Range<u64>) -> io::Result<Bytes> {
        self.read_range(&self.path(column), range)
    }

    /// Bytes of a file; `UnexpectedEof` if it ends before.
    pub(super) fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        // The file's length is looked at first: a damaged number must not ask for all memory.
        let is_there = self.disk.len(path)? >= range.end;
        let (true, Ok(len)) = (is_there, usize::try_from(range.end - range.start)) else {
            return Err(ErrorKind::UnexpectedEof.into());
        };
        let mut read = Ok(());
        let bytes = Disowned::new(|| {
            let mut bytes = PaddedBuffer::zeroed(len);
            read = self.disk.read_range(path, range.start, &mut bytes);
            bytes
        });
        read.map(|()| Bytes::from_owner(bytes))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if *self.is_obsolete.get_mut() {
            // What is left is removed when the table is opened to write.
            let _ = self.disk.remove_folder(&self.folder);
        }
    }
}
