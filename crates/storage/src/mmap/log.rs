//! Writes and reads the log of a table: a header, and a record for each insert, which is what makes it visible.
//!
//! A record that a crash has cut off is the last one; its insert was never acknowledged, and it is as if it were not
//! there. Damage before other records is an error, as their rows would go with it.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use arrow::datatypes::SchemaRef;
use basalt_error::{Error, ErrorCode, Result};
use xxhash_rust::xxh3::Xxh3;

use super::node::{Node, take_number};
use crate::disk::Disk;

const FILE: &str = "extents.log";

const MAGIC: &[u8; 8] = b"BSLTMMAP";

const VERSION: u32 = 1;

/// Bytes of the header before the columns.
pub(super) const START_BYTES: usize = 32;

/// Where the checksum stands in them.
const CHECKSUM: usize = 24;

const RECORD_MAGIC: &[u8; 4] = b"EXTS";

/// Bytes of a record before its extents.
const RECORD_START: usize = 16;

/// What places and lengths are multiples of.
const STEP: usize = 8;

/// Names and types of the columns.
pub(super) type Columns = [(String, String)];

/// The beginning of the header, which no two logs of a table have alike.
pub(super) type Start = [u8; START_BYTES];

/// Where the rows of a batch lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) num_rows: u64,
    /// For each column where it begins, and its buffers.
    pub(super) columns: Vec<(u64, Node)>,
}

/// A log whose header is read.
pub(super) struct Header {
    pub(super) generation: u64,
    pub(super) start: Start,
    pub(super) num_bytes: usize,
}

pub(super) fn path(table: &Path) -> PathBuf {
    table.join(FILE)
}

/// The error for a log that cannot be what was written.
pub(super) fn damaged(table: &Path, offset: u64, what: &str) -> Error {
    let message = format!("The log of the table is damaged: {what} at byte {offset} of ");
    let path = path(table);
    Error::new(
        ErrorCode::CORRUPTED_DATA,
        format!("{message}{}", path.display()),
    )
}

/// The beginning of a log; none if there is none yet.
pub(super) fn read_start(disk: &dyn Disk, table: &Path) -> Result<Option<Start>> {
    let path = path(table);
    let mut start = [0; START_BYTES];
    match disk.read_range(&path, 0, &mut start) {
        Ok(()) => Ok(Some(start)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
            Err(damaged(table, 0, "no complete header"))
        }
        Err(e) => Err(Error::from(e).within(path.display())),
    }
}

/// Puts a log without records in the place of any other; a crash leaves one of them.
pub(super) fn save(
    disk: &dyn Disk,
    table: &Path,
    generation: u64,
    columns: &Columns,
) -> Result<Header> {
    let bytes = header(generation, columns)?;
    let path = path(table);
    let temporary = table.join(format!("{FILE}.new"));
    let write = || -> std::io::Result<()> {
        let mut file = disk.create(&temporary)?;
        file.write_all(&bytes)?;
        file.sync()?;
        disk.rename(&temporary, &path)?;
        disk.sync_folder(table)
    };
    write().map_err(|e| Error::from(e).within(path.display()))?;
    Header::parse(&bytes, columns).map_err(|(offset, what)| damaged(table, offset, what))
}

fn header(generation: u64, columns: &Columns) -> Result<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(generation.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(length(columns.len())?);
    for text in columns
        .iter()
        .flat_map(|(name, data_type)| [name, data_type])
    {
        bytes.extend(length(text.len())?);
        bytes.extend(text.as_bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(STEP), 0);
    let num_bytes = length(bytes.len())?;
    bytes[12..16].copy_from_slice(&num_bytes);
    let checksum = header_checksum(&bytes);
    bytes[CHECKSUM..START_BYTES].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

fn header_checksum(bytes: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&bytes[..CHECKSUM]);
    hasher.update(&bytes[START_BYTES..]);
    hasher.digest()
}

fn length(number: usize) -> Result<[u8; 4]> {
    let number = u32::try_from(number);
    let number = number.map_err(|_| Error::bug("too many columns or extents for a log"))?;
    Ok(number.to_le_bytes())
}

fn take_length(bytes: &[u8], at: usize) -> Option<usize> {
    let length = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*length)).ok()
}

/// Where damage is, and what is wrong.
pub(super) type Damage = (u64, &'static str);

impl Header {
    /// The header of a log of a table with these columns.
    pub(super) fn parse(bytes: &[u8], columns: &Columns) -> std::result::Result<Self, Damage> {
        let start: &Start = bytes.first_chunk().ok_or((0, "no complete header"))?;
        if !start.starts_with(MAGIC) {
            return Err((0, "no log of an Mmap table"));
        }
        let num_bytes = take_length(start, 12).unwrap_or_default();
        let whole = bytes.get(..num_bytes).filter(|_| num_bytes >= START_BYTES);
        let whole = whole.ok_or((12, "no complete header"))?;
        let checksum = header_checksum(whole).to_le_bytes();
        if start[CHECKSUM..] != checksum {
            return Err((0, "the checksum of the header doesn't match"));
        }
        if take_length(start, 8) != usize::try_from(VERSION).ok() {
            return Err((8, "a version that this Basalt doesn't know"));
        }
        let generation = take_number(&mut &start[16..]).unwrap_or_default();
        let expected = header(generation, columns);
        if expected.ok().as_deref() != Some(whole) {
            return Err((32, "other columns than the table has"));
        }
        Ok(Self {
            generation,
            start: *start,
            num_bytes,
        })
    }
}

/// The record of an insert.
pub(super) fn record(generation: u64, extents: &[Extent]) -> Result<Vec<u8>> {
    let mut bytes = RECORD_MAGIC.to_vec();
    bytes.extend([0; RECORD_START - 4]);
    bytes.extend((extents.len() as u64).to_le_bytes());
    for extent in extents {
        bytes.extend(extent.num_rows.to_le_bytes());
        for (offset, node) in &extent.columns {
            bytes.extend(offset.to_le_bytes());
            node.put(&mut bytes);
        }
    }
    let num_bytes = length(bytes.len())?;
    bytes[4..8].copy_from_slice(&num_bytes);
    let checksum = record_checksum(generation, &bytes);
    bytes[8..RECORD_START].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

fn record_checksum(generation: u64, bytes: &[u8]) -> u64 {
    let mut hasher = Xxh3::with_seed(generation);
    hasher.update(&bytes[..8]);
    hasher.update(&bytes[RECORD_START..]);
    hasher.digest()
}

/// The record at a place, if it is whole.
fn record_at(bytes: &[u8], at: usize, generation: u64) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let num_bytes = take_length(rest, 4).filter(|n| *n >= RECORD_START)?;
    let record = rest.get(..num_bytes)?;
    let checksum = record_checksum(generation, record).to_le_bytes();
    (record.starts_with(RECORD_MAGIC) && record[8..RECORD_START] == checksum).then_some(record)
}

/// Records of a log of a generation, from a place on: their extents, and the number of bytes of whole records.
///
/// # Errors
/// Where a record is damaged that is not the last one.
pub(super) fn records(
    bytes: &[u8],
    generation: u64,
    schema: &SchemaRef,
) -> std::result::Result<(Vec<Extent>, usize), Damage> {
    let (mut at, mut extents) = (0, Vec::new());
    while let Some(record) = record_at(bytes, at, generation) {
        let more = take_extents(&record[RECORD_START..], schema);
        extents.extend(more.ok_or((at as u64, "an impossible record"))?);
        at += record.len();
    }
    let mut behind = (at..bytes.len()).step_by(STEP).skip(1);
    match behind.any(|place| record_at(bytes, place, generation).is_some()) {
        true => Err((at as u64, "a record before others")),
        false => Ok((extents, at)),
    }
}

fn take_extents(mut bytes: &[u8], schema: &SchemaRef) -> Option<Vec<Extent>> {
    let num_extents = take_number(&mut bytes)?;
    let mut extents = Vec::new();
    for _ in 0..num_extents {
        let num_rows = take_number(&mut bytes)?;
        let column = |field: &arrow::datatypes::FieldRef| {
            let offset = take_number(&mut bytes)?;
            let node = Node::take(&mut bytes, field.data_type())?;
            (node.num_values == num_rows && offset % super::ALIGNMENT == 0)
                .then_some((offset, node))
        };
        let columns = schema.fields().iter().map(column).collect::<Option<_>>()?;
        extents.push(Extent { num_rows, columns });
    }
    bytes.is_empty().then_some(extents)
}
