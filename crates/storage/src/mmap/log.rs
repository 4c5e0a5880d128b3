//! Writes and reads the log of a table as bytes: a header, and a record for each insert, which tells where its rows lie.

use std::path::Path;

use arrow::datatypes::{FieldRef, SchemaRef};
use basalt_error::{Error, ErrorCode, Result};
use xxhash_rust::xxh3::Xxh3;

use super::committed::Committed;
use super::node::{Node, take_number};

const MAGIC: &[u8; 8] = b"BSLTMMAP";

const VERSION: u32 = 1;

/// Bytes of the header before the columns.
const START_BYTES: usize = 40;

/// Where the checksum stands in them.
const CHECKSUM: usize = 32;

const RECORD_MAGIC: &[u8; 4] = b"EXTS";

/// Bytes of a record before its extents.
const RECORD_START: usize = 16;

/// What lengths are multiples of.
const STEP: usize = 8;

/// Names and types of the columns.
pub(super) type Columns = [(String, String)];

/// Where the rows of a batch lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) num_rows: u64,
    /// For each column where it begins, and its buffers.
    pub(super) columns: Vec<(u64, Node)>,
}

/// Where damage is, and what is wrong.
pub(super) type Damage = (u64, &'static str);

/// The error for a log that cannot be what was written.
pub(super) fn damaged(path: &Path, (offset, what): Damage) -> Error {
    let path = path.display();
    let message = format!("The log of the table is damaged: {what} at byte {offset} of {path}");
    Error::new(ErrorCode::CORRUPTED_DATA, message)
}

/// What a log of a table with these columns begins with.
///
/// # Errors
/// `LOGICAL_ERROR` if they have names of 4 GiB.
pub(super) fn header(committed: Committed, columns: &Columns) -> Result<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(committed.identity.to_le_bytes());
    bytes.extend(committed.generation.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(length(columns.len())?);
    let texts = columns
        .iter()
        .flat_map(|(name, data_type)| [name, data_type]);
    for text in texts {
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

/// Number of bytes of the header of a log.
///
/// # Errors
/// If it is damaged, or that of another table or generation.
pub(super) fn check_header(
    bytes: &[u8],
    committed: Committed,
    columns: &Columns,
) -> std::result::Result<usize, Damage> {
    if !bytes.starts_with(MAGIC) {
        return Err((0, "no log of an Mmap table"));
    }
    let num_bytes = take_length(bytes, 12).unwrap_or_default();
    let whole = bytes.get(..num_bytes).filter(|_| num_bytes >= START_BYTES);
    let whole = whole.ok_or((12, "no complete header"))?;
    if whole[CHECKSUM..START_BYTES] != header_checksum(whole).to_le_bytes() {
        return Err((0, "the checksum of the header doesn't match"));
    }
    if take_length(whole, 8) != usize::try_from(VERSION).ok() {
        return Err((8, "a version that this Basalt doesn't know"));
    }
    let of = [committed.identity, committed.generation];
    if whole[16..CHECKSUM] != *of.map(u64::to_le_bytes).as_flattened() {
        return Err((16, "another table or generation"));
    }
    match header(committed, columns) {
        Ok(expected) if expected == whole => Ok(num_bytes),
        _ => Err((START_BYTES as u64, "other columns than the table has")),
    }
}

/// The record of an insert; the seed is that of its checksum.
///
/// # Errors
/// `LOGICAL_ERROR` if it has 4 GiB.
pub(super) fn record(seed: u64, extents: &[Extent]) -> Result<Vec<u8>> {
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
    let checksum = record_checksum(seed, &bytes);
    bytes[8..RECORD_START].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

fn record_checksum(seed: u64, bytes: &[u8]) -> u64 {
    let mut hasher = Xxh3::with_seed(seed);
    hasher.update(&bytes[..8]);
    hasher.update(&bytes[RECORD_START..]);
    hasher.digest()
}

/// The record that bytes begin with, if it is whole.
fn first_record(bytes: &[u8], seed: u64) -> Option<&[u8]> {
    let num_bytes = take_length(bytes, 4).filter(|n| *n >= RECORD_START)?;
    let record = bytes.get(..num_bytes)?;
    let checksum = record_checksum(seed, record).to_le_bytes();
    (record.starts_with(RECORD_MAGIC) && record[8..RECORD_START] == checksum).then_some(record)
}

/// The extents of the records that bytes of a log consist of.
///
/// # Errors
/// If one is damaged.
pub(super) fn extents(
    bytes: &[u8],
    seed: u64,
    schema: &SchemaRef,
) -> std::result::Result<Vec<Extent>, Damage> {
    let (mut at, mut extents) = (0, Vec::new());
    while at < bytes.len() {
        let place = |what| (at as u64, what);
        let record = first_record(&bytes[at..], seed);
        let record = record.ok_or_else(|| place("no complete record"))?;
        let more = take_extents(&record[RECORD_START..], schema);
        extents.extend(more.ok_or_else(|| place("an impossible record"))?);
        at += record.len();
    }
    Ok(extents)
}

fn take_extents(mut bytes: &[u8], schema: &SchemaRef) -> Option<Vec<Extent>> {
    let num_extents = take_number(&mut bytes)?;
    let mut extents = Vec::new();
    for _ in 0..num_extents {
        let num_rows = take_number(&mut bytes)?;
        let column = |field: &FieldRef| {
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
