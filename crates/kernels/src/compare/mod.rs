//! Compares a column of numbers with one number, or with another column, into bits.
//!
//! A loop that makes bytes of 0 and 1 is what compilers turn into vector code at every level; eight
//! of these bytes become eight bits by one multiplication that moves each into the upper byte. With
//! AVX2 one instruction does that for 32 bytes, with AVX-512 for 64.
//!
//! Tests: `tests.rs`; bench: `compare`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

#[cfg(target_arch = "x86_64")]
use basalt_adapt::SimdLevel;

#[cfg(target_arch = "x86_64")]
use crate::{isa, level};

/// Values whose bits make a word.
const WORD_ROWS: usize = 64;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// The comparison that gives the same when the sides are exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Comparison::Equal | Comparison::NotEqual => self,
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        }
    }

    /// Clears the bits of the values for which it does not hold; value `i` is bit `i % 64` of word
    /// `i / 64`. Bits beyond the last value stay.
    ///
    /// # Panics
    /// If there are fewer words than values need.
    pub fn retain<T: Copy + PartialOrd>(self, values: &[T], number: T, words: &mut [u64]) {
        match self {
            Comparison::Equal => retain(values, words, |value| value == number),
            Comparison::NotEqual => retain(values, words, |value| value != number),
            Comparison::Less => retain(values, words, |value| value < number),
            Comparison::LessOrEqual => retain(values, words, |value| value <= number),
            Comparison::Greater => retain(values, words, |value| value > number),
            Comparison::GreaterOrEqual => retain(values, words, |value| value >= number),
        }
    }

    /// As [`Comparison::retain`], of each value on the left with that of the same row on the right.
    ///
    /// # Panics
    /// If there are fewer words than values need, or fewer values on one side.
    pub fn retain_pairs<T: Copy + PartialOrd>(self, left: &[T], right: &[T], words: &mut [u64]) {
        let pair = (left, right);
        match self {
            Comparison::Equal => retain_pairs(pair, words, |a, b| a == b),
            Comparison::NotEqual => retain_pairs(pair, words, |a, b| a != b),
            Comparison::Less => retain_pairs(pair, words, |a, b| a < b),
            Comparison::LessOrEqual => retain_pairs(pair, words, |a, b| a <= b),
            Comparison::Greater => retain_pairs(pair, words, |a, b| a > b),
            Comparison::GreaterOrEqual => retain_pairs(pair, words, |a, b| a >= b),
        }
    }
}

/// As [`Comparison::retain`], for any condition on a value.
///
/// # Panics
/// If there are fewer words than values need.
pub fn retain_where<T: Copy>(values: &[T], words: &mut [u64], holds: impl Fn(T) -> bool) {
    retain(values, words, holds);
}

fn retain<T: Copy>(values: &[T], words: &mut [u64], holds: impl Fn(T) -> bool) {
    assert!(values.len() <= words.len() * WORD_ROWS);
    let (groups, rest) = values.as_chunks::<WORD_ROWS>();
    let (words, last) = words.split_at_mut(groups.len());
    retain_groups(groups, words, &holds);
    if let Some(word) = last.first_mut() {
        scalar::retain_rows(rest.len(), word, |row| holds(rest[row]));
    }
}

fn retain_pairs<T: Copy>(
    (left, right): (&[T], &[T]),
    words: &mut [u64],
    holds: impl Fn(T, T) -> bool,
) {
    assert_eq!(left.len(), right.len());
    assert!(left.len() <= words.len() * WORD_ROWS);
    let (left, left_rest) = left.as_chunks::<WORD_ROWS>();
    let (right, right_rest) = right.as_chunks::<WORD_ROWS>();
    let (words, last) = words.split_at_mut(left.len());
    retain_pair_groups((left, right), words, &holds);
    if let Some(word) = last.first_mut() {
        let holds = |row: usize| holds(left_rest[row], right_rest[row]);
        scalar::retain_rows(left_rest.len(), word, holds);
    }
}

/// Clears the bits of whole groups of values for which `holds` is false.
fn retain_groups<T: Copy>(groups: &[[T; WORD_ROWS]], words: &mut [u64], holds: impl Fn(T) -> bool) {
    #[cfg(target_arch = "x86_64")]
    {
        let level = level::current();
        if level >= SimdLevel::Avx512 && isa::has_avx512() {
            // SAFETY: (cpu) detected above. Pays in bench `compare`.
            return unsafe { avx512::retain_groups(groups, words, holds) };
        }
        if level >= SimdLevel::Avx2 && isa::has_avx2() {
            // SAFETY: (cpu) detected above. Pays in bench `compare`.
            return unsafe { avx2::retain_groups(groups, words, holds) };
        }
    }
    scalar::retain_groups(groups, words, holds);
}

/// The same where a value of each side is compared.
fn retain_pair_groups<T: Copy>(
    groups: Pair<'_, T>,
    words: &mut [u64],
    holds: impl Fn(T, T) -> bool,
) {
    #[cfg(target_arch = "x86_64")]
    {
        let level = level::current();
        if level >= SimdLevel::Avx512 && isa::has_avx512() {
            // SAFETY: (cpu) detected above. Pays in bench `compare`.
            return unsafe { avx512::retain_pair_groups(groups, words, holds) };
        }
        if level >= SimdLevel::Avx2 && isa::has_avx2() {
            // SAFETY: (cpu) detected above. Pays in bench `compare`.
            return unsafe { avx2::retain_pair_groups(groups, words, holds) };
        }
    }
    scalar::retain_pair_groups(groups, words, holds);
}

/// Groups of both sides, as many of one as of the other.
type Pair<'a, T> = (&'a [[T; WORD_ROWS]], &'a [[T; WORD_ROWS]]);

/// Clears the bits of each pair of groups that are 0 in its word of `word_of`.
#[inline(always)]
fn retain_each<T>(
    (left, right): Pair<'_, T>,
    words: &mut [u64],
    word_of: impl Fn(&[T; WORD_ROWS], &[T; WORD_ROWS]) -> u64,
) {
    for ((left, right), word) in left.iter().zip(right).zip(words) {
        // What an earlier comparison has dropped as a whole is not read.
        if *word != 0 {
            *word &= word_of(left, right);
        }
    }
}

/// A byte for each row, with all bits set if it holds for the row.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn flags(holds: impl Fn(usize) -> bool) -> [u8; WORD_ROWS] {
    let mut flags = [0; WORD_ROWS];
    for (row, flag) in flags.iter_mut().enumerate() {
        *flag = u8::from(holds(row)).wrapping_neg();
    }
    flags
}

/// Clears the bits of each group that are 0 in its word of `word_of`.
///
/// Both halves are read at once, as folds do ([`crate::fold`]): a core reads two streams faster than one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn retain_halves<T>(
    groups: &[[T; WORD_ROWS]],
    words: &mut [u64],
    word_of: impl Fn(&[T; WORD_ROWS]) -> u64,
) {
    let middle = groups.len().div_ceil(2);
    let (first, second) = groups.split_at(middle);
    let (first_words, second_words) = words.split_at_mut(middle);
    let retain = |group: &[T; WORD_ROWS], word: &mut u64| {
        // What an earlier comparison has dropped as a whole is not read.
        if *word != 0 {
            *word &= word_of(group);
        }
    };
    // The second half has as many groups, or one less.
    let mut second = second.iter().zip(second_words);
    for (group, word) in first.iter().zip(first_words) {
        retain(group, word);
        if let Some((group, word)) = second.next() {
            retain(group, word);
        }
    }
}

#[cfg(test)]
mod tests;
