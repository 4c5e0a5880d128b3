//! Encodes numbers by their place in a list of all that occur.
//!
//! ```text
//! length of the list - 1 (2 bytes), the list in order of first occurrence, places by frame of reference
//! ```
//!
//! Places are of 8 bits if the list has at most 256 numbers, else of 16.

use basalt_kernels::widest::{Loop, widest};

use crate::encoding::bit_packing::GROUP_LEN;
use crate::encoding::distinct::hash;
use crate::encoding::frame_of_reference::{self, Groups};
use crate::error::{DecodeError, Result};
use crate::reader::Reader;
use crate::word::Word;

/// Longest list.
pub(crate) const MAX_LEN: usize = 1 << 16;

/// Longest list whose places are bytes.
const MAX_BYTE_LEN: usize = 1 << 8;

/// Different numbers and where they stand, by a hash table of at most half its slots.
struct Places<T> {
    list: Vec<T>,
    /// Place + 1 in the list, or 0.
    slots: Vec<u32>,
}

impl<T: Word> Places<T> {
    fn new() -> Self {
        Self {
            list: Vec::new(),
            slots: vec![0; 512],
        }
    }

    /// The place of a number, put at the end if it is new; `None` if the list is full.
    #[inline]
    fn place(&mut self, number: T) -> Option<u16> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(number) & mask;
        loop {
            let place = self.slots[slot];
            if place == 0 {
                return self.insert(slot, number);
            }
            if self.list[place as usize - 1] == number {
                return u16::try_from(place - 1).ok();
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn insert(&mut self, slot: usize, number: T) -> Option<u16> {
        let place = u16::try_from(self.list.len()).ok()?;
        self.list.push(number);
        self.slots[slot] = u32::from(place) + 1;
        if self.list.len() * 2 > self.slots.len() {
            self.grow();
        }
        Some(place)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 4 - 1;
        self.slots = vec![0; mask + 1];
        for (place, number) in (1..).zip(&self.list) {
            let mut slot = hash(*number) & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = place;
        }
    }
}

/// Appends the encoded `numbers` to `out`; nothing, and false, if too many of them are different.
pub(crate) fn encode<T: Word>(numbers: &[T], out: &mut Vec<u8>) -> bool {
    let mut places = Places::new();
    let encoded: Option<Vec<u16>> = numbers.iter().map(|number| places.place(*number)).collect();
    let Some((encoded, last)) = encoded.zip(places.list.len().checked_sub(1)) else {
        return false;
    };
    // The list has at most 2^16 numbers.
    u16::truncated(last as u64).append_to(out);
    out.extend_from_slice(crate::word::bytes_of(&places.list));
    if places.list.len() <= MAX_BYTE_LEN {
        let encoded: Vec<u8> = encoded
            .iter()
            .map(|place| u8::truncated(place.widened()))
            .collect();
        frame_of_reference::encode(&encoded, out);
    } else {
        frame_of_reference::encode(&encoded, out);
    }
    true
}

/// Bytes that `len` numbers take encoded if `num_distinct` of them are different.
pub(crate) fn estimated_bytes<T: Word>(len: usize, num_distinct: usize) -> usize {
    let num_bits = usize::BITS - num_distinct.saturating_sub(1).leading_zeros();
    2 + num_distinct * size_of::<T>() + len.div_ceil(8) * num_bits as usize
}

struct Decode<'a, T, const N: usize> {
    places: Groups<'a>,
    /// As many as there are places, so that none is outside.
    list: &'a [T; N],
    num_listed: usize,
    out: &'a mut [T],
}

impl<T: Word, const N: usize> Decode<'_, T, N> {
    #[inline(always)]
    fn decode<P: Word + Into<usize>>(mut self) -> Result<()> {
        let mut places = [P::default(); GROUP_LEN];
        let mut most = P::default();
        for out in self.out.chunks_mut(GROUP_LEN) {
            let places = &mut places[..out.len()];
            self.places.decode_next(places)?;
            most = places.iter().fold(most, |most, place| most.max(*place));
            for (number, place) in out.iter_mut().zip(places) {
                let place: usize = (*place).into();
                *number = self.list[place % N];
            }
        }
        let is_listed = most.into() < self.num_listed;
        if is_listed {
            Ok(())
        } else {
            Err(DecodeError::BadHeader("place in the dictionary"))
        }
    }
}

impl<T: Word> Loop for Decode<'_, T, MAX_BYTE_LEN> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        self.decode::<u8>()
    }
}

impl<T: Word> Loop for Decode<'_, T, MAX_LEN> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        self.decode::<u16>()
    }
}

/// Decodes as many numbers as `out` has.
pub(crate) fn decode<T: Word>(bytes: &[u8], out: &mut [T]) -> Result<()> {
    let mut reader = Reader::new(bytes);
    let num_listed = usize::from(reader.word::<u16>()?) + 1;
    let listed = reader.take_words::<T>(num_listed)?;
    let listed = listed.chunks_exact(size_of::<T>()).map(T::from_bytes);
    if num_listed <= MAX_BYTE_LEN {
        let places = Groups::try_new::<u8>(&mut reader, out.len())?;
        reader.finish()?;
        let mut list = [T::default(); MAX_BYTE_LEN];
        list.iter_mut()
            .zip(listed)
            .for_each(|(to, from)| *to = from);
        let list = &list;
        return widest(Decode {
            places,
            list,
            num_listed,
            out,
        });
    }
    let places = Groups::try_new::<u16>(&mut reader, out.len())?;
    reader.finish()?;
    let mut list: Vec<T> = listed.collect();
    list.resize(MAX_LEN, T::default());
    let list: &[T; MAX_LEN] = list.first_chunk().ok_or(DecodeError::Truncated)?;
    widest(Decode {
        places,
        list,
        num_listed,
        out,
    })
}
