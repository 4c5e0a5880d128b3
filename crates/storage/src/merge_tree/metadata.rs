//! Writes and reads what a part tells of itself: its rows, columns and groups.

use basalt_error::{Error, ErrorCode, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::text_bounds::TextBounds;

/// Name of the file.
pub(super) const FILE: &str = "part.meta";

const MAGIC: &[u8] = b"BSLTPART";
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
    /// Rows of each group.
    pub group_rows: Vec<u32>,
    /// The columns, in the order of their files.
    pub columns: Vec<ColumnMetadata>,
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

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; CHECKSUM_BYTES];
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        put_text(&mut bytes, &self.partition);
        put_count(&mut bytes, self.group_rows.len());
        for rows in &self.group_rows {
            bytes.extend_from_slice(&rows.to_le_bytes());
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
        if ![VERSION, VERSION_WITHOUT_ZEROS].contains(&version) {
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
        if !reader.rest.is_empty() {
            return Err(damaged("there is more than a part's columns"));
        }
        Ok(Self {
            partition,
            group_rows,
            columns,
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
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::{CHECKSUM_BYTES, ColumnMetadata, GroupMetadata, PartMetadata, TextBounds};

    fn metadata() -> PartMetadata {
        let group = GroupMetadata {
            offset: 0,
            num_bytes: 128,
            checksum: 7,
            bounds: Some((1, 9)),
            null_count: 3,
            zero_count: Some(2),
        };
        let texts = TextBounds {
            least: b"a"[..].into(),
            greatest: b"b"[..].into(),
        };
        PartMetadata {
            partition: "202611".to_owned(),
            group_rows: vec![65_536, 10],
            columns: vec![ColumnMetadata {
                name: "x".to_owned(),
                data_type: "String".to_owned(),
                codec: "ZSTD".to_owned(),
                decoded_bytes: 1000,
                groups: vec![
                    group,
                    GroupMetadata {
                        zero_count: None,
                        bounds: None,
                        ..group
                    },
                ],
                text_bounds: vec![Some(texts), None],
            }],
        }
    }

    /// The bytes with a checksum that is right.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        if bytes.len() >= CHECKSUM_BYTES {
            let sum = xxh3_128(&bytes[CHECKSUM_BYTES..]).to_le_bytes();
            bytes[..CHECKSUM_BYTES].copy_from_slice(&sum);
        }
        bytes
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let bytes = metadata().to_bytes();
        assert_eq!(PartMetadata::from_bytes(&bytes).unwrap(), metadata());
    }

    #[test]
    fn parts_of_version_1_know_no_zeros() {
        let mut old = metadata();
        old.columns[0]
            .groups
            .iter_mut()
            .for_each(|group| group.zero_count = None);
        old.columns[0].text_bounds = vec![None, None];
        let mut bytes = old.to_bytes();
        bytes[CHECKSUM_BYTES + 8] = 1;
        // Each of the two groups ends with a number of zeros and a flag.
        let end = bytes.len();
        bytes.drain(end - 5..end - 1);
        let end = bytes.len() - 49 + 4;
        bytes.drain(end - 5..end - 1);
        assert_eq!(PartMetadata::from_bytes(&sealed(bytes)).unwrap(), old);
    }

    #[test]
    fn damage_behind_a_right_checksum_is_an_error_or_other_metadata() {
        let bytes = metadata().to_bytes();
        let mut num_errors = 0;
        for i in CHECKSUM_BYTES..bytes.len() {
            for change in [0x01, 0x80, 0xFF] {
                let mut damaged = bytes.clone();
                damaged[i] ^= change;
                num_errors += usize::from(PartMetadata::from_bytes(&sealed(damaged)).is_err());
            }
            let cut = sealed(bytes[..i].to_vec());
            assert!(PartMetadata::from_bytes(&cut).is_err(), "{i} bytes");
        }
        assert!(num_errors > 100, "{num_errors}");
    }
}
