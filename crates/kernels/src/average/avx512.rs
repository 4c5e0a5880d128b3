//! Compares each different key of a block with all its keys, and adds under the mask.
//!
//! ```text
//! pending = rows with a value
//! while pending is not empty:
//!     key  = key of the first pending row
//!     hits = rows of this key;  count[key] += ones(hits)
//!     for each eight values: sums[key] += the values under their eight bits of hits
//!     pending -= hits
//! ```
//!
//! A block of few keys costs a few instructions for eight rows and has no chain through memory.
//! After [`MAX_PEELED_KEYS`] keys, what is left goes row by row into the same eight lanes, so that
//! blocks of many keys stay bearable. Both ways add in the same order.

use std::arch::x86_64::{_mm512_cmpeq_epi8_mask, _mm512_mask_add_pd, _mm512_set1_epi8};

use crate::average::blocks::{Keys, Sink, Values, feed, fold, set_rows};
use crate::average::{ByteKeyStates, NUM_KEYS, Rows, Value, lanes};
use crate::isa;

const LANES: usize = 8;

/// Keys of a block that are compared; measured by bench `average` with 2 to 256 keys.
const MAX_PEELED_KEYS: usize = 8;

struct Masked {
    sums: [[f64; LANES]; NUM_KEYS],
    counts: [u64; NUM_KEYS],
}

impl Masked {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,popcnt,bmi1")]
    fn peel(&mut self, keys: &Keys, values: &Values, valid: u64) {
        let all_keys = isa::load_bytes_512(keys);
        let mut pending = valid;
        for _ in 0..MAX_PEELED_KEYS {
            let key = keys[pending.trailing_zeros() as usize % keys.len()];
            let hits =
                _mm512_cmpeq_epi8_mask(all_keys, _mm512_set1_epi8(key.cast_signed())) & pending;
            self.counts[usize::from(key)] += u64::from(hits.count_ones());
            let lanes = &mut self.sums[usize::from(key)];
            let mut sums = isa::load_f64x8(lanes);
            for (group, values) in values.as_chunks::<LANES>().0.iter().enumerate() {
                let hits = (hits >> (group * LANES)) as u8;
                sums = _mm512_mask_add_pd(sums, hits, sums, isa::load_f64x8(values));
            }
            isa::store_f64x8(lanes, sums);
            pending &= !hits;
            if pending == 0 {
                return;
            }
        }
        for row in set_rows(pending) {
            self.sums[usize::from(keys[row])][row % LANES] += values[row];
            self.counts[usize::from(keys[row])] += 1;
        }
    }
}

/// Sink of [`Masked`]; made only by [`masked_in_registers`].
struct Peeling(Masked);

impl Sink for Peeling {
    #[inline(always)]
    fn add(&mut self, keys: &Keys, values: &Values) {
        self.add_valid(keys, values, u64::MAX);
    }

    #[inline(always)]
    fn add_valid(&mut self, keys: &Keys, values: &Values, valid: u64) {
        // SAFETY: (cpu) the only maker of `Peeling` has the same target features. Pays in bench
        // `average`, few keys.
        unsafe { self.0.peel(keys, values, valid) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2,lzcnt")]
fn masked_in_registers<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let mut sink = Peeling(Masked {
        sums: [[0.0; LANES]; NUM_KEYS],
        counts: [0; NUM_KEYS],
    });
    feed(&mut sink, rows);
    for key in 0..NUM_KEYS {
        states.sums[key] += fold(sink.0.sums[key]);
        states.counts[key] += sink.0.counts[key];
    }
}

/// Adds under masks; without AVX-512 as eight pairs, which add in the same order.
pub(super) fn masked<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    if !isa::has_avx512() {
        return lanes::pair::<V, LANES>(states, rows);
    }
    // SAFETY: (cpu) detected above. Pays in bench `average`, few keys.
    unsafe { masked_in_registers(states, rows) }
}
