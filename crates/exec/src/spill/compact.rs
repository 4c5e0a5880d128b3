//! Lets go of bytes that no value of an array needs.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, RecordBatch, RecordBatchOptions, StructArray,
};
use arrow::datatypes::DataType as ArrowType;
use datafusion::error::Result;

/// The batch with [`compact`] columns.
pub(crate) fn compacted(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(compact);
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let batch = RecordBatch::try_new_with_options(batch.schema(), columns, &options)?;
    Ok(batch)
}

/// The same values without bytes that no view points to: a file would get them all.
pub(crate) fn compact(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        ArrowType::BinaryView => Arc::new(array.as_binary_view().gc()),
        ArrowType::List(field) if has_views(field.data_type()) => {
            let list = array.as_list::<i32>();
            Arc::new(ListArray::try_new(
                Arc::clone(field),
                list.offsets().clone(),
                compact(list.values())?,
                list.nulls().cloned(),
            )?)
        }
        ArrowType::Struct(fields) if has_views(array.data_type()) => {
            let array = array.as_struct();
            let columns = array.columns().iter().map(compact);
            Arc::new(StructArray::try_new(
                fields.clone(),
                columns.collect::<Result<_>>()?,
                array.nulls().cloned(),
            )?)
        }
        _ => Arc::clone(array),
    })
}

fn has_views(arrow: &ArrowType) -> bool {
    match arrow {
        ArrowType::BinaryView => true,
        ArrowType::List(field) => has_views(field.data_type()),
        ArrowType::Struct(fields) => fields.iter().any(|f| has_views(f.data_type())),
        _ => false,
    }
}
