//! The columns of a part that is being written: rows are taken in their order when they are encoded, group by group.
//!
//! A group's values stay in the processor's cache from there until they are in the file. A column that is put
//! in order as a whole would go to memory and come back, and so would its pieces if they were joined before.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, make_array};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::{ArrowNativeType, DataType as ArrowType};
use basalt_error::{Error, Result};
use basalt_kernels::prefetch::prefetch;
use basalt_kernels::widest::{Loop, widest};

use super::encode::value_bytes;
use super::order::in_one_piece;
use super::permutation::{Permutation, Runs, STRIDE};
use super::pieces::Pieces;
use super::write::in_parallel;

/// Runs, or rows, whose values are asked for ahead: each lies somewhere else.
const AHEAD: usize = 16;

/// Rows of a column in the order of a part.
#[derive(Clone, Debug)]
pub(super) struct SortedColumn<'a> {
    source: Source<'a>,
    rows: Range<usize>,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    /// All rows, in their order.
    Whole(ArrayRef),
    /// They lie as they came.
    Unordered(Unordered<'a>),
}

/// Values of one width that lie as they came.
#[derive(Clone, Copy, Debug)]
struct Unordered<'a> {
    arrays: &'a [ArrayRef],
    width: usize,
    order: RowOrder<'a>,
}

/// Where the rows of a part lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowOrder<'a> {
    pub(super) permutation: &'a Permutation,
    pub(super) pieces: &'a Pieces,
}

impl From<ArrayRef> for SortedColumn<'_> {
    fn from(array: ArrayRef) -> Self {
        Self {
            rows: 0..array.len(),
            source: Source::Whole(array),
        }
    }
}

impl<'a> SortedColumn<'a> {
    /// The columns of some batches in an order; without work for those that are known so, and with little for those
    /// whose values can be taken later.
    pub(super) fn all(
        columns: &'a [Vec<ArrayRef>],
        known: &[Option<ArrayRef>],
        order: RowOrder<'a>,
        num_threads: usize,
    ) -> Result<Vec<Self>> {
        in_parallel(columns.len(), num_threads, |i| {
            if let Some(Some(known)) = known.get(i) {
                return Ok(Arc::clone(known).into());
            }
            match Unordered::of(&columns[i], order) {
                Some(unordered) => Ok(Self {
                    rows: 0..order.pieces.num_rows(),
                    source: Source::Unordered(unordered),
                }),
                None => {
                    let whole = in_one_piece(&columns[i])?;
                    Ok(order.permutation.of(&whole)?.into())
                }
            }
        })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Some of the rows.
    pub(super) fn slice(&self, rows: Range<usize>) -> Self {
        Self {
            source: self.source.clone(),
            rows: self.rows.start + rows.start..self.rows.start + rows.end,
        }
    }

    /// The values of all rows.
    pub(super) fn values(&self) -> Result<ArrayRef> {
        match &self.source {
            Source::Whole(array) => Ok(array.slice(self.rows.start, self.rows.len())),
            Source::Unordered(unordered) => unordered.values(self.rows.clone()),
        }
    }

    /// About the bytes of the largest block that some of the rows make.
    pub(super) fn value_bytes(&self, rows: Range<usize>) -> usize {
        match &self.source {
            Source::Whole(array) => {
                value_bytes(&array.slice(self.rows.start + rows.start, rows.len()))
            }
            Source::Unordered(unordered) => unordered.width * rows.len(),
        }
    }
}

impl<'a> Unordered<'a> {
    /// None if the values are not all of one width, or some are NULL.
    fn of(arrays: &'a [ArrayRef], order: RowOrder<'a>) -> Option<Self> {
        let width = arrays.first()?.data_type().primitive_width()?;
        let has_nulls = arrays.iter().any(|array| array.null_count() > 0);
        let is_word = matches!(width, 1 | 2 | 4 | 8 | 16);
        (is_word && !has_nulls).then_some(Self {
            arrays,
            width,
            order,
        })
    }

    fn values(&self, rows: Range<usize>) -> Result<ArrayRef> {
        let num_rows = rows.len();
        let values = match self.width {
            1 => self.taken::<u8>(rows),
            2 => self.taken::<u16>(rows),
            4 => self.taken::<u32>(rows),
            8 => self.taken::<u64>(rows),
            _ => self.taken::<i128>(rows),
        };
        let data_type: &ArrowType = self.arrays[0].data_type();
        let taken = ArrayData::builder(data_type.clone())
            .len(num_rows)
            .add_buffer(values)
            .build();
        let taken = taken.map_err(|e| Error::bug(e.to_string()))?;
        Ok(make_array(taken))
    }

    fn taken<N: ArrowNativeType>(&self, rows: Range<usize>) -> Buffer {
        let values: Vec<ScalarBuffer<N>> = self.arrays.iter().map(values_in).collect();
        let values: Vec<&[N]> = values.iter().map(|values| &values[..]).collect();
        Buffer::from_vec(widest(Taken {
            values: &values,
            order: self.order,
            rows,
        }))
    }
}

/// The values of an array, all of them of one width.
fn values_in<N: ArrowNativeType>(array: &ArrayRef) -> ScalarBuffer<N> {
    let data = array.to_data();
    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
}

/// Values that are taken from pieces, rows with such numbers in their order.
struct Taken<'a, N> {
    values: &'a [&'a [N]],
    order: RowOrder<'a>,
    rows: Range<usize>,
}

impl<N: ArrowNativeType> Loop for Taken<'_, N> {
    type Output = Vec<N>;

    #[inline(always)]
    fn run(self) -> Vec<N> {
        let mut out = Vec::with_capacity(self.rows.len() + STRIDE);
        match self.order.permutation {
            Permutation::Identity => self.append(self.rows.clone(), &mut out),
            Permutation::Runs(runs) => self.append_runs(runs, &mut out),
            Permutation::Rows(order) => {
                self.append_rows(&order.values()[self.rows.clone()], &mut out)
            }
        }
        out
    }
}

impl<N: ArrowNativeType> Taken<'_, N> {
    #[inline(always)]
    fn append_rows(&self, rows: &[u32], out: &mut Vec<N>) {
        for (at, row) in rows.iter().enumerate() {
            if let Some(next) = rows.get(at + AHEAD) {
                self.prefetch(*next);
            }
            let (piece, place) = self.order.pieces.place(*row);
            out.push(self.values[piece][place]);
        }
    }

    #[inline(always)]
    fn append_runs(&self, runs: &Runs, out: &mut Vec<N>) {
        let (first, mut skipped) = runs.find(self.rows.start);
        let runs = &runs.as_slice()[first..];
        let mut missing = self.rows.len();
        for (at, run) in runs.iter().enumerate() {
            if missing == 0 {
                break;
            }
            if let Some(next) = runs.get(at + AHEAD) {
                self.prefetch(next.start);
            }
            let start = run.start as usize + skipped;
            let len = missing.min(run.end as usize - start);
            self.append(start..start + len, out);
            missing -= len;
            skipped = 0;
        }
    }

    /// Appends rows that follow each other as they came.
    #[inline(always)]
    fn append(&self, mut rows: Range<usize>, out: &mut Vec<N>) {
        while !rows.is_empty() {
            // Rows of a part are numbered by 32 bits.
            let (piece, place) = self.order.pieces.place(rows.start as u32);
            let values = &self.values[piece][place..];
            let len = rows.len().min(values.len());
            // By whole strides, of which the next run overwrites what is too much.
            match values.first_chunk::<STRIDE>().filter(|_| len <= STRIDE) {
                Some(stride) => {
                    let end = out.len() + len;
                    out.extend_from_slice(stride);
                    out.truncate(end);
                }
                None => out.extend_from_slice(&values[..len]),
            }
            rows.start += len;
        }
    }

    #[inline(always)]
    fn prefetch(&self, row: u32) {
        let (piece, place) = self.order.pieces.place(row);
        prefetch(self.values[piece], place);
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        BinaryViewArray, BooleanArray, Decimal128Array, Float64Array, Int8Array, Int64Array,
        UInt16Array, UInt32Array,
    };
    use arrow::compute::take;

    use super::*;

    fn columns() -> [ArrayRef; 7] {
        let numbers = 0..1010_i64;
        let nullable = numbers.clone().map(|n| (n % 3 > 0).then_some(n as f64));
        let flags = numbers.clone().map(|n| Some(n % 3 > 0));
        let texts = numbers.clone().map(|n| n.to_string());
        [
            Arc::new(Int64Array::from_iter_values(numbers.clone())),
            Arc::new(Int8Array::from_iter_values(
                numbers.clone().map(|n| n as i8),
            )),
            Arc::new(UInt16Array::from_iter_values(
                numbers.clone().map(|n| n as u16),
            )),
            Arc::new(Decimal128Array::from_iter_values(numbers.map(i128::from))),
            Arc::new(nullable.collect::<Float64Array>()),
            Arc::new(flags.collect::<BooleanArray>()),
            Arc::new(BinaryViewArray::from_iter_values(texts)),
        ]
    }

    #[test]
    fn rows_are_taken_in_any_order_from_any_pieces() {
        let starts = [0_u32, 1, 3, 11, 20, 40, 200, 999, 1000];
        let mut runs: Vec<Range<u32>> = starts.windows(2).map(|s| s[0]..s[1]).collect();
        runs.reverse();
        runs.swap(0, 3);
        let in_runs = UInt32Array::from_iter_values(runs.iter().cloned().flatten());
        let backwards = UInt32Array::from_iter_values((0..1000).rev());
        let as_they_are = UInt32Array::from_iter_values(0..1000);
        let orders = [
            (Permutation::Runs(Runs::new(runs)), in_runs),
            (Permutation::Rows(backwards.clone()), backwards),
            (Permutation::Identity, as_they_are),
        ];
        for ends in [
            vec![1000],
            vec![0, 5, 7, 7, 300, 1000],
            (1..=1000).collect(),
        ] {
            let starts = std::iter::once(0).chain(ends.clone());
            let pieces: Vec<Range<usize>> = starts.zip(ends).map(|(a, b)| a..b).collect();
            // The arrays have other rows before and behind.
            let whole = columns().map(|column| column.slice(3, 1000));
            let cut = |column: &ArrayRef| {
                let arrays = pieces.iter().map(|p| column.slice(p.start, p.len()));
                arrays.collect::<Vec<_>>()
            };
            let in_pieces: Vec<Vec<ArrayRef>> = whole.iter().map(cut).collect();
            let pieces = Pieces::new(pieces.iter().map(ExactSizeIterator::len));
            for (permutation, rows) in &orders {
                let order = RowOrder {
                    permutation,
                    pieces: &pieces,
                };
                let sorted = SortedColumn::all(&in_pieces, &[], order, 2).unwrap();
                for (column, sorted) in whole.iter().zip(sorted) {
                    let expected = take(column, rows, None).unwrap();
                    assert_eq!(&sorted.values().unwrap(), &expected);
                    let some = sorted.slice(15..995).slice(2..900);
                    assert_eq!(&some.values().unwrap(), &expected.slice(17, 898));
                }
            }
        }
    }
}
