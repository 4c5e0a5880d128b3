//! Writes and reads what a part tells of itself: its rows, columns and groups.

use arrow::buffer::BooleanBuffer;
use basalt_error::{Error, ErrorCode, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::kept_rows::{KeptRows, mask_bytes, mask_of};
use super::text_bounds::TextBounds;

/// Name of the file.
pub(super) const FILE: &str = "part.meta";

const MAGIC: &[u8] = b"BSLTPART";
/// The version of parts of which rows were deleted that are still in the files.
const VERSION_WITH_MASKS: u32 = 3;

/// The version of all others.
const VERSION: u32 = 2;

/// The version whose groups do not tell how many values are zero.
const VERSION_WITHOUT_ZEROS: u32 = 1;

/// What a group has: bounds, a number of zeros, texts as bounds.
const HAS_BOUNDS: u8 = 1;
const HAS_ZEROS: u8 = 2;
const HAS_TEXTS: u8 = 4;
const CHECKSUM_BYTES: usize = 16;

/// A part's rows and columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartMetadata {
    /// The partition's key as text.
    pub partition: String,
    /// Rows of each group, without deleted ones.
    pub group_rows: Vec<u32>,
    /// The columns, in the order of their files. What is known of their groups counts deleted rows, too.
    pub columns: Vec<ColumnMetadata>,
    /// Which rows of a group are left.
    pub kept: KeptRows,
}

/// A column of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnMetadata {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: String,
    /// Steps by which its first group was encoded.
    pub codec: String,
    /// Bytes of its values.
    pub decoded_bytes: u64,
    /// Its groups.
    pub groups: Vec<GroupMetadata>,
    /// Of columns of strings: between which texts those of each group lie, where that is known.
    pub text_bounds: Vec<Option<TextBounds>>,
}

impl ColumnMetadata {
    /// Between which texts the strings of a group lie, if it is known.
    pub fn texts_of(&self, group: usize) -> Option<&TextBounds> {
        self.text_bounds.get(group)?.as_ref()
    }
}

/// A column's blocks for a group of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupMetadata {
    /// Where they begin in the file.
    pub offset: u64,
    /// How many bytes they have.
    pub num_bytes: u64,
    /// XXH3 of their checksums.
    pub checksum: u64,
    /// Least and greatest value, where they are numbers.
    pub bounds: Bounds,
    /// How many of the values are NULL.
    pub null_count: u32,
    /// How many of the others are 0 or empty; none if nobody counted.
    pub zero_count: Option<u32>,
}

/// Least and greatest value of a group that are not NULL, as `codec` widens them; none if unknown.
pub type Bounds = Option<(u64, u64)>;

impl PartMetadata {
    /// Rows of the part.
    pub fn num_rows(&self) -> usize {
        self.group_rows.iter().map(|rows| *rows as usize).sum()
    }

    /// Rows that the files have, deleted ones among them.
    pub fn num_stored_rows(&self) -> usize {
        let groups = 0..self.group_rows.len();
        groups.map(|group| self.stored_rows(group)).sum()
    }

    /// Rows that the files have of a group, deleted ones among them.
    pub fn stored_rows(&self, group: usize) -> usize {
        let kept = self.kept.of(group);
        kept.map_or(self.group_rows[group] as usize, BooleanBuffer::len)
    }

    /// Whether no row of a group was deleted, so that what is known of its columns is known of the rows that are left.
    pub fn is_whole(&self, group: usize) -> bool {
        self.kept.of(group).is_none()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; CHECKSUM_BYTES];
        bytes.extend_from_slice(MAGIC);
        let version = match self.kept.is_all() {
            true => VERSION,
            false => VERSION_WITH_MASKS,
        };
        bytes.extend_from_slice(&version.to_le_bytes());
        put_text(&mut bytes, &self.partition);
        put_count(&mut bytes, self.group_rows.len());
        for group in 0..self.group_rows.len() {
            put_count(&mut bytes, self.stored_rows(group));
        }
        put_count(&mut bytes, self.columns.len());
        for column in &self.columns {
            for text in [&column.name, &column.data_type, &column.codec] {
                put_text(&mut bytes, text);
            }
            bytes.extend_from_slice(&column.decoded_bytes.to_le_bytes());
            for (i, group) in column.groups.iter().enumerate() {
                let (least, greatest) = group.bounds.unwrap_or_default();
                let numbers = [group.offset, group.num_bytes, group.checksum];
                for number in numbers.into_iter().chain([least, greatest]) {
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                bytes.extend_from_slice(&group.null_count.to_le_bytes());
                let zero_count = group.zero_count.unwrap_or_default();
                bytes.extend_from_slice(&zero_count.to_le_bytes());
                let has = |is_there: bool, flag: u8| if is_there { flag } else { 0 };
                let bounds = has(group.bounds.is_some(), HAS_BOUNDS);
                let zeros = has(group.zero_count.is_some(), HAS_ZEROS);
                let texts = column.texts_of(i);
                bytes.push(bounds | zeros | has(texts.is_some(), HAS_TEXTS));
                for text in texts.into_iter().flat_map(|t| [&t.least, &t.greatest]) {
                    put_count(&mut bytes, text.len());
                    bytes.extend_from_slice(text);
                }
            }
        }
        if version == VERSION_WITH_MASKS {
            put_count(&mut bytes, self.kept.groups().len());
            for (group, kept) in self.kept.groups() {
                put_count(&mut bytes, group);
                bytes.extend_from_slice(&mask_bytes(kept));
            }
        }
        let checksum = xxh3_128(&bytes[CHECKSUM_BYTES..]).to_le_bytes();
        bytes[..CHECKSUM_BYTES].copy_from_slice(&checksum);
        bytes
    }

    /// Reads what a part tells of itself.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` if the bytes are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (checksum, rest) = bytes.split_at_checked(CHECKSUM_BYTES).ok_or_else(ends)?;
        if xxh3_128(rest).to_le_bytes() != checksum {
            return Err(damaged("the checksum does not match the bytes"));
        }
        let mut reader = Reader { rest };
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(damaged("it does not begin as a part does"));
        }
        let version = reader.u32()?;
        if !(VERSION_WITHOUT_ZEROS..=VERSION_WITH_MASKS).contains(&version) {
            let why = format!("version {version} of the format is not known");
            return Err(damaged(&why));
        }
        let partition = reader.text()?;
        let num_groups = reader.u32()? as usize;
        let mut group_rows = Vec::new();
        for _ in 0..num_groups {
            group_rows.push(reader.u32()?);
        }
        let num_columns = reader.u32()?;
        let mut columns = Vec::new();
        for _ in 0..num_columns {
            columns.push(reader.column(num_groups, version)?);
        }
        let kept = match version {
            VERSION_WITH_MASKS => reader.kept(&mut group_rows)?,
            _ => KeptRows::default(),
        };
        if !reader.rest.is_empty() {
            return Err(damaged("there is more than a part's columns"));
        }
        Ok(Self {
            partition,
            group_rows,
            columns,
            kept,
        })
    }
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&count.to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_count(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn ends() -> Error {
    damaged("it ends too early")
}

fn damaged(why: &str) -> Error {
    let message = format!("File {FILE} is damaged: {why}");
    Error::new(ErrorCode::CORRUPTED_DATA, message)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(ends)?;
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(ends)?;
        self.rest = rest;
        Ok(u32::from_le_bytes(*taken))
    }

    fn u64(&mut self) -> Result<u64> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(ends)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*taken))
    }

    fn bytes(&mut self) -> Result<Box<[u8]>> {
        let len = self.u32()? as usize;
        Ok(self.take(len)?.into())
    }

    fn text(&mut self) -> Result<String> {
        let len = self.u32()? as usize;
        let text = std::str::from_utf8(self.take(len)?);
        text.map(str::to_owned)
            .map_err(|_| damaged("a name is no text"))
    }

    fn column(&mut self, num_groups: usize, version: u32) -> Result<ColumnMetadata> {
        let mut column = ColumnMetadata {
            name: self.text()?,
            data_type: self.text()?,
            codec: self.text()?,
            decoded_bytes: self.u64()?,
            groups: Vec::new(),
            text_bounds: Vec::new(),
        };
        for _ in 0..num_groups {
            let (offset, num_bytes, checksum) = (self.u64()?, self.u64()?, self.u64()?);
            let bounds = (self.u64()?, self.u64()?);
            let null_count = self.u32()?;
            let zero_count = match version {
                VERSION_WITHOUT_ZEROS => 0,
                _ => self.u32()?,
            };
            let has = self.take(1)?[0];
            column.groups.push(GroupMetadata {
                offset,
                num_bytes,
                checksum,
                bounds: (has & HAS_BOUNDS != 0).then_some(bounds),
                null_count,
                zero_count: (has & HAS_ZEROS != 0).then_some(zero_count),
            });
            let texts = match has & HAS_TEXTS {
                0 => None,
                _ => Some(TextBounds {
                    least: self.bytes()?,
                    greatest: self.bytes()?,
                }),
            };
            column.text_bounds.push(texts);
        }
        Ok(column)
    }

    /// Which rows are left of groups of so many; then these are the rows that are left.
    fn kept(&mut self, group_rows: &mut [u32]) -> Result<KeptRows> {
        let mut kept = KeptRows::default();
        for _ in 0..self.u32()? {
            let group = self.u32()? as usize;
            let rows = group_rows.get_mut(group);
            let rows = rows.filter(|_| kept.of(group).is_none());
            let rows = rows.ok_or_else(|| damaged("a mask is not that of a group"))?;
            let num_rows = *rows as usize;
            let mask = mask_of(self.take(num_rows.div_ceil(8))?, num_rows);
            if mask.count_set_bits() == 0 {
                return Err(damaged("a group of which no row is left"));
            }
            *rows = u32::try_from(mask.count_set_bits()).unwrap_or(u32::MAX);
            kept.insert(group, mask);
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests;
