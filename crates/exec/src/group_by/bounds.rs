//! Finds the least and the greatest value of key columns.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::DataType as ArrowType;
use basalt_kernels::Bitmap;
use basalt_kernels::fold::fold_lanes;
use basalt_kernels::widest::{Loop, widest};

use super::pack::{Native, NativeVisitor, visit_native};

/// Least and greatest value of a column, signs extended to 64 bits.
pub(super) type Interval = (u64, u64);

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Where they lie; `None` if there are only NULLs.
    pub(super) values: Option<Interval>,
    /// Whether there are NULLs.
    pub(super) has_null: bool,
}

impl Bounds {
    /// Of values in `interval`, none of which is NULL.
    pub(super) fn within(interval: Interval) -> Self {
        Self {
            values: Some(interval),
            has_null: false,
        }
    }

    /// Bounds of the values of both, which have a sign or have none.
    pub(super) fn join(self, other: Self, is_signed: bool) -> Self {
        let values = match (self.values, other.values) {
            (Some(a), Some(b)) if is_signed => Some(joined_signed(a, b)),
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        Self {
            values,
            has_null: self.has_null || other.has_null,
        }
    }
}

fn joined_signed(a: Interval, b: Interval) -> Interval {
    let min = a.0.cast_signed().min(b.0.cast_signed());
    let max = a.1.cast_signed().max(b.1.cast_signed());
    (min.cast_unsigned(), max.cast_unsigned())
}

/// Bounds of all columns; `None` if one has no rows or is no integer.
pub(super) fn bounds(columns: &[ArrayRef]) -> Option<Vec<Bounds>> {
    if let [column] = columns
        && *column.data_type() == ArrowType::UInt8
        && column.null_count() == 0
        && !column.is_empty()
    {
        // An array of 256 is short enough: no need to look at the values.
        return Some(vec![Bounds::within((0, u64::from(u8::MAX)))]);
    }
    let bounds_of = |column: &ArrayRef| {
        if !column.data_type().is_integer() || column.is_empty() {
            return None;
        }
        Some(Bounds {
            values: visit_native(column.data_type(), FindInterval(column))?,
            has_null: column.null_count() > 0,
        })
    };
    columns.iter().map(bounds_of).collect()
}

struct FindInterval<'a>(&'a ArrayRef);

impl NativeVisitor for FindInterval<'_> {
    type Output = Option<Interval>;

    fn visit<T: Native>(self) -> Option<Interval> {
        let array = self.0.as_primitive::<T>();
        let (min, max) = match array.nulls().filter(|n| n.null_count() > 0) {
            None => widest(Extremes {
                values: array.values(),
                first: *array.values().first()?,
            }),
            Some(_) => extremes_of_valid(array)?,
        };
        Some((T::widen(min), T::widen(max)))
    }
}

/// The smallest and the largest value that is not NULL.
fn extremes_of_valid<T: Native>(array: &PrimitiveArray<T>) -> Option<(T::Native, T::Native)> {
    let (values, nulls) = (array.values(), array.nulls()?);
    let first = values[nulls.valid_indices().next()?];
    let bits = || Bitmap::try_new(nulls.validity(), nulls.offset(), nulls.len());
    let less = |a: T::Native, b: T::Native| if b < a { b } else { a };
    let greater = |a: T::Native, b: T::Native| if b > a { b } else { a };
    let min = fold_lanes(values, bits(), first, less, less);
    let max = fold_lanes(values, bits(), first, greater, greater);
    Some((min, max))
}

/// Finds the smallest and the largest value.
struct Extremes<'a, V> {
    values: &'a [V],
    first: V,
}

impl<V: Copy + PartialOrd> Loop for Extremes<'_, V> {
    type Output = (V, V);

    #[inline(always)]
    fn run(self) -> (V, V) {
        // No early end: this way it is done for many values at once.
        let (mut min, mut max) = (self.first, self.first);
        for value in self.values {
            min = if *value < min { *value } else { min };
            max = if *value > max { *value } else { max };
        }
        (min, max)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, ArrayRef, Float64Array, Int16Array, UInt8Array, UInt64Array};

    use super::{Bounds, bounds};

    #[test]
    fn nulls_have_no_bounds_and_what_lies_under_them_neither() {
        let values = [Some(-3), None, Some(7), None];
        let mut column = Int16Array::from(values.to_vec());
        let found = |column: &Int16Array| {
            let column: ArrayRef = Arc::new(column.clone());
            bounds(&[column]).unwrap()[0]
        };
        let expected = Bounds {
            values: Some((i64::from(-3_i16).cast_unsigned(), 7)),
            has_null: true,
        };
        assert_eq!(found(&column), expected);
        column = Int16Array::new(vec![-3, 999, 7, -999].into(), column.nulls().cloned());
        assert_eq!(found(&column), expected);
        assert_eq!(found(&column.slice(1, 1)).values, None);
        assert!(found(&column.slice(1, 1)).has_null);
        assert!(!found(&column.slice(2, 1)).has_null);
        let signed = found(&column.slice(0, 1)).join(found(&column.slice(1, 2)), true);
        assert_eq!(signed, expected);
    }

    #[test]
    fn what_is_no_integer_has_none() {
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
        assert!(bounds(&[floats]).is_none());
        let none: ArrayRef = Arc::new(UInt8Array::from(Vec::<u8>::new()));
        assert!(bounds(&[none]).is_none());
        let words: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 5]));
        assert_eq!(bounds(&[words]).unwrap(), [Bounds::within((5, u64::MAX))]);
    }
}
