//! Reads groups of a part's columns: from the cache, from a mapped file, or from a file.
//!
//! A file whose blocks do not compress is mapped, and what is stored plain in it is used where it lies; its
//! checksums are compared when a group is first read. What is decoded goes to the cache of the table.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::filter;
use basalt_codec::PaddedBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::Disowned;
use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::block_cache::{BlockCache, Key};
use super::decode::{GroupDecoder, flat};
use super::decoders::Decoders;
use super::metadata::PartMetadata;
use super::part::{Part, column_file, missing};
use super::write::in_parallel;
use crate::mapping::MappedFile;

/// The part of its values' bytes that a column has on disk from which on its file is mapped: most blocks are
/// plain then.
const LEAST_MAPPED: f64 = 0.9;

/// The next part's number.
static NUM_PARTS: AtomicU64 = AtomicU64::new(0);

/// What a part keeps for those who read it.
#[derive(Debug)]
pub(super) struct Reading {
    /// A number that no other part of the process has.
    id: u64,
    /// Its table's.
    decoders: Decoders,
    cache: Arc<BlockCache>,
    /// Of which columns the cache may have groups.
    cached: Box<[AtomicBool]>,
    /// What decoding each column took so far.
    decoding: Box<[Decoding]>,
    /// Mapped when they are first read; none where that fails, or is not worth it.
    files: Box<[OnceLock<Option<MappedFile>>]>,
    /// Groups of mapped files whose checksums are right, those of one column behind those of the other.
    checked: Box<[AtomicBool]>,
    /// Groups that a query has decoded, in the same order.
    decoded: Box<[AtomicBool]>,
}

/// Where a group of a column came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It had been decoded before.
    Cache,
    /// A mapped file.
    Mapped,
    /// A file that was read.
    File,
}

/// What decoding took.
#[derive(Debug, Default)]
struct Decoding {
    num_bytes: AtomicU64,
    elapsed_ns: AtomicU64,
}

/// The bytes of a group, and whether they have been checked before.
pub(super) struct Stored {
    pub(super) bytes: Bytes,
    pub(super) is_checked: bool,
    pub(super) is_mapped: bool,
}

fn number(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

impl Reading {
    pub(super) fn new(metadata: &PartMetadata, decoders: Decoders, cache: Arc<BlockCache>) -> Self {
        let num_columns = metadata.columns.len();
        let num_groups = metadata.group_rows.len() * num_columns;
        let flags = |num: usize| (0..num).map(|_| AtomicBool::new(false)).collect();
        Self {
            id: NUM_PARTS.fetch_add(1, Ordering::Relaxed),
            decoders,
            cache,
            cached: flags(num_columns),
            decoding: (0..num_columns).map(|_| Decoding::default()).collect(),
            files: (0..num_columns).map(|_| OnceLock::new()).collect(),
            checked: flags(num_groups),
            decoded: flags(num_groups),
        }
    }

    /// Forgets what the cache has of a part that goes.
    pub(super) fn forget(&self, metadata: &PartMetadata) {
        for (column, is_cached) in self.cached.iter().enumerate() {
            if is_cached.load(Ordering::Relaxed) {
                let column = (self.id, number(column));
                self.cache.forget(column, metadata.group_rows.len());
            }
        }
    }
}

impl Part {
    /// The values of a column for a group of rows, read from its file and checked.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` with part, column and block if the blocks are damaged.
    pub fn read(&self, column: usize, group: usize) -> Result<ArrayRef> {
        let stored = self.stored((column, group), false)?;
        let (array, _) = self.decoded((column, group), &stored)?;
        flat(&array)
    }

    /// The values of some columns for some groups of rows, those of each group by themselves, read by `num_threads`.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn read_groups(
        &self,
        columns: &[usize],
        groups: &[usize],
        num_threads: usize,
    ) -> Result<Vec<Vec<ArrayRef>>> {
        in_parallel(groups.len(), num_threads, |i| {
            let columns = columns.iter().map(|column| self.read(*column, groups[i]));
            columns.collect()
        })
    }

    /// The values of a column for a group of rows, which may have been decoded or checked before, and where they
    /// came from; strings of which many are the same come as a dictionary array with keys of 16 bits, see [`flat`].
    /// What is decoded for the second time stays for others if `is_cached`: memory that is new to the process costs more
    /// than decoding, which a query that nobody asks again would pay for nothing.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn read_encoded(
        &self,
        (column, group): (usize, usize),
        is_cached: bool,
    ) -> Result<(ArrayRef, Origin)> {
        let reading = &self.reading;
        let key = Key {
            part: reading.id,
            column: number(column),
            group: number(group),
        };
        let found = is_cached.then(|| reading.cache.get(key)).flatten();
        if let Some(array) = found {
            return Ok((array, Origin::Cache));
        }
        let started = Instant::now();
        let stored = self.stored((column, group), true)?;
        let (array, has_decoded) = self.decoded((column, group), &stored)?;
        if stored.is_mapped && !has_decoded {
            return Ok((array, Origin::Mapped));
        }
        let place = column * self.metadata.group_rows.len() + group;
        let is_wanted = is_cached && reading.decoded[place].swap(true, Ordering::Relaxed);
        if is_wanted && reading.cache.offer(key, &array, started.elapsed()) {
            reading.cached[column].store(true, Ordering::Relaxed);
        }
        Ok((array, Origin::File))
    }

    /// Bytes of a column's arrays that were decoded in a second so far, checksums included; none if nobody has
    /// read it.
    pub fn decode_bytes_per_second(&self, column: usize) -> Option<f64> {
        let decoding = &self.reading.decoding[column];
        let elapsed_ns = decoding.elapsed_ns.load(Ordering::Relaxed);
        let num_bytes = decoding.num_bytes.load(Ordering::Relaxed);
        (elapsed_ns > 0).then(|| num_bytes as f64 / (elapsed_ns as f64 / 1e9))
    }

    /// The values of the rows that are left, and whether anything had to be decoded or copied for them.
    fn decoded(
        &self,
        (column, group): (usize, usize),
        stored: &Stored,
    ) -> Result<(ArrayRef, bool)> {
        let reading = &self.reading;
        let num_rows = self.metadata.stored_rows(group);
        let started = Instant::now();
        let decoders = reading.decoders.borrow(column);
        let mut decoder = GroupDecoder::new(stored, decoders);
        let array = decoder.decode(&self.types[column], num_rows);
        let mut has_decoded = decoder.has_decoded();
        let (checksums, decoders) = decoder.into_parts();
        reading.decoders.give_back(column, decoders);
        let array = array.map_err(|e| self.damaged((column, group, e.block), &e.why))?;
        if !stored.is_checked {
            if xxh3_64(&checksums) != self.metadata.columns[column].groups[group].checksum {
                let why = "the blocks are not those of this part";
                return Err(self.damaged((column, group, 0), &why));
            }
            if stored.is_mapped {
                self.is_checked(column, group)
                    .store(true, Ordering::Relaxed);
            }
        }
        let array = match self.metadata.kept.of(group) {
            Some(kept) => {
                has_decoded = true;
                let kept = BooleanArray::from(kept.clone());
                filter(&array, &kept).map_err(|e| Error::bug(e.to_string()))?
            }
            None => array,
        };
        let decoding = &reading.decoding[column];
        let elapsed_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        decoding.elapsed_ns.fetch_add(elapsed_ns, Ordering::Relaxed);
        let num_bytes = array.get_array_memory_size() as u64;
        decoding.num_bytes.fetch_add(num_bytes, Ordering::Relaxed);
        Ok((array, has_decoded))
    }

    fn is_checked(&self, column: usize, group: usize) -> &AtomicBool {
        &self.reading.checked[column * self.metadata.group_rows.len() + group]
    }

    fn place(&self, (column, group, block): (usize, usize, usize)) -> String {
        let (part, name) = (&self.name, &self.metadata.columns[column].name);
        format!("part {part}, column `{name}`, block {block} of group {group}")
    }

    fn damaged(&self, place: (usize, usize, usize), why: &dyn std::fmt::Display) -> Error {
        let message = format!("Damaged data in {}: {why}", self.place(place));
        Error::new(ErrorCode::CORRUPTED_DATA, message)
    }

    /// The bytes of a group, from a mapped file if they are mostly plain and `may_map`.
    fn stored(&self, (column, group): (usize, usize), may_map: bool) -> Result<Stored> {
        let path = self.folder.join(column_file(column));
        let known = &self.metadata.columns[column].groups[group];
        let file = match may_map {
            true => self.mapped(column, &path),
            false => None,
        };
        let bytes = match file {
            Some(file) => self.mapped_range(file, (column, group)),
            None => self.read_range(&path, known.offset, known.num_bytes),
        };
        let bytes = bytes.map_err(|e| {
            if e.kind() == ErrorKind::UnexpectedEof {
                return self.damaged((column, group, 0), &"the file ends too early");
            }
            missing(&path, &e).within(self.place((column, group, 0)))
        })?;
        let is_mapped = file.is_some();
        let is_checked = self.is_checked(column, group).load(Ordering::Relaxed);
        Ok(Stored {
            bytes,
            is_checked: is_mapped && is_checked,
            is_mapped,
        })
    }

    /// The file of a column, if it should be mapped and can be.
    fn mapped(&self, column: usize, path: &Path) -> Option<&MappedFile> {
        let file = self.reading.files[column].get_or_init(|| {
            let decoded_bytes = self.metadata.columns[column].decoded_bytes as f64;
            let is_plain = self.column_bytes(column) as f64 >= decoded_bytes * LEAST_MAPPED;
            is_plain.then(|| self.disk.map(path).ok()).flatten()
        });
        file.as_ref()
    }

    fn mapped_range(
        &self,
        file: &MappedFile,
        (column, group): (usize, usize),
    ) -> std::io::Result<Bytes> {
        let known = &self.metadata.columns[column].groups[group];
        let end = known.offset.checked_add(known.num_bytes);
        let place = |offset: Option<u64>| offset.and_then(|offset| usize::try_from(offset).ok());
        let (Some(start), Some(end)) = (place(Some(known.offset)), place(end)) else {
            return Err(ErrorKind::UnexpectedEof.into());
        };
        let bytes = file.slice(start..end)?;
        if !self.is_checked(column, group).load(Ordering::Relaxed) {
            file.load(start..end)?;
        }
        Ok(bytes)
    }

    fn read_range(&self, path: &Path, offset: u64, num_bytes: u64) -> std::io::Result<Bytes> {
        // The file's length is looked at first: a damaged number must not ask for all memory.
        let file_bytes = self.disk.len(path)?;
        let end = offset.checked_add(num_bytes);
        let is_there = end.is_some_and(|end| file_bytes >= end);
        let (true, Ok(len)) = (is_there, usize::try_from(num_bytes)) else {
            return Err(ErrorKind::UnexpectedEof.into());
        };
        let mut read = Ok(());
        let stored = Disowned::new(|| {
            let mut stored = PaddedBuffer::zeroed(len);
            read = self.disk.read_range(path, offset, &mut stored);
            stored
        });
        read.map(|()| Bytes::from_owner(stored))
    }
}
