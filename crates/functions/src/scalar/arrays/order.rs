//! Orders the elements of an array: values, then NaN, then NULL, in both directions.
//!
//! Numbers become 64-bit ranks that compare as plain integers, strings compare as bytes, anything
//! else through Arrow's row format.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, FixedSizeBinaryArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::SortOptions;
use arrow::row::{RowConverter, Rows, SortField};
use basalt_error::Result;

use super::lists::bug;
use crate::scalar::core::numeric::{self, FromNum, Native, Num, array_of, with_native};

/// An order of the elements of one array.
#[derive(Debug)]
pub struct Order {
    keys: Keys,
    nulls: Option<NullBuffer>,
    descending: bool,
}

#[derive(Debug)]
enum Keys {
    /// The direction is in the ranks.
    Ranks(Vec<u64>),
    Views(BinaryViewArray),
    Fixed(FixedSizeBinaryArray),
    /// The direction and the NULLs are in the rows.
    Rows(Rows),
}

impl Order {
    /// The order of `values`, ascending or descending.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` for types without an order.
    pub fn new(values: &ArrayRef, descending: bool) -> Result<Self> {
        let keys = if let Some(num) = Num::of_arrow(values.data_type()) {
            with_native!(num, T => {
                let values = numeric::values::<T>(values.as_ref())?;
                Keys::Ranks(values.iter().map(|v| rank(*v, descending)).collect())
            })
        } else if let Some(views) = values.as_binary_view_opt() {
            Keys::Views(views.clone())
        } else if let Some(fixed) = values.as_fixed_size_binary_opt() {
            Keys::Fixed(fixed.clone())
        } else {
            let options = SortOptions {
                descending,
                nulls_first: false,
            };
            let field = SortField::new_with_options(values.data_type().clone(), options);
            let converter = RowConverter::new(vec![field]).map_err(bug)?;
            let columns = [Arc::clone(values)];
            Keys::Rows(converter.convert_columns(&columns).map_err(bug)?)
        };
        Ok(Self {
            keys,
            nulls: values.logical_nulls().filter(|n| n.null_count() > 0),
            descending,
        })
    }

    fn is_null(&self, idx: usize) -> bool {
        self.nulls.as_ref().is_some_and(|n| n.is_null(idx))
    }

    fn compare_values(&self, a: usize, b: usize) -> Ordering {
        let bytes = |a: &[u8], b: &[u8]| if self.descending { b.cmp(a) } else { a.cmp(b) };
        match &self.keys {
            Keys::Ranks(ranks) => ranks[a].cmp(&ranks[b]),
            Keys::Views(views) => bytes(views.value(a), views.value(b)),
            Keys::Fixed(fixed) => bytes(fixed.value(a), fixed.value(b)),
            Keys::Rows(rows) => rows.row(a).cmp(&rows.row(b)),
        }
    }

    /// Which of two elements comes first.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        match (self.is_null(a), self.is_null(b)) {
            (false, false) => self.compare_values(a, b),
            (a, b) => a.cmp(&b),
        }
    }

    /// The first element of `range` in this order.
    pub fn first(&self, range: Range<usize>) -> Option<usize> {
        if let (Keys::Ranks(ranks), None) = (&self.keys, &self.nulls) {
            let start = range.start;
            let ranks = &ranks[range];
            let least = ranks.iter().min()?;
            return ranks.iter().position(|r| r == least).map(|i| start + i);
        }
        range.reduce(|a, b| if self.compare(b, a).is_lt() { b } else { a })
    }

    /// Sorts element numbers; equal elements stay in the order of their numbers, which must be
    /// ascending. `scratch` is memory to use again.
    pub fn sort(&self, indices: &mut [u32], scratch: &mut Vec<(u64, u32)>) {
        let values = if self.nulls.is_some() {
            indices.sort_by_key(|i| self.is_null(*i as usize));
            indices.partition_point(|i| !self.is_null(*i as usize))
        } else {
            indices.len()
        };
        let indices = &mut indices[..values];
        if let Keys::Ranks(ranks) = &self.keys {
            scratch.clear();
            scratch.extend(indices.iter().map(|i| (ranks[*i as usize], *i)));
            scratch.sort_unstable();
            for (index, (_, sorted)) in indices.iter_mut().zip(scratch) {
                *index = *sorted;
            }
        } else {
            indices.sort_by(|a, b| self.compare_values(*a as usize, *b as usize));
        }
    }
}

/// A number as an integer that orders as it does; NaN is the greatest.
#[inline]
fn rank<T: Native>(value: T, descending: bool) -> u64
where
    f64: FromNum<T>,
    i64: FromNum<T>,
    u64: FromNum<T>,
{
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    if value != value {
        return u64::MAX;
    }
    let rank = if T::NUM.is_float() {
        // Adding zero turns -0 into 0.
        let bits = (f64::from_num(value) + 0.0).to_bits();
        if bits >> 63 == 1 {
            !bits
        } else {
            bits | (1 << 63)
        }
    } else if T::NUM.is_signed() {
        (i64::from_num(value) as u64) ^ (1 << 63)
    } else {
        u64::from_num(value)
    };
    if descending { !rank } else { rank }
}

/// The numbers of each row in order, if they are numbers without NULLs.
///
/// # Errors
/// `LOGICAL_ERROR` if the array is none of its type.
pub fn sorted_numbers(
    values: &ArrayRef,
    offsets: &OffsetBuffer<i32>,
    descending: bool,
) -> Result<Option<ArrayRef>> {
    let Some(num) = Num::of_arrow(values.data_type()) else {
        return Ok(None);
    };
    if values.null_count() > 0 {
        return Ok(None);
    }
    Ok(Some(with_native!(num, T => {
        let mut sorted = numeric::values::<T>(values.as_ref())?.to_vec();
        for window in offsets.windows(2) {
            let row = &mut sorted[window[0] as usize..window[1] as usize];
            row.sort_unstable_by_key(|v| rank(*v, descending));
        }
        array_of(sorted)
    })))
}
