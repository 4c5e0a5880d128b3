//! The key that floats are sorted by: zeros of both signs are one value in ClickHouse, and so are all
//! NaN; DataFusion's order, which is that of the bits, tells them apart.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use crate::typed::column;
use crate::udf::any_arguments;

/// A column of the plan as a key of an order.
pub(crate) fn order_key(name: &str, plan: &LogicalPlan) -> Expr {
    let field = plan.schema().field_with_unqualified_name(name);
    if field.is_ok_and(|f| f.data_type().is_floating()) {
        float_key(column(name))
    } else {
        column(name)
    }
}

/// The key that a float is sorted by.
pub(crate) fn float_key(expr: Expr) -> Expr {
    let udf = Arc::new(ScalarUDF::new_from_impl(FloatOrder::new()));
    Expr::ScalarFunction(ScalarFunction::new_udf(udf, vec![expr]))
}

/// Gives the floats that stand for those which ClickHouse sorts as equals.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FloatOrder {
    signature: Signature,
}

impl FloatOrder {
    fn new() -> Self {
        Self {
            signature: any_arguments(Volatility::Immutable),
        }
    }

    /// The keys of floats.
    ///
    /// # Errors
    /// For an array of another type.
    pub fn keys(array: &ArrayRef) -> Result<ArrayRef> {
        if let Some(floats) = array.as_primitive_opt::<Float64Type>() {
            return Ok(Arc::new(floats.unary::<_, Float64Type>(float64_key)));
        }
        match array.as_primitive_opt::<Float32Type>() {
            Some(floats) => Ok(Arc::new(floats.unary::<_, Float32Type>(float32_key))),
            None => internal_err!("the order of floats for {}", array.data_type()),
        }
    }
}

/// Adding zero makes one zero of both.
fn float64_key(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else {
        value + 0.0
    }
}

fn float32_key(value: f32) -> f32 {
    if value.is_nan() {
        f32::NAN
    } else {
        value + 0.0
    }
}

impl ScalarUDFImpl for FloatOrder {
    fn name(&self) -> &str {
        "floatOrder"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [one] => Ok(one.clone()),
            _ => internal_err!("the order of floats takes one column"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        match arrays.as_slice() {
            [one] => Ok(ColumnarValue::Array(Self::keys(one)?)),
            _ => internal_err!("the order of floats takes one column"),
        }
    }
}
