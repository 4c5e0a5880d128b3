//! Compares constants of conditions with what is known of a group of rows.

use arrow::datatypes::DataType as ArrowType;
use basalt_storage::merge_tree::{IndexedValue, Relation};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;

/// The relation that an operator asks for, as far as bounds need to know it.
pub(super) fn relation(op: Operator) -> Option<Relation> {
    match op {
        Operator::Eq => Some(Relation::Equal),
        Operator::Lt | Operator::LtEq => Some(Relation::AtMost),
        Operator::Gt | Operator::GtEq => Some(Relation::AtLeast),
        _ => None,
    }
}

/// The bytes of a constant string.
pub(super) fn bytes(value: &ScalarValue) -> Option<&[u8]> {
    match value {
        ScalarValue::BinaryView(bytes) | ScalarValue::Binary(bytes) => bytes.as_deref(),
        _ => None,
    }
}

/// Whether a float within bounds, which may be NaN as well, can be in that relation to a number.
pub(super) fn float_can_be(
    (least, greatest): (u64, u64),
    op: Operator,
    value: &ScalarValue,
) -> Option<bool> {
    between(
        (f64::from_bits(least), f64::from_bits(greatest)),
        op,
        float(value)?,
    )
}

/// Whether a Decimal of this scale, whose digits lie within bounds, can be in that relation to a number.
pub(super) fn decimal_can_be(
    ((least, greatest), scale): ((i128, i128), i8),
    op: Operator,
    value: &ScalarValue,
) -> Option<bool> {
    let Some((digits, own_scale)) = digits(value) else {
        // Whoever compares with floats rounds; both ends are rounded away from what is between them.
        let divisor = 10_f64.powi(scale.into());
        let [least, greatest] = [least, greatest].map(|end| end as f64 / divisor);
        let slack = |end: f64| end.abs() * 8.0 * f64::EPSILON;
        let ends = (least - slack(least), greatest + slack(greatest));
        return between(ends, op, float(value)?);
    };
    let power = |scale: i8| 10_i128.checked_pow(u32::try_from(scale).ok()?);
    let own = power(own_scale)?;
    let ends = (least.checked_mul(own)?, greatest.checked_mul(own)?);
    can_hold(ends, op, digits.checked_mul(power(scale)?)?)
}

/// Whether a float within bounds can be in that relation to a value.
fn between((least, greatest): (f64, f64), op: Operator, value: f64) -> Option<bool> {
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

/// A constant as a float, if it has the same value.
fn float(value: &ScalarValue) -> Option<f64> {
    Some(match value {
        ScalarValue::Float64(v) => (*v)?,
        ScalarValue::Float32(v) => f64::from((*v)?),
        ScalarValue::UInt8(v) => f64::from((*v)?),
        ScalarValue::UInt16(v) => f64::from((*v)?),
        ScalarValue::UInt32(v) => f64::from((*v)?),
        ScalarValue::Int8(v) => f64::from((*v)?),
        ScalarValue::Int16(v) => f64::from((*v)?),
        ScalarValue::Int32(v) => f64::from((*v)?),
        _ => return None,
    })
}

/// The digits of a constant without fraction or of a Decimal, and how many of them are behind the point.
fn digits(value: &ScalarValue) -> Option<(i128, i8)> {
    match value {
        ScalarValue::Decimal128(digits, _, scale) => Some(((*digits)?, *scale)),
        _ => integer(&value.data_type(), value).map(|digits| (digits, 0)),
    }
}

/// A constant as indexes of a column compare it.
pub(super) fn indexed(physical: &ArrowType, value: &ScalarValue) -> Option<IndexedValue> {
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

/// Bounds as integers, those of Decimals as their digits; none for other values, floats among them, whose NaN they do not count.
pub(super) fn integers(
    physical: &ArrowType,
    (least, greatest): (u64, u64),
) -> Option<(i128, i128)> {
    if physical.is_unsigned_integer() {
        return Some((i128::from(least), i128::from(greatest)));
    }
    let signed = |bound: u64| i128::from(bound.cast_signed());
    let is_signed = physical.is_signed_integer() || matches!(physical, ArrowType::Decimal128(..));
    is_signed.then(|| (signed(least), signed(greatest)))
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
        ScalarValue::Decimal128(v, ..) => *v,
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
