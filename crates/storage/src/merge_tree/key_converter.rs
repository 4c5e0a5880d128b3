//! Makes the keys of rows comparable as bytes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::row::{RowConverter, Rows, SortField};
use basalt_error::{Error, Result};

/// Makes keys of some types comparable; NULL comes last, and -0 is 0.
#[derive(Debug)]
pub(super) struct KeyConverter(RowConverter);

impl KeyConverter {
    pub(super) fn new(types: impl Iterator<Item = ArrowType>) -> Result<Self> {
        let options = SortOptions {
            descending: false,
            nulls_first: false,
        };
        let field = |data_type| SortField::new_with_options(data_type, options);
        let converter = RowConverter::new(types.map(field).collect());
        converter.map(Self).map_err(|e| Error::bug(e.to_string()))
    }

    /// The rows of some columns.
    pub(super) fn rows(&self, columns: &[ArrayRef]) -> Result<Rows> {
        let compared: Vec<ArrayRef> = columns.iter().map(without_negative_zero).collect();
        let rows = self.0.convert_columns(&compared);
        rows.map_err(|e| Error::bug(e.to_string()))
    }
}

/// Floats with 0 in place of -0: the bytes of these differ.
fn without_negative_zero(column: &ArrayRef) -> ArrayRef {
    fn sums<T: ArrowPrimitiveType>(
        column: &ArrayRef,
        sum: impl Fn(T::Native) -> T::Native,
    ) -> ArrayRef {
        let sums: PrimitiveArray<T> = column.as_primitive::<T>().unary(sum);
        Arc::new(sums)
    }
    match column.data_type() {
        ArrowType::Float32 => sums::<Float32Type>(column, |value| value + 0.0),
        ArrowType::Float64 => sums::<Float64Type>(column, |value| value + 0.0),
        _ => Arc::clone(column),
    }
}
