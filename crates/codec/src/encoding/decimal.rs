//! Encodes floats that are decimal numbers of few digits as integers (after ALP, SIGMOD 2024).
//!
//! ```text
//! up, down (1 byte each), number of exceptions (4 bytes),
//! integers by frame of reference, places of exceptions by frame of reference, exceptions as they are
//! ```
//!
//! A float is stored as the integer `round(x * 10^up * 10^-down)` if `integer * 10^down * 10^-up` gives
//! all its bits back; what does not is an exception: NaN, -0, and digits without end. The two powers
//! are chosen for a block by trying them on a sample. Both directions calculate in Float64, in the
//! order that is written here; nothing may be contracted or reordered.

use basalt_kernels::widest::{Loop, widest};

use crate::encoding::bit_packing::GROUP_LEN;
use crate::encoding::frame_of_reference::{self, Groups};
use crate::error::{DecodeError, Result};
use crate::reader::Reader;
use crate::word::Word;

/// Values that powers are tried on.
const SAMPLE_LEN: usize = 64;

/// Has a unit in the last place of 1.
const ROUNDER: f64 = (3_u64 << 51) as f64;

/// Powers of ten that Float64 has exactly, and the largest that are tried.
const POWERS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

/// Their inverses, rounded: multiplication is faster than division.
const INVERSES: [f64; 19] = [
    1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14,
    1e-15, 1e-16, 1e-17, 1e-18,
];

/// The bits of a float.
pub(crate) trait Float: Word {
    /// Integers of this size or more are exceptions.
    const LIMIT: f64;
    /// The largest power that can be of use.
    const MAX_POWER: u8;

    fn to_f64(self) -> f64;
    fn from_f64(value: f64) -> Self;
    fn from_integer(integer: i64) -> Self;
    fn to_integer(self) -> i64;
}

impl Float for u32 {
    const LIMIT: f64 = (1_u64 << 31) as f64;
    const MAX_POWER: u8 = 10;

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(f32::from_bits(self))
    }

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounds; the encoder looks whether it may"
    )]
    fn from_f64(value: f64) -> Self {
        (value as f32).to_bits()
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "below `LIMIT`")]
    fn from_integer(integer: i64) -> Self {
        (integer as i32).cast_unsigned()
    }

    #[inline(always)]
    fn to_integer(self) -> i64 {
        i64::from(self.cast_signed())
    }
}

impl Float for u64 {
    const LIMIT: f64 = (1_u64 << 51) as f64;
    const MAX_POWER: u8 = 18;

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from_bits(self)
    }

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value.to_bits()
    }

    #[inline(always)]
    fn from_integer(integer: i64) -> Self {
        integer.cast_unsigned()
    }

    #[inline(always)]
    fn to_integer(self) -> i64 {
        self.cast_signed()
    }
}

/// Places in the tables of powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    up: u8,
    down: u8,
}

/// The powers of ten that make integers of floats, and floats of integers.
#[derive(Clone, Copy, Debug)]
struct Powers {
    up: f64,
    down: f64,
    inverse_up: f64,
    inverse_down: f64,
}

impl Powers {
    /// The integer that stands for a float, if it gives the float back.
    #[inline(always)]
    fn integer<T: Float>(self, bits: T) -> Option<T> {
        let scaled = bits.to_f64() * self.up * self.inverse_down;
        // Leaves no room for a fraction and takes it away again: rounds what is below 2^51.
        let rounded = scaled + ROUNDER - ROUNDER;
        // NaN is not below, either.
        let is_small = rounded.abs() < T::LIMIT;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked above; other results are not used"
        )]
        let integer = T::from_integer(rounded as i64);
        (is_small && self.float(integer) == bits).then_some(integer)
    }

    #[inline(always)]
    fn float<T: Float>(self, integer: T) -> T {
        let integer = integer.to_integer() as f64;
        T::from_f64(integer * self.down * self.inverse_up)
    }

    /// Bits that a sample takes.
    fn bits<T: Float>(self, sample: &[T]) -> usize {
        let mut num_exceptions = 0;
        let mut bounds = (i64::MAX, i64::MIN);
        for bits in sample {
            match self.integer(*bits) {
                Some(integer) => {
                    let integer = integer.to_integer();
                    bounds = (bounds.0.min(integer), bounds.1.max(integer));
                }
                None => num_exceptions += 1,
            }
        }
        let span = bounds.1.saturating_sub(bounds.0).max(0).cast_unsigned();
        let num_regular = sample.len() - num_exceptions;
        num_regular * span.num_bits() as usize + num_exceptions * (T::BITS as usize + 16)
    }
}

impl Scale {
    /// Its powers, if the tables have them.
    fn powers(self) -> Option<Powers> {
        let (up, down) = (usize::from(self.up), usize::from(self.down));
        Some(Powers {
            up: *POWERS.get(up)?,
            down: *POWERS.get(down)?,
            inverse_up: *INVERSES.get(up)?,
            inverse_down: *INVERSES.get(down)?,
        })
    }

    /// The scale that packs `sample` best, and the bits that a value takes with it.
    fn best<T: Float>(sample: &[T]) -> (Self, usize) {
        let ups = 0..=T::MAX_POWER;
        let scales = ups.flat_map(|up| (0..=up).map(move |down| Self { up, down }));
        let rated = scales.filter_map(|scale| Some((scale, scale.powers()?.bits(sample))));
        // Of equal ones the first, whose integers are least likely to be too large for the rest.
        let best = rated.min_by_key(|(_, bits)| *bits);
        best.map_or((Self { up: 0, down: 0 }, 0), |(scale, bits)| {
            (scale, bits.div_ceil(sample.len().max(1)))
        })
    }
}

/// Values spread over all of them.
fn sample<T: Float>(floats: &[T]) -> Vec<T> {
    let step = floats.len().div_ceil(SAMPLE_LEN).max(1);
    floats.iter().step_by(step).copied().collect()
}

/// Bytes that `floats` probably take encoded.
pub(crate) fn estimated_bytes<T: Float>(floats: &[T]) -> usize {
    let (_, bits) = Scale::best(&sample(floats));
    floats.len().saturating_mul(bits).div_ceil(8)
}

/// Appends the encoded `floats` to `out`, of which there are fewer than 2^32; whether it could.
pub(crate) fn encode<T: Float>(floats: &[T], out: &mut Vec<u8>) -> bool {
    let (scale, _) = Scale::best(&sample(floats));
    let Some(powers) = scale.powers() else {
        return false;
    };
    let mut integers = Vec::with_capacity(floats.len());
    let mut places: Vec<u32> = Vec::new();
    let mut exceptions = Vec::new();
    // An exception takes the place of a number that needs no more bits.
    let mut previous = floats
        .iter()
        .find_map(|bits| powers.integer(*bits))
        .unwrap_or_default();
    for (place, bits) in floats.iter().enumerate() {
        match powers.integer(*bits) {
            Some(integer) => previous = integer,
            None => {
                places.push(u32::truncated(place as u64));
                exceptions.push(*bits);
            }
        }
        integers.push(previous);
    }
    out.extend_from_slice(&[scale.up, scale.down]);
    u32::truncated(places.len() as u64).append_to(out);
    frame_of_reference::encode(&integers, out);
    frame_of_reference::encode(&places, out);
    out.extend_from_slice(crate::word::bytes_of(&exceptions));
    true
}

struct Decode<'a, T> {
    powers: Powers,
    integers: Groups<'a>,
    num_exceptions: usize,
    places: Groups<'a>,
    exceptions: &'a [u8],
    out: &'a mut [T],
}

impl<T: Float> Loop for Decode<'_, T> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(mut self) -> Result<()> {
        for out in self.out.chunks_mut(GROUP_LEN) {
            self.integers.decode_next(out)?;
            for float in out {
                *float = self.powers.float(*float);
            }
        }
        let mut exceptions = self
            .exceptions
            .chunks_exact(size_of::<T>())
            .map(T::from_bytes);
        let mut places = [0_u32; GROUP_LEN];
        let mut left = self.num_exceptions;
        while left > 0 {
            let len = left.min(GROUP_LEN);
            self.places.decode_next(&mut places[..len])?;
            for (place, exception) in places[..len].iter().zip(exceptions.by_ref()) {
                let float = self.out.get_mut(*place as usize);
                *float.ok_or(DecodeError::BadHeader("place of an exception"))? = exception;
            }
            left -= len;
        }
        Ok(())
    }
}

/// Decodes as many floats as `out` has.
pub(crate) fn decode<T: Float>(bytes: &[u8], out: &mut [T]) -> Result<()> {
    let mut reader = Reader::new(bytes);
    let scale = Scale {
        up: reader.word()?,
        down: reader.word()?,
    };
    let powers = scale
        .powers()
        .ok_or(DecodeError::BadHeader("power of ten"))?;
    let num_exceptions = reader.count(out.len(), "number of exceptions")?;
    let integers = Groups::try_new::<T>(&mut reader, out.len())?;
    let places = Groups::try_new::<u32>(&mut reader, num_exceptions)?;
    let exceptions = reader.take_words::<T>(num_exceptions)?;
    reader.finish()?;
    widest(Decode {
        powers,
        integers,
        num_exceptions,
        places,
        exceptions,
        out,
    })
}
