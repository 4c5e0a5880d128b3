//! Estimates how many different numbers there are, by counting marks.

use basalt_kernels::widest::{Loop, widest};

use crate::word::Word;

/// Places of marks, a byte each: a bit would have to be read before it is set, and waits for the last one that was set
/// in its word.
const NUM_MARKS: usize = 1 << 16;

/// Numbers whose places are computed together, in wide registers.
const CHUNK: usize = 64;

/// The golden ratio as a fraction of 2^64; odd.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hash of 32 bits: two multiplications, the upper half folded onto the lower in between.
#[inline(always)]
pub(crate) fn hash<T: Word>(number: T) -> usize {
    let product = number.widened().wrapping_mul(MULTIPLIER);
    let mixed = (product ^ (product >> 32)).wrapping_mul(MULTIPLIER);
    u32::truncated(mixed >> 32) as usize
}

/// About how many different numbers there are: with a few percent of error up to some hundred
/// thousand, beyond that "many".
///
/// A number marks a place by its hash. If `m` of `n` places stay empty, about `n ln(n / m)` numbers
/// were there (linear counting).
pub(crate) fn estimate<T: Word>(numbers: &[T]) -> usize {
    let mut marks = [0_u8; NUM_MARKS];
    let marks = &mut marks;
    let num_marked = widest(Mark { numbers, marks });
    let num_empty = (NUM_MARKS as f64 - num_marked as f64).max(0.5);
    let estimate = NUM_MARKS as f64 * (NUM_MARKS as f64 / num_empty).ln();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most some hundred thousand"
    )]
    let estimate = estimate.round() as usize;
    estimate.clamp(usize::from(!numbers.is_empty()), numbers.len())
}

/// Numbers that a look at some of them sees.
const SAMPLE: usize = 1024;

/// Slots of the table that holds them, in the first cache.
const SAMPLE_SLOTS: usize = 4 * SAMPLE;

/// About how many different numbers there are, by a look at [`SAMPLE`] of many.
///
/// Of `n` numbers in the sample, `d` different, those that are seen once tell how many were not seen (the estimator
/// "Duj1" of Haas and Stokes, "Estimating the number of classes in a finite population", 1998). Numbers that follow an
/// equal one tell how many there can be at most: those of sorted numbers lie side by side, and no sample sees two.
pub(crate) fn estimate_by_sample<T: Word>(numbers: &[T]) -> usize {
    if numbers.len() < 4 * SAMPLE {
        return estimate(numbers);
    }
    let mut hashes = [0_u32; SAMPLE_SLOTS];
    let mut counts = [0_u16; SAMPLE_SLOTS];
    let mut num_changes = 0;
    let step = numbers.len() / SAMPLE;
    for begin in (0..SAMPLE).map(|i| i * step) {
        // Somewhere in each step: what repeats may do so in steps.
        let row = begin + hash(begin as u64) % step;
        let number = numbers[row];
        num_changes += usize::from(row > 0 && numbers[row - 1] != number);
        let hashed = u32::truncated(hash(number) as u64);
        let mut slot = hashed as usize % SAMPLE_SLOTS;
        while counts[slot] > 0 && hashes[slot] != hashed {
            slot = (slot + 1) % SAMPLE_SLOTS;
        }
        hashes[slot] = hashed;
        counts[slot] += 1;
    }
    let different = counts.iter().filter(|count| **count > 0).count() as f64;
    let once = counts.iter().filter(|count| **count == 1).count() as f64;
    let (sample, all) = (SAMPLE as f64, numbers.len() as f64);
    let estimate = sample * different / (sample - once + once * sample / all);
    let most = all * num_changes as f64 / sample + 1.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more than there are numbers"
    )]
    let estimate = estimate.min(most).max(different).round() as usize;
    estimate.clamp(1, numbers.len())
}

/// Marks the places of numbers, and counts those that are marked.
struct Mark<'a, T> {
    numbers: &'a [T],
    marks: &'a mut [u8; NUM_MARKS],
}

impl<T: Word> Loop for Mark<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let mut places = [0_u16; CHUNK];
        for numbers in self.numbers.chunks(CHUNK) {
            for (place, number) in places.iter_mut().zip(numbers) {
                // As many places as 16 bits tell apart.
                *place = u16::truncated(hash(*number) as u64);
            }
            for place in &places[..numbers.len()] {
                self.marks[usize::from(*place)] = 1;
            }
        }
        let blocks = self.marks.chunks(128);
        let counted = blocks.map(|block| usize::from(block.iter().sum::<u8>()));
        counted.sum()
    }
}
