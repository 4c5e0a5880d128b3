//! The growing buffers that a column's values lie in.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};

use crate::EnumType;

/// What every kind of buffer can do.
pub(super) trait Slots {
    fn len(&self) -> usize;
    fn truncate(&mut self, len: usize);
    fn push_default(&mut self);
}

impl<T: Default> Slots for Vec<T> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn truncate(&mut self, len: usize) {
        Vec::truncate(self, len);
    }

    fn push_default(&mut self) {
        self.push(T::default());
    }
}

/// Values of the same number of bytes, one after another.
#[derive(Debug)]
pub(super) struct FixedBytes {
    pub(super) bytes: Vec<u8>,
    pub(super) width: usize,
    len: usize,
}

impl FixedBytes {
    pub(super) fn new(width: usize, capacity: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(width.saturating_mul(capacity)),
            width,
            len: 0,
        }
    }

    /// Appends `value` (at most as long as the width), padded with zero bytes.
    pub(super) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.len += 1;
        self.bytes.resize(self.len * self.width, 0);
    }
}

impl Slots for FixedBytes {
    fn len(&self) -> usize {
        self.len
    }

    fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.bytes.truncate(len * self.width);
            self.len = len;
        }
    }

    fn push_default(&mut self) {
        self.push(&[]);
    }
}

/// Numbers of an enum's values; the default is the least one's.
#[derive(Debug)]
pub(super) struct EnumNumbers<T> {
    pub(super) numbers: Vec<T>,
    pub(super) names: Arc<EnumType>,
}

impl<T: TryFrom<i16> + Default> EnumNumbers<T> {
    pub(super) fn push(&mut self, number: i16) {
        self.numbers.push(T::try_from(number).unwrap_or_default());
    }
}

impl<T: TryFrom<i16> + Default> Slots for EnumNumbers<T> {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn truncate(&mut self, len: usize) {
        self.numbers.truncate(len);
    }

    fn push_default(&mut self) {
        let first = self.names.values().first().map_or(0, |(_, number)| *number);
        self.push(first);
    }
}

/// Ends of arrays; the elements themselves are in the builder beside them.
#[derive(Debug)]
pub(super) struct Offsets(pub(super) Vec<i32>);

impl Offsets {
    pub(super) fn new(capacity: usize) -> Self {
        let mut offsets = Vec::with_capacity(capacity + 1);
        offsets.push(0);
        Self(offsets)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len() - 1
    }

    pub(super) fn last(&self) -> usize {
        // Never negative, never empty.
        self.0.last().map_or(0, |last| *last as usize)
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len + 1);
    }

    pub(super) fn push(&mut self, end: usize) -> Result<()> {
        let end = i32::try_from(end).map_err(|_| {
            Error::new(
                ErrorCode::TOO_LARGE_ARRAY_SIZE,
                format!("Too many array elements in one block: {end}"),
            )
        })?;
        self.0.push(end);
        Ok(())
    }
}

/// Rows without values.
impl Slots for usize {
    fn len(&self) -> usize {
        *self
    }

    fn truncate(&mut self, len: usize) {
        *self = len.min(*self);
    }

    fn push_default(&mut self) {
        *self += 1;
    }
}
