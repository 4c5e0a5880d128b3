//! Compares a column of integers with one number, or with another column, into bits.
//!
//! A loop that makes bytes of 0 and 1 is what compilers turn into vector code at every level; eight
//! of these bytes become eight bits by one multiplication that moves each into the upper byte. With
//! AVX2 one instruction does that for 32 bytes.
//!
//! Tests: below; bench: `compare`.

#[cfg(target_arch = "x86_64")]
mod avx2;

#[cfg(target_arch = "x86_64")]
use basalt_adapt::SimdLevel;

#[cfg(target_arch = "x86_64")]
use crate::isa;

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
}

fn retain<T: Copy>(values: &[T], words: &mut [u64], holds: impl Fn(T) -> bool) {
    assert!(values.len() <= words.len() * WORD_ROWS);
    let (groups, rest) = values.as_chunks::<WORD_ROWS>();
    let (words, last) = words.split_at_mut(groups.len());
    retain_groups(groups, words, &holds);
    if let Some(word) = last.first_mut() {
        for (i, value) in rest.iter().enumerate() {
            *word &= !(u64::from(!holds(*value)) << i);
        }
    }
}

/// Clears the bits of whole groups of values for which `holds` is false.
fn retain_groups<T: Copy>(groups: &[[T; WORD_ROWS]], words: &mut [u64], holds: impl Fn(T) -> bool) {
    #[cfg(target_arch = "x86_64")]
    if SimdLevel::current() >= SimdLevel::Avx2 && isa::has_avx2() {
        // SAFETY: (cpu) detected above. Pays in bench `compare`.
        unsafe { avx2::retain_groups(groups, words, holds) };
        return;
    }
    for (group, word) in groups.iter().zip(words) {
        // What an earlier comparison has dropped as a whole is not read.
        if *word != 0 {
            *word &= word_of(group, &holds);
        }
    }
}

#[inline(always)]
fn word_of<T: Copy>(values: &[T; WORD_ROWS], holds: &impl Fn(T) -> bool) -> u64 {
    let mut flags = [0_u8; WORD_ROWS];
    for (flag, value) in flags.iter_mut().zip(values) {
        *flag = u8::from(holds(*value));
    }
    let (octets, _) = flags.as_chunks::<8>();
    let bytes = octets.iter().map(|octet| bits_of(*octet));
    bytes.rev().fold(0, |word, byte| word << 8 | byte)
}

/// The lowest bits of eight bytes that are 0 or 1, the first byte's lowest.
#[inline(always)]
fn bits_of(flags: [u8; 8]) -> u64 {
    // Byte `i` times bit `56 - 7 * i` of the factor lands on bit `56 + i`; nothing else gets there.
    u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::Comparison;

    const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];

    fn holds<T: PartialOrd>(comparison: Comparison, a: T, b: T) -> bool {
        match comparison {
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::Less => a < b,
            Comparison::LessOrEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterOrEqual => a >= b,
        }
    }

    fn check<T: Copy + PartialOrd + std::fmt::Debug>(values: &[T], number: T) {
        for comparison in ALL {
            for len in 0..values.len() {
                let before: Vec<u64> = vec![0x00ff_ffff_0f0f_ffff; len.div_ceil(64)];
                let mut words = before.clone();
                comparison.retain(&values[..len], number, &mut words);
                for (i, value) in values[..len].iter().enumerate() {
                    let was = before[i / 64] >> (i % 64) & 1 == 1;
                    let is = words[i / 64] >> (i % 64) & 1 == 1;
                    let expected = was && holds(comparison, *value, number);
                    assert_eq!(is, expected, "{value:?} {comparison:?} {number:?}");
                    assert_eq!(
                        holds(comparison, *value, number),
                        holds(comparison.mirrored(), number, *value)
                    );
                }
            }
        }
    }

    #[test]
    fn bits_say_for_which_values_it_holds() {
        let bytes: Vec<u8> = (0..200_u32).map(|i| (i * 37 % 256) as u8).collect();
        check(&bytes, 128);
        check(&bytes, 255);
        let signed: Vec<i8> = bytes.iter().map(|b| b.cast_signed()).collect();
        check(&signed, -1);
        check(&signed, i8::MIN);
        let shorts: Vec<i16> = bytes.iter().map(|b| i16::from(*b) - 100).collect();
        check(&shorts, 25);
        let words: Vec<u32> = bytes.iter().map(|b| u32::from(*b) << 24).collect();
        check(&words, 1 << 31);
        let longs: Vec<i64> = bytes.iter().map(|b| (i64::from(*b) - 128) << 55).collect();
        check(&longs, 0);
        check(&longs, i64::MIN);
    }

    #[test]
    fn too_few_words_are_refused() {
        let retain = || Comparison::Less.retain(&[1_u8; 65], 1, &mut [u64::MAX]);
        std::panic::catch_unwind(retain).unwrap_err();
    }
}
