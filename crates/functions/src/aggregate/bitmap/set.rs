//! A set of integers that is small in memory where they lie close together.
//!
//! Up to [`SMALL_LEN`] numbers are a list in the order of their arrival, which users see. Beyond
//! that they are sorted into chunks by their upper 48 bits; a chunk keeps the lower 16 as a sorted
//! list while they are few, then as 65 536 bits.

use std::collections::BTreeMap;

use basalt_error::Result;

use crate::aggregate::grouped::{ByteReader, damaged};

/// Most numbers of a set that keeps their order.
const SMALL_LEN: usize = 32;

/// Most numbers of a chunk that is a list: with more, the bits take less memory.
const LIST_LEN: usize = 4096;

const WORDS: usize = 1024;

/// A set of 64-bit numbers.
#[derive(Clone, Debug)]
pub(crate) enum Bitmap {
    Small(Vec<u64>),
    Large(Chunks),
}

/// The numbers of a large set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunks {
    chunks: BTreeMap<u64, Chunk>,
    len: usize,
}

#[derive(Clone, Debug)]
enum Chunk {
    List(Vec<u16>),
    Bits(Box<[u64; WORDS]>),
}

impl Default for Bitmap {
    fn default() -> Self {
        Bitmap::Small(Vec::new())
    }
}

/// What a chunk takes besides its numbers, about.
const CHUNK_BYTES: usize = 64;

impl Chunk {
    fn size_bytes(&self) -> usize {
        match self {
            Chunk::List(list) => list.capacity() * size_of::<u16>(),
            Chunk::Bits(_) => WORDS * size_of::<u64>(),
        }
    }

    /// Adds a number; whether it is new.
    fn insert(&mut self, low: u16) -> bool {
        match self {
            Chunk::Bits(bits) => {
                let word = &mut bits[usize::from(low >> 6)];
                let bit = 1 << (low & 63);
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
            Chunk::List(list) => {
                let Err(at) = list.binary_search(&low) else {
                    return false;
                };
                list.insert(at, low);
                if list.len() > LIST_LEN {
                    let mut bits = Box::new([0; WORDS]);
                    for low in list {
                        bits[usize::from(*low >> 6)] |= 1 << (*low & 63);
                    }
                    *self = Chunk::Bits(bits);
                }
                true
            }
        }
    }

    fn contains(&self, low: u16) -> bool {
        match self {
            Chunk::List(list) => list.binary_search(&low).is_ok(),
            Chunk::Bits(bits) => bits[usize::from(low >> 6)] >> (low & 63) & 1 == 1,
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = u16> + '_> {
        match self {
            Chunk::List(list) => Box::new(list.iter().copied()),
            Chunk::Bits(_) => Box::new((0..=u16::MAX).filter(|low| self.contains(*low))),
        }
    }
}

impl Bitmap {
    /// Adds a number; gives the bytes that the set grew by on the heap, about.
    pub(crate) fn insert(&mut self, value: u64) -> usize {
        match self {
            Bitmap::Small(list) => {
                if list.contains(&value) {
                    return 0;
                }
                let list_bytes = |list: &Vec<u64>| list.capacity() * size_of::<u64>();
                let before = list_bytes(list);
                if list.len() < SMALL_LEN {
                    list.push(value);
                    return list_bytes(list) - before;
                }
                let mut chunks = Chunks::default();
                let values = list.iter().chain([&value]);
                let chunk_bytes: usize = values.map(|value| chunks.insert(*value)).sum();
                *self = Bitmap::Large(chunks);
                chunk_bytes.saturating_sub(before)
            }
            Bitmap::Large(chunks) => chunks.insert(value),
        }
    }

    pub(crate) fn contains(&self, value: u64) -> bool {
        match self {
            Bitmap::Small(list) => list.contains(&value),
            Bitmap::Large(chunks) => {
                let chunk = chunks.chunks.get(&(value >> 16));
                chunk.is_some_and(|chunk| chunk.contains(value as u16))
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Bitmap::Small(list) => list.len(),
            Bitmap::Large(chunks) => chunks.len,
        }
    }

    /// The numbers, those of a small set in their order, else ascending.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            Bitmap::Small(list) => Box::new(list.iter().copied()),
            Bitmap::Large(chunks) => Box::new(chunks.chunks.iter().flat_map(|(high, chunk)| {
                chunk.iter().map(move |low| high << 16 | u64::from(low))
            })),
        }
    }

    /// The numbers in ascending order.
    pub(crate) fn sorted(&self) -> Vec<u64> {
        let mut values: Vec<u64> = self.iter().collect();
        values.sort_unstable();
        values
    }

    /// Adds all numbers of another set.
    pub(crate) fn union(&mut self, other: &Bitmap) {
        other.iter().for_each(|value| {
            self.insert(value);
        });
    }

    /// The numbers that are also in another set.
    pub(crate) fn intersection(&self, other: &Bitmap) -> Bitmap {
        self.iter().filter(|v| other.contains(*v)).collect()
    }

    /// The numbers that are not in another set.
    pub(crate) fn difference(&self, other: &Bitmap) -> Bitmap {
        self.iter().filter(|v| !other.contains(*v)).collect()
    }

    /// The numbers that are in one of both sets only.
    pub(crate) fn symmetric_difference(&self, other: &Bitmap) -> Bitmap {
        let mut all = self.difference(other);
        all.union(&other.difference(self));
        match all {
            Bitmap::Small(mut list) => {
                list.sort_unstable();
                Bitmap::Small(list)
            }
            large => large,
        }
    }

    /// Appends the set as [`Bitmap::read`] reads it: a length and the numbers.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.len() as u64).to_le_bytes());
        for value in self.iter() {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Reads a set.
    ///
    /// # Errors
    /// `INCORRECT_DATA` if the bytes are none.
    pub(crate) fn read(bytes: &mut ByteReader<'_>) -> Result<Self> {
        let len = bytes.len(size_of::<u64>())?;
        let mut set = Self::default();
        for _ in 0..len {
            set.insert(bytes.u64()?);
        }
        if set.len() == len {
            Ok(set)
        } else {
            Err(damaged())
        }
    }

    /// About how many bytes the set takes on the heap.
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Bitmap::Small(list) => list.capacity() * size_of::<u64>(),
            Bitmap::Large(chunks) => {
                let chunks = chunks.chunks.values();
                chunks.map(|chunk| CHUNK_BYTES + chunk.size_bytes()).sum()
            }
        }
    }
}

impl Chunks {
    /// Adds a number; gives the bytes that this took.
    fn insert(&mut self, value: u64) -> usize {
        let mut grown = 0;
        let chunk = self.chunks.entry(value >> 16).or_insert_with(|| {
            grown = CHUNK_BYTES;
            Chunk::List(Vec::new())
        });
        let before = chunk.size_bytes();
        self.len += usize::from(chunk.insert(value as u16));
        grown + chunk.size_bytes().saturating_sub(before)
    }
}

impl FromIterator<u64> for Bitmap {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut set = Self::default();
        values.into_iter().for_each(|value| {
            set.insert(value);
        });
        set
    }
}
