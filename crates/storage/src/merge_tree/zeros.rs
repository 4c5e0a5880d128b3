//! Counts values that are 0 or empty, so that a part can tell how many rows a condition like `x != 0` has.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowNativeType, DataType as ArrowType};

/// How many of an array's values are 0 or empty and not NULL; none for types that have no such value.
pub(super) fn zero_count(array: &ArrayRef) -> Option<u32> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let num = match array.data_type() {
        ArrowType::BinaryView => {
            let lengths: Vec<u32> = array.as_binary_view().lengths().collect();
            zeros(&lengths, nulls)
        }
        ArrowType::Float32 => zeros_of::<f32>(array, nulls),
        ArrowType::Float64 => zeros_of::<f64>(array, nulls),
        other if other.is_integer() => match other.primitive_width()? {
            1 => zeros_of::<u8>(array, nulls),
            2 => zeros_of::<u16>(array, nulls),
            4 => zeros_of::<u32>(array, nulls),
            8 => zeros_of::<u64>(array, nulls),
            _ => return None,
        },
        _ => return None,
    };
    u32::try_from(num).ok()
}

fn zeros_of<T: ArrowNativeType>(array: &ArrayRef, nulls: Option<&NullBuffer>) -> usize {
    let array_data = array.to_data();
    let buffer = array_data.buffers()[0].clone();
    let values = ScalarBuffer::<T>::new(buffer, array_data.offset(), array.len());
    zeros(&values, nulls)
}

fn zeros<T: Default + PartialEq>(values: &[T], nulls: Option<&NullBuffer>) -> usize {
    let is_zero = |value: &T| *value == T::default();
    match nulls {
        None => values.iter().filter(|value| is_zero(value)).count(),
        Some(nulls) => {
            let zeros = BooleanBuffer::collect_bool(values.len(), |i| is_zero(&values[i]));
            (&zeros & nulls.inner()).count_set_bits()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, ArrayRef, BinaryViewArray, Float64Array, Int16Array, StructArray};

    use super::zero_count;

    #[test]
    fn zeros_are_counted_without_nulls() {
        let numbers: ArrayRef = Arc::new(Int16Array::from(vec![Some(0), None, Some(7), Some(0)]));
        assert_eq!(zero_count(&numbers), Some(2));
        assert_eq!(zero_count(&numbers.slice(1, 3)), Some(1));
        assert_eq!(zero_count(&numbers.slice(2, 1)), Some(0));
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, f64::NAN]));
        assert_eq!(zero_count(&floats), Some(2));
        let texts = [Some(&b""[..]), None, Some(b"x"), Some(b"")];
        let texts: ArrayRef = Arc::new(BinaryViewArray::from_iter(texts));
        assert_eq!(zero_count(&texts), Some(2));
        let tuples: ArrayRef = Arc::new(StructArray::new_empty_fields(3, None));
        assert_eq!(zero_count(&tuples), None);
    }
}
