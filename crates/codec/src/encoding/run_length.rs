//! Encodes equal numbers in a row as one number and a length.
//!
//! ```text
//! number of runs (4 bytes), numbers by frame of reference, lengths - 1 by frame of reference
//! ```

use basalt_kernels::Bitmap;
use basalt_kernels::compare::Comparison;
use basalt_kernels::filter::{append_selected, append_selected_rows};
use basalt_kernels::widest::{Loop, widest};

use crate::encoding::bit_packing::GROUP_LEN;
use crate::encoding::frame_of_reference::{self, Groups};
use crate::error::{DecodeError, Result};
use crate::reader::Reader;
use crate::word::{Word, bytes_of};

struct CountRuns<'a, T>(&'a [T]);

impl<T: Word> Loop for CountRuns<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let after_first = self.0.get(1..).unwrap_or_default();
        let pairs = self.0.iter().zip(after_first);
        let num_changes = pairs.filter(|(before, after)| before != after).count();
        num_changes + usize::from(!self.0.is_empty())
    }
}

/// Bytes that `numbers` probably take encoded.
pub(crate) fn estimated_bytes<T: Word>(numbers: &[T]) -> usize {
    let num_runs = widest(CountRuns(numbers));
    // The first of a run takes what any number takes; lengths scatter around their mean.
    let all_firsts = frame_of_reference::encoded_bytes(numbers);
    let mean_len = numbers.len() / num_runs.max(1);
    let length_bits = (usize::BITS - mean_len.leading_zeros()) as usize + 1;
    let firsts = all_firsts as f64 * num_runs as f64 / numbers.len().max(1) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "less than what all numbers take"
    )]
    let firsts = firsts as usize;
    4 + firsts + num_runs * length_bits / 8
}

/// Appends the encoded `numbers` to `out`, of which there are fewer than 2^32.
pub(crate) fn encode<T: Word>(numbers: &[T], out: &mut Vec<u8>) {
    let (firsts, lengths) = runs(numbers);
    u32::truncated(firsts.len() as u64).append_to(out);
    frame_of_reference::encode(&firsts, out);
    frame_of_reference::encode(&lengths, out);
}

/// The number of each run, and how many follow the first one in it. Runs are short, and a branch at their ends would be
/// foretold wrong: ends are found as bits.
fn runs<T: Word>(numbers: &[T]) -> (Vec<T>, Vec<u32>) {
    let (mut firsts, mut lengths) = (Vec::new(), Vec::new());
    let Some(after_first) = numbers.get(1..) else {
        return (firsts, lengths);
    };
    // The last number ends a run, whatever it is: its bit stays.
    let mut bits = vec![u64::MAX; numbers.len().div_ceil(64)];
    let before_last = &numbers[..after_first.len()];
    Comparison::NotEqual.retain_pairs(before_last, after_first, &mut bits);
    let ends = Bitmap::try_new(bytes_of(&bits), 0, numbers.len());
    let ends = ends.expect("a bit for each number");
    append_selected(numbers, ends, &mut firsts);
    append_selected_rows(ends, 1, &mut lengths);
    let mut start = 0;
    for length in &mut lengths {
        let end = std::mem::replace(length, *length - start - 1);
        start = end;
    }
    (firsts, lengths)
}

/// Numbers that are written at once.
const STRIDE: usize = 16;

/// Fills the first `len` places of `out` and cuts them off.
///
/// Most runs are short, so a call of `fill` would cost more than the run: as long as there is room,
/// whole strides are written, and the next run overwrites what is too much.
#[inline(always)]
fn fill_front<T: Word>(out: &mut &mut [T], number: T, len: usize) -> Result<()> {
    match out.get_mut(..len.next_multiple_of(STRIDE)) {
        Some(room) => {
            let (strides, _) = room.as_chunks_mut::<STRIDE>();
            strides
                .iter_mut()
                .for_each(|stride| *stride = [number; STRIDE]);
        }
        None => out.get_mut(..len).ok_or(DecodeError::TooLong)?.fill(number),
    }
    out.split_off_mut(..len).ok_or(DecodeError::TooLong)?;
    Ok(())
}

struct Decode<'a, T> {
    num_runs: usize,
    firsts: Groups<'a>,
    lengths: Groups<'a>,
    out: &'a mut [T],
}

impl<T: Word> Loop for Decode<'_, T> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(mut self) -> Result<()> {
        let mut firsts = [T::default(); GROUP_LEN];
        let mut lengths = [0; GROUP_LEN];
        let mut out = self.out;
        let mut left = self.num_runs;
        while left > 0 {
            let len = left.min(GROUP_LEN);
            self.firsts.decode_next(&mut firsts[..len])?;
            self.lengths.decode_next(&mut lengths[..len])?;
            for (first, length) in firsts[..len].iter().zip(&lengths[..len]) {
                let length: u32 = *length;
                fill_front(&mut out, *first, length as usize + 1)?;
            }
            left -= len;
        }
        if out.is_empty() {
            Ok(())
        } else {
            Err(DecodeError::Truncated)
        }
    }
}

/// Decodes as many numbers as `out` has.
pub(crate) fn decode<T: Word>(bytes: &[u8], out: &mut [T]) -> Result<()> {
    let mut reader = Reader::new(bytes);
    let num_runs = reader.count(out.len(), "number of runs")?;
    let firsts = Groups::try_new::<T>(&mut reader, num_runs)?;
    let lengths = Groups::try_new::<u32>(&mut reader, num_runs)?;
    reader.finish()?;
    widest(Decode {
        num_runs,
        firsts,
        lengths,
        out,
    })
}
