//! Tells which row groups a filter can match, by the least and greatest values of their columns and
//! by their Bloom filters.
//!
//! Understands comparisons of a column with a constant, `IN` lists, `AND` and `OR`; for all else a
//! row group may match.

use std::fs::File;

use arrow::array::AsArray;
use basalt_types::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::basic::Type;
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::RowGroupMetaData;

use super::bounds::{Bounds, ColumnSource};
use crate::scan::condition::can_match;

/// Whether rows of the group can fulfil all filters.
pub(super) fn row_group_can_match(
    filters: &[Expr],
    file: &ArrowReaderMetadata,
    group: &RowGroupMetaData,
    source: &ColumnSource<'_>,
) -> bool {
    let compare = |column: &str, op: Operator, values: &[&ScalarValue]| {
        let (index, data_type) = source(column)?;
        let bounds = bounds_of_group(file, group, (index, &data_type))?;
        bounds.can_hold_any(op, values)?.first().copied()
    };
    filters.iter().all(|f| can_match(f, &compare))
}

/// Least and greatest value of a top-level column in row group `group`.
pub(super) fn row_group_bounds(
    file: &ArrowReaderMetadata,
    group: usize,
    column: (usize, &DataType),
) -> Option<Bounds> {
    bounds_of_group(file, file.metadata().row_groups().get(group)?, column)
}

fn bounds_of_group(
    file: &ArrowReaderMetadata,
    group: &RowGroupMetaData,
    column: (usize, &DataType),
) -> Option<Bounds> {
    Bounds::read(file, column, |converter| {
        let min = converter.row_group_mins([group])?;
        Ok((min, converter.row_group_maxes([group])?))
    })
}

/// Whether rows of the group can fulfil all filters, as far as Bloom filters tell.
pub(super) fn bloom_filters_can_match(
    filters: &[Expr],
    builder: &ParquetRecordBatchReaderBuilder<File>,
    group: usize,
    source: &ColumnSource<'_>,
) -> bool {
    let compare = |column: &str, op: Operator, values: &[&ScalarValue]| {
        if op != Operator::Eq {
            return None;
        }
        let (index, data_type) = source(column)?;
        let schema = builder.parquet_schema();
        let leaf = (0..schema.num_columns()).find(|i| schema.get_column_root_idx(*i) == index)?;
        let physical = schema.column(leaf).physical_type();
        let filter = builder.get_row_group_column_bloom_filter(group, leaf);
        let filter = filter.ok().flatten()?;
        let may_have = |v: &&ScalarValue| may_have(&filter, physical, &data_type, v);
        Some(
            values
                .iter()
                .map(may_have)
                .any(|known| known.unwrap_or(true)),
        )
    };
    filters.iter().all(|f| can_match(f, &compare))
}

/// Whether the column may have a value; `None` for values whose form in the file is another one.
fn may_have(
    filter: &Sbbf,
    physical: Type,
    data_type: &DataType,
    value: &ScalarValue,
) -> Option<bool> {
    let base = data_type.without_low_cardinality();
    let array = value.to_array().ok()?;
    if array.is_null(0) || base.physical() != *array.data_type() {
        return None;
    }
    if physical == Type::BYTE_ARRAY && base.is_string() {
        return Some(filter.check(array.as_binary_view_opt()?.value(0)));
    }
    let number = match (base.base(), value) {
        (DataType::Int8, ScalarValue::Int8(Some(v))) => i64::from(*v),
        (DataType::Int16, ScalarValue::Int16(Some(v))) => i64::from(*v),
        (DataType::Int32, ScalarValue::Int32(Some(v))) => i64::from(*v),
        (DataType::Int64, ScalarValue::Int64(Some(v))) => *v,
        (DataType::UInt8, ScalarValue::UInt8(Some(v))) => i64::from(*v),
        (DataType::UInt16, ScalarValue::UInt16(Some(v))) => i64::from(*v),
        (DataType::UInt32, ScalarValue::UInt32(Some(v))) => i64::from(*v),
        (DataType::UInt64, ScalarValue::UInt64(Some(v))) => *v as i64,
        _ => return None,
    };
    match physical {
        Type::INT32 => Some(filter.check(&(number as i32))),
        Type::INT64 => Some(filter.check(&number)),
        _ => None,
    }
}
