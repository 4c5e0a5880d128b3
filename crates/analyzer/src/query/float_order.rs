//! The key that floats are sorted by: zeros of both signs are one value in ClickHouse, and so are all
//! NaN; DataFusion's order, which is that of the bits, tells them apart.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, ListArray, PrimitiveArray, StructArray,
};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    SortExpr, Volatility,
};

use crate::typed::column;
use crate::udf::any_arguments;

/// A column of the plan as a key of an order; floats have NaN behind all values, up and down, next to NULL.
pub(crate) fn order_key(name: &str, plan: &LogicalPlan, sort: &SortExpr) -> Expr {
    let field = plan.schema().field_with_unqualified_name(name);
    match field {
        Ok(field) => sorted_key(column(name), field.data_type(), sort),
        Err(_) => column(name),
    }
}

/// A column of the plan with the same value for all that sorts as equals.
pub(crate) fn equal_key(name: &str, plan: &LogicalPlan) -> Expr {
    let field = plan.schema().field_with_unqualified_name(name);
    field.map_or_else(|_| column(name), |f| float_key(column(name), f.data_type()))
}

/// The key that values of a type are sorted by as `sort` says.
pub(crate) fn sorted_key(expr: Expr, data_type: &DataType, sort: &SortExpr) -> Expr {
    // What floats are inside of is turned into bytes by the sort itself.
    match data_type.is_floating() && sort.asc == sort.nulls_first {
        true => call(FloatOrder::new(true), expr),
        false => float_key(expr, data_type),
    }
}

/// The key that values of a type are sorted by, if it has floats; else the values themselves.
pub(crate) fn float_key(expr: Expr, data_type: &DataType) -> Expr {
    if !FloatOrder::changes(data_type) {
        return expr;
    }
    call(FloatOrder::new(false), expr)
}

fn call(function: FloatOrder, arg: Expr) -> Expr {
    let udf = Arc::new(ScalarUDF::new_from_impl(function));
    Expr::ScalarFunction(ScalarFunction::new_udf(udf, vec![arg]))
}

/// Gives the values that stand for those which ClickHouse sorts as equals.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FloatOrder {
    /// Whether NaN is the least float, not the greatest.
    nan_first: bool,
    signature: Signature,
}

impl FloatOrder {
    fn new(nan_first: bool) -> Self {
        Self {
            nan_first,
            signature: any_arguments(Volatility::Immutable),
        }
    }

    /// Whether NaN is the least float, not the greatest.
    pub fn nan_first(&self) -> bool {
        self.nan_first
    }

    /// Whether values of a type may have others that are sorted as equals: floats, and what has some inside.
    pub fn changes(data_type: &DataType) -> bool {
        match data_type {
            DataType::List(field) => Self::changes(field.data_type()),
            DataType::Struct(fields) => fields.iter().any(|f| Self::changes(f.data_type())),
            other => other.is_floating(),
        }
    }

    /// The keys of values of any type.
    ///
    /// # Errors
    /// For a damaged array.
    pub fn keys(array: &ArrayRef) -> Result<ArrayRef> {
        Self::keys_with_nan(array, false)
    }

    /// The same with a NaN whose bits are those of the least float if `nan_first`, else those of the greatest.
    ///
    /// # Errors
    /// For a damaged array.
    pub fn keys_with_nan(array: &ArrayRef, nan_first: bool) -> Result<ArrayRef> {
        if !Self::changes(array.data_type()) {
            return Ok(Arc::clone(array));
        }
        Ok(match array.data_type() {
            DataType::Float64 => {
                let nan = if nan_first { -f64::NAN } else { f64::NAN };
                // Adding zero makes one zero of both.
                unary::<Float64Type>(array, |v| if v.is_nan() { nan } else { v + 0.0 })
            }
            DataType::Float32 => {
                let nan = if nan_first { -f32::NAN } else { f32::NAN };
                unary::<Float32Type>(array, |v| if v.is_nan() { nan } else { v + 0.0 })
            }
            DataType::List(field) => {
                let list = array.as_list::<i32>();
                let values = Self::keys_with_nan(list.values(), nan_first)?;
                let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
                let field = Arc::clone(field);
                Arc::new(ListArray::try_new(field, offsets, values, nulls)?)
            }
            DataType::Struct(fields) => {
                let tuple = array.as_struct();
                let columns = tuple.columns().iter();
                let columns = columns.map(|column| Self::keys_with_nan(column, nan_first));
                Arc::new(StructArray::try_new_with_length(
                    fields.clone(),
                    columns.collect::<Result<_>>()?,
                    tuple.nulls().cloned(),
                    tuple.len(),
                )?)
            }
            other => return internal_err!("the order of floats for {other}"),
        })
    }
}

fn unary<T: ArrowPrimitiveType>(array: &ArrayRef, f: impl Fn(T::Native) -> T::Native) -> ArrayRef {
    let values: &PrimitiveArray<T> = array.as_primitive();
    Arc::new(values.unary::<_, T>(f))
}

impl ScalarUDFImpl for FloatOrder {
    fn name(&self) -> &str {
        match self.nan_first {
            true => "floatOrderNanFirst",
            false => "floatOrder",
        }
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
            [one] => Ok(ColumnarValue::Array(Self::keys_with_nan(
                one,
                self.nan_first,
            )?)),
            _ => internal_err!("the order of floats takes one column"),
        }
    }
}
