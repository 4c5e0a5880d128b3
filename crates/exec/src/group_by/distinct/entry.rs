//! What a set of distinct values holds: words of three widths, alone or with a group.

use std::fmt::Debug;

use arrow::array::ArrowPrimitiveType;
use arrow::datatypes::{Decimal128Type, UInt32Type, UInt64Type};
use basalt_functions::aggregate::DistinctWords;

/// A value as a word.
pub(super) trait Value: Copy + Ord + Default + Debug + Send + Sync + 'static {
    /// The Arrow type that carries values between tasks.
    type Arrow: ArrowPrimitiveType;
    /// The value as [`DistinctWords`] has it.
    type Word: Copy;

    /// The words, if they are as wide as these values.
    fn words(words: &DistinctWords) -> Option<&[Self::Word]>;

    fn of_word(word: Self::Word) -> Self;

    fn to_native(self) -> <Self::Arrow as ArrowPrimitiveType>::Native;

    fn from_native(native: <Self::Arrow as ArrowPrimitiveType>::Native) -> Self;

    /// All bits of it depend on all bits of the value.
    fn hash(self) -> u64;
}

/// Multiplies to 128 bits and folds the halves.
#[inline]
fn mix(word: u64) -> u64 {
    let product = u128::from(word ^ 0x2545_F491_4F6C_DD1D) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
    (product as u64) ^ ((product >> 64) as u64)
}

impl Value for u32 {
    type Arrow = UInt32Type;
    type Word = u32;

    fn words(words: &DistinctWords) -> Option<&[u32]> {
        match words {
            DistinctWords::Words32(words) => Some(words),
            _ => None,
        }
    }

    #[inline]
    fn of_word(word: u32) -> Self {
        word
    }

    fn to_native(self) -> u32 {
        self
    }

    fn from_native(native: u32) -> Self {
        native
    }

    #[inline]
    fn hash(self) -> u64 {
        mix(u64::from(self))
    }
}

impl Value for u64 {
    type Arrow = UInt64Type;
    type Word = u64;

    fn words(words: &DistinctWords) -> Option<&[u64]> {
        match words {
            DistinctWords::Words64(words) => Some(words),
            _ => None,
        }
    }

    #[inline]
    fn of_word(word: u64) -> Self {
        word
    }

    fn to_native(self) -> u64 {
        self
    }

    fn from_native(native: u64) -> Self {
        native
    }

    #[inline]
    fn hash(self) -> u64 {
        mix(self)
    }
}

/// Two halves, so that an entry with a group is no wider than it must be.
impl Value for [u64; 2] {
    type Arrow = Decimal128Type;
    type Word = u128;

    fn words(words: &DistinctWords) -> Option<&[u128]> {
        match words {
            DistinctWords::Words128(words) => Some(words),
            _ => None,
        }
    }

    #[inline]
    fn of_word(word: u128) -> Self {
        [word as u64, (word >> 64) as u64]
    }

    fn to_native(self) -> i128 {
        ((u128::from(self[1]) << 64) | u128::from(self[0])).cast_signed()
    }

    fn from_native(native: i128) -> Self {
        Self::of_word(native.cast_unsigned())
    }

    #[inline]
    fn hash(self) -> u64 {
        mix(self[0] ^ self[1].rotate_left(32))
    }
}

/// What a set holds. The default is the mark of a free slot.
pub(super) trait Entry: Copy + Eq + Default + Debug + Send + Sync + 'static {
    /// The value's word.
    type Value: Value;
    /// Whether entries tell groups apart; if not, all are of group 0.
    const HAS_GROUP: bool;

    fn new(group: u32, value: Self::Value) -> Self;

    fn group(self) -> u32;

    fn value(self) -> Self::Value;

    /// Where the entry goes in its set.
    fn hash(self) -> u64;

    /// Whether both are the same, found without a jump.
    fn is(self, other: Self) -> bool;
}

/// A value where there is one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Alone<V>(V);

impl<V: Value> Entry for Alone<V> {
    type Value = V;
    const HAS_GROUP: bool = false;

    #[inline]
    fn new(_group: u32, value: V) -> Self {
        Self(value)
    }

    #[inline]
    fn group(self) -> u32 {
        0
    }

    #[inline]
    fn value(self) -> V {
        self.0
    }

    #[inline]
    fn hash(self) -> u64 {
        self.0.hash()
    }

    #[inline]
    fn is(self, other: Self) -> bool {
        self == other
    }
}

/// A value of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Paired<V> {
    value: V,
    group: u32,
}

impl<V: Value> Entry for Paired<V> {
    type Value = V;
    const HAS_GROUP: bool = true;

    #[inline]
    fn new(group: u32, value: V) -> Self {
        Self { value, group }
    }

    #[inline]
    fn group(self) -> u32 {
        self.group
    }

    #[inline]
    fn value(self) -> V {
        self.value
    }

    /// The odd factor keeps the groups of one value apart in the low bits.
    #[inline]
    fn hash(self) -> u64 {
        let group = u64::from(self.group).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.value.hash().wrapping_add(group)
    }

    #[inline]
    fn is(self, other: Self) -> bool {
        (self.value == other.value) & (self.group == other.group)
    }
}
