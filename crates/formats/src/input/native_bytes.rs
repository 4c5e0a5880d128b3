//! Takes a source's bytes in pieces.

use basalt_error::Result;
use basalt_profile::{check_room, read_behind};
use basalt_types::states::StateForm;

use super::Source;
use super::binary::{after_eof, check_string_len, too_short};

/// Bytes for which room is made before any of them is there.
const FIRST_BYTES: usize = 1 << 20;

/// The bytes of a source, taken in pieces.
pub(crate) struct Bytes {
    source: Source,
}

impl Bytes {
    pub(crate) fn new(source: Source) -> Self {
        Self { source }
    }

    /// Reads exactly `len` bytes; not much is allocated before they are there.
    pub(super) fn take(&mut self, len: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len.min(FIRST_BYTES));
        while bytes.len() < len {
            let wanted = bytes.len().max(FIRST_BYTES).min(len - bytes.len());
            check_room(bytes.len() + wanted)?;
            bytes.reserve_exact(wanted);
            if read_behind(&mut self.source, &mut bytes, wanted)? < wanted {
                return Err(too_short());
            }
        }
        Ok(bytes)
    }

    pub(super) fn is_at_end(&mut self) -> Result<bool> {
        Ok(self.source.fill_buf()?.is_empty())
    }

    pub(super) fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for i in 0..10 {
            let byte = self.take(1).map_err(|_| after_eof())?[0];
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                break;
            }
        }
        Ok(value)
    }

    pub(super) fn word(&mut self) -> Result<u64> {
        let bytes: [u8; 8] = self.take(8)?.try_into().map_err(|_| too_short())?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn words(&mut self, len: usize) -> Result<Vec<u64>> {
        let bytes = self.take(size(len, 8)?)?;
        let word = |b: &[u8]| b.try_into().map_or(0, u64::from_le_bytes);
        Ok(bytes.chunks_exact(8).map(word).collect())
    }

    pub(super) fn string(&mut self) -> Result<Vec<u8>> {
        let len = check_string_len(self.varint()?)?;
        self.take(len)
    }

    /// Takes a state, of which only its own bytes tell where it ends.
    pub(super) fn state(&mut self, form: &dyn StateForm) -> Result<Vec<u8>> {
        let piece = self.source.fill_buf()?;
        if let Some(len) = form.len_of(piece) {
            return self.take(len);
        }
        let mut state = Vec::new();
        loop {
            let known = state.len();
            let piece = self.source.fill_buf()?;
            let num_bytes = piece.len();
            if num_bytes == 0 {
                return Err(too_short());
            }
            state.extend_from_slice(piece);
            if let Some(len) = form.len_of(&state) {
                self.source.consume(len - known);
                state.truncate(len);
                return Ok(state);
            }
            self.source.consume(num_bytes);
        }
    }
}

/// Bytes of `len` values.
pub(super) fn size(len: usize, width: usize) -> Result<usize> {
    len.checked_mul(width).ok_or_else(too_short)
}
