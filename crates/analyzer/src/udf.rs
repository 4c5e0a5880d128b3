//! Wraps the dialect's scalar functions as DataFusion's.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Position};
use basalt_functions::{BoundFunction, Column, Monotone, Purity};
use basalt_types::DataType;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::TreeNode;
use datafusion::error::Result;
use datafusion::logical_expr::expr::{ScalarFunction, schema_name_from_exprs};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};

use crate::typed::{into_plan_error, size_bytes};
use crate::{place, tolerant};

/// Longer names of calls stand for themselves as a hash.
const MAX_NAME_BYTES: usize = 400;

/// Most bytes that the copies of one constant may take in a batch.
const MAX_COPIES_BYTES: usize = 1 << 31;

/// Name of the functions that hold large constants.
pub(crate) const LARGE_CONSTANT: &str = "largeConstant";

/// Name of the functions that make columns of them.
const COPIES: &str = "copies";

/// A bound function as DataFusion's plans hold it.
///
/// Two are equal if `key` is: it tells apart everything that the arguments do not.
#[derive(Clone, Debug)]
pub struct FunctionUdf {
    key: String,
    /// Name of the call's column where a plan gives it none.
    schema_name: String,
    bound: BoundFunction,
    /// Where the call stands in the query's text.
    place: Option<Position>,
    /// What it is done for, where it stands nowhere.
    purpose: Option<String>,
    signature: Signature,
}

impl PartialEq for FunctionUdf {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for FunctionUdf {}

impl Hash for FunctionUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl FunctionUdf {
    /// Name of the function in the dialect.
    pub fn function_name(&self) -> &str {
        &self.bound.name
    }

    /// Whether it may report an error for some rows.
    pub fn may_fail(&self) -> bool {
        self.bound.may_fail
    }

    /// How the results follow an argument, if they do.
    pub fn monotone(&self) -> Option<&Monotone> {
        self.bound.monotone.as_ref()
    }

    /// The values of the only argument for which the result is 1, where they are listed.
    pub fn members(&self) -> Option<&ArrayRef> {
        self.bound.members.as_ref()
    }

    /// Whether it is known to give the same whatever settings and time zone a session has.
    pub fn is_steady(&self) -> bool {
        self.bound.is_steady()
    }

    /// Names the function and the types that it is bound to.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What the function reports, with the place of its call and with what else to call.
    fn placed(&self, error: Error) -> Error {
        let error = tolerant::with_hint(error, &self.bound.name);
        let error = match &self.purpose {
            Some(purpose) if !error.is_of_run() => error.within(purpose),
            _ => error,
        };
        match self.place {
            Some(place) if !error.is_of_run() => error.at(place),
            _ => error,
        }
    }

    /// Types of the arguments.
    pub fn argument_types(&self) -> &[DataType] {
        &self.bound.arg_types
    }

    /// Type of the argument of a function that was called with one.
    pub(crate) fn only_argument_type(&self) -> Option<&DataType> {
        match self.bound.arg_types.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// Name of the dialect's function that an expression calls.
pub(crate) fn function_name(expr: &Expr) -> Option<&str> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let udf = call.func.inner().downcast_ref::<FunctionUdf>()?;
    Some(udf.function_name())
}

/// The call of `bound` with `args`; `key` names the function and the types it is bound to.
pub fn call(key: String, bound: BoundFunction, args: Vec<Expr>) -> Expr {
    let volatility = match bound.purity {
        Purity::Pure => Volatility::Immutable,
        Purity::PerQuery => Volatility::Stable,
        Purity::PerRow => Volatility::Volatile,
    };
    let signature = any_arguments(volatility);
    let schema_name = schema_name(&bound.name, &args);
    let udf = ScalarUDF::new_from_impl(FunctionUdf {
        key,
        schema_name,
        bound,
        place: place::current(),
        purpose: None,
        signature,
    });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(udf), args))
}

/// The call with what it is done for, which its errors tell; other expressions as they are.
pub(crate) fn with_purpose(expr: Expr, purpose: String) -> Expr {
    let Expr::ScalarFunction(call) = &expr else {
        return expr;
    };
    let Some(udf) = call.func.inner().downcast_ref::<FunctionUdf>() else {
        return expr;
    };
    let udf = ScalarUDF::new_from_impl(FunctionUdf {
        purpose: Some(purpose),
        ..udf.clone()
    });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(udf), call.args.clone()))
}

/// The value of `folded`, too large for a literal: plans name, compare, hash and print literals by
/// their whole text.
///
/// It counts as volatile, or DataFusion's rules would make a literal of it.
pub(crate) fn large_constant(folded: &Expr, array: ArrayRef, data_type: DataType) -> Expr {
    let mut hasher = DefaultHasher::new();
    folded.hash(&mut hasher);
    let key = format!("{LARGE_CONSTANT}(#{:016x})->{data_type}", hasher.finish());
    let value = move |_: &[Column], _| Ok(Arc::clone(&array));
    let udf = ScalarUDF::new_from_impl(FunctionUdf {
        schema_name: key.clone(),
        key,
        bound: BoundFunction::from_parts(LARGE_CONSTANT, data_type, Arc::new(value)),
        place: None,
        purpose: None,
        signature: any_arguments(Volatility::Volatile),
    });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(udf), Vec::new()))
}

/// A column of copies of a large constant that `expr` is: one that would take too much is an error, not
/// the end of the process.
pub(crate) fn copies(expr: &Expr) -> Option<Expr> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let udf = call.func.inner().as_ref() as &dyn std::any::Any;
    let udf = udf.downcast_ref::<FunctionUdf>()?;
    if udf.bound.name != LARGE_CONSTANT {
        return None;
    }
    let eval = |columns: &[Column], num_rows: usize| copied(&columns[0], num_rows);
    let return_type = udf.bound.return_type.clone();
    let mut bound = BoundFunction::from_parts(COPIES, return_type, Arc::new(eval));
    bound.purity = Purity::PerRow;
    Some(self::call(
        format!("copies:{}", udf.key),
        bound,
        vec![expr.clone()],
    ))
}

/// Whether calls of a function give copies of a large constant, which is its argument.
pub fn gives_copies(function: &ScalarUDF) -> bool {
    let udf = function.inner().downcast_ref::<FunctionUdf>();
    udf.is_some_and(|udf| udf.bound.name == COPIES)
}

fn copied(column: &Column, num_rows: usize) -> basalt_error::Result<ArrayRef> {
    let size = size_bytes(&column.array);
    if column.is_const && size.saturating_mul(num_rows) > MAX_COPIES_BYTES {
        return Err(Error::new(
            ErrorCode::TOO_LARGE_ARRAY_SIZE,
            format!(
                "Lower max_block_size: {num_rows} copies of a constant of {size} bytes are too many for a block"
            ),
        ));
    }
    column.expand(num_rows)
}

/// Whether a function may give something else each time it is called, whatever its arguments do.
pub(crate) fn is_volatile_function(f: &ScalarFunction) -> bool {
    f.func.signature().volatility == Volatility::Volatile && f.func.name() != LARGE_CONSTANT
}

/// Whether a call of such a function is in `expr`.
pub(crate) fn is_volatile(expr: &Expr) -> bool {
    let is_call = |e: &Expr| matches!(e, Expr::ScalarFunction(f) if is_volatile_function(f));
    expr.exists(|e| Ok(is_call(e))).unwrap_or(true)
}

/// As DataFusion names calls, but short: the names of the calls around it hold this one.
fn schema_name(function: &str, args: &[Expr]) -> String {
    let args = schema_name_from_exprs(args).unwrap_or_default();
    let name = format!("{function}({args})");
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    format!("{function}(#{:016x})", hasher.finish())
}

/// Any number of arguments, none included: types were checked when the function was bound.
pub(crate) fn any_arguments(volatility: Volatility) -> Signature {
    let kinds = vec![TypeSignature::VariadicAny, TypeSignature::Nullary];
    Signature::one_of(kinds, volatility)
}

impl ScalarUDFImpl for FunctionUdf {
    fn name(&self) -> &str {
        &self.bound.name
    }

    /// The name that the call had when it was made: the planner asks each call for it again and again, and
    /// those around it, too, so that it must not be put together from the arguments' names each time.
    fn schema_name(&self, _args: &[Expr]) -> Result<String> {
        Ok(self.schema_name.clone())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[ArrowType]) -> Result<ArrowType> {
        Ok(self.bound.return_type.physical())
    }

    fn return_field_from_args(&self, _args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        // Nullable whatever the type says: a NULL in a row that is dropped later is no error.
        Ok(Arc::new(Field::new(
            self.name(),
            self.bound.return_type.physical(),
            true,
        )))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut all_constant = self.bound.purity != Purity::PerRow;
        let mut columns = Vec::with_capacity(args.args.len());
        for arg in &args.args {
            columns.push(match arg {
                ColumnarValue::Array(array) => {
                    all_constant = false;
                    Column::new(Arc::clone(array))
                }
                ColumnarValue::Scalar(scalar) => Column::constant(scalar.to_array()?),
            });
        }
        let call = |num_rows| {
            let called = self.bound.call(&columns, num_rows);
            called.map_err(|e| into_plan_error(self.placed(e)))
        };
        if all_constant {
            let array = call(1)?;
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(
                &array, 0,
            )?));
        }
        Ok(ColumnarValue::Array(call(args.number_rows)?))
    }
}
