//! Writes rows: short ones into their views, the others into buffers.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::{Buffer, NullBuffer};
use basalt_hashtable::views::{INLINE_LEN, view_len};
use basalt_hashtable::{Views, Word};
use datafusion::common::{exec_datafusion_err, internal_datafusion_err};
use datafusion::error::Result;

use super::LEN_BYTES;
use crate::group_by::string_keys::StringKeys;

/// Bytes of rows in one buffer, but for those of a single row.
const BUFFER_BYTES: usize = 1 << 30;

/// A column of strings, of which NULL is as good as empty.
pub(super) struct Strings<'a> {
    rows: Views<'a, Buffer>,
    pub(super) nulls: Option<&'a NullBuffer>,
}

impl<'a> Strings<'a> {
    pub(super) fn of(column: &'a ArrayRef) -> Result<Self> {
        let column = column
            .as_binary_view_opt()
            .ok_or_else(|| internal_datafusion_err!("a string key is no BinaryView"))?;
        Ok(Self {
            rows: Views {
                views: column.views(),
                buffers: column.data_buffers(),
            },
            nulls: column.nulls().filter(|n| n.null_count() > 0),
        })
    }

    /// The view of a row, that of the empty string for NULL.
    #[inline]
    fn view(&self, row: usize) -> u128 {
        match self.nulls {
            Some(nulls) if nulls.is_null(row) => 0,
            _ => self.rows.views[row],
        }
    }

    /// Appends the bytes that a view stands for.
    #[inline]
    fn append(&self, view: u128, bytes: &mut Vec<u8>) {
        let len = view_len(view);
        if len <= INLINE_LEN {
            bytes.extend_from_slice(&view.to_le_bytes()[4..4 + len]);
        } else {
            bytes.extend_from_slice(self.rows.long(view));
        }
    }
}

/// Rows of a fixed part, the low `fixed_bytes` bytes of a word, and of strings.
///
/// # Errors
/// If a row has 4 GiB.
pub(super) fn write_rows<W: Word>(
    words: &[W],
    fixed_bytes: usize,
    strings: &[Strings<'_>],
) -> Result<StringKeys> {
    let fixed_and_lens = fixed_bytes + LEN_BYTES * strings.len().saturating_sub(1);
    let string_bytes = |row| strings.iter().map(|s| view_len(s.view(row))).sum::<usize>();
    let len_of = |row| fixed_and_lens + string_bytes(row);
    let long = (0..words.len()).map(len_of);
    let long: usize = long.filter(|len| *len > INLINE_LEN).sum();
    let mut buffers = Buffers::with_capacity(long.min(BUFFER_BYTES));
    let mut views = Vec::with_capacity(words.len());
    for (row, word) in words.iter().enumerate() {
        let len = len_of(row);
        let view = if len <= INLINE_LEN {
            inline_row(*word, fixed_bytes, strings, row)
        } else {
            buffers.start_row(len)?;
            buffers.append(*word, fixed_bytes, strings, row)
        };
        views.push(view | len as u128);
    }
    Ok(StringKeys {
        views: views.into(),
        buffers: buffers.finish(),
        ..StringKeys::default()
    })
}

/// Rows that do not fit into a view.
struct Buffers {
    full: Vec<Buffer>,
    last: Vec<u8>,
}

impl Buffers {
    fn with_capacity(num_bytes: usize) -> Self {
        Self {
            full: Vec::new(),
            last: Vec::with_capacity(num_bytes),
        }
    }

    /// Makes sure that a row has an offset and a length of 32 bits.
    #[inline]
    fn start_row(&mut self, len: usize) -> Result<()> {
        if u32::try_from(len).is_err() {
            return Err(exec_datafusion_err!("keys of {len} bytes in one row"));
        }
        if self.last.len() + len > BUFFER_BYTES && !self.last.is_empty() {
            self.full
                .push(Buffer::from_vec(std::mem::take(&mut self.last)));
        }
        Ok(())
    }

    /// Writes a row; its view without the length.
    #[inline]
    fn append<W: Word>(
        &mut self,
        word: W,
        fixed_bytes: usize,
        strings: &[Strings<'_>],
        row: usize,
    ) -> u128 {
        let bytes = &mut self.last;
        let offset = bytes.len();
        for shift in (0..W::BITS).step_by(64) {
            bytes.extend_from_slice(&word.extract(shift).to_le_bytes());
        }
        bytes.truncate(offset + fixed_bytes);
        for (i, strings_of) in strings.iter().enumerate() {
            let view = strings_of.view(row);
            if i + 1 < strings.len() {
                bytes.extend_from_slice(&(view as u32).to_le_bytes());
            }
            strings_of.append(view, bytes);
        }
        let prefix = bytes[offset..].first_chunk::<4>();
        let prefix = prefix.map_or(0, |p| u32::from_le_bytes(*p));
        (offset as u128) << 96 | (self.full.len() as u128) << 64 | u128::from(prefix) << 32
    }

    fn finish(mut self) -> Vec<Buffer> {
        self.full.push(Buffer::from_vec(self.last));
        self.full
    }
}

/// The view of a row that fits into it, without the length.
#[inline]
fn inline_row<W: Word>(word: W, fixed_bytes: usize, strings: &[Strings<'_>], row: usize) -> u128 {
    let mut bytes = u128::from(word.extract(0));
    if W::BITS > 64 {
        bytes |= u128::from(word.extract(64)) << 64;
    }
    let mut shift = 8 * fixed_bytes;
    for (i, strings_of) in strings.iter().enumerate() {
        let view = strings_of.view(row);
        if i + 1 < strings.len() {
            bytes |= u128::from(view as u32) << shift;
            shift += 8 * LEN_BYTES;
        }
        bytes |= (view >> 32) << shift;
        shift += 8 * view_len(view);
    }
    bytes << 32
}
