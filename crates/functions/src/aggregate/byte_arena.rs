//! Keeps one byte string a group in a single buffer, and turns values of any type into bytes.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, FixedSizeBinaryArray,
    FixedSizeBinaryBuilder,
};
use arrow::compute::SortOptions;
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, Rows, SortField};
use basalt_error::{Error, Result};

use super::defaults::bug;

/// Where a group's bytes are; `len` is `UNSET` if it has none.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    len: u32,
}

const UNSET: u32 = u32::MAX;

/// Unused bytes below this are never worth a copy of the buffer.
const TOLERATED_GARBAGE: usize = 64 << 10;

/// One optional byte string for each group.
#[derive(Debug, Default)]
pub(crate) struct ByteArena {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    garbage: usize,
}

impl ByteArena {
    pub(crate) fn resize(&mut self, num_groups: usize) {
        if num_groups > self.spans.len() {
            let unset = Span {
                start: 0,
                len: UNSET,
            };
            self.spans.resize(num_groups, unset);
        }
    }

    /// The bytes of a group.
    #[inline]
    pub(crate) fn get(&self, group: usize) -> Option<&[u8]> {
        let span = self.spans[group];
        let start = span.start as usize;
        (span.len != UNSET).then(|| &self.bytes[start..start + span.len as usize])
    }

    /// Replaces the bytes of a group.
    pub(crate) fn set(&mut self, group: usize, value: Option<&[u8]>) -> Result<()> {
        let span = &mut self.spans[group];
        let old_len = if span.len == UNSET {
            0
        } else {
            span.len as usize
        };
        let Some(value) = value else {
            self.garbage += old_len;
            span.len = UNSET;
            return Ok(());
        };
        let len = u32::try_from(value.len())
            .ok()
            .filter(|len| *len != UNSET)
            .ok_or_else(|| Error::bug("a value of 4 GiB or more"))?;
        if value.len() <= old_len {
            let start = span.start as usize;
            self.bytes[start..start + value.len()].copy_from_slice(value);
            self.garbage += old_len - value.len();
        } else {
            self.garbage += old_len;
            span.start = self.bytes.len() as u64;
            self.bytes.extend_from_slice(value);
        }
        span.len = len;
        if self.garbage > TOLERATED_GARBAGE && self.garbage * 2 > self.bytes.len() {
            self.compact();
        }
        Ok(())
    }

    fn compact(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.garbage);
        for span in self.spans.iter_mut().filter(|s| s.len != UNSET) {
            let start = span.start as usize;
            let value = &self.bytes[start..start + span.len as usize];
            span.start = bytes.len() as u64;
            bytes.extend_from_slice(value);
        }
        self.bytes = bytes;
        self.garbage = 0;
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>()
    }
}

/// Turns values of one type into bytes and back; the bytes compare as the values do.
#[derive(Debug)]
pub(crate) enum ByteCodec {
    /// Strings.
    Binary,
    /// Strings of one length.
    Fixed(i32),
    /// Anything else: Arrow's row format.
    Rows(RowConverter, ArrowType),
}

/// The bytes of each row of an array.
#[derive(Debug)]
pub(crate) enum EncodedBytes<'a> {
    Binary(&'a BinaryViewArray),
    Fixed(&'a FixedSizeBinaryArray),
    Rows(Rows, &'a ArrayRef),
}

impl ByteCodec {
    /// The codec of a physical type; NULLs inside of arrays and tuples come last.
    pub(crate) fn new(arrow: &ArrowType) -> Result<Self> {
        Self::with_nulls(arrow, false)
    }

    /// The same with such NULLs first, if `nulls_first`.
    pub(crate) fn with_nulls(arrow: &ArrowType, nulls_first: bool) -> Result<Self> {
        Ok(match arrow {
            ArrowType::BinaryView => ByteCodec::Binary,
            ArrowType::FixedSizeBinary(width) => ByteCodec::Fixed(*width),
            other => {
                let order = SortOptions {
                    descending: false,
                    nulls_first,
                };
                let field = SortField::new_with_options(other.clone(), order);
                let converter = RowConverter::new(vec![field]).map_err(bug)?;
                ByteCodec::Rows(converter, other.clone())
            }
        })
    }

    /// The bytes of the rows of `array`.
    pub(crate) fn encode<'a>(&self, array: &'a ArrayRef) -> Result<EncodedBytes<'a>> {
        let encoded = match self {
            ByteCodec::Binary => array.as_binary_view_opt().map(EncodedBytes::Binary),
            ByteCodec::Fixed(_) => array.as_fixed_size_binary_opt().map(EncodedBytes::Fixed),
            ByteCodec::Rows(converter, _) => {
                let columns = std::slice::from_ref(array);
                let rows = converter.convert_columns(columns).map_err(bug)?;
                Some(EncodedBytes::Rows(rows, array))
            }
        };
        encoded.ok_or_else(|| super::values::wrong_array(array))
    }

    /// The array of values whose bytes are given, NULL for `None`.
    pub(crate) fn decode<'a>(
        &self,
        values: impl ExactSizeIterator<Item = Option<&'a [u8]>>,
    ) -> Result<ArrayRef> {
        match self {
            ByteCodec::Binary => {
                let mut builder = BinaryViewBuilder::with_capacity(values.len());
                values.for_each(|v| builder.append_option(v));
                Ok(Arc::new(builder.finish()))
            }
            ByteCodec::Fixed(width) => {
                let mut builder = FixedSizeBinaryBuilder::with_capacity(values.len(), *width);
                for value in values {
                    match value {
                        Some(v) => builder.append_value(v).map_err(bug)?,
                        None => builder.append_null(),
                    }
                }
                Ok(Arc::new(builder.finish()))
            }
            ByteCodec::Rows(converter, arrow) => {
                let null = arrow::array::new_null_array(arrow, 1);
                let null = converter.convert_columns(&[null]).map_err(bug)?;
                let parser = converter.parser();
                let rows = values.map(|v| v.map_or_else(|| null.row(0), |v| parser.parse(v)));
                let mut columns = converter.convert_rows(rows).map_err(bug)?;
                columns
                    .pop()
                    .ok_or_else(|| Error::bug("row format gave no column"))
            }
        }
    }
}

impl EncodedBytes<'_> {
    /// The bytes of a row, also of one that is NULL.
    #[inline]
    pub(crate) fn value(&self, row: usize) -> &[u8] {
        match self {
            EncodedBytes::Binary(array) => array.value(row),
            EncodedBytes::Fixed(array) => array.value(row),
            EncodedBytes::Rows(rows, _) => rows.row(row).data(),
        }
    }

    /// The bytes of a row, `None` if it is NULL.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        let is_null = match self {
            EncodedBytes::Binary(array) => array.is_null(row),
            EncodedBytes::Fixed(array) => array.is_null(row),
            EncodedBytes::Rows(_, array) => array.is_null(row),
        };
        (!is_null).then(|| self.value(row))
    }
}
