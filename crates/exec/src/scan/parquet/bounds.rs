//! Compares constants with the least and greatest values of row groups and pages.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Scalar};
use arrow::compute::and;
use arrow::compute::kernels::cmp;
use basalt_types::DataType;
use basalt_types::arrow_edge::to_physical;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;

/// Finds a table column's top-level column in the file, and its type.
pub(super) type ColumnSource<'a> = dyn Fn(&str) -> Option<(usize, DataType)> + 'a;

/// Least and greatest values of a column's pieces, as physical arrays.
pub(super) struct Bounds {
    pub(super) min: ArrayRef,
    pub(super) max: ArrayRef,
}

impl Bounds {
    /// The bounds that `read` finds for a top-level column of the file. Those of floats are left
    /// alone, as they may or may not count NaN.
    pub(super) fn read(
        file: &ArrowReaderMetadata,
        (index, data_type): (usize, &DataType),
        read: impl Fn(&StatisticsConverter<'_>) -> parquet::errors::Result<(ArrayRef, ArrayRef)>,
    ) -> Option<Self> {
        if data_type.is_float() || data_type.is_decimal() {
            return None;
        }
        let field = file.schema().fields().get(index)?;
        let (schema, columns) = (file.schema(), file.parquet_schema());
        let converter = StatisticsConverter::try_new(field.name(), schema, columns).ok()?;
        let (min, max) = read(&converter).ok()?;
        let nullable = data_type.clone().to_nullable();
        Some(Self {
            min: to_physical(&min, &nullable).ok()?,
            max: to_physical(&max, &nullable).ok()?,
        })
    }

    /// For each piece, whether `column op value` can hold in it; a piece without bounds may hold anything.
    /// A text's bounds may be cut short: a cut minimum is still a bound, a maximum is made one.
    pub(super) fn can_hold(&self, op: Operator, value: &ScalarValue) -> Option<Vec<bool>> {
        let value = value.to_array().ok()?;
        if value.data_type() != self.min.data_type() || value.is_null(0) {
            return None;
        }
        let value = Scalar::new(Arc::clone(&value));
        let holds: BooleanArray = match op {
            Operator::Eq => {
                let above = cmp::lt_eq(&self.min, &value).ok()?;
                and(&above, &cmp::gt_eq(&self.max, &value).ok()?).ok()?
            }
            Operator::Lt => cmp::lt(&self.min, &value).ok()?,
            Operator::LtEq => cmp::lt_eq(&self.min, &value).ok()?,
            Operator::Gt => cmp::gt(&self.max, &value).ok()?,
            Operator::GtEq => cmp::gt_eq(&self.max, &value).ok()?,
            _ => return None,
        };
        Some(holds.iter().map(|h| h.unwrap_or(true)).collect())
    }

    /// As [`Bounds::can_hold`] for any of the values.
    pub(super) fn can_hold_any(&self, op: Operator, values: &[&ScalarValue]) -> Option<Vec<bool>> {
        let mut any: Option<Vec<bool>> = None;
        for value in values {
            let holds = self.can_hold(op, value)?;
            any = Some(match any {
                None => holds,
                Some(any) => any.iter().zip(holds).map(|(a, b)| *a || b).collect(),
            });
        }
        any
    }
}
