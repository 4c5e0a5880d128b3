//! Feeds rows to a form in blocks of 64: widened, and with a word that tells which have a value.
//!
//! Blocks make the forms short and safe: arrays of known length need no bounds checks, a byte
//! cannot leave a table of 256, a bitmap's word is read once, and the last rows are just a block
//! with few values. Widening here is done by vector instructions, one value at a time it costs more
//! than the store and load in between (bench `average`).

use crate::average::{Rows, Value};
use crate::masks::keep_valid;

/// Rows of a block.
pub(super) const BLOCK_ROWS: usize = 64;

/// Keys of a block.
pub(super) type Keys = [u8; BLOCK_ROWS];

/// Values of a block; 0 in rows without a value.
pub(super) type Values = [f64; BLOCK_ROWS];

/// Where a form keeps what it has added up in a call.
pub(super) trait Sink {
    /// Adds rows that all have a value.
    fn add(&mut self, keys: &Keys, values: &Values);

    /// Adds the rows whose bit is set; the values of the others are 0.0.
    fn add_valid(&mut self, keys: &Keys, values: &Values, valid: u64);
}

/// Hands all rows to the sink, block by block.
#[inline(always)]
pub(super) fn feed<V: Value>(sink: &mut impl Sink, rows: &Rows<'_, V>) {
    let (key_blocks, last_keys) = rows.keys.as_chunks::<BLOCK_ROWS>();
    let (value_blocks, last_values) = rows.values.as_chunks::<BLOCK_ROWS>();
    let blocks = key_blocks.iter().zip(value_blocks);
    match rows.validity {
        None => {
            for (keys, values) in blocks {
                sink.add(keys, &widened(values));
            }
        }
        Some(bits) => {
            for (word_idx, (keys, values)) in blocks.enumerate() {
                match bits.word(word_idx) {
                    u64::MAX => sink.add(keys, &widened(values)),
                    0 => {}
                    valid => sink.add_valid(keys, &widened_valid(values, valid), valid),
                }
            }
        }
    }
    if !last_keys.is_empty() {
        let mut keys = [0; BLOCK_ROWS];
        let mut values = [V::default(); BLOCK_ROWS];
        keys[..last_keys.len()].copy_from_slice(last_keys);
        values[..last_values.len()].copy_from_slice(last_values);
        let existing = (1 << last_keys.len()) - 1;
        let valid = rows
            .validity
            .map_or(existing, |bits| bits.word(key_blocks.len()));
        sink.add_valid(&keys, &widened_valid(&values, valid), valid);
    }
}

#[inline(always)]
fn widened<V: Value>(values: &[V; BLOCK_ROWS]) -> Values {
    let mut wide = [0.0; BLOCK_ROWS];
    for (wide, value) in wide.iter_mut().zip(values) {
        *wide = value.widen();
    }
    wide
}

#[inline(always)]
fn widened_valid<V: Value>(values: &[V; BLOCK_ROWS], valid: u64) -> Values {
    keep_valid(&widened(values), valid)
}

/// 1.0 in rows with a value, 0.0 in the others.
#[inline(always)]
pub(super) fn weights(valid: u64) -> Values {
    keep_valid(&[1.0; BLOCK_ROWS], valid)
}

/// The rows of the set bits, in their order.
#[inline(always)]
pub(super) fn set_rows(mut valid: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let row = valid.trailing_zeros() as usize;
        valid &= valid.wrapping_sub(1);
        (row < BLOCK_ROWS).then_some(row)
    })
}

/// Adds the upper half of the lanes to the lower half until one is left.
#[inline(always)]
pub(super) fn fold<const LANES: usize>(mut lanes: [f64; LANES]) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}
