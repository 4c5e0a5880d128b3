//! Shows the dictionary of LowCardinality columns: the distinct values of each block.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt64Array};
use arrow::compute::take;
use arrow::row::{RowConverter, SortField};
use basalt_error::{Error, Result};
use basalt_types::{ColumnBuilder, DataType};

use super::entry;
use crate::{Call, Nulls, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        nulls: Nulls::Raw,
        ..entry(
            &["lowCardinalityIndices"],
            Purity::PerRow,
            (
                "lowCardinalityIndices(x)",
                "Position of each value in the dictionary of its block.",
            ),
            |call| {
                let dictionary = inner(call)?;
                Resolved::new(DataType::UInt64, move |columns, num_rows| {
                    let (_, indices) = encode(&columns[0].expand(num_rows)?, &dictionary)?;
                    Ok(Arc::new(UInt64Array::from(indices)))
                })
            },
        )
    },
    ScalarFunction {
        nulls: Nulls::Raw,
        ..entry(
            &["lowCardinalityKeys"],
            Purity::PerRow,
            (
                "lowCardinalityKeys(x)",
                "The dictionary of the block, one value a row.",
            ),
            |call| {
                let dictionary = inner(call)?;
                Resolved::new(dictionary.clone(), move |columns, num_rows| {
                    let (keys, _) = encode(&columns[0].expand(num_rows)?, &dictionary)?;
                    Ok(keys.slice(0, num_rows))
                })
            },
        )
    },
];

fn inner(call: &Call<'_>) -> Result<DataType> {
    call.expect_args(1..=1)?;
    match call.data_type(0) {
        DataType::LowCardinality(inner) => Ok(inner.as_ref().clone()),
        _ => Err(call.illegal_type(0)),
    }
}

/// The distinct values, NULL and the default in front, then defaults up to the number of rows; and
/// the position of each row's value.
fn encode(array: &ArrayRef, data_type: &DataType) -> Result<(ArrayRef, Vec<u64>)> {
    let bug = |e: arrow::error::ArrowError| Error::bug(e.to_string());
    let mut front = ColumnBuilder::new(data_type, 2)?;
    if data_type.is_nullable() {
        front.append_null();
    }
    let mut plain = ColumnBuilder::new(data_type.base(), 1)?;
    plain.append_default();
    let (front, plain) = (front.finish()?, plain.finish()?);
    let parts: [&dyn Array; 3] = [&front, &plain, array];
    let values = arrow::compute::concat(&parts).map_err(bug)?;
    let num_front = front.len() + plain.len();
    let converter = RowConverter::new(vec![SortField::new(values.data_type().clone())]);
    let rows = converter.and_then(|c| c.convert_columns(&[Arc::clone(&values)]));
    let rows = rows.map_err(bug)?;
    let (mut positions, mut keys, mut indices) = (HashMap::new(), Vec::new(), Vec::new());
    for i in 0..values.len() {
        let position = *positions.entry(rows.row(i)).or_insert_with(|| {
            keys.push(i as u64);
            keys.len() as u64 - 1
        });
        if i >= num_front {
            indices.push(position);
        }
    }
    let default = num_front as u64 - 1;
    keys.resize(keys.len().max(array.len()), default);
    let keys = take(&values, &UInt64Array::from(keys), None).map_err(bug)?;
    Ok((keys, indices))
}
