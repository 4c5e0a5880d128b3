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
        let texts = part.metadata().columns[column].texts_of(group);
        let by_bounds = || {
            let mut any = false;
            for value in values {
                any |= match texts {
                    Some(texts) => texts.can_hold(relation(op)?, bytes(value)?),
                    None => number_can_be(field.data_type(), known.bounds?, op, value)?,
                };
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
    let Some(relation) = relation(op) else {
        return true;
    };
    values.iter().any(|value| {
        let indexed = indexed(physical, value);
        indexed.is_none_or(|value| part.can_hold(place, relation, &value))
    })
}

/// The relation that an operator asks for, as far as bounds need to know it.
fn relation(op: Operator) -> Option<Relation> {
    match op {
        Operator::Eq => Some(Relation::Equal),
        Operator::Lt | Operator::LtEq => Some(Relation::AtMost),
        Operator::Gt | Operator::GtEq => Some(Relation::AtLeast),
        _ => None,
    }
}

/// The bytes of a constant string.
fn bytes(value: &ScalarValue) -> Option<&[u8]> {
    match value {
        ScalarValue::BinaryView(bytes) | ScalarValue::Binary(bytes) => bytes.as_deref(),
        _ => None,
    }
}

/// Whether a number within bounds can be in that relation to a constant.
fn number_can_be(
    physical: &ArrowType,
    bounds: (u64, u64),
    op: Operator,
    value: &ScalarValue,
) -> Option<bool> {
    if let Some(bounds) = integers(physical, bounds) {
        return can_hold(bounds, op, integer(physical, value)?);
    }
    let value = match (physical, value) {
        (ArrowType::Float32, ScalarValue::Float32(value)) => f64::from((*value)?),
        (ArrowType::Float64, ScalarValue::Float64(value)) => (*value)?,
        _ => return None,
    };
    let (least, greatest) = (f64::from_bits(bounds.0), f64::from_bits(bounds.1));
    // NaN is not within the bounds, and in none of these relations to any number.
    Some(match op {
        _ if value.is_nan() => return None,
        Operator::Eq => least <= value && value <= greatest,
        Operator::Lt => least < value,
        Operator::LtEq => least <= value,
        Operator::Gt => greatest > value,
        Operator::GtEq => greatest >= value,
        _ => return None,
    })
}

/// A constant as indexes of a column compare it.
fn indexed(physical: &ArrowType, value: &ScalarValue) -> Option<IndexedValue> {
    if let Some(integer) = integer(physical, value) {
        return Some(IndexedValue::integer(integer));
    }
    match (physical, value) {
        (ArrowType::BinaryView, value) => bytes(value).map(IndexedValue::bytes),
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
