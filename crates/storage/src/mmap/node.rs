//! Describes the buffers of an array as the log keeps them: their order follows from the type.
//!
//! A node is an array without those inside it. Its buffers are the validity, which may be absent, and what
//! [`num_buffers`] says; behind it come its children.

use arrow::datatypes::DataType;

use super::aligned;

/// An array in a file, with the arrays inside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) num_values: u64,
    /// The validity first, of no bytes if nothing is NULL.
    pub(super) buffers: Vec<StoredBuffer>,
    pub(super) children: Vec<Node>,
}

/// A buffer in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredBuffer {
    pub(super) num_bytes: u64,
    /// XXH3-64.
    pub(super) checksum: u64,
}

/// Number of buffers of a node behind its validity; none for types that no column has.
pub(super) fn num_buffers(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Null | DataType::Struct(_) => Some(0),
        DataType::List(_) | DataType::FixedSizeBinary(_) => Some(1),
        DataType::BinaryView => Some(2),
        other => other.primitive_width().map(|_| 1),
    }
}

/// The types of the arrays inside an array.
pub(super) fn children(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::List(item) => vec![item.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        _ => Vec::new(),
    }
}

impl Node {
    /// Where it ends in a file in which it begins at `offset`.
    pub(super) fn end(&self, offset: u64) -> Option<u64> {
        let own = self.buffers.iter().try_fold(offset, |end, buffer| {
            aligned(end)?.checked_add(buffer.num_bytes)
        })?;
        self.children
            .iter()
            .try_fold(own, |end, child| child.end(end))
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.num_values.to_le_bytes());
        for buffer in &self.buffers {
            out.extend(buffer.num_bytes.to_le_bytes());
            out.extend(buffer.checksum.to_le_bytes());
        }
        self.children.iter().for_each(|child| child.put(out));
    }

    /// Takes a node of a type from the front of `bytes`; none if they end before.
    pub(super) fn take(bytes: &mut &[u8], data_type: &DataType) -> Option<Self> {
        let num_values = take_number(bytes)?;
        let mut buffer = |_| {
            Some(StoredBuffer {
                num_bytes: take_number(bytes)?,
                checksum: take_number(bytes)?,
            })
        };
        let num_buffers = 1 + num_buffers(data_type)?;
        let buffers = (0..num_buffers).map(&mut buffer).collect::<Option<_>>()?;
        let children = children(data_type).into_iter();
        let children = children.map(|child| Self::take(bytes, child));
        Some(Self {
            num_values,
            buffers,
            children: children.collect::<Option<_>>()?,
        })
    }
}

pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}
