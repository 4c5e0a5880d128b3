//! Writes values of a column as often as they occur.

use arrow::array::{Array, ArrayData, ArrayRef, UInt32Array, make_array};
use arrow::buffer::Buffer;
use arrow::compute::take;
use arrow::datatypes::ArrowNativeType;
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

/// Each value of `array` as often as `lens` says, one behind the other.
///
/// # Errors
/// If there is not a length for each value.
pub(super) fn repeated(array: &ArrayRef, lens: &[usize]) -> Result<ArrayRef> {
    if array.null_count() == 0 {
        match array.data_type().primitive_width() {
            Some(1) => return fixed::<u8>(array, lens),
            Some(2) => return fixed::<u16>(array, lens),
            Some(4) => return fixed::<u32>(array, lens),
            Some(8) => return fixed::<u64>(array, lens),
            _ => {}
        }
    }
    let mut rows: Vec<u32> = Vec::with_capacity(lens.iter().sum());
    for (row, len) in (0..).zip(lens) {
        rows.resize(rows.len() + len, row);
    }
    Ok(take(array, &UInt32Array::from(rows), None)?)
}

fn fixed<T: ArrowNativeType>(array: &ArrayRef, lens: &[usize]) -> Result<ArrayRef> {
    let data = array.to_data();
    let values = data.buffer::<T>(0).get(..array.len());
    let values = values.filter(|values| values.len() == lens.len());
    let values = values.ok_or_else(|| internal_datafusion_err!("runs of other values"))?;
    let mut all: Vec<T> = Vec::with_capacity(lens.iter().sum());
    for (value, len) in values.iter().zip(lens) {
        all.resize(all.len() + len, *value);
    }
    let data = ArrayData::builder(array.data_type().clone())
        .len(all.len())
        .add_buffer(Buffer::from_vec(all))
        .build()?;
    Ok(make_array(data))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        ArrayRef, BinaryViewArray, Decimal128Array, Float32Array, Int64Array, UInt8Array,
    };

    use super::repeated;

    #[test]
    fn values_occur_as_often_as_told() {
        let check = |array: ArrayRef, expected: ArrayRef| {
            // A slice begins somewhere.
            let found = repeated(&array.slice(1, 3), &[2, 0, 3]).unwrap();
            assert_eq!(&found, &expected);
        };
        check(
            Arc::new(UInt8Array::from(vec![9, 1, 2, 3])),
            Arc::new(UInt8Array::from(vec![1, 1, 3, 3, 3])),
        );
        check(
            Arc::new(Float32Array::from(vec![9.0, 1.5, 2.0, 3.5])),
            Arc::new(Float32Array::from(vec![1.5, 1.5, 3.5, 3.5, 3.5])),
        );
        check(
            Arc::new(Int64Array::from(vec![Some(9), None, Some(2), Some(3)])),
            Arc::new(Int64Array::from(vec![
                None,
                None,
                Some(3),
                Some(3),
                Some(3),
            ])),
        );
        check(
            Arc::new(Decimal128Array::from(vec![9, 1, 2, 3])),
            Arc::new(Decimal128Array::from(vec![1, 1, 3, 3, 3])),
        );
        check(
            Arc::new(BinaryViewArray::from_iter_values(["x", "a", "b", "c"])),
            Arc::new(BinaryViewArray::from_iter_values(["a", "a", "c", "c", "c"])),
        );
        let array: ArrayRef = Arc::new(UInt8Array::from(vec![1, 2]));
        assert!(repeated(&array, &[1]).is_err());
    }
}
