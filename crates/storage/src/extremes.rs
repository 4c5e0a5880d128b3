//! Remembers the least and the greatest values of a stored batch's columns, once somebody has asked for them.

use std::sync::OnceLock;

use arrow::array::{Array, ArrowNativeTypeOp, ArrowPrimitiveType, AsArray, RecordBatch};
use arrow::compute::{max, min};
use arrow::datatypes::{
    DataType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use basalt_kernels::widest::{Loop, widest};

/// The least and the greatest value, as their 64 bits; none if there are no values, or other ones than integers.
type LeastAndGreatest = Option<(u64, u64)>;

/// Least and greatest values of a batch's columns of integers.
#[derive(Debug)]
pub struct Extremes(Box<[OnceLock<LeastAndGreatest>]>);

impl Extremes {
    /// Of a batch with so many columns, none of which was looked at.
    pub(crate) fn new(num_columns: usize) -> Self {
        Self((0..num_columns).map(|_| OnceLock::new()).collect())
    }

    /// The least and the greatest value of a column of `batch`, which is the one that this belongs to. NULLs are no values.
    pub fn of(&self, batch: &RecordBatch, column: usize) -> LeastAndGreatest {
        let known = self.0.get(column)?;
        *known.get_or_init(|| extremes(batch.column(column).as_ref()))
    }

    /// As [`Self::of`], if somebody has asked before.
    pub fn known(&self, column: usize) -> LeastAndGreatest {
        *self.0.get(column)?.get()?
    }
}

fn extremes(array: &dyn Array) -> LeastAndGreatest {
    match array.data_type() {
        DataType::Int8 => found::<Int8Type>(array, |v| i64::from(v).cast_unsigned()),
        DataType::Int16 => found::<Int16Type>(array, |v| i64::from(v).cast_unsigned()),
        DataType::Int32 => found::<Int32Type>(array, |v| i64::from(v).cast_unsigned()),
        DataType::Int64 => found::<Int64Type>(array, i64::cast_unsigned),
        DataType::UInt8 => found::<UInt8Type>(array, u64::from),
        DataType::UInt16 => found::<UInt16Type>(array, u64::from),
        DataType::UInt32 => found::<UInt32Type>(array, u64::from),
        DataType::UInt64 => found::<UInt64Type>(array, |v| v),
        _ => None,
    }
}

fn found<T: ArrowPrimitiveType>(
    array: &dyn Array,
    bits: impl Fn(T::Native) -> u64,
) -> LeastAndGreatest {
    let values = array.as_primitive_opt::<T>()?;
    if values.null_count() > 0 {
        return Some((bits(min(values)?), bits(max(values)?)));
    }
    let (least, greatest) = widest(InOnePass(values.values()))?;
    Some((bits(least), bits(greatest)))
}

/// The least and the greatest value.
struct InOnePass<'a, T>(&'a [T]);

impl<T: ArrowNativeTypeOp> Loop for InOnePass<'_, T> {
    type Output = Option<(T, T)>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let first = *self.0.first()?;
        let lesser = |a: T, b: T| if b.is_lt(a) { b } else { a };
        let greater = |a: T, b: T| if b.is_gt(a) { b } else { a };
        let both = |(least, greatest), v: &T| (lesser(least, *v), greater(greatest, *v));
        Some(self.0.iter().fold((first, first), both))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Float64Array, Int16Array, RecordBatch, UInt64Array};

    use super::Extremes;

    #[test]
    fn integers_have_extremes_and_nulls_are_none() {
        let columns: [(&str, ArrayRef); 4] = [
            (
                "a",
                Arc::new(Int16Array::from(vec![Some(3), None, Some(-2)])),
            ),
            ("b", Arc::new(UInt64Array::from(vec![7, u64::MAX, 8]))),
            ("c", Arc::new(Int16Array::from(vec![None, None, None]))),
            ("d", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).expect("batch");
        let extremes = Extremes::new(4);
        assert_eq!(extremes.known(1), None);
        for _ in 0..2 {
            let of = |column| extremes.of(&batch, column);
            assert_eq!(of(0), Some(((-2_i64).cast_unsigned(), 3)));
            assert_eq!(of(1), Some((7, u64::MAX)));
            assert_eq!((of(2), of(3), of(4)), (None, None, None));
        }
        assert_eq!(extremes.known(1), Some((7, u64::MAX)));
    }
}
