//! What a file's column is read as where the user has declared its type.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, Result};

use crate::{ColumnBuilder, DataType, TupleType};

/// The type to read a file's column as, which the file itself calls `found`, before it is converted to `wanted`.
///
/// Files have no addresses of 16 bytes and may not mark UUIDs: the bytes are those values, not texts of them.
pub fn read_as(found: &DataType, wanted: &DataType) -> DataType {
    match (found, wanted.without_low_cardinality().base()) {
        (DataType::Nullable(f), w) => read_as(f, w).to_nullable(),
        (DataType::LowCardinality(f), w) => {
            let read = read_as(f, w);
            match read == **f {
                true => found.clone(),
                false => read,
            }
        }
        (DataType::FixedString(16), w @ (DataType::Uuid | DataType::Ipv6)) => w.clone(),
        (DataType::Array(f), DataType::Array(w)) => DataType::array(read_as(f, w)),
        (DataType::Map(fk, fv), DataType::Map(wk, wv)) => {
            DataType::map(read_as(fk, wk), read_as(fv, wv))
        }
        (DataType::Tuple(f), DataType::Tuple(w)) if f.types.len() == w.types.len() => {
            let types = f.types.iter().zip(&w.types);
            DataType::Tuple(Arc::new(TupleType {
                types: types.map(|(f, w)| read_as(f, w)).collect(),
                names: f.names.clone(),
            }))
        }
        _ => found.clone(),
    }
}

/// A column with defaults instead of NULLs, unless its type has these.
///
/// # Errors
/// None that the arguments can cause.
pub fn without_nulls(array: ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if array.null_count() == 0 || data_type.holds_null() || *data_type == DataType::Nothing {
        return Ok(array);
    }
    let mut default = ColumnBuilder::new(data_type, 1)?;
    default.append_default();
    let default = default.finish()?;
    let sources: [&dyn Array; 2] = [&array, &default];
    let pick: Vec<(usize, usize)> = (0..array.len())
        .map(|i| if array.is_null(i) { (1, 0) } else { (0, i) })
        .collect();
    arrow::compute::interleave(&sources, &pick).map_err(|e| Error::bug(e.to_string()))
}
