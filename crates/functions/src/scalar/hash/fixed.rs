//! Views fixed-size values as the bytes that ClickHouse keeps for them in memory.

use arrow::array::{Array, AsArray};
use arrow::buffer::Buffer;
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, Result};
use basalt_types::DataType;

use crate::Column;

/// Bytes of numbers, dates and addresses, the lowest first.
#[derive(Debug)]
pub struct FixedBytes {
    buffer: Buffer,
    /// Distance of two values in the buffer.
    stride: usize,
    /// How many bytes ClickHouse has for a value; small decimals lie in wider ones here.
    width: usize,
    mask: usize,
}

impl FixedBytes {
    /// A view of a column of a type with [`DataType::fixed_size_bytes`].
    ///
    /// # Errors
    /// `LOGICAL_ERROR` for other types.
    pub fn new(column: &Column, data_type: &DataType) -> Result<Self> {
        let mask = if column.is_const { 0 } else { usize::MAX };
        if let Some(fixed) = column.array.as_fixed_size_binary_opt() {
            let size = fixed.value_length().max(0) as usize;
            return Ok(Self {
                buffer: fixed.clone().into_parts().1,
                stride: size,
                width: size,
                mask,
            });
        }
        let arrow_type = column.array.data_type();
        let stride = match arrow_type {
            ArrowType::Decimal128(..) => 16,
            ArrowType::Decimal256(..) => 32,
            other => other
                .primitive_width()
                .ok_or_else(|| Error::bug(format!("{other} has no fixed size")))?,
        };
        let data = column.array.to_data();
        let buffer = data.buffers().first().cloned().unwrap_or_default();
        Ok(Self {
            buffer: buffer.slice(data.offset() * stride),
            stride,
            width: data_type.fixed_size_bytes().unwrap_or(stride).min(stride),
            mask,
        })
    }

    /// The bytes of a row.
    #[inline]
    pub fn value(&self, row: usize) -> &[u8] {
        let at = (row & self.mask) * self.stride;
        &self.buffer.as_slice()[at..at + self.width]
    }
}
