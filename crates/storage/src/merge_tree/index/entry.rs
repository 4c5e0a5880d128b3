//! What an index keeps of a group of rows.

use std::collections::HashSet;

use arrow::array::ArrayRef;

use super::value::{IndexedValue, values};
use super::{IndexKind, Relation};

/// What an index keeps of a group, as it is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// Nothing is known.
    Unknown,
    MinMax(IndexedValue, IndexedValue),
    /// There are only NULLs, and perhaps NaN.
    Empty,
    /// Sorted hashes.
    Set(Vec<u64>),
    Bloom {
        num_hashes: u32,
        words: Vec<u64>,
    },
}

/// Most hash functions of a Bloom filter.
const MAX_HASHES: f64 = 15.0;

impl Entry {
    pub(super) fn of(kind: IndexKind, array: &ArrayRef) -> Self {
        let Some(values) = values(array) else {
            return Self::Unknown;
        };
        if values.is_empty() {
            return Self::Empty;
        }
        if kind == IndexKind::MinMax {
            return match (values.iter().min(), values.iter().max()) {
                (Some(least), Some(greatest)) => Self::MinMax(least.clone(), greatest.clone()),
                _ => Self::Empty,
            };
        }
        let distinct: HashSet<u64> = values.iter().map(IndexedValue::hash).collect();
        match kind {
            IndexKind::Set(max) if max > 0 && distinct.len() as u64 > max => Self::Unknown,
            IndexKind::BloomFilter(share) => bloom(&distinct, share),
            _ => {
                let mut hashes: Vec<u64> = distinct.into_iter().collect();
                hashes.sort_unstable();
                Self::Set(hashes)
            }
        }
    }

    pub(super) fn can_hold(&self, relation: Relation, value: &IndexedValue) -> bool {
        match (self, relation) {
            (Self::Unknown, _) => true,
            (Self::Empty, _) => false,
            (Self::MinMax(least, greatest), Relation::Equal) => least <= value && value <= greatest,
            (Self::MinMax(least, _), Relation::AtMost) => least <= value,
            (Self::MinMax(_, greatest), Relation::AtLeast) => greatest >= value,
            (Self::Set(hashes), Relation::Equal) => hashes.binary_search(&value.hash()).is_ok(),
            (Self::Bloom { num_hashes, words }, Relation::Equal) => {
                bits(value.hash(), *num_hashes, words.len())
                    .all(|(word, bit)| words[word] >> bit & 1 == 1)
            }
            _ => true,
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let numbers = |tag: u8, first: u32, numbers: &[u64], bytes: &mut Vec<u8>| {
            bytes.push(tag);
            bytes.extend_from_slice(&first.to_le_bytes());
            put_count(numbers.len(), bytes);
            numbers
                .iter()
                .for_each(|n| bytes.extend_from_slice(&n.to_le_bytes()));
        };
        match self {
            Self::Unknown => bytes.push(0),
            Self::Empty => bytes.push(1),
            Self::MinMax(least, greatest) => {
                bytes.push(2);
                for bound in [least, greatest] {
                    put_count(bound.0.len(), bytes);
                    bytes.extend_from_slice(&bound.0);
                }
            }
            Self::Set(hashes) => numbers(3, 0, hashes, bytes),
            Self::Bloom { num_hashes, words } => numbers(4, *num_hashes, words, bytes),
        }
    }
}

impl Entry {
    /// The entry that the bytes begin with; none if they are damaged.
    pub(super) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let tag = *bytes.split_off_first()?;
        Some(match tag {
            0 => Self::Unknown,
            1 => Self::Empty,
            2 => {
                let mut bound = || -> Option<IndexedValue> {
                    let len = take_count(bytes)?;
                    Some(IndexedValue::bytes(bytes.split_off(..len)?))
                };
                let least = bound()?;
                Self::MinMax(least, bound()?)
            }
            3 | 4 => {
                let num_hashes = u32::try_from(take_count(bytes)?).ok()?;
                let len = take_count(bytes)?;
                let words = bytes.split_off(..len.checked_mul(8)?)?;
                let (words, _) = words.as_chunks::<8>();
                let words: Vec<u64> = words.iter().map(|w| u64::from_le_bytes(*w)).collect();
                match tag {
                    3 => Self::Set(words),
                    _ if words.is_empty() => return None,
                    _ => Self::Bloom { num_hashes, words },
                }
            }
            _ => return None,
        })
    }
}

/// A number of 4 bytes.
pub(super) fn take_count(bytes: &mut &[u8]) -> Option<usize> {
    let number = bytes.split_off(..4)?;
    let number = u32::from_le_bytes(number.try_into().ok()?);
    usize::try_from(number).ok()
}

pub(super) fn put_count(number: usize, bytes: &mut Vec<u8>) {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// The Bloom filter of some hashes.
fn bloom(hashes: &HashSet<u64>, share: f64) -> Entry {
    let share = share.clamp(1e-4, 0.5);
    let bits_per_value = -share.ln() / std::f64::consts::LN_2.powi(2);
    let num_hashes = (bits_per_value * std::f64::consts::LN_2).round();
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small positive numbers"
    )]
    let (num_hashes, num_words) = (
        num_hashes.clamp(1.0, MAX_HASHES) as u32,
        (bits_per_value * hashes.len() as f64 / 64.0).ceil() as usize,
    );
    let mut words = vec![0_u64; num_words.max(1)];
    let num_words = words.len();
    for hash in hashes {
        for (word, bit) in bits(*hash, num_hashes, num_words) {
            words[word] |= 1 << bit;
        }
    }
    Entry::Bloom { num_hashes, words }
}

/// The bits of a hash: a walk with steps that its upper half tells.
fn bits(hash: u64, num_hashes: u32, num_words: usize) -> impl Iterator<Item = (usize, u32)> {
    let num_bits = num_words as u64 * 64;
    let step = hash >> 32 | 1;
    (0..u64::from(num_hashes)).map(move |i| {
        let bit = hash.wrapping_add(i.wrapping_mul(step)) % num_bits;
        let word = usize::try_from(bit / 64).unwrap_or(0);
        (word, u32::try_from(bit % 64).unwrap_or(0))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, Float64Array, Int32Array};

    use super::super::{IndexKind, IndexedValue, Relation};
    use super::Entry;

    const KINDS: [IndexKind; 3] = [
        IndexKind::MinMax,
        IndexKind::Set(0),
        IndexKind::BloomFilter(0.01),
    ];

    fn entries(array: &ArrayRef) -> Vec<Entry> {
        let written = |kind: IndexKind| {
            let mut bytes = Vec::new();
            Entry::of(kind, array).write(&mut bytes);
            let mut rest = bytes.as_slice();
            let entry = Entry::read(&mut rest).expect("an entry");
            assert!(rest.is_empty() && entry == Entry::of(kind, array));
            for len in 0..bytes.len() {
                assert_eq!(Entry::read(&mut &bytes[..len]), None);
            }
            entry
        };
        KINDS.into_iter().map(written).collect()
    }

    #[test]
    fn values_that_are_there_are_never_ruled_out() {
        let numbers: ArrayRef = Arc::new(Int32Array::from_iter((-500..500).map(|n| Some(n * 3))));
        for entry in entries(&numbers) {
            for n in -500..500 {
                let value = IndexedValue::integer(n * 3);
                assert!(entry.can_hold(Relation::Equal, &value));
            }
            assert!(!entry.can_hold(Relation::Equal, &IndexedValue::integer(5000)));
        }
        let set = &entries(&numbers)[1];
        assert!(!set.can_hold(Relation::Equal, &IndexedValue::integer(1)));
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![-1.5, -0.0, f64::NAN, 7.0]));
        let minmax = &entries(&floats)[0];
        let float = |value| IndexedValue::float(value).expect("no NaN");
        assert!(minmax.can_hold(Relation::Equal, &float(0.0)));
        assert!(minmax.can_hold(Relation::AtMost, &float(-1.5)));
        assert!(!minmax.can_hold(Relation::AtMost, &float(-2.0)));
        assert!(!minmax.can_hold(Relation::AtLeast, &float(8.0)));
        let texts: ArrayRef = Arc::new(BinaryViewArray::from_iter([Some("b"), None, Some("dd")]));
        for entry in entries(&texts) {
            assert!(entry.can_hold(Relation::Equal, &IndexedValue::bytes(b"dd")));
            assert!(!entry.can_hold(Relation::Equal, &IndexedValue::bytes(b"e")));
        }
        let nothing: ArrayRef = Arc::new(Int32Array::from(vec![None, None]));
        for entry in entries(&nothing) {
            assert!(!entry.can_hold(Relation::AtLeast, &IndexedValue::integer(0)));
        }
    }

    #[test]
    fn a_bloom_filter_is_seldom_wrong() {
        let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..10_000));
        let filter = Entry::of(IndexKind::BloomFilter(0.025), &numbers);
        let others = (10_000..20_000).map(IndexedValue::integer);
        let wrong = others
            .filter(|v| filter.can_hold(Relation::Equal, v))
            .count();
        assert!(wrong < 500, "{wrong} of 10000");
    }
}
