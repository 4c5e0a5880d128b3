//! Turns batches round.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    UInt32Array,
};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::ArrowPrimitiveType;
use arrow::downcast_primitive_array;
use datafusion::error::Result;

/// The rows of a batch from the last to the first.
pub(super) fn reversed(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(reversed_array);
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        batch.schema(),
        columns.collect::<Result<_>>()?,
        &options,
    )?)
}

fn reversed_array(array: &ArrayRef) -> Result<ArrayRef> {
    if let Some(views) = array.as_binary_view_opt() {
        let turned = views.views().iter().rev().copied().collect();
        let buffers = views.data_buffers().to_vec();
        return Ok(Arc::new(BinaryViewArray::try_new(
            turned,
            buffers,
            reversed_nulls(array),
        )?));
    }
    let array = array.as_ref();
    downcast_primitive_array!(
        array => Ok(reversed_primitive(array)),
        _ => {
            let rows = (0..array.len() as u32).rev();
            Ok(take(array, &UInt32Array::from_iter_values(rows), None)?)
        }
    )
}

fn reversed_primitive<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> ArrayRef {
    let values: ScalarBuffer<T::Native> = array.values().iter().rev().copied().collect();
    let turned = PrimitiveArray::<T>::new(values, reversed_nulls(array));
    Arc::new(turned.with_data_type(array.data_type().clone()))
}

fn reversed_nulls(array: &dyn Array) -> Option<NullBuffer> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    Some(
        (0..nulls.len())
            .rev()
            .map(|row| nulls.is_valid(row))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray, Int16Array,
        ListArray, RecordBatch, TimestampSecondArray, UInt64Array,
    };
    use arrow::compute::take_record_batch;
    use arrow::datatypes::Int8Type;

    use super::reversed;

    #[test]
    fn as_taken_one_by_one() {
        let numbers = [Some(3), None, Some(-1), Some(7), None];
        let text = |n: &Option<i16>| n.map(|n| format!("{n} and more than twelve bytes"));
        let texts: BinaryViewArray = numbers.iter().map(text).collect();
        let decimals: Decimal128Array = numbers.iter().map(|n| n.map(i128::from)).collect();
        let times = TimestampSecondArray::from(vec![1, 2, 3, 4, 5]).with_timezone("UTC");
        let lists = numbers.map(|n| n.map(|n| vec![Some(n as i8)]));
        let columns: [(&str, ArrayRef); 7] = [
            (
                "n",
                Arc::new(numbers.iter().copied().collect::<Int16Array>()),
            ),
            ("s", Arc::new(texts)),
            (
                "d",
                Arc::new(decimals.with_precision_and_scale(9, 2).unwrap()),
            ),
            ("t", Arc::new(times)),
            (
                "b",
                Arc::new(
                    numbers
                        .map(|n| n.map(|n| n > 0))
                        .iter()
                        .collect::<BooleanArray>(),
                ),
            ),
            (
                "f",
                Arc::new(FixedSizeBinaryArray::try_from_iter((0..5).map(|n| [n; 3])).unwrap()),
            ),
            (
                "l",
                Arc::new(ListArray::from_iter_primitive::<Int8Type, _, _>(lists)),
            ),
        ];
        let columns = columns
            .into_iter()
            .map(|(name, column)| (name, column, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        for batch in [batch.clone(), batch.slice(1, 3), batch.slice(5, 0)] {
            let rows = UInt64Array::from_iter_values((0..batch.num_rows() as u64).rev());
            let expected = take_record_batch(&batch, &rows).unwrap();
            assert_eq!(reversed(&batch).unwrap(), expected);
        }
    }
}
