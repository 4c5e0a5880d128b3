//! Numbers in the order of an aggregate's results.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};

/// A number for each result: the greater, the greater, and equal ones for equal results. `None` if one is NULL or NaN,
/// whose place an order tells, or if they are no numbers of 64 bits at most.
pub(super) fn ranks_of(results: &ArrayRef) -> Option<Vec<u64>> {
    if results.null_count() > 0 {
        return None;
    }
    Some(match results.data_type() {
        DataType::UInt8 => ranks::<UInt8Type>(results, u64::from),
        DataType::UInt16 => ranks::<UInt16Type>(results, u64::from),
        DataType::UInt32 => ranks::<UInt32Type>(results, u64::from),
        DataType::UInt64 => ranks::<UInt64Type>(results, |n| n),
        DataType::Int8 => ranks::<Int8Type>(results, |n| signed(n.into())),
        DataType::Int16 => ranks::<Int16Type>(results, |n| signed(n.into())),
        DataType::Int32 => ranks::<Int32Type>(results, |n| signed(n.into())),
        DataType::Int64 => ranks::<Int64Type>(results, signed),
        DataType::Float32 => floats::<Float32Type>(results, f64::from)?,
        DataType::Float64 => floats::<Float64Type>(results, |n| n)?,
        _ => return None,
    })
}

fn ranks<T: ArrowPrimitiveType>(results: &ArrayRef, rank: impl Fn(T::Native) -> u64) -> Vec<u64> {
    let values = results.as_primitive::<T>().values();
    values.iter().map(|value| rank(*value)).collect()
}

fn floats<T: ArrowPrimitiveType>(
    results: &ArrayRef,
    widen: impl Fn(T::Native) -> f64,
) -> Option<Vec<u64>> {
    let values = results.as_primitive::<T>().values();
    let rank = |value: &T::Native| {
        let value = widen(*value);
        (!value.is_nan()).then(|| float(value))
    };
    values.iter().map(rank).collect()
}

const SIGN: u64 = 1 << 63;

fn signed(number: i64) -> u64 {
    number.cast_unsigned() ^ SIGN
}

fn float(number: f64) -> u64 {
    // -0 and 0 are equal.
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Float64Array, Int8Array, StringArray};

    use super::*;

    #[test]
    fn ranks_are_in_the_order_of_numbers() {
        let ints: ArrayRef = Arc::new(Int8Array::from(vec![-128, -1, 0, 1, 127]));
        let floats = vec![
            f64::NEG_INFINITY,
            -1.5,
            -1e-300,
            0.0,
            1e-300,
            1.5,
            f64::INFINITY,
        ];
        let floats: ArrayRef = Arc::new(Float64Array::from(floats));
        for numbers in [ints, floats] {
            assert!(ranks_of(&numbers).unwrap().is_sorted_by(|a, b| a < b));
        }
        let zeros: ArrayRef = Arc::new(Float64Array::from(vec![-0.0, 0.0]));
        let ranks = ranks_of(&zeros).unwrap();
        assert_eq!(ranks[0], ranks[1]);
    }

    #[test]
    fn what_has_a_place_of_its_own_has_no_rank() {
        let nan: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::NAN]));
        let null: ArrayRef = Arc::new(Int8Array::from(vec![Some(1), None]));
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        for results in [nan, null, text] {
            assert_eq!(ranks_of(&results), None);
        }
    }
}
