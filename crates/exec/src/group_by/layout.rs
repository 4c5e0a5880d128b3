//! Lays integer keys of known ranges out as one number: an index of arrays. NULL is a value of a column like
//! others, the one that counts as 0.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType as ArrowType, UInt8Type};
use basalt_kernels::widest::widest;
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

use super::bounds::{Bounds, Interval};
use super::digits::{AddByte, AddDigit, Digit, Largest, TakeDigit};
use super::pack::visit_native;

/// Most bits of an ordinal.
const MAX_BITS: u32 = 31;

/// A column whose values start above this many others has a base other than 0.
const LOW: u64 = 1 << 16;

/// Keys as ordinals: each column has bits for the values from its base on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    digits: Vec<Digit>,
    /// The column with the highest bits; its values have no upper bound.
    last: usize,
}

impl Layout {
    /// The layout for values in `bounds`; `None` if it would have more than `max_len` ordinals.
    pub(super) fn try_new(
        types: impl Iterator<Item = ArrowType>,
        bounds: &[Bounds],
        max_len: usize,
    ) -> Option<Self> {
        let mut digits = Vec::with_capacity(bounds.len());
        // One column starts at 0 if it can: tasks that see other values first agree then.
        let low = match bounds {
            [_] => LOW.max(max_len as u64),
            _ => LOW,
        };
        for (arrow, bounds) in types.zip(bounds) {
            let has_null = bounds.has_null;
            let (min, max) = bounds.values.unwrap_or((0, 0));
            let base = base(&arrow, (min, max), low);
            let largest = max.wrapping_sub(base).checked_add(u64::from(has_null))?;
            let bits = u64::BITS - largest.leading_zeros();
            digits.push(Digit {
                arrow,
                has_null,
                base,
                shift: 0,
                bits,
            });
        }
        let last = (0..digits.len()).max_by_key(|i| digits[*i].bits)?;
        let mut shift = 0u32;
        for i in (0..digits.len()).filter(|i| *i != last).chain([last]) {
            digits[i].shift = shift;
            shift = shift
                .checked_add(digits[i].bits)
                .filter(|bits| *bits <= MAX_BITS)?;
        }
        let layout = Self { digits, last };
        layout.len_for(bounds, max_len).map(|_| layout)
    }

    /// The ordinals of one column of bytes that are the bytes themselves.
    pub(super) fn byte_ordinals<'a>(&self, columns: &'a [ArrayRef]) -> Option<&'a [u8]> {
        let ([digit], [column]) = (self.digits.as_slice(), columns) else {
            return None;
        };
        let bytes = column.as_primitive_opt::<UInt8Type>()?;
        let is_own = digit.base == 0 && digit.shift == 0 && !digit.has_null;
        is_own.then(|| &bytes.values()[..])
    }

    /// The ordinals of columns of bytes without NULLs, if they are bytes too; gives the number of ordinals up
    /// to the largest value of the last column. `None` if they are not: `ordinals` has anything in it then.
    pub(super) fn narrow_ordinals(
        &self,
        columns: &[ArrayRef],
        ordinals: &mut Vec<u8>,
    ) -> Option<usize> {
        let is_narrow = |d: &Digit| d.base == 0 && !d.has_null && d.shift + d.bits <= u8::BITS;
        if !self.digits.iter().all(is_narrow) || columns.iter().any(|c| c.null_count() > 0) {
            return None;
        }
        let num_rows = columns.first().map_or(0, |c| c.len());
        ordinals.resize(num_rows, 0);
        for (i, (digit, column)) in self.digits.iter().zip(columns).enumerate() {
            let bits = widest(AddByte {
                values: column.as_primitive_opt::<UInt8Type>()?.values(),
                shift: digit.shift,
                is_first: i == 0,
                ordinals: &mut *ordinals,
            });
            if u32::from(bits) >> digit.bits != 0 {
                return None;
            }
        }
        let shift = self.digits[self.last].shift;
        let largest = widest(Largest(ordinals));
        Some(((usize::from(largest) >> shift) + 1) << shift)
    }

    /// Number of ordinals up to the largest in `bounds`; `None` if values lie outside or there
    /// would be more than `max_len`.
    pub(super) fn len_for(&self, bounds: &[Bounds], max_len: usize) -> Option<usize> {
        let mut len = 0;
        for (i, (digit, bounds)) in self.digits.iter().zip(bounds).enumerate() {
            if bounds.has_null && !digit.has_null {
                return None;
            }
            let mut largest = 0;
            if let Some((min, max)) = bounds.values {
                let (min, max) = (min.wrapping_sub(digit.base), max.wrapping_sub(digit.base));
                let limit = self.limit(i) - digit.first();
                if min >= limit || max >= limit {
                    return None;
                }
                largest = max + digit.first();
            }
            if i == self.last {
                len = (largest as usize + 1) << digit.shift;
            }
        }
        (len <= max_len).then_some(len)
    }

    /// What a column's part of an ordinal is less than.
    fn limit(&self, column: usize) -> u64 {
        let digit = &self.digits[column];
        if column == self.last {
            1 << (MAX_BITS - digit.shift)
        } else {
            1 << digit.bits
        }
    }

    /// Bounds of the values that `len` ordinals stand for.
    pub(super) fn bounds(&self, len: usize) -> Vec<Bounds> {
        let bounds = |(i, digit): (usize, &Digit)| {
            let size = if i == self.last {
                (len >> digit.shift).max(1)
            } else {
                1 << digit.bits
            };
            let num_values = size as u64 - digit.first();
            let values =
                (num_values > 0).then(|| (digit.base, digit.base.wrapping_add(num_values - 1)));
            Bounds {
                values,
                has_null: digit.has_null,
            }
        };
        self.digits.iter().enumerate().map(bounds).collect()
    }

    /// Bounds that contain `a` and `b`.
    pub(super) fn join(&self, a: &[Bounds], b: &[Bounds]) -> Vec<Bounds> {
        let join = |((digit, a), b): ((&Digit, &Bounds), &Bounds)| {
            a.join(*b, digit.arrow.is_signed_integer())
        };
        self.digits.iter().zip(a).zip(b).map(join).collect()
    }

    /// Types of the columns.
    pub(super) fn types(&self) -> impl Iterator<Item = ArrowType> + '_ {
        self.digits.iter().map(|d| d.arrow.clone())
    }

    /// The ordinal of each row; gives the number of ordinals up to the largest value of the last column,
    /// `None` if a value lies outside of the layout.
    pub(super) fn ordinals(
        &self,
        columns: &[ArrayRef],
        ordinals: &mut Vec<u32>,
    ) -> Result<Option<usize>> {
        let fits =
            |(digit, column): (&Digit, &ArrayRef)| digit.has_null || column.null_count() == 0;
        if !self.digits.iter().zip(columns).all(fits) {
            return Ok(None);
        }
        let mut largest = 0;
        let num_rows = columns.first().map_or(0, |c| c.len());
        // The first digit is put over what was there.
        ordinals.resize(num_rows, 0);
        // All digits of some rows before the next ones: these stay in the L1 cache.
        for (i, ordinals) in ordinals.chunks_mut(CHUNK).enumerate() {
            for (d, (digit, column)) in self.digits.iter().zip(columns).enumerate() {
                let add = AddDigit {
                    digit,
                    column,
                    start: i * CHUNK,
                    is_first: d == 0,
                    ordinals: &mut *ordinals,
                };
                let bits = visit_native(column.data_type(), add).ok_or_else(|| {
                    internal_datafusion_err!("no integer: {}", column.data_type())
                })?;
                if bits >= self.limit(d) {
                    return Ok(None);
                }
            }
            largest = largest.max(widest(Largest(ordinals)));
        }
        let shift = self.digits[self.last].shift;
        Ok(Some(((largest as usize >> shift) + 1) << shift))
    }

    /// The key columns of some ordinals.
    pub(super) fn columns(&self, ordinals: &[u32]) -> Result<Vec<ArrayRef>> {
        let column = |(i, digit): (usize, &Digit)| {
            let mask = if i == self.last {
                u64::MAX
            } else {
                (1 << digit.bits) - 1
            };
            visit_native(
                &digit.arrow,
                TakeDigit {
                    digit,
                    mask,
                    ordinals,
                },
            )
            .ok_or_else(|| internal_datafusion_err!("no integer: {}", digit.arrow))
        };
        self.digits.iter().enumerate().map(column).collect()
    }
}

/// The value of a column that counts as 0 if it has these bounds; 0 itself if both are below `low`.
fn base(arrow: &ArrowType, (min, max): Interval, low: u64) -> u64 {
    match arrow {
        _ if min.max(max) < low => 0,
        // Narrow types have no more bits below zero than above.
        ArrowType::Int8 => i64::from(i8::MIN).cast_unsigned(),
        ArrowType::Int16 => i64::from(i16::MIN).cast_unsigned(),
        _ => min & !(LOW - 1),
    }
}

/// Rows whose ordinals are computed together.
const CHUNK: usize = 2048;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        Array, ArrayRef, Int8Array, Int32Array, Int64Array, UInt8Array, UInt32Array, UInt64Array,
    };

    use super::Layout;
    use crate::group_by::bounds::{Bounds, bounds};

    fn layout(columns: &[ArrayRef], max_len: usize) -> Option<Layout> {
        let types = columns.iter().map(|c| c.data_type().clone());
        Layout::try_new(types, &bounds(columns)?, max_len)
    }

    fn layout_of(columns: &[ArrayRef]) -> Layout {
        layout(columns, 1 << 20).unwrap()
    }

    #[test]
    fn keys_come_back_from_their_ordinals() {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt8Array::from(vec![0, 2, 1])),
            Arc::new(Int64Array::from(vec![-5, 70_000, 3])),
            Arc::new(UInt32Array::from(vec![u32::MAX, u32::MAX - 9, u32::MAX])),
        ];
        let columns = &columns[..2];
        let layout = layout(columns, 1 << 20).unwrap();
        let mut ordinals = Vec::new();
        let len = layout.ordinals(columns, &mut ordinals).unwrap();
        assert_eq!(len, layout.len_for(&bounds(columns).unwrap(), 1 << 20));
        assert_eq!(layout.columns(&ordinals).unwrap(), columns);
    }

    #[test]
    fn the_widest_column_may_grow() {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from(vec![100, 7])),
            Arc::new(UInt8Array::from(vec![0, 3])),
        ];
        let layout = layout(&columns, 1 << 10).unwrap();
        let len_for =
            |first, second, max_len| layout.len_for(&[first, second].map(Bounds::within), max_len);
        assert_eq!(len_for((0, 100), (0, 3), 1 << 10), Some(101 << 2));
        assert_eq!(len_for((0, 1000), (0, 3), 1 << 13), Some(1001 << 2));
        assert_eq!(len_for((0, 1000), (0, 3), 1 << 10), None);
        assert_eq!(len_for((0, 100), (0, 4), 1 << 13), None);
        let bounds = layout.bounds(404);
        assert_eq!(bounds, [(0, 100), (0, 3)].map(Bounds::within));
        let others = [(0, 50), (1, 9)].map(Bounds::within);
        let expected = [(0, 100), (0, 9)].map(Bounds::within);
        assert_eq!(layout.join(&bounds, &others), expected);
    }

    #[test]
    fn values_outside_of_the_layout_have_no_ordinals() {
        let column = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
        let small = |values: &[u8]| Arc::new(UInt8Array::from(values.to_vec())) as ArrayRef;
        let layout = layout(&[column(&[3, 1000, 5]), small(&[0, 3, 2])], 1 << 20).unwrap();
        let ordinals = |values: &[i64], others: &[u8]| {
            let mut ordinals = Vec::new();
            let columns = [column(values), small(others)];
            layout.ordinals(&columns, &mut ordinals).unwrap()
        };
        assert_eq!(ordinals(&[3, 7], &[0, 1]), Some(8 << 2));
        // The widest column may grow, the other may not.
        assert_eq!(ordinals(&[3, 70_000], &[0, 1]), Some(70_001 << 2));
        assert_eq!(ordinals(&[3, 1 << 29], &[0, 1]), None);
        assert_eq!(ordinals(&[3, -1], &[0, 1]), None);
        assert_eq!(ordinals(&[3, 7], &[0, 4]), None);
        let mut late = vec![0; 5000];
        late[4999] = 1 << 40;
        assert_eq!(ordinals(&late, &[0; 5000]), None);
    }

    #[test]
    fn ordinals_of_few_bytes_are_bytes() {
        let column = |values: &[u8]| Arc::new(UInt8Array::from(values.to_vec())) as ArrayRef;
        let columns = [column(&[0, 2, 1]), column(&[3, 0, 15]), column(&[1, 0, 0])];
        let layout = layout(&columns, 1 << 20).unwrap();
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        let len = layout.narrow_ordinals(&columns, &mut narrow);
        assert_eq!(len, layout.ordinals(&columns, &mut wide).unwrap());
        assert!(narrow.iter().zip(&wide).all(|(n, w)| u32::from(*n) == *w));
        let mut other = |first: u8, last: u8| {
            let columns = [column(&[first]), column(&[3]), column(&[last])];
            layout.narrow_ordinals(&columns, &mut narrow)
        };
        assert_eq!(other(3, 1), Some(4 << 3));
        assert_eq!((other(4, 1), other(3, 2)), (None, None));
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let columns = [column(&[1]), column(&[3]), wide];
        assert_eq!(layout.narrow_ordinals(&columns, &mut Vec::new()), None);
    }

    #[test]
    fn signed_bytes_take_eight_bits() {
        let bytes = || Arc::new(Int8Array::from(vec![-128, 127, 0])) as ArrayRef;
        let columns = [bytes(), bytes(), bytes()];
        let layout = layout(&columns, 1 << 24).unwrap();
        let mut ordinals = Vec::new();
        layout.ordinals(&columns, &mut ordinals).unwrap();
        assert_eq!(layout.columns(&ordinals).unwrap(), columns);
    }

    #[test]
    fn wide_ranges_have_no_layout() {
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![i64::MIN, i64::MAX]));
        assert!(layout(&[wide], usize::MAX).is_none());
        let wide: ArrayRef = Arc::new(UInt64Array::from(vec![Some(0), None, Some(u64::MAX)]));
        assert!(layout(&[wide], usize::MAX).is_none());
    }

    #[test]
    fn null_is_a_value() {
        let column =
            |values: &[Option<i32>]| Arc::new(Int32Array::from(values.to_vec())) as ArrayRef;
        let small = |values: &[Option<u8>]| Arc::new(UInt8Array::from(values.to_vec())) as ArrayRef;
        let columns = [
            column(&[None, Some(-70_000), Some(3), Some(9)]),
            small(&[Some(255), None, Some(0), None]),
        ];
        let layout = layout(&columns, 1 << 30).unwrap();
        let mut ordinals = Vec::new();
        let len = layout.ordinals(&columns, &mut ordinals).unwrap();
        assert_eq!(len, layout.len_for(&bounds(&columns).unwrap(), 1 << 30));
        assert_eq!(layout.columns(&ordinals).unwrap(), columns);
        let mut fits = |values: &[Option<i32>]| {
            let others = small(&vec![None; values.len()]);
            let columns = [column(values), others];
            layout.ordinals(&columns, &mut ordinals).unwrap().is_some()
        };
        assert!(fits(&[None]) && fits(&[Some(1 << 20), None]) && fits(&[Some(-131_072)]));
        assert!(!fits(&[None, Some(-131_073)]));
        let without = layout_of(&[column(&[Some(1)])]);
        assert_eq!(
            without.ordinals(&[column(&[None])], &mut ordinals).unwrap(),
            None
        );
        assert_eq!(
            without.len_for(&bounds(&[column(&[None])]).unwrap(), 1 << 20),
            None
        );
        let only_null = layout_of(&[column(&[None])]);
        assert_eq!(only_null.bounds(1)[0].values, None);
    }
}
