//! Holds the files of a table's columns: mapped where that pays, read where they are small.
//!
//! A file that has grown is mapped from the end of its last map on, so that arrays which lie in the others stay; only when
//! it has grown by a part of itself, so that a process needs few maps. What is behind the last map is read.

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
use crate::mapping::{LEAST_MAPPED_BYTES, MappedFile};

/// The files of one generation: TRUNCATE begins another one.
#[derive(Debug)]
pub(super) struct Files {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    columns: Vec<ColumnFile>,
    is_obsolete: AtomicBool,
}

#[derive(Debug, Default)]
struct ColumnFile {
    /// Where the last complete insert ends.
    end: AtomicU64,
    /// One behind the other, from the file's beginning.
    maps: Mutex<Maps>,
}

type Maps = Vec<(Range<u64>, MappedFile)>;

/// A file is mapped on when it has grown by one part of so many.
const LEAST_GROWTH: u64 = 8;

/// Bytes of a column.
pub(super) struct Found {
    pub(super) bytes: Bytes,
    pub(super) lies: Lies,
}

/// Where the bytes of a column lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    InMap,
    /// In memory, and there are few of the kind.
    InSmallRest,
    /// In memory of who asked.
    Elsewhere,
}

fn end_of(maps: &Maps) -> u64 {
    maps.last().map_or(0, |(mapped, _)| mapped.end)
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
            columns: (0..num_columns).map(|_| ColumnFile::default()).collect(),
            is_obsolete: AtomicBool::new(false),
        }
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

    /// Bytes of a column, where they lie if they are mapped.
    pub(super) fn bytes(&self, column: usize, range: Range<u64>) -> io::Result<Found> {
        if let Some((start, map)) = self.map(column, &range) {
            let within = |offset: u64| usize::try_from(offset - start);
            let (Ok(from), Ok(to)) = (within(range.start), within(range.end)) else {
                return Err(ErrorKind::UnexpectedEof.into());
            };
            let bytes = map.slice(from..to)?;
            map.load(from..to)?;
            let lies = Lies::InMap;
            return Ok(Found { bytes, lies });
        }
        let path = self.path(column);
        if self.rest(column) < LEAST_MAPPED_BYTES {
            let mut read = Ok(());
            let bytes = Disowned::new(|| {
                self.padded(&path, range).unwrap_or_else(|e| {
                    read = Err(e);
                    PaddedBuffer::zeroed(0)
                })
            });
            read?;
            let (bytes, lies) = (Bytes::from_owner(bytes), Lies::InSmallRest);
            return Ok(Found { bytes, lies });
        }
        let bytes = self.read_range(&path, range)?;
        let lies = Lies::Elsewhere;
        Ok(Found { bytes, lies })
    }

    /// Whether a range lies in a map, or can be mapped.
    pub(super) fn is_mapped(&self, column: usize, range: &Range<u64>) -> bool {
        self.map(column, range).is_some()
    }

    /// Bytes behind the last map of a column.
    fn rest(&self, column: usize) -> u64 {
        let maps = self.columns[column].maps.lock();
        self.end(column).saturating_sub(end_of(&maps))
    }

    /// The map that a range lies in, and where that begins.
    fn map(&self, column: usize, range: &Range<u64>) -> Option<(u64, MappedFile)> {
        let mut maps = self.columns[column].maps.lock();
        let last = end_of(&maps);
        if range.end > last {
            let rest = last..self.end(column);
            let least = LEAST_MAPPED_BYTES.max(last / LEAST_GROWTH);
            if rest.end < range.end || rest.end - rest.start < least {
                return None;
            }
            let map = self.disk.map_range(&self.path(column), rest.clone()).ok()?;
            maps.push((rest, map));
        }
        let found = maps.partition_point(|(mapped, _)| mapped.end < range.end);
        let (mapped, map) = maps.get(found)?;
        (mapped.start <= range.start).then(|| (mapped.start, map.clone()))
    }

    /// Bytes of a file; `UnexpectedEof` if it ends before.
    pub(super) fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<Bytes> {
        match range.is_empty() {
            true => Ok(Bytes::new()),
            false => self.padded(path, range).map(Bytes::from_owner),
        }
    }

    fn padded(&self, path: &Path, range: Range<u64>) -> io::Result<PaddedBuffer> {
        // The file's length is looked at first: a damaged number must not ask for all memory.
        let is_there = range.start <= range.end && self.disk.len(path)? >= range.end;
        let (true, Ok(len)) = (is_there, usize::try_from(range.end - range.start)) else {
            return Err(ErrorKind::UnexpectedEof.into());
        };
        let mut bytes = PaddedBuffer::zeroed(len);
        self.disk.read_range(path, range.start, &mut bytes)?;
        Ok(bytes)
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
