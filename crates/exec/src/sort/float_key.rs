//! Knows the keys that stand for floats (see [`FloatOrder`]).
//!
//! Columns with values that are not their own keys are rare. Where there is none, the key is the
//! column itself, which need not be computed and can be read back from the words.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Float32Type, Float64Type};
use basalt_analyzer::FloatOrder;
use basalt_kernels::widest::{Loop, widest};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr, ScalarFunctionExpr};

use super::nested_key;

/// Values that are looked at without a branch.
const GROUP_VALUES: usize = 256;

/// The column that a key stands for, if it stands for one.
pub(crate) fn key_column(expr: &dyn PhysicalExpr) -> Option<&Column> {
    expr.downcast_ref::<Column>().or_else(|| float_column(expr))
}

fn float_column(expr: &dyn PhysicalExpr) -> Option<&Column> {
    float_key(expr).map(|(column, _)| column)
}

/// The column of floats that a key stands for, and whether NaN is the least of them.
fn float_key(expr: &dyn PhysicalExpr) -> Option<(&Column, bool)> {
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    let order = call.fun().inner().downcast_ref::<FloatOrder>()?;
    let column = call.args().first()?.downcast_ref()?;
    Some((column, order.nan_first()))
}

/// The values of a key, and whether they are other ones than those of the column it stands for.
pub(super) fn key_values(sort: &PhysicalSortExpr, batch: &RecordBatch) -> Result<(ArrayRef, bool)> {
    let float = float_key(sort.expr.as_ref());
    let values = match float {
        Some((column, _)) => ArrayRef::clone(batch.column(column.index())),
        None => sort.expr.evaluate(batch)?.into_array(batch.num_rows())?,
    };
    if let Some(bytes) = nested_key::bytes_of(&values, sort.options)? {
        return Ok((bytes, true));
    }
    Ok(match float {
        Some((_, nan_first)) if has_changed_keys(values.as_ref(), nan_first) => {
            (FloatOrder::keys_with_nan(&values, nan_first)?, true)
        }
        _ => (values, false),
    })
}

/// Whether some float is not its own key: a negative zero, or a NaN of other bits than that of keys; of what has floats
/// inside, nobody has looked.
pub(crate) fn has_changed_keys(array: &dyn Array, nan_first: bool) -> bool {
    if array.data_type().is_nested() {
        return FloatOrder::changes(array.data_type());
    }
    if let Some(floats) = array.as_primitive_opt::<Float64Type>() {
        let nan = if nan_first { -f64::NAN } else { f64::NAN }.to_bits();
        let is_changed = move |v: f64| {
            let bits = v.to_bits();
            bits == (-0.0f64).to_bits() || (v.is_nan() && bits != nan)
        };
        let values = floats.values();
        return widest(Any { values, is_changed });
    }
    array
        .as_primitive_opt::<Float32Type>()
        .is_some_and(|floats| {
            let nan = if nan_first { -f32::NAN } else { f32::NAN }.to_bits();
            let is_changed = move |v: f32| {
                let bits = v.to_bits();
                bits == (-0.0f32).to_bits() || (v.is_nan() && bits != nan)
            };
            let values = floats.values();
            widest(Any { values, is_changed })
        })
}

/// Whether something holds for some value.
struct Any<'a, V, F> {
    values: &'a [V],
    is_changed: F,
}

impl<V: Copy, F: Fn(V) -> bool> Loop for Any<'_, V, F> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        // Without a branch in a group, so that it becomes vector code.
        let of_group = |group: &[V]| {
            let flags = group.iter().map(|value| (self.is_changed)(*value));
            flags.fold(false, |any, flag| any | flag)
        };
        self.values.chunks(GROUP_VALUES).any(of_group)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, Float32Array, Float64Array};
    use arrow::datatypes::{Float32Type, Float64Type};
    use basalt_analyzer::FloatOrder;

    use super::has_changed_keys;

    #[test]
    fn floats_change_if_their_keys_have_other_bits() {
        let odd_nan = f64::from_bits(f64::NAN.to_bits() | 1);
        let some = [
            1.0,
            -1.0,
            0.0,
            -0.0,
            f64::NAN,
            -f64::NAN,
            odd_nan,
            f64::NEG_INFINITY,
        ];
        let both = [false, true].map(|nan_first| some.map(|value| (value, nan_first)));
        for (i, (value, nan_first)) in (0..).zip(both.concat()) {
            let mut values = vec![1.5; 700];
            values[97 * (i % 7)] = value;
            let array: ArrayRef = Arc::new(Float64Array::from(values.clone()));
            let keys = FloatOrder::keys_with_nan(&array, nan_first).unwrap();
            let bits = |array: &ArrayRef| -> Vec<u64> {
                let floats = array.as_primitive::<Float64Type>();
                floats.values().iter().map(|v| v.to_bits()).collect()
            };
            assert_eq!(
                has_changed_keys(array.as_ref(), nan_first),
                bits(&array) != bits(&keys),
                "{value}"
            );
            let narrow = values.iter().map(|v| *v as f32);
            let array: ArrayRef = Arc::new(Float32Array::from_iter_values(narrow));
            let keys = FloatOrder::keys_with_nan(&array, nan_first).unwrap();
            let bits = |array: &ArrayRef| -> Vec<u32> {
                let floats = array.as_primitive::<Float32Type>();
                floats.values().iter().map(|v| v.to_bits()).collect()
            };
            assert_eq!(
                has_changed_keys(array.as_ref(), nan_first),
                bits(&array) != bits(&keys),
                "{value}"
            );
        }
    }
}
