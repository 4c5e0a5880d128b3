//! Sorts words by their bits: a split by the highest that vary, then each part from the lowest up.
//!
//! ```text
//! task 1: words ── split ──▶ │ bucket 0 │ bucket 1 │ … │ ─┐
//! task 2: words ── split ──▶ │ bucket 0 │ bucket 1 │ … │ ─┼─▶ part = some buckets of all tasks,
//!                                                         │   sorted by one task in its cache
//! ```
//!
//! Every task writes its own buckets, so no two threads write one vector. Knows nothing of columns.

use super::word::Word;

/// Words that a bucket gathers before they are written to memory in one go.
const STAGED_WORDS: usize = 8;

/// Buckets from which on rows of them no longer stay in the cache, so that staging pays.
const STAGED_BUCKETS: usize = 128;

/// Words below which comparing is faster than counting.
const COMPARED_WORDS: usize = 384;

/// Most bits that one round of counting looks at.
const DIGIT_BITS: u32 = 11;

/// Splits words by their highest bits that vary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Splitter<W> {
    min: W,
    shift: u32,
    num_buckets: usize,
}

impl<W: Word> Splitter<W> {
    /// At most `1 << bits` buckets for words from `min` to `max`; those that differ only in the
    /// lowest `kept_bits` stay together.
    pub(super) fn new((min, max): (W, W), bits: u32, kept_bits: u32) -> Self {
        let min = min.shifted(kept_bits).push(kept_bits, 0);
        let range = max.minus(min);
        let shift = range.bit_length().saturating_sub(bits).max(kept_bits);
        Self {
            min,
            shift,
            num_buckets: range.digit(shift, usize::MAX) + 1,
        }
    }

    fn bucket(&self, word: W) -> usize {
        word.minus(self.min).digit(self.shift, usize::MAX)
    }

    fn counts(&self, words: &[W]) -> Vec<usize> {
        let mut counts = vec![0; self.num_buckets];
        for word in words {
            counts[self.bucket(*word)] += 1;
        }
        counts
    }
}

/// The words of one task, those of a bucket together and in the order they had.
#[derive(Debug)]
pub(super) struct Buckets<W> {
    words: Vec<W>,
    /// Where each bucket begins; one more than there are buckets.
    starts: Vec<usize>,
}

impl<W: Word> Buckets<W> {
    /// Splits `words`.
    pub(super) fn split(words: &[W], splitter: &Splitter<W>) -> Self {
        let mut starts = Vec::with_capacity(splitter.num_buckets + 1);
        let mut next = splitter.counts(words);
        let mut start = 0;
        for count in &mut next {
            starts.push(start);
            start += std::mem::replace(count, start);
        }
        starts.push(start);
        let words = if splitter.num_buckets < STAGED_BUCKETS {
            scatter(words, |w| splitter.bucket(w), &mut next)
        } else {
            scatter_staged(words, splitter, &mut next)
        };
        Self { words, starts }
    }

    /// How many buckets there are.
    pub(super) fn num_buckets(&self) -> usize {
        self.starts.len() - 1
    }

    /// The words of some buckets.
    pub(super) fn words(&self, buckets: std::ops::Range<usize>) -> &[W] {
        &self.words[self.starts[buckets.start]..self.starts[buckets.end]]
    }
}

fn scatter<W: Word>(words: &[W], digit: impl Fn(W) -> usize, next: &mut [usize]) -> Vec<W> {
    let mut out = vec![W::default(); words.len()];
    scatter_into(words, digit, next, &mut out);
    out
}

fn scatter_into<W: Word>(
    words: &[W],
    digit: impl Fn(W) -> usize,
    next: &mut [usize],
    out: &mut [W],
) {
    for word in words {
        let next = &mut next[digit(*word)];
        out[*next] = *word;
        *next += 1;
    }
}

/// Scatters through small buffers, so that memory sees whole cache lines.
fn scatter_staged<W: Word>(words: &[W], splitter: &Splitter<W>, next: &mut [usize]) -> Vec<W> {
    let mut out = vec![W::default(); words.len()];
    let mut staged = vec![[W::default(); STAGED_WORDS]; next.len()];
    let mut lens = vec![0u8; next.len()];
    for word in words {
        let bucket = splitter.bucket(*word);
        let (staged, len) = (&mut staged[bucket], &mut lens[bucket]);
        staged[usize::from(*len) % STAGED_WORDS] = *word;
        *len += 1;
        if usize::from(*len) == STAGED_WORDS {
            let next = &mut next[bucket];
            out[*next..*next + STAGED_WORDS].copy_from_slice(staged);
            *next += STAGED_WORDS;
            *len = 0;
        }
    }
    for ((staged, len), next) in staged.iter().zip(lens).zip(next) {
        let rest = &staged[..usize::from(len)];
        out[*next..*next + rest.len()].copy_from_slice(rest);
    }
    out
}

/// Sorts words by what is above their lowest `low_bits` bits; equal ones stay in their order.
pub(super) fn sort<W: Word>(words: &mut Vec<W>, low_bits: u32) {
    if words.len() < COMPARED_WORDS {
        compare(words, low_bits);
    } else {
        sort_by_counting(words, low_bits);
    }
}

/// As [`sort`], without counting.
pub(super) fn compare<W: Word>(words: &mut [W], low_bits: u32) {
    words.sort_by_key(|word| word.shifted(low_bits));
}

/// As [`sort`], however few words there are.
pub(super) fn sort_by_counting<W: Word>(words: &mut Vec<W>, low_bits: u32) {
    let Some(first) = words.first().copied() else {
        return;
    };
    let varying = words
        .iter()
        .fold(W::default(), |varying, w| varying.or(w.xor(first)));
    let low = varying.trailing_zeros().max(low_bits);
    let high = varying.bit_length();
    if low >= high {
        return;
    }
    let num_digits = (high - low).div_ceil(DIGIT_BITS);
    let digit_bits = (high - low).div_ceil(num_digits);
    let mask = (1usize << digit_bits) - 1;
    let mut other = vec![W::default(); words.len()];
    for digit in 0..num_digits {
        let shift = low + digit * digit_bits;
        let mut next = vec![0usize; mask + 1];
        for word in words.iter() {
            next[word.digit(shift, mask)] += 1;
        }
        if next[first.digit(shift, mask)] == words.len() {
            continue;
        }
        let mut start = 0;
        for count in &mut next {
            start += std::mem::replace(count, start);
        }
        scatter_into(words, |w| w.digit(shift, mask), &mut next, &mut other);
        std::mem::swap(words, &mut other);
    }
}
