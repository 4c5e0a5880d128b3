//! `greatest` and `least` of integers that no one type holds: UInt64 and a signed one.

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{ArrowPrimitiveType, Int64Type, UInt64Type};
use basalt_error::{Error, Result};
use basalt_types::DataType;
use std::sync::Arc;

use crate::{Call, Column, Resolved};

/// Resolves a call on UInt64 and a signed integer; `None` for others.
///
/// The greatest of them is no less than the UInt64, the least no more than the signed one: the result is
/// UInt64 or Int64, and what does not fit there can be neither.
pub(super) fn mixed_extreme(call: &Call<'_>, is_greatest: bool) -> Option<Result<Resolved>> {
    let types = call.data_types();
    let is_signed = |t: &DataType| {
        matches!(
            t,
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64
        )
    };
    let is_mixed = types.contains(&DataType::UInt64) && types.iter().any(is_signed);
    if types.len() != 2 || !is_mixed {
        return None;
    }
    Some(if is_greatest {
        Resolved::new(DataType::UInt64, |columns, num_rows| {
            fold::<UInt64Type>(columns, num_rows, 0, u64::max)
        })
    } else {
        Resolved::new(DataType::Int64, |columns, num_rows| {
            fold::<Int64Type>(columns, num_rows, i64::MAX, i64::min)
        })
    })
}

/// The best value of each row, where values that are none of `T` count as `other`.
fn fold<T: ArrowPrimitiveType>(
    columns: &[Column],
    num_rows: usize,
    other: T::Native,
    best: fn(T::Native, T::Native) -> T::Native,
) -> Result<ArrayRef> {
    let mut result = vec![other; num_rows];
    for (i, column) in columns.iter().enumerate() {
        // What does not fit becomes NULL.
        let array = cast(&column.expand(num_rows)?, &T::DATA_TYPE)
            .map_err(|e| Error::bug(e.to_string()))?;
        let values = array.as_primitive::<T>().iter();
        for (result, value) in result.iter_mut().zip(values) {
            let value = value.unwrap_or(other);
            *result = if i == 0 { value } else { best(*result, value) };
        }
    }
    Ok(Arc::new(PrimitiveArray::<T>::from_iter_values(result)))
}
