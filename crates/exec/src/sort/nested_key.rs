//! Makes keys of types that are no single number or string (arrays, tuples, maps, wide decimals) bytes in their order.
//!
//! Arrow's row format does the work. It follows the bits of floats; here equal ones have the same ([`FloatOrder`]), and
//! NaN stands where NULL does, as in ClickHouse.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryViewBuilder};
use arrow::compute::SortOptions;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use basalt_analyzer::FloatOrder;
use datafusion::error::Result;

use super::ordinal::Kind;

/// The type of a key's values as the sort sees them.
pub(super) fn seen_type(data_type: DataType) -> DataType {
    if Kind::of(&data_type).is_some() {
        data_type
    } else {
        DataType::BinaryView
    }
}

/// Whether a key of a type can be made bytes.
pub(super) fn supports(data_type: &DataType) -> bool {
    RowConverter::supports_fields(&[SortField::new(data_type.clone())])
}

/// Bytes in the order of the values, NULL where these are NULL; none if the type needs no other key.
///
/// The bytes rise, whatever the direction of `options`: those who compare them turn it.
pub(super) fn bytes_of(values: &ArrayRef, options: SortOptions) -> Result<Option<ArrayRef>> {
    if Kind::of(values.data_type()).is_some() {
        return Ok(None);
    }
    // What is NULL inside of a value comes where a whole NULL comes, in both directions.
    let nulls_first = options.nulls_first != options.descending;
    let rising = SortOptions {
        descending: false,
        nulls_first,
    };
    let field = SortField::new_with_options(values.data_type().clone(), rising);
    let values = FloatOrder::keys_with_nan(values, nulls_first)?;
    let rows = RowConverter::new(vec![field])?.convert_columns(&[Arc::clone(&values)])?;
    let mut bytes = BinaryViewBuilder::with_capacity(values.len());
    for (i, row) in rows.iter().enumerate() {
        bytes.append_option(values.is_valid(i).then_some(row));
    }
    Ok(Some(Arc::new(bytes.finish())))
}
