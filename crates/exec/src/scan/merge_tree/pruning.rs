//! Rules out groups of rows by what a part's metadata and skipping indexes know of them.

use arrow::datatypes::{DataType as ArrowType, Schema};
use basalt_storage::Part;
use basalt_storage::merge_tree::{ColumnMetadata, IndexedValue, Relation};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};

use crate::scan::condition::{Known, can_match};

/// Whether rows of a group can fulfil all filters, as far as the columns tell that `is_usable` names.
pub(in crate::scan) fn group_can_match(
    schema: &Schema,
    (part, group): (&Part, usize),
    filters: &[Expr],
    is_usable: &dyn Fn(usize) -> bool,
) -> bool {
    let known = KnownGroup {
        schema,
        part,
        group,
        is_usable,
    };
    filters.iter().all(|filter| can_match(filter, &known))
}

/// A group of rows.
struct KnownGroup<'a> {
    schema: &'a Schema,
    part: &'a Part,
    group: usize,
    is_usable: &'a dyn Fn(usize) -> bool,
}

impl KnownGroup<'_> {
    /// A column of the table, with its metadata.
    fn column(&self, name: &str) -> Option<(usize, &ArrowType, &ColumnMetadata)> {
        let (column, field) = self.schema.column_with_name(name)?;
        let metadata = &self.part.metadata().columns[column];
        (self.is_usable)(column).then(|| (column, field.data_type(), metadata))
    }
}

impl Known for KnownGroup<'_> {
    fn compare(&self, column: &str, op: Operator, values: &[&ScalarValue]) -> Option<bool> {
        let (column, physical, metadata) = self.column(column)?;
        let known = &metadata.groups[self.group];
        let stored_rows = self.part.metadata().stored_rows(self.group);
        if known.null_count as usize == stored_rows {
            // A comparison with NULL holds for no row.
            return Some(false);
        }
        let texts = metadata.texts_of(self.group);
        let by_bounds = || {
            let mut any = false;
            for value in values {
                any |= match texts {
                    Some(texts) => texts.can_hold(relation(op)?, bytes(value)?),
                    None => {
                        let bounds = integers(physical, known.bounds?)?;
                        can_hold(bounds, op, integer(physical, value)?)?
                    }
                };
            }
            Some(any)
        };
        let by_bounds = by_bounds();
        let place = (column, self.group);
        match by_bounds {
            Some(false) => Some(false),
            _ if !indexes_can_match(self.part, place, op, (physical, values)) => Some(false),
            _ => by_bounds,
        }
    }

    fn compare_number(&self, column: &str, op: Operator, value: f64) -> Option<bool> {
        let (_, physical, metadata) = self.column(column)?;
        let bounds = metadata.groups[self.group].bounds;
        float_can_be(bounds.filter(|_| physical.is_floating())?, op, value)
    }

    fn begins(&self, column: &str, text: &[u8]) -> Option<bool> {
        let (_, _, metadata) = self.column(column)?;
        Some(metadata.texts_of(self.group)?.can_begin(text))
    }
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

/// Whether a float within bounds, which may be NaN as well, can be in that relation to a number.
fn float_can_be((least, greatest): (u64, u64), op: Operator, value: f64) -> Option<bool> {
    let (least, greatest) = (f64::from_bits(least), f64::from_bits(greatest));
    // NaN is in none of these relations to any number.
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
