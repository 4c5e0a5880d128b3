//! Derives bounds of keys from their expressions: arrays that they index have their size from the start then.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use basalt_analyzer::udf::FunctionUdf;
use datafusion::common::ScalarValue;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use super::bounds::Interval;

/// Functions whose results are the same few numbers for whatever they take.
const FEW_RESULTS: &[(&str, Interval)] = &[
    ("toQuarter", (1, 4)),
    ("toMonth", (1, 12)),
    ("toDayOfWeek", (0, 7)),
    ("toDayOfMonth", (1, 31)),
    ("toHour", (0, 23)),
    ("toMinute", (0, 59)),
    ("toSecond", (0, 59)),
];

/// Least and greatest value that each key can have, but for NULL; `None` unless that is known of all of them.
pub(super) fn key_bounds(keys: &[Arc<dyn PhysicalExpr>], schema: &Schema) -> Option<Vec<Interval>> {
    keys.iter().map(|key| bounds_of(key, schema)).collect()
}

/// Least and greatest value of a key of few values, but for NULL: of a narrow type, or bounded by its expression.
pub(crate) fn few_values(key: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<(i64, i64)> {
    if let Some((min, max)) = bounds_of(key, schema) {
        return Some((i64::try_from(min).ok()?, i64::try_from(max).ok()?));
    }
    match key.data_type(schema).ok()? {
        DataType::UInt8 => return Some((0, u8::MAX.into())),
        DataType::Int8 => return Some((i8::MIN.into(), i8::MAX.into())),
        other if other.is_signed_integer() => {}
        _ => return None,
    }
    // What is left has the sign of what was divided.
    let call = key.downcast_ref::<ScalarFunctionExpr>()?;
    let function = call.fun().inner().downcast_ref::<FunctionUdf>()?;
    let divisor = positive(call.args().get(1)?)?;
    let greatest = i64::try_from(divisor).ok()? - 1;
    (function.function_name() == "modulo").then_some((-greatest, greatest))
}

/// Number of different keys that there may be in `bounds`.
pub(super) fn num_keys(bounds: &[Interval]) -> usize {
    let sizes = bounds.iter().map(|(min, max)| max.wrapping_sub(*min));
    sizes.fold(1, |product: usize, size| {
        product.saturating_mul((size as usize).saturating_add(1))
    })
}

/// Bounds of a call whose result is an unsigned integer.
fn bounds_of(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Interval> {
    let data_type = expr.data_type(schema).ok()?;
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    let function = call.fun().inner().downcast_ref::<FunctionUdf>()?;
    let greatest = greatest(&data_type)?;
    let name = function.function_name();
    let constant = || call.args().get(1).and_then(positive);
    let of_arg = || bounds_of_arg(call.args().first()?, schema);
    let (min, max) = match name {
        "modulo" => (0, constant()? - 1),
        "bitAnd" => (0, constant()?),
        "intDiv" => {
            let ((min, max), divisor) = (of_arg()?, constant()?);
            (min / divisor, max / divisor)
        }
        "bitShiftRight" => {
            let ((min, max), num_bits) = (of_arg()?, constant()?);
            let shifted = |value: u64| {
                u32::try_from(num_bits)
                    .ok()
                    .and_then(|n| value.checked_shr(n))
            };
            (shifted(min)?, shifted(max)?)
        }
        "plus" => {
            let ((min, max), added) = (of_arg()?, constant()?);
            (min.checked_add(added)?, max.checked_add(added)?)
        }
        "toUInt8" | "toUInt16" | "toUInt32" | "toUInt64" => of_arg()?,
        _ => FEW_RESULTS
            .iter()
            .find(|(few, _)| *few == name)
            .map(|(_, bounds)| *bounds)?,
    };
    // Beyond it, results wrap.
    (max <= greatest).then_some((min, max))
}

/// Bounds of what a call takes: those that its own expression has, or all values of a narrow type.
fn bounds_of_arg(arg: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Interval> {
    bounds_of(arg, schema).or_else(|| match arg.data_type(schema).ok()? {
        DataType::UInt8 => Some((0, u8::MAX.into())),
        DataType::UInt16 => Some((0, u16::MAX.into())),
        _ => None,
    })
}

/// The greatest value of an unsigned type.
fn greatest(data_type: &DataType) -> Option<u64> {
    Some(match data_type {
        DataType::UInt8 => u8::MAX.into(),
        DataType::UInt16 => u16::MAX.into(),
        DataType::UInt32 => u32::MAX.into(),
        DataType::UInt64 => u64::MAX,
        _ => return None,
    })
}

/// The value of a literal that is an integer above 0.
fn positive(expr: &Arc<dyn PhysicalExpr>) -> Option<u64> {
    let value = match expr.downcast_ref::<Literal>()?.value() {
        ScalarValue::UInt8(value) => u64::from((*value)?),
        ScalarValue::UInt16(value) => u64::from((*value)?),
        ScalarValue::UInt32(value) => u64::from((*value)?),
        ScalarValue::UInt64(value) => (*value)?,
        _ => return None,
    };
    (value > 0).then_some(value)
}
