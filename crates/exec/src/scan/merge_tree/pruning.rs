//! Rules out groups of rows by what a part's metadata and skipping indexes know of them.

use arrow::datatypes::{DataType as ArrowType, Schema};
use basalt_storage::Part;
use basalt_storage::merge_tree::{IndexedValue, Relation};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};

use crate::scan::condition::can_match;

/// Whether rows of a group can fulfil all filters, as far as the columns tell that `is_usable` names.
pub(in crate::scan) fn group_can_match(
    schema: &Schema,
    (part, group): (&Part, usize),
    filters: &[Expr],
    is_usable: &dyn Fn(usize) -> bool,
) -> bool {
    let compare = |column: &str, op: Operator, values: &[&ScalarValue]| {
        let (column, field) = schema.column_with_name(column)?;
        if !is_usable(column) {
            return None;
        }
        let known = &part.metadata().columns[column].groups[group];
        if known.null_count == part.metadata().group_rows[group] {
            // A comparison with NULL holds for no row.
            return Some(false);
        }
        let by_bounds = || {
            let bounds = integers(field.data_type(), known.bounds?)?;
            let mut any = false;
            for value in values {
                any |= can_hold(bounds, op, integer(field.data_type(), value)?)?;
            }
            Some(any)
        };
        let by_bounds = by_bounds();
        let place = (column, group);
        match by_bounds {
            Some(false) => Some(false),
            _ if !indexes_can_match(part, place, op, (field.data_type(), values)) => Some(false),
            _ => by_bounds,
        }
    };
    filters.iter().all(|f| can_match(f, &compare))
}

/// Whether a column can be in that relation to one of the values, as far as skipping indexes tell.
fn indexes_can_match(
    part: &Part,
    place: (usize, usize),
    op: Operator,
    (physical, values): (&ArrowType, &[&ScalarValue]),
) -> bool {
    let relation = match op {
        Operator::Eq => Relation::Equal,
        Operator::Lt | Operator::LtEq => Relation::AtMost,
        Operator::Gt | Operator::GtEq => Relation::AtLeast,
        _ => return true,
    };
    values.iter().any(|value| {
        let indexed = indexed(physical, value);
        indexed.is_none_or(|value| part.can_hold(place, relation, &value))
    })
}

/// A constant as indexes of a column compare it.
fn indexed(physical: &ArrowType, value: &ScalarValue) -> Option<IndexedValue> {
    if let Some(integer) = integer(physical, value) {
        return Some(IndexedValue::integer(integer));
    }
    match (physical, value) {
        (ArrowType::BinaryView, ScalarValue::BinaryView(v) | ScalarValue::Binary(v)) => {
            v.as_deref().map(IndexedValue::bytes)
        }
        (ArrowType::FixedSizeBinary(width), ScalarValue::FixedSizeBinary(other, v)) => {
            let v = v.as_deref().filter(|_| width == other);
            v.map(IndexedValue::bytes)
        }
        (ArrowType::Float32, ScalarValue::Float32(v)) => {
            v.and_then(|v| IndexedValue::float(f64::from(v)))
        }
        (ArrowType::Float64, ScalarValue::Float64(v)) => v.and_then(IndexedValue::float),
        _ => None,
    }
}

/// Bounds as integers; none for other values, floats among them, whose NaN they do not count.
pub(super) fn integers(
    physical: &ArrowType,
    (least, greatest): (u64, u64),
) -> Option<(i128, i128)> {
    if physical.is_unsigned_integer() {
        return Some((i128::from(least), i128::from(greatest)));
    }
    let signed = |bound: u64| i128::from(bound.cast_signed());
    physical
        .is_signed_integer()
        .then(|| (signed(least), signed(greatest)))
}

/// A constant of a column's own physical type.
pub(super) fn integer(physical: &ArrowType, value: &ScalarValue) -> Option<i128> {
    if value.data_type() != *physical {
        return None;
    }
    match value {
        ScalarValue::UInt8(v) => v.map(i128::from),
        ScalarValue::UInt16(v) => v.map(i128::from),
        ScalarValue::UInt32(v) => v.map(i128::from),
        ScalarValue::UInt64(v) => v.map(i128::from),
        ScalarValue::Int8(v) => v.map(i128::from),
        ScalarValue::Int16(v) => v.map(i128::from),
        ScalarValue::Int32(v) => v.map(i128::from),
        ScalarValue::Int64(v) => v.map(i128::from),
        _ => None,
    }
}

/// Whether a value within bounds can be in that relation to another.
pub(super) fn can_hold((least, greatest): (i128, i128), op: Operator, value: i128) -> Option<bool> {
    Some(match op {
        Operator::Eq => least <= value && value <= greatest,
        Operator::NotEq => least != value || greatest != value,
        Operator::Lt => least < value,
        Operator::LtEq => least <= value,
        Operator::Gt => greatest > value,
        Operator::GtEq => greatest >= value,
        _ => return None,
    })
}
