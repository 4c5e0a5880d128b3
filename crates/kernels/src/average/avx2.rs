//! Does the same as `avx512.rs` with AVX2, where a mask is a register and costs an instruction.

use std::arch::x86_64::{_mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set1_epi8};

use crate::average::blocks::{Keys, Sink, Values, feed, fold, set_rows};
use crate::average::{ByteKeyStates, NUM_KEYS, Rows, Value, lanes, runs};
use crate::isa;

const LANES: usize = 8;

/// Keys of a block that are compared; measured by bench `average` with 2 to 256 keys.
const MAX_PEELED_KEYS: usize = 4;

struct Masked {
    sums: [[f64; LANES]; NUM_KEYS],
    counts: [u64; NUM_KEYS],
}

#[inline]
#[target_feature(enable = "avx2")]
fn rows_of(keys: &Keys, key: u8) -> u64 {
    let wanted = _mm256_set1_epi8(key.cast_signed());
    let (halves, _) = keys.as_chunks::<32>();
    let mut rows = 0;
    for (half, keys) in halves.iter().enumerate() {
        let hits = _mm256_cmpeq_epi8(isa::load_bytes_256(keys), wanted);
        rows |= u64::from(_mm256_movemask_epi8(hits).cast_unsigned()) << (half * 32);
    }
    rows
}

impl Masked {
    #[inline]
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    fn peel(&mut self, keys: &Keys, values: &Values, valid: u64) {
        let mut pending = valid;
        for _ in 0..MAX_PEELED_KEYS {
            let key = keys[pending.trailing_zeros() as usize % keys.len()];
            let hits = rows_of(keys, key);
            self.counts[usize::from(key)] += u64::from((hits & valid).count_ones());
            let mut sums = self.sums[usize::from(key)];
            let groups = keys
                .as_chunks::<LANES>()
                .0
                .iter()
                .zip(values.as_chunks::<LANES>().0);
            for (keys, values) in groups {
                for lane in 0..LANES {
                    // Written as a mask, because the compiler makes branches of `if`. Rows of
                    // other keys and rows without a value add 0.0.
                    let mask = u64::from(keys[lane] == key).wrapping_neg();
                    sums[lane] += f64::from_bits(values[lane].to_bits() & mask);
                }
            }
            self.sums[usize::from(key)] = sums;
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

#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
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

/// Adds under masks; without AVX2 as eight pairs, which add in the same order.
pub(super) fn masked<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    if !isa::has_avx2() {
        return lanes::pair::<V, LANES>(states, rows);
    }
    // SAFETY: (cpu) detected above. Pays in bench `average`, few keys.
    unsafe { masked_in_registers(states, rows) }
}

#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
fn runs_in_registers<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    runs::runs(states, rows);
}

/// Blocks of one key in registers, else eight pairs, compiled for these instructions.
pub(super) fn runs<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    if rows.validity.is_some() || !isa::has_avx2() {
        return runs::runs(states, rows);
    }
    // SAFETY: (cpu) detected above. Pays in bench `average`, sorted.
    unsafe { runs_in_registers(states, rows) }
}

#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
fn pair_in_registers<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    lanes::pair::<V, LANES>(states, rows);
}

/// Eight pairs, compiled for these instructions.
///
/// Not for missing values: the compiler then gathers masks one by one, and the portable form wins.
pub(super) fn pair<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    if rows.validity.is_some() || !isa::has_avx2() {
        return lanes::pair::<V, LANES>(states, rows);
    }
    // SAFETY: (cpu) detected above. Pays in bench `average`, many keys.
    unsafe { pair_in_registers(states, rows) }
}
