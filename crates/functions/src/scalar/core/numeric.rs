//! Maps primitives: loops over slices of numbers, widening each operand to the type it is computed in.
//!
//! An operand that already has the computed type is used where it lies; others are converted in
//! pieces of [`CHUNK`] values that stay in the first cache. So there is one loop for each operator
//! and computed type, not one for each pair of argument types.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use basalt_error::{Error, Result};
use basalt_kernels::append::append;
use basalt_kernels::widest::{Loop, widest};

pub(crate) use super::num::{FromNum, Native, Num, with_native, with_sized, with_wide};
use crate::Column;

/// Number of values that are converted at a time.
pub(crate) const CHUNK: usize = 1024;

/// The values of a primitive array of any number type.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the variants are the primitives' names")]
pub(crate) enum Numbers<'a> {
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

/// The values of a primitive array of a known type.
pub(crate) fn values<T: Native>(array: &dyn Array) -> Result<&[T]> {
    let array = array.as_primitive_opt::<T::Arrow>().ok_or_else(|| {
        Error::bug(format!(
            "expected {:?}, found {}",
            T::NUM,
            array.data_type()
        ))
    })?;
    Ok(array.values())
}

impl<'a> Numbers<'a> {
    /// The values of a primitive array.
    pub(crate) fn of(array: &'a dyn Array) -> Result<Self> {
        let num = Num::of_arrow(array.data_type())
            .ok_or_else(|| Error::bug(format!("no numbers: {}", array.data_type())))?;
        Ok(match num {
            Num::U8 => Numbers::U8(values(array)?),
            Num::U16 => Numbers::U16(values(array)?),
            Num::U32 => Numbers::U32(values(array)?),
            Num::U64 => Numbers::U64(values(array)?),
            Num::I8 => Numbers::I8(values(array)?),
            Num::I16 => Numbers::I16(values(array)?),
            Num::I32 => Numbers::I32(values(array)?),
            Num::I64 => Numbers::I64(values(array)?),
            Num::F32 => Numbers::F32(values(array)?),
            Num::F64 => Numbers::F64(values(array)?),
        })
    }

    /// Converts the values of `range` and appends them to `out`.
    ///
    /// Not inlined: ten loops for each `T`, not for each place that converts.
    #[inline(never)]
    pub(crate) fn append<T: Native>(&self, range: Range<usize>, out: &mut Vec<T>) {
        match self {
            Numbers::U8(v) => convert(&v[range], out),
            Numbers::U16(v) => convert(&v[range], out),
            Numbers::U32(v) => convert(&v[range], out),
            Numbers::U64(v) => convert(&v[range], out),
            Numbers::I8(v) => convert(&v[range], out),
            Numbers::I16(v) => convert(&v[range], out),
            Numbers::I32(v) => convert(&v[range], out),
            Numbers::I64(v) => convert(&v[range], out),
            Numbers::F32(v) => convert(&v[range], out),
            Numbers::F64(v) => convert(&v[range], out),
        }
    }

    /// All values of an array, converted.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if it holds no numbers.
    pub(crate) fn converted<T: Native>(array: &'a dyn Array) -> Result<Vec<T>> {
        let mut values = Vec::with_capacity(array.len());
        Self::of(array)?.append(0..array.len(), &mut values);
        Ok(values)
    }
}

#[inline(always)]
fn convert<S: Copy, T: FromNum<S> + Copy>(from: &[S], to: &mut Vec<T>) {
    widest(Convert { from, to });
}

/// A conversion of values to another type, behind those that are there.
struct Convert<'a, S, T> {
    from: &'a [S],
    to: &'a mut Vec<T>,
}

impl<S: Copy, T: FromNum<S> + Copy> Loop for Convert<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let from = self.from;
        append(self.to, from.len(), |i| T::from_num(from[i]));
    }
}

/// The values where they lie, if they are integers of the size of `T` with the other sign: conversion keeps all bits.
fn same_bits<T: Native>(array: &dyn Array) -> Option<&[T]> {
    let bytes = match T::NUM {
        Num::U64 => array.as_primitive_opt::<Int64Type>()?.values().inner(),
        Num::I64 => array.as_primitive_opt::<UInt64Type>()?.values().inner(),
        Num::U32 => array.as_primitive_opt::<Int32Type>()?.values().inner(),
        Num::I32 => array.as_primitive_opt::<UInt32Type>()?.values().inner(),
        _ => return None,
    };
    Some(bytes.typed_data())
}

/// A numeric column read as values of `T`.
pub(crate) enum Source<'a, T> {
    /// The same for every row.
    Scalar(T),
    /// Already of that type.
    Slice(&'a [T]),
    /// To be converted piece by piece.
    Convert(Numbers<'a>),
}

/// A piece of a [`Source`].
pub(crate) enum Chunk<'a, T> {
    Scalar(T),
    Slice(&'a [T]),
}

impl<'a, T: Native> Source<'a, T> {
    /// Reads a column.
    pub(crate) fn new(column: &'a Column) -> Result<Self> {
        let numbers = Numbers::of(column.array.as_ref())?;
        if column.is_const {
            let value = Numbers::converted(column.array.as_ref())?.first().copied();
            return Ok(Source::Scalar(value.unwrap_or_default()));
        }
        Ok(match column.array.as_primitive_opt::<T::Arrow>() {
            Some(array) => Source::Slice(array.values()),
            None => {
                same_bits(column.array.as_ref()).map_or(Source::Convert(numbers), Source::Slice)
            }
        })
    }

    /// Room for the values of a chunk if they are converted, none if not.
    pub(crate) fn buffer(&self) -> Vec<T> {
        match self {
            Source::Scalar(_) | Source::Slice(_) => Vec::new(),
            Source::Convert(_) => Vec::with_capacity(CHUNK),
        }
    }

    /// The values of a range of at most [`CHUNK`] rows; `buffer` is what [`Source::buffer`] made.
    #[inline(always)]
    pub(crate) fn chunk<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<T>) -> Chunk<'b, T> {
        match self {
            Source::Scalar(value) => Chunk::Scalar(*value),
            Source::Slice(values) => Chunk::Slice(&values[range]),
            Source::Convert(numbers) => {
                buffer.clear();
                numbers.append(range, buffer);
                Chunk::Slice(buffer)
            }
        }
    }

    /// As [`Source::chunk`], with a constant written out.
    fn slice<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<T>) -> &'b [T] {
        if let Source::Scalar(value) = self {
            // All chunks but the last have one length: it is written for the first of them.
            buffer.resize(range.len(), *value);
            return buffer;
        }
        match self.chunk(range, buffer) {
            Chunk::Slice(values) => values,
            Chunk::Scalar(_) => &[],
        }
    }
}

/// The array of values without NULLs.
pub(crate) fn array_of<T: Native>(values: Vec<T>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T::Arrow>::new(values.into(), None))
}

/// The ranges of at most [`CHUNK`] rows that make up `num_rows`.
pub(crate) fn chunks(num_rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..num_rows)
        .step_by(CHUNK)
        .map(move |start| start..(start + CHUNK).min(num_rows))
}

/// Applies `op` to each row of a column read as `T`.
pub(crate) fn map1<T: Native, O: Native>(
    column: &Column,
    num_rows: usize,
    op: impl Fn(T) -> O,
) -> Result<ArrayRef> {
    let source = Source::<T>::new(column)?;
    let mut out: Vec<O> = Vec::with_capacity(num_rows);
    let mut buffer = source.buffer();
    for range in chunks(num_rows) {
        let len = range.len();
        match source.chunk(range, &mut buffer) {
            Chunk::Scalar(x) => out.resize(out.len() + len, op(x)),
            Chunk::Slice(x) => append(&mut out, x.len(), |i| op(x[i])),
        }
    }
    Ok(array_of(out))
}

/// As [`map1`], compiled for several levels of instructions: for operations that are as cheap as
/// reading their values, or that count bits.
pub(crate) fn map1_widest<T: Native, O: Native>(
    column: &Column,
    num_rows: usize,
    op: impl Fn(T) -> O + Copy,
) -> Result<ArrayRef> {
    let source = Source::<T>::new(column)?;
    let mut out: Vec<O> = Vec::with_capacity(num_rows);
    let mut buffer = source.buffer();
    for range in chunks(num_rows) {
        let len = range.len();
        match source.chunk(range, &mut buffer) {
            Chunk::Scalar(x) => out.extend(std::iter::repeat_n(op(x), len)),
            Chunk::Slice(values) => widest(Each {
                values,
                op,
                results: &mut out,
            }),
        }
    }
    Ok(array_of(out))
}

/// An operation on each value of a chunk.
struct Each<'a, T, O, F> {
    values: &'a [T],
    op: F,
    /// Takes the results; has room for them.
    results: &'a mut Vec<O>,
}

impl<T: Copy, O: Copy, F: Fn(T) -> O> Loop for Each<'_, T, O, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (op, values) = (self.op, self.values);
        append(self.results, values.len(), |i| op(values[i]));
    }
}

/// Applies `op` to each row of two columns read as `A` and `B`.
///
/// Loops are compiled for each operation on each pair of types, so a constant on the left, which is
/// rare, has none of its own.
pub(crate) fn map2<A: Native, B: Native, O: Native>(
    (a, b): (&Column, &Column),
    num_rows: usize,
    op: impl Fn(A, B) -> O,
) -> Result<ArrayRef> {
    let (a, b) = (Source::<A>::new(a)?, Source::<B>::new(b)?);
    let mut out: Vec<O> = Vec::with_capacity(num_rows);
    let (mut buffer_a, mut buffer_b) = (a.buffer(), b.buffer());
    for range in chunks(num_rows) {
        let len = range.len();
        match b.chunk(range.clone(), &mut buffer_b) {
            Chunk::Slice(b) => {
                // Of one length, so that none is checked in the loop.
                let (a, b) = (&a.slice(range, &mut buffer_a)[..len], &b[..len]);
                append(&mut out, len, |i| op(a[i], b[i]));
            }
            Chunk::Scalar(b) => match a.chunk(range, &mut buffer_a) {
                Chunk::Slice(a) => append(&mut out, a.len(), |i| op(a[i], b)),
                Chunk::Scalar(a) => out.resize(out.len() + len, op(a, b)),
            },
        }
    }
    Ok(array_of(out))
}

/// As [`map2`], compiled for several levels of instructions: for operations that are as cheap as
/// reading their values.
pub(crate) fn map2_widest<A: Native, B: Native, O: Native>(
    (a, b): (&Column, &Column),
    num_rows: usize,
    op: impl Fn(A, B) -> O + Copy,
) -> Result<ArrayRef> {
    let (a, b) = (Source::<A>::new(a)?, Source::<B>::new(b)?);
    let mut out: Vec<O> = Vec::with_capacity(num_rows);
    let (mut buffer_a, mut buffer_b) = (a.buffer(), b.buffer());
    for range in chunks(num_rows) {
        widest(Operate {
            num_rows: range.len(),
            a: a.chunk(range.clone(), &mut buffer_a),
            b: b.chunk(range, &mut buffer_b),
            op,
            results: &mut out,
        });
    }
    Ok(array_of(out))
}

/// An operation on the values of a chunk.
struct Operate<'a, A, B, O, F> {
    num_rows: usize,
    a: Chunk<'a, A>,
    b: Chunk<'a, B>,
    op: F,
    /// Takes the results; has room for them.
    results: &'a mut Vec<O>,
}

impl<A: Copy, B: Copy, O: Copy, F: Fn(A, B) -> O> Loop for Operate<'_, A, B, O, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (op, results, len) = (self.op, self.results, self.num_rows);
        match (self.a, self.b) {
            (Chunk::Slice(a), Chunk::Slice(b)) => {
                let (a, b) = (&a[..len], &b[..len]);
                append(results, len, |i| op(a[i], b[i]));
            }
            (Chunk::Slice(a), Chunk::Scalar(b)) => append(results, a.len(), |i| op(a[i], b)),
            (Chunk::Scalar(a), Chunk::Slice(b)) => append(results, b.len(), |i| op(a, b[i])),
            (Chunk::Scalar(a), Chunk::Scalar(b)) => {
                let result = op(a, b);
                append(results, len, |_| result);
            }
        }
    }
}
