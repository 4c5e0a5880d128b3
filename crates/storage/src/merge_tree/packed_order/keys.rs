//! Integers of a key as numbers from 0 up, which take the bits of their range, and back.

use std::iter::repeat_n;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowNativeType, DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use basalt_kernels::widest::{Loop, widest};

/// Values that are written at once: most runs are shorter.
const STRIDE: usize = 8;

/// Rows whose keys are worked on together: they stay in the nearest cache meanwhile.
pub(super) const CHUNK_ROWS: usize = 1 << 11;

/// The keys of a column, which are numbers from 0 up when the least is taken from them.
pub(super) struct Key<'a> {
    /// The column's rows, in arrays of one type.
    pieces: &'a [ArrayRef],
    /// The row behind each piece.
    ends: Vec<usize>,
    least: u64,
    /// What NULL is.
    null: u64,
    /// The bits that the greatest number takes.
    pub(super) num_bits: u32,
}

impl<'a> Key<'a> {
    /// None if the column has no integers, or if NULL would take a bit more than 64.
    pub(super) fn of(pieces: &'a [ArrayRef]) -> Option<Self> {
        let (mut least, mut greatest) = (u64::MAX, 0);
        let (mut ends, mut num_rows) = (Vec::with_capacity(pieces.len()), 0);
        for piece in pieces {
            let bounds = with_numbers(piece, Bounds(nulls_of(piece)))?;
            least = least.min(bounds.0);
            greatest = greatest.max(bounds.1);
            num_rows += piece.len();
            ends.push(num_rows);
        }
        let range = greatest.saturating_sub(least);
        let null = match pieces.iter().find_map(nulls_of) {
            Some(_) => range.checked_add(1)?,
            None => range,
        };
        Some(Self {
            pieces,
            ends,
            least,
            null,
            num_bits: u64::BITS - null.leading_zeros(),
        })
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The numbers of as many rows from `start` on as `out` has places.
    pub(super) fn numbers(&self, mut start: usize, mut out: &mut [u64]) {
        let mut piece = self.ends.partition_point(|end| *end <= start);
        while !out.is_empty() {
            let (rows, end) = (&self.pieces[piece], self.ends[piece]);
            let len = out.len().min(end - start);
            let (numbers, others) = out.split_at_mut(len);
            self.numbers_of(&rows.slice(start + rows.len() - end, len), numbers);
            out = others;
            start += len;
            piece += 1;
        }
    }

    fn numbers_of(&self, rows: &ArrayRef, out: &mut [u64]) {
        // Keys are of types that have numbers.
        let _ = with_numbers(rows, Offsets(self.least, out));
        if let Some(nulls) = nulls_of(rows) {
            let gaps = out.iter_mut().zip(nulls).filter(|(_, is_there)| !is_there);
            gaps.for_each(|(number, _)| *number = self.null);
        }
    }

    /// The column that `fill` gives the numbers of, some from a place on; a number stands for the rows of a run, or for
    /// one. None if there are NULLs.
    pub(super) fn column(
        &self,
        runs: Option<&[Range<u32>]>,
        fill: &mut dyn FnMut(usize, &mut [u64]),
    ) -> Option<ArrayRef> {
        let column = Column {
            least: self.least,
            num_rows: self.len(),
            is_constant: self.num_bits == 0,
            runs,
            fill,
        };
        match self.pieces.iter().find_map(nulls_of) {
            None => with_numbers(self.pieces.first()?, column),
            Some(_) => None,
        }
    }
}

/// The NULLs of a column, if it has any.
fn nulls_of(array: &ArrayRef) -> Option<&NullBuffer> {
    array.nulls().filter(|nulls| nulls.null_count() > 0)
}

/// Works on the values of a column.
trait Visit {
    type Output;

    /// Values are in the order of their bits as unsigned numbers when those of `flip` are flipped.
    fn visit<T: ArrowPrimitiveType>(self, array: &PrimitiveArray<T>, flip: u64) -> Self::Output;
}

fn with_numbers<V: Visit>(array: &ArrayRef, work: V) -> Option<V::Output> {
    const SIGN: u64 = 1 << 63;
    Some(match array.data_type() {
        ArrowType::UInt8 => work.visit(array.as_primitive::<UInt8Type>(), 0),
        ArrowType::UInt16 => work.visit(array.as_primitive::<UInt16Type>(), 0),
        ArrowType::UInt32 => work.visit(array.as_primitive::<UInt32Type>(), 0),
        ArrowType::UInt64 => work.visit(array.as_primitive::<UInt64Type>(), 0),
        ArrowType::Int8 => work.visit(array.as_primitive::<Int8Type>(), SIGN),
        ArrowType::Int16 => work.visit(array.as_primitive::<Int16Type>(), SIGN),
        ArrowType::Int32 => work.visit(array.as_primitive::<Int32Type>(), SIGN),
        ArrowType::Int64 => work.visit(array.as_primitive::<Int64Type>(), SIGN),
        _ => return None,
    })
}

/// A value as a number of the same order; signed ones are widened by their sign.
#[inline(always)]
fn number<N: ArrowNativeType>(value: N, flip: u64) -> u64 {
    value.as_usize() as u64 ^ flip
}

/// The value that a number was made of.
#[inline(always)]
fn value<N: ArrowNativeType>(number: u64, flip: u64) -> N {
    const { assert!(usize::BITS == u64::BITS, "numbers go by way of usize") };
    N::usize_as((number ^ flip) as usize)
}

/// The least and the greatest number, other than those of NULLs.
struct Bounds<'a>(Option<&'a NullBuffer>);

impl Visit for Bounds<'_> {
    type Output = (u64, u64);

    fn visit<T: ArrowPrimitiveType>(self, array: &PrimitiveArray<T>, flip: u64) -> (u64, u64) {
        let values = array.values();
        match self.0 {
            None => widest(MinMax { values, flip }),
            Some(nulls) => {
                let there = values.iter().zip(nulls).filter(|(_, is_there)| *is_there);
                let numbers = there.map(|(v, _)| number(*v, flip));
                numbers.fold((u64::MAX, 0), |(least, most), n| {
                    (least.min(n), most.max(n))
                })
            }
        }
    }
}

struct MinMax<'a, N> {
    values: &'a [N],
    flip: u64,
}

impl<N: ArrowNativeType> Loop for MinMax<'_, N> {
    type Output = (u64, u64);

    #[inline(always)]
    fn run(self) -> (u64, u64) {
        let none = (u64::MAX, 0);
        self.values.iter().fold(none, |(least, most), v| {
            let n = number(*v, self.flip);
            (least.min(n), most.max(n))
        })
    }
}

/// Writes numbers, less the least one.
struct Offsets<'a>(u64, &'a mut [u64]);

impl Visit for Offsets<'_> {
    type Output = ();

    fn visit<T: ArrowPrimitiveType>(self, array: &PrimitiveArray<T>, flip: u64) {
        let Self(least, out) = self;
        widest(WriteOffsets {
            values: array.values(),
            numbers: (flip, least),
            out,
        });
    }
}

struct WriteOffsets<'a, N> {
    values: &'a [N],
    /// What is flipped, and the least.
    numbers: (u64, u64),
    out: &'a mut [u64],
}

impl<N: ArrowNativeType> Loop for WriteOffsets<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (flip, least) = self.numbers;
        for (out, v) in self.out.iter_mut().zip(self.values) {
            *out = number(*v, flip).wrapping_sub(least);
        }
    }
}

/// Makes a column of numbers.
struct Column<'a> {
    least: u64,
    num_rows: usize,
    is_constant: bool,
    runs: Option<&'a [Range<u32>]>,
    fill: &'a mut dyn FnMut(usize, &mut [u64]),
}

impl Visit for Column<'_> {
    type Output = ArrayRef;

    fn visit<T: ArrowPrimitiveType>(self, _: &PrimitiveArray<T>, flip: u64) -> ArrayRef {
        let num_numbers = self.runs.map_or(self.num_rows, <[_]>::len);
        let of = |offset: u64| value::<T::Native>(self.least.wrapping_add(offset), flip);
        if self.is_constant {
            let values = vec![of(0); self.num_rows];
            return Arc::new(PrimitiveArray::<T>::new(values.into(), None));
        }
        let mut values: Vec<T::Native> = Vec::with_capacity(self.num_rows + STRIDE);
        let mut chunk = [0; CHUNK_ROWS];
        for start in (0..num_numbers).step_by(CHUNK_ROWS) {
            let len = CHUNK_ROWS.min(num_numbers - start);
            let chunk = &mut chunk[..len];
            (self.fill)(start, chunk);
            match self.runs {
                None => values.extend(chunk.iter().map(|n| of(*n))),
                Some(runs) => widest(Repeat {
                    numbers: chunk,
                    runs: &runs[start..],
                    of,
                    out: &mut values,
                }),
            }
        }
        Arc::new(PrimitiveArray::<T>::new(values.into(), None))
    }
}

/// Adds the value of each number as often as its run is long.
struct Repeat<'a, N, F> {
    numbers: &'a [u64],
    runs: &'a [Range<u32>],
    of: F,
    out: &'a mut Vec<N>,
}

impl<N: Copy, F: Fn(u64) -> N> Loop for Repeat<'_, N, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (number, run) in self.numbers.iter().zip(self.runs) {
            push_repeated(self.out, (self.of)(*number), run.len());
        }
    }
}

/// Adds a value some times, by whole strides, of which the next value overwrites what is too much.
#[inline(always)]
fn push_repeated<N: Copy>(values: &mut Vec<N>, value: N, len: usize) {
    let end = values.len() + len;
    values.extend_from_slice(&[value; STRIDE]);
    if len > STRIDE {
        values.extend(repeat_n(value, len - STRIDE));
    }
    values.truncate(end);
}
