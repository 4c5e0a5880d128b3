//! Writes integers as strings, straight into views.
//!
//! Sixteen digits are made at once, without a loop: eight at a time by multiplications of packed
//! halves, quarters and eighths, then the zeros in front are shifted out. Texts of up to 12 bytes
//! are done then, as they lie in their views; longer ones go into one shared buffer.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryViewArray};
use arrow::buffer::{Buffer, ScalarBuffer};
use basalt_error::{Error, Result};
use basalt_kernels::append::append;
use basalt_kernels::widest::{Loop, widest};

use crate::scalar::core::numeric::{CHUNK, Num, Numbers, chunks};

/// Bytes of a text that lie in its view.
const INLINE_LEN: u32 = 12;
/// Numbers below have at most 8 digits.
const TEN_POW_8: u64 = 100_000_000;
/// Of eight digits as many are zeros in front as there are powers above the number.
const SHORT_POWERS: [u64; 7] = [10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/// Numbers below have at most 16 digits.
const TEN_POW_16: u64 = 10_000_000_000_000_000;
/// A buffer that has grown beyond is not written to: views have offsets of 32 bits.
const BUFFER_LEN_MAX: usize = 1 << 30;

/// The decimal text of every integer of an array.
pub(super) fn texts(array: &ArrayRef) -> Result<ArrayRef> {
    let numbers = Numbers::of(array.as_ref())?;
    let signed = Num::of_arrow(array.data_type()).is_some_and(Num::is_signed);
    let mut texts = Texts::new(array.len());
    let mut chunk: Vec<u64> = Vec::with_capacity(CHUNK);
    for range in chunks(array.len()) {
        chunk.clear();
        numbers.append(range, &mut chunk);
        let (chunk, texts) = (chunk.as_slice(), &mut texts);
        // Negative ones are none of these: their highest bit is set.
        if widest(Greatest(chunk)) < TEN_POW_8 {
            let views = &mut texts.views;
            widest(WriteShort { chunk, views });
        } else {
            widest(Write {
                chunk,
                signed,
                texts,
            });
        }
    }
    texts.finish()
}

/// Writes a chunk. Newer instructions count zeros and shift by them in half the time.
struct Write<'a> {
    chunk: &'a [u64],
    signed: bool,
    texts: &'a mut Texts,
}

impl Loop for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { chunk, texts, .. } = self;
        if self.signed {
            let signed = chunk.iter().map(|value| *value as i64);
            signed.for_each(|value| texts.push_signed(value));
        } else {
            chunk.iter().for_each(|value| texts.push(*value));
        }
    }
}

/// The greatest number of a chunk.
struct Greatest<'a>(&'a [u64]);

impl Loop for Greatest<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        self.0.iter().fold(0, |greatest, n| greatest.max(*n))
    }
}

/// Writes a chunk of numbers below 10^8, without a branch: in vectors.
struct WriteShort<'a> {
    chunk: &'a [u64],
    views: &'a mut Vec<u128>,
}

impl Loop for WriteShort<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mut texts, mut lens) = ([0_u64; CHUNK], [0_u64; CHUNK]);
        let places = texts.iter_mut().zip(&mut lens);
        for ((text, len), n) in places.zip(self.chunk) {
            let zeros = SHORT_POWERS.iter().map(|power| u64::from(*n < *power));
            let zeros: u64 = zeros.sum();
            *text = eight_digits(*n) >> (8 * zeros);
            *len = 8 - zeros;
        }
        append(self.views, self.chunk.len(), |i| {
            u128::from(lens[i]) | (u128::from(texts[i]) << 32)
        });
    }
}

/// Eight digits of a number below 10^8, the first one in the lowest byte.
#[inline(always)]
fn eight_digits(n: u64) -> u64 {
    // The quotient, as 2^45 / 10^4 = 3,518,437,208.9: no product has more than 59 bits.
    let upper = (n * 3_518_437_209) >> 45;
    let lower = n - upper * 10_000;
    let fours = upper | (lower << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    let ones = tens | ((twos - tens * 10) << 8);
    ones | 0x3030_3030_3030_3030
}

/// As [`digits`] for a number below 10^8: half the work.
#[inline(always)]
fn few_digits(n: u64) -> (u64, u32) {
    let all = eight_digits(n);
    let significant = (all ^ 0x3030_3030_3030_3030) | (1 << 56);
    let zeros = significant.trailing_zeros() / 8;
    (all >> (8 * zeros), 8 - zeros)
}

/// The text of a number below 10^16, the first digit in the lowest byte, and its length.
#[inline(always)]
fn digits(n: u64) -> (u128, u32) {
    let (upper, lower) = (n / TEN_POW_8, n % TEN_POW_8);
    let all = u128::from(eight_digits(upper)) | (u128::from(eight_digits(lower)) << 64);
    // The last digit stays even if it is a zero.
    let significant = (all ^ 0x3030_3030_3030_3030_3030_3030_3030_3030) | (1 << 120);
    let zeros = significant.trailing_zeros() / 8;
    (all >> (8 * zeros), 16 - zeros)
}

/// Views and buffers under construction.
struct Texts {
    views: Vec<u128>,
    buffers: Vec<Vec<u8>>,
}

impl Texts {
    fn new(num_rows: usize) -> Self {
        Self {
            views: Vec::with_capacity(num_rows),
            buffers: vec![Vec::new()],
        }
    }

    #[inline(always)]
    fn push(&mut self, n: u64) {
        if n < TEN_POW_8 {
            let (text, len) = few_digits(n);
            self.views.push(u128::from(len) | (u128::from(text) << 32));
            return;
        }
        if n < TEN_POW_16 {
            let (text, len) = digits(n);
            if len <= INLINE_LEN {
                self.views.push(u128::from(len) | (text << 32));
                return;
            }
        }
        self.push_long(itoa::Buffer::new().format(n).as_bytes());
    }

    #[inline(always)]
    fn push_signed(&mut self, n: i64) {
        if n >= 0 {
            return self.push(n as u64);
        }
        let magnitude = n.unsigned_abs();
        if magnitude < TEN_POW_16 {
            let (text, len) = digits(magnitude);
            if len < INLINE_LEN {
                let text = (text << 8) | u128::from(b'-');
                self.views.push(u128::from(len + 1) | (text << 32));
                return;
            }
        }
        self.push_long(itoa::Buffer::new().format(n).as_bytes());
    }

    #[inline(never)]
    fn push_long(&mut self, text: &[u8]) {
        if self.buffers.last().is_none_or(|b| b.len() > BUFFER_LEN_MAX) {
            self.buffers.push(Vec::new());
        }
        let index = self.buffers.len() - 1;
        let buffer = &mut self.buffers[index];
        // Bounded by `BUFFER_LEN_MAX` and the number of buffers.
        let view = arrow::array::make_view(text, index as u32, buffer.len() as u32);
        buffer.extend_from_slice(text);
        self.views.push(view);
    }

    fn finish(self) -> Result<ArrayRef> {
        let buffers: Vec<Buffer> = self.buffers.into_iter().map(Buffer::from_vec).collect();
        let array = BinaryViewArray::try_new(ScalarBuffer::from(self.views), buffers, None);
        Ok(Arc::new(array.map_err(|e| Error::bug(e.to_string()))?))
    }
}
