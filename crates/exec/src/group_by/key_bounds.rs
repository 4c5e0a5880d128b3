//! Derives bounds of keys from their expressions: arrays that they index have their size from the start then.

use std::sync::Arc;

use arrow::datatypes::Schema;
use basalt_analyzer::udf::FunctionUdf;
use datafusion::common::ScalarValue;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use super::layout::Bounds;

/// Functions whose results are the same few numbers for whatever they take.
const FEW_RESULTS: &[(&str, Bounds)] = &[
    ("toQuarter", (1, 4)),
    ("toMonth", (1, 12)),
    ("toDayOfWeek", (0, 7)),
    ("toDayOfMonth", (1, 31)),
    ("toHour", (0, 23)),
    ("toMinute", (0, 59)),
    ("toSecond", (0, 59)),
];

/// Least and greatest value that each key can have, but for NULL; `None` unless that is known of all of them.
pub(super) fn key_bounds(keys: &[Arc<dyn PhysicalExpr>], schema: &Schema) -> Option<Vec<Bounds>> {
    keys.iter().map(|key| bounds_of(key, schema)).collect()
}

/// Number of different keys that there may be in `bounds`.
pub(super) fn num_keys(bounds: &[Bounds]) -> usize {
    let sizes = bounds.iter().map(|(min, max)| max.wrapping_sub(*min));
    sizes.fold(1, |product: usize, size| {
        product.saturating_mul((size as usize).saturating_add(1))
    })
}

fn bounds_of(key: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Bounds> {
    let data_type = key.data_type(schema).ok()?;
    let call = key.downcast_ref::<ScalarFunctionExpr>()?;
    let function = call.fun().inner().downcast_ref::<FunctionUdf>()?;
    if !data_type.is_unsigned_integer() {
        return None;
    }
    let name = function.function_name();
    let constant = || call.args().get(1).and_then(positive);
    match name {
        "modulo" => constant().map(|divisor| (0, divisor - 1)),
        "bitAnd" => constant().map(|mask| (0, mask)),
        _ => FEW_RESULTS
            .iter()
            .find(|(few, _)| *few == name)
            .map(|(_, bounds)| *bounds),
    }
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
