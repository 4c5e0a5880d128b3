//! Brings the rows of a key together before it adds them.

use crate::average::blocks::{Keys, Sink, Values, feed, set_rows};
use crate::average::{ByteKeyStates, NUM_KEYS, Rows, Value};

/// Values that a key's buffer holds: all buffers are 16 KiB, half of the smallest first-level cache.
const BUFFERED_VALUES: usize = 8;

struct Buffers<'a> {
    values: [[f64; BUFFERED_VALUES]; NUM_KEYS],
    lens: [u8; NUM_KEYS],
    states: &'a mut ByteKeyStates,
}

impl Buffers<'_> {
    #[inline(always)]
    fn push(&mut self, key: usize, value: f64) {
        let len = usize::from(self.lens[key]);
        self.values[key][len % BUFFERED_VALUES] = value;
        if len + 1 == BUFFERED_VALUES {
            self.lens[key] = 0;
            self.flush(key, BUFFERED_VALUES);
        } else {
            // Below BUFFERED_VALUES.
            self.lens[key] = len as u8 + 1;
        }
    }

    #[inline(always)]
    fn flush(&mut self, key: usize, len: usize) {
        let mut sum = self.states.sums[key];
        for value in &self.values[key][..len] {
            sum += value;
        }
        self.states.sums[key] = sum;
        self.states.counts[key] += len as u64;
    }
}

impl Sink for Buffers<'_> {
    #[inline(always)]
    fn add(&mut self, keys: &Keys, values: &Values) {
        for (key, value) in keys.iter().zip(values) {
            self.push(usize::from(*key), *value);
        }
    }

    #[inline(always)]
    fn add_valid(&mut self, keys: &Keys, values: &Values, valid: u64) {
        for row in set_rows(valid) {
            self.push(usize::from(keys[row]), values[row]);
        }
    }
}

/// Collects values by key and adds a key's values when its buffer is full.
pub(super) fn buffered<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let mut buffers = Buffers {
        values: [[0.0; BUFFERED_VALUES]; NUM_KEYS],
        lens: [0; NUM_KEYS],
        states,
    };
    feed(&mut buffers, rows);
    for key in 0..NUM_KEYS {
        buffers.flush(key, usize::from(buffers.lens[key]));
    }
}

/// Rows that are sorted at a time: their numbers fit into 16 bits and, with their keys and values,
/// into a cache of the second level.
const SORTED_ROWS: usize = 16_384;

/// Histograms that take turns, so that a repeated key does not wait for its own count.
const NUM_HISTOGRAMS: usize = 4;

/// Sorts row numbers by key, stably, then adds key by key.
pub(super) fn bucket_sort<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let mut row_idxs = vec![0_u16; SORTED_ROWS.min(rows.len())];
    let batches = rows
        .keys
        .chunks(SORTED_ROWS)
        .zip(rows.values.chunks(SORTED_ROWS));
    for (batch_idx, (keys, values)) in batches.enumerate() {
        let mut starts = bucket_starts(keys);
        for (row, key) in keys.iter().enumerate() {
            let start = &mut starts[usize::from(*key)];
            // Below SORTED_ROWS.
            row_idxs[*start] = row as u16;
            *start += 1;
        }
        let mut start = 0;
        for (key, &end) in starts.iter().enumerate() {
            let is_valid = |row: usize| {
                let row = batch_idx * SORTED_ROWS + row;
                rows.validity.is_none_or(|bits| bits.get(row))
            };
            for row in row_idxs[start..end].iter().map(|row| usize::from(*row)) {
                if is_valid(row) {
                    states.sums[key] += values[row].widen();
                    states.counts[key] += 1;
                }
            }
            start = end;
        }
    }
}

/// Where the rows of each key begin when rows are sorted by key.
fn bucket_starts(keys: &[u8]) -> [usize; NUM_KEYS] {
    let mut counts = [[0_usize; NUM_KEYS]; NUM_HISTOGRAMS];
    let (groups, last_keys) = keys.as_chunks::<NUM_HISTOGRAMS>();
    for group in groups {
        for (counts, key) in counts.iter_mut().zip(group) {
            counts[usize::from(*key)] += 1;
        }
    }
    for key in last_keys {
        counts[0][usize::from(*key)] += 1;
    }
    let mut next = 0;
    std::array::from_fn(|key| {
        let start = next;
        next += counts.iter().map(|counts| counts[key]).sum::<usize>();
        start
    })
}
