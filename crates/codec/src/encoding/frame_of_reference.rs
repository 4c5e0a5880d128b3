//! Encodes integers as bit-packed distances from the least one of their group.
//!
//! ```text
//! for each group of 1024:   bits (1 byte), reference (1 word)
//! for each group of 1024:   packed distances, see `bit_packing`
//! ```
//!
//! The least is that of signed or of unsigned order, whichever spans less; decoding adds modulo the
//! word, so it need not know.

use basalt_kernels::widest::{Loop, widest};

use crate::encoding::bit_packing::{GROUP_LEN, pack, packed_bytes, unpack};
use crate::error::{DecodeError, Result};
use crate::reader::Reader;
use crate::word::Word;

/// The least number of a group and the bits of the largest distance from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame<T> {
    reference: T,
    num_bits: u32,
}

impl<T: Word> Frame<T> {
    #[inline(always)]
    fn around(numbers: &[T]) -> Self {
        let least_and_span = |flip: T| {
            let bounds = (T::MAX, T::default());
            let (least, most) = numbers.iter().fold(bounds, |(least, most), number| {
                let number = *number ^ flip;
                (least.min(number), most.max(number))
            });
            (least ^ flip, most.wrapping_sub(least))
        };
        let unsigned = least_and_span(T::default());
        let signed = least_and_span(T::SIGN);
        let (reference, span) = if signed.1 < unsigned.1 {
            signed
        } else {
            unsigned
        };
        Self {
            reference,
            num_bits: span.num_bits(),
        }
    }
}

struct Frames<'a, T>(&'a [T]);

impl<T: Word> Loop for Frames<'_, T> {
    type Output = Vec<Frame<T>>;

    #[inline(always)]
    fn run(self) -> Vec<Frame<T>> {
        let groups = self.0.chunks(GROUP_LEN);
        let mut frames = Vec::with_capacity(groups.len());
        // Not collected: that is a function of its own, which is compiled for any processor.
        for group in groups {
            frames.push(Frame::around(group));
        }
        frames
    }
}

/// Bytes that `numbers` take encoded.
pub(crate) fn encoded_bytes<T: Word>(numbers: &[T]) -> usize {
    let frames = widest(Frames(numbers));
    let groups = numbers.chunks(GROUP_LEN).zip(frames);
    groups
        .map(|(group, frame)| 1 + size_of::<T>() + packed_bytes::<T>(group.len(), frame.num_bits))
        .sum()
}

struct Encode<'a, T> {
    numbers: &'a [T],
    frames: &'a [Frame<T>],
    out: &'a mut Vec<u8>,
}

impl<T: Word> Loop for Encode<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (group, frame) in self.numbers.chunks(GROUP_LEN).zip(self.frames) {
            pack(group, frame.reference, frame.num_bits, self.out);
        }
    }
}

/// Appends the encoded `numbers` to `out`.
pub(crate) fn encode<T: Word>(numbers: &[T], out: &mut Vec<u8>) {
    let frames = widest(Frames(numbers));
    for frame in &frames {
        u8::truncated(u64::from(frame.num_bits)).append_to(out);
        frame.reference.append_to(out);
    }
    widest(Encode {
        numbers,
        frames: &frames,
        out,
    });
}

/// Encoded groups that are decoded one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups<'a> {
    frames: Reader<'a>,
    packed: Reader<'a>,
}

impl<'a> Groups<'a> {
    /// Takes the groups of `len` numbers off `reader`.
    pub(crate) fn try_new<T: Word>(reader: &mut Reader<'a>, len: usize) -> Result<Self> {
        let num_groups = len.div_ceil(GROUP_LEN);
        let frame_bytes = 1 + size_of::<T>();
        let size_bytes = num_groups.checked_mul(frame_bytes);
        let frames = reader.take(size_bytes.ok_or(DecodeError::Truncated)?)?;
        let mut total: usize = 0;
        for (group, frame) in frames.chunks_exact(frame_bytes).enumerate() {
            let num_bits = u32::from(frame[0]);
            if num_bits > T::BITS {
                return Err(DecodeError::BadHeader("bits of a group"));
            }
            let len = GROUP_LEN.min(len - group * GROUP_LEN);
            total += packed_bytes::<T>(len, num_bits);
        }
        Ok(Self {
            frames: Reader::new(frames),
            packed: Reader::new(reader.take(total)?),
        })
    }

    /// Decodes the next group, which has `out.len()` numbers.
    #[inline(always)]
    pub(crate) fn decode_next<T: Word>(&mut self, out: &mut [T]) -> Result<()> {
        let num_bits = u32::from(self.frames.word::<u8>()?);
        let reference = self.frames.word::<T>()?;
        let packed = self.packed.take(packed_bytes::<T>(out.len(), num_bits))?;
        unpack(packed, reference, num_bits, out)
    }
}

struct Decode<'a, T> {
    groups: Groups<'a>,
    out: &'a mut [T],
}

impl<T: Word> Loop for Decode<'_, T> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(mut self) -> Result<()> {
        let mut groups = self.out.chunks_mut(GROUP_LEN);
        groups.try_for_each(|out| self.groups.decode_next(out))
    }
}

/// Decodes as many numbers as `out` has.
pub(crate) fn decode<T: Word>(bytes: &[u8], out: &mut [T]) -> Result<()> {
    let mut reader = Reader::new(bytes);
    let groups = Groups::try_new::<T>(&mut reader, out.len())?;
    reader.finish()?;
    widest(Decode { groups, out })
}
