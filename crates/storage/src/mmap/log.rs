//! Reads and writes the records that tell which extents are a table's.
//!
//! Two files: the log, to which an insert appends one record, and a line of text that says how many bytes of the log
//! count. The text is replaced as a whole, so that what a crash leaves behind the end is nobody's, and all before it
//! is checked: a record that is damaged is an error, not the end.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::extent::{self, Extent};
use crate::disk::Disk;

const FIRST_LINE: &str = "basalt mmap 1";

const FILE: &str = "rows.txt";

/// What counts of a table's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Committed {
    /// How often the table was emptied: its files have other names each time, as old ones may still be read.
    pub(super) generation: u64,
    /// Bytes of the log.
    pub(super) log_bytes: u64,
}

impl Committed {
    /// What counts now: nothing, if there is no such file.
    pub(super) fn read(disk: &dyn Disk, folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        match disk.read(&path) {
            Ok(bytes) => Self::parse(&bytes).ok_or_else(|| damaged(&path, 0)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(Error::from(e).within(path.display())),
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (text, checksum) = text.split_once("checksum ")?;
        let mut lines = text.lines();
        let is_whole = checksum == format!("{:032x}\n", xxh3_128(text.as_bytes()));
        if !is_whole || lines.next() != Some(FIRST_LINE) {
            return None;
        }
        let mut number = |name| lines.next()?.strip_prefix(name)?.parse().ok();
        Some(Self {
            generation: number("generation ")?,
            log_bytes: number("log bytes ")?,
        })
    }

    /// Puts this in the place of what counted before.
    pub(super) fn write(self, disk: &dyn Disk, folder: &Path) -> Result<()> {
        let Self {
            generation,
            log_bytes,
        } = self;
        let text = format!("{FIRST_LINE}\ngeneration {generation}\nlog bytes {log_bytes}\n");
        let checksum = xxh3_128(text.as_bytes());
        let path = folder.join(FILE);
        let new = folder.join(format!("{FILE}.new"));
        let write = || -> std::io::Result<()> {
            let mut file = disk.create(&new)?;
            file.write_all(format!("{text}checksum {checksum:032x}\n").as_bytes())?;
            file.sync()?;
            disk.rename(&new, &path)?;
            disk.sync_folder(folder)
        };
        write().map_err(|e| Error::from(e).within(path.display()))
    }

    /// The log of these rows.
    pub(super) fn log_path(self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.log", self.generation))
    }

    /// The file of a column.
    pub(super) fn column_path(self, folder: &Path, column: usize) -> PathBuf {
        folder.join(format!("{}.{column}.bin", self.generation))
    }
}

/// An insert as a record.
pub(super) fn record(extents: &[Extent]) -> Vec<u8> {
    let payload = extent::to_bytes(extents);
    let mut record = (payload.len() as u64).to_le_bytes().to_vec();
    record.extend_from_slice(&payload);
    let checksum = xxh3_64(&record);
    record.extend_from_slice(&checksum.to_le_bytes());
    record
}

/// The extents of records that begin at a place of the log.
pub(super) fn extents(
    (path, start): (&Path, u64),
    mut bytes: &[u8],
    types: &[&ArrowType],
) -> Result<Vec<Extent>> {
    let mut all = Vec::new();
    let num_bytes = bytes.len() as u64;
    while !bytes.is_empty() {
        let at = start + num_bytes - bytes.len() as u64;
        let (extents, rest) = one(bytes, types).ok_or_else(|| damaged(path, at))?;
        all.extend(extents);
        bytes = rest;
    }
    Ok(all)
}

fn one<'a>(bytes: &'a [u8], types: &[&ArrowType]) -> Option<(Vec<Extent>, &'a [u8])> {
    let (len, _) = bytes.split_first_chunk()?;
    let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
    let (covered, rest) = bytes.split_at_checked(len.checked_add(size_of::<u64>())?)?;
    let (checksum, rest) = rest.split_first_chunk()?;
    if xxh3_64(covered) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let extents = extent::from_bytes(&covered[size_of::<u64>()..], types)?;
    Some((extents, rest))
}

fn damaged(path: &Path, at: u64) -> Error {
    let message = format!(
        "The list of a table's rows is damaged: {}, byte {at}",
        path.display()
    );
    Error::new(ErrorCode::CORRUPTED_DATA, message)
}
