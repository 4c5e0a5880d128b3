//! Grows a column of strings as views over blocks of bytes.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray, make_view};
use arrow::buffer::{Buffer, NullBuffer};
use basalt_error::{Error, Result};

use super::slots::Slots;

/// A block ends before its offsets leave 32 bits.
const MAX_BLOCK_BYTES: usize = 1 << 30;

/// Views of at most this many bytes hold them inline.
const INLINE_BYTES: usize = 12;

/// The strings of a column.
#[derive(Debug, Default)]
pub(super) struct Strings {
    views: Vec<u128>,
    block: Vec<u8>,
    full_blocks: Vec<Buffer>,
}

impl Strings {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            views: Vec::with_capacity(capacity),
            ..Self::default()
        }
    }

    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) -> Result<()> {
        if text.len() <= INLINE_BYTES {
            self.views.push(make_view(text, 0, 0));
            return Ok(());
        }
        if self.block.len() + text.len() > MAX_BLOCK_BYTES && !self.block.is_empty() {
            let block = std::mem::take(&mut self.block);
            self.full_blocks.push(Buffer::from_vec(block));
        }
        let too_long = |_| Error::bug("a string of more than 4 GiB");
        u32::try_from(text.len()).map_err(too_long)?;
        let offset = u32::try_from(self.block.len()).map_err(too_long)?;
        let block_idx = u32::try_from(self.full_blocks.len()).map_err(too_long)?;
        self.views.push(make_view(text, block_idx, offset));
        self.block.extend_from_slice(text);
        Ok(())
    }

    pub(super) fn finish(self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let mut blocks = self.full_blocks;
        if !self.block.is_empty() {
            blocks.push(Buffer::from_vec(self.block));
        }
        let array = BinaryViewArray::try_new(self.views.into(), blocks, nulls);
        Ok(Arc::new(array.map_err(|e| Error::bug(e.to_string()))?))
    }
}

impl Slots for Strings {
    fn len(&self) -> usize {
        self.views.len()
    }

    fn truncate(&mut self, len: usize) {
        self.views.truncate(len);
    }

    fn push_default(&mut self) {
        self.views.push(0);
    }
}
