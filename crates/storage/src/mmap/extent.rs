//! Says where the buffers of some rows lie in the files of their columns.

use arrow::datatypes::DataType as ArrowType;
use xxhash_rust::xxh3::xxh3_64;

/// Rows that were appended together, and what their columns have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) num_rows: u32,
    /// One for each column.
    pub(super) columns: Vec<Node>,
}

/// An array, as a tree: lists have their elements below them, structs their fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) len: u32,
    /// Bits, 1 = there is a value; none if all rows have one.
    pub(super) validity: Option<Piece>,
    pub(super) buffers: Vec<Piece>,
    pub(super) children: Vec<Node>,
}

/// Bytes of a column's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset: u64,
    pub(super) num_bytes: u64,
    /// XXH3 of 64 bits.
    pub(super) checksum: u64,
}

impl Piece {
    /// Whether the bytes are what was written.
    pub(super) fn is_whole(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.num_bytes && xxh3_64(bytes) == self.checksum
    }
}

impl Node {
    /// All pieces of the tree.
    pub(super) fn pieces(&self) -> Vec<&Piece> {
        let own = self.validity.iter().chain(&self.buffers);
        let below = self.children.iter().flat_map(Self::pieces);
        own.chain(below).collect()
    }

    /// Where the last of its bytes lies.
    pub(super) fn end(&self) -> u64 {
        let ends = self.pieces().into_iter().map(|p| p.offset + p.num_bytes);
        ends.max().unwrap_or(0)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.len.to_le_bytes());
        out.push(u8::from(self.validity.is_some()));
        put_count(self.buffers.len(), out);
        for piece in self.validity.iter().chain(&self.buffers) {
            for number in [piece.offset, piece.num_bytes, piece.checksum] {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
        for child in &self.children {
            child.write(out);
        }
    }

    /// None if the bytes are no such array.
    fn read(bytes: &mut &[u8], data_type: &ArrowType) -> Option<Self> {
        let len = u32::from_le_bytes(take(bytes)?);
        let [has_validity] = take(bytes)?;
        let num_buffers = u32::from_le_bytes(take(bytes)?) as usize;
        let validity = match has_validity {
            0 => None,
            1 => Some(Piece::read(bytes)?),
            _ => return None,
        };
        // Each takes its bytes, so that a count that is too high ends soon.
        let buffers = (0..num_buffers).map(|_| Piece::read(bytes));
        let buffers = buffers.collect::<Option<_>>()?;
        let children = child_types(data_type).into_iter();
        let children = children.map(|child| Self::read(bytes, child));
        Some(Self {
            len,
            validity,
            buffers,
            children: children.collect::<Option<_>>()?,
        })
    }
}

impl Piece {
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut number = || Some(u64::from_le_bytes(take(bytes)?));
        let piece = Self {
            offset: number()?,
            num_bytes: number()?,
            checksum: number()?,
        };
        piece.offset.checked_add(piece.num_bytes)?;
        Some(piece)
    }
}

/// The types of the arrays below one of this type.
pub(super) fn child_types(data_type: &ArrowType) -> Vec<&ArrowType> {
    match data_type {
        ArrowType::List(field) => vec![field.data_type()],
        ArrowType::Struct(fields) => fields.iter().map(|f| f.data_type()).collect(),
        _ => Vec::new(),
    }
}

/// Extents as the payload of a record.
pub(super) fn to_bytes(extents: &[Extent]) -> Vec<u8> {
    let mut out = Vec::new();
    put_count(extents.len(), &mut out);
    for extent in extents {
        out.extend_from_slice(&extent.num_rows.to_le_bytes());
        extent.columns.iter().for_each(|node| node.write(&mut out));
    }
    out
}

/// The extents of a record; none if the bytes are not of columns of these types.
pub(super) fn from_bytes(mut bytes: &[u8], types: &[&ArrowType]) -> Option<Vec<Extent>> {
    let bytes = &mut bytes;
    let num_extents = u32::from_le_bytes(take(bytes)?);
    let extent = |_| {
        let num_rows = u32::from_le_bytes(take(bytes)?);
        let columns = types.iter().map(|data_type| Node::read(bytes, data_type));
        let columns: Vec<Node> = columns.collect::<Option<_>>()?;
        let is_even = columns.iter().all(|node| node.len == num_rows);
        is_even.then_some(Extent { num_rows, columns })
    };
    let extents = (0..num_extents).map(extent).collect::<Option<_>>()?;
    bytes.is_empty().then_some(extents)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

fn put_count(count: usize, out: &mut Vec<u8>) {
    // Extents are cut long before.
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}
