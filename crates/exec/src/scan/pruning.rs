//! Tells which row groups a filter can match, by the least and greatest values of their columns.
//!
//! Understands comparisons of a column with a constant, `IN` lists, `AND` and `OR`; for all else a
//! row group may match. Floats are left alone, as their statistics may or may not count NaN.

use arrow::array::{ArrayRef, BooleanArray, Scalar};
use arrow::compute::kernels::cmp;
use basalt_types::DataType;
use basalt_types::arrow_edge::to_physical;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::file::metadata::RowGroupMetaData;

/// Finds a table column's top-level column in the file, and its type.
pub(super) type ColumnSource<'a> = dyn Fn(&str) -> Option<(usize, DataType)> + 'a;

/// Whether rows of the group can fulfil all filters.
pub(super) fn row_group_can_match<'a>(
    filters: &[Expr],
    file: &'a ArrowReaderMetadata,
    group: &'a RowGroupMetaData,
    source: &'a ColumnSource<'a>,
) -> bool {
    let statistics = Statistics {
        file,
        group,
        source,
    };
    filters.iter().all(|f| statistics.can_match(f))
}

struct Statistics<'a> {
    file: &'a ArrowReaderMetadata,
    group: &'a RowGroupMetaData,
    source: &'a ColumnSource<'a>,
}

impl Statistics<'_> {
    fn can_match(&self, filter: &Expr) -> bool {
        match filter {
            Expr::BinaryExpr(binary) => match binary.op {
                Operator::And => self.can_match(&binary.left) && self.can_match(&binary.right),
                Operator::Or => self.can_match(&binary.left) || self.can_match(&binary.right),
                op => match (binary.left.as_ref(), binary.right.as_ref()) {
                    (Expr::Column(c), Expr::Literal(v, _)) => self.compare(&c.name, op, v),
                    (Expr::Literal(v, _), Expr::Column(c)) => match op.swap() {
                        Some(op) => self.compare(&c.name, op, v),
                        None => true,
                    },
                    _ => true,
                },
            },
            Expr::InList(list) if !list.negated => match list.expr.as_ref() {
                Expr::Column(c) => list.list.iter().any(|item| match item {
                    Expr::Literal(v, _) => self.compare(&c.name, Operator::Eq, v),
                    _ => true,
                }),
                _ => true,
            },
            _ => true,
        }
    }

    /// Whether `column op value` can hold for some row.
    fn compare(&self, column: &str, op: Operator, value: &ScalarValue) -> bool {
        self.comparison(column, op, value).unwrap_or(true)
    }

    fn comparison(&self, column: &str, op: Operator, value: &ScalarValue) -> Option<bool> {
        let (min, max) = self.bounds(column)?;
        let value = value.to_array().ok()?;
        if value.data_type() != min.data_type() {
            return None;
        }
        let holds = |result: Result<BooleanArray, _>| {
            let result: Option<BooleanArray> = result.ok();
            result.map(|r| r.value(0))
        };
        let scalar = |a: &ArrayRef| Scalar::new(std::sync::Arc::clone(a));
        match op {
            Operator::Eq => {
                let above = holds(cmp::gt_eq(&value, &scalar(&min)))?;
                Some(above && holds(cmp::lt_eq(&value, &scalar(&max)))?)
            }
            Operator::Lt => holds(cmp::lt(&min, &scalar(&value))),
            Operator::LtEq => holds(cmp::lt_eq(&min, &scalar(&value))),
            Operator::Gt => holds(cmp::gt(&max, &scalar(&value))),
            Operator::GtEq => holds(cmp::gt_eq(&max, &scalar(&value))),
            _ => None,
        }
    }

    /// Least and greatest value of a column in the group, as physical arrays of one row.
    fn bounds(&self, column: &str) -> Option<(ArrayRef, ArrayRef)> {
        let (index, data_type) = (self.source)(column)?;
        if data_type.is_float() || data_type.is_decimal() {
            return None;
        }
        let field = self.file.schema().fields().get(index)?;
        let converter = StatisticsConverter::try_new(
            field.name(),
            self.file.schema(),
            self.file.parquet_schema(),
        );
        let converter = converter.ok()?;
        let min = converter.row_group_mins([self.group]).ok()?;
        let max = converter.row_group_maxes([self.group]).ok()?;
        let nullable = data_type.clone().to_nullable();
        let (min, max) = (
            to_physical(&min, &nullable).ok()?,
            to_physical(&max, &nullable).ok()?,
        );
        let is_known = min.is_valid(0) && max.is_valid(0);
        // A text's bounds may be cut short; a cut minimum is still a bound, a maximum is made one.
        is_known.then_some((min, max))
    }
}
