//! Pairs a DataFusion expression with its type in the dialect and its value if constant.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::Arg;
use basalt_types::DataType;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType as ArrowType, Schema};
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::{Cast, ColumnarValue, Expr, lit};
use datafusion::physical_expr::planner::create_physical_expr;

use crate::{constants, udf};

/// Arrays and maps of more bytes are no literals of the plan: DataFusion would copy them for each row of a
/// batch whatever that takes.
const MAX_LIST_BYTES: usize = 1 << 15;

/// Larger values of folded expressions are no literals of the plan.
const MAX_LITERAL_BYTES: usize = 1 << 20;

/// An analyzed expression.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The expression; it gives arrays of `data_type.physical()`.
    pub expr: Expr,
    /// Its type in the dialect.
    pub data_type: DataType,
    /// Its value as an array of one row, if the same for all rows.
    pub constant: Option<ArrayRef>,
}

impl Typed {
    /// An expression that differs from row to row.
    pub fn new(expr: Expr, data_type: DataType) -> Self {
        Self {
            expr,
            data_type,
            constant: None,
        }
    }

    /// The column of that internal name.
    pub fn column(name: &str, data_type: DataType) -> Self {
        Self::new(column(name), data_type)
    }

    /// The one value of `array`.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if Arrow has no scalar of that type.
    pub fn constant(array: ArrayRef, data_type: DataType) -> Result<Self> {
        let scalar = ScalarValue::try_from_array(&array, 0).map_err(plan_error)?;
        Ok(Self {
            expr: Expr::Literal(scalar, None),
            data_type,
            constant: Some(array),
        })
    }

    /// What functions see of it while they resolve types.
    pub fn arg(&self) -> Arg {
        Arg {
            data_type: self.data_type.clone(),
            constant: self.constant.clone(),
        }
    }

    /// A boolean expression as the dialect's `UInt8`.
    pub fn from_predicate(predicate: Expr, nullable: bool) -> Self {
        let data_type = if nullable {
            DataType::UInt8.to_nullable()
        } else {
            DataType::UInt8
        };
        Self::new(
            Expr::Cast(Cast::new(Box::new(predicate), ArrowType::UInt8)),
            data_type,
        )
    }

    /// The expression as a boolean: any number is true unless zero.
    ///
    /// # Errors
    /// `ILLEGAL_TYPE_OF_COLUMN_FOR_FILTER` if it is no number.
    pub fn to_predicate(&self) -> Result<Expr> {
        if *self.data_type.base() == DataType::Nothing {
            return Ok(Expr::Literal(ScalarValue::Boolean(None), None));
        }
        if let Some(predicate) = predicate_of(&self.expr) {
            return Ok(predicate.clone());
        }
        if !self.data_type.is_integer() && !self.data_type.is_float() {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_COLUMN_FOR_FILTER,
                format!(
                    "A condition must be a number, compare it with something: its type is {}",
                    self.data_type
                ),
            ));
        }
        let zero = ScalarValue::new_zero(&self.data_type.physical()).map_err(plan_error)?;
        Ok(self.expr.clone().not_eq(lit(zero)))
    }

    /// Evaluates the expression now if it depends on no column and always gives the same.
    ///
    /// # Errors
    /// What the expression's functions report.
    pub fn folded(self) -> Result<Self> {
        let array = evaluate_constant(&self.expr)?;
        let max_bytes = match array.data_type() {
            ArrowType::List(_) | ArrowType::Struct(_) => MAX_LIST_BYTES,
            _ => MAX_LITERAL_BYTES,
        };
        if size_bytes(&array) > max_bytes {
            let constant = Some(Arc::clone(&array));
            return Ok(Self {
                expr: udf::large_constant(&self.expr, array, self.data_type.clone()),
                data_type: self.data_type,
                constant,
            });
        }
        Self::constant(array, self.data_type)
    }
}

/// Bytes of the values of `array`, without those beside them in shared buffers.
pub(crate) fn size_bytes(array: &ArrayRef) -> usize {
    if let Some(strings) = array.as_binary_view_opt() {
        return strings.lengths().map(|len| len as usize).sum::<usize>() + 16 * array.len();
    }
    if let Some(list) = array.as_list_opt::<i32>() {
        return (0..list.len()).map(|i| size_bytes(&list.value(i))).sum();
    }
    if let Some(map) = array.as_map_opt() {
        let entries = |i| -> ArrayRef { Arc::new(map.value(i)) };
        return (0..map.len()).map(|i| size_bytes(&entries(i))).sum();
    }
    if let Some(tuple) = array.as_struct_opt() {
        return tuple.columns().iter().map(size_bytes).sum();
    }
    let size_bytes = array.to_data().get_slice_memory_size();
    size_bytes.unwrap_or_else(|_| array.get_array_memory_size())
}

/// The boolean of an expression that is one in the clothes of a `UInt8`, as [`Typed::from_predicate`] makes them.
pub(crate) fn predicate_of(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Cast(cast)
            if cast.field.data_type() == &ArrowType::UInt8 && is_boolean(&cast.expr) =>
        {
            Some(&cast.expr)
        }
        _ => None,
    }
}

fn is_boolean(expr: &Expr) -> bool {
    use datafusion::logical_expr::Operator;
    match expr {
        Expr::BinaryExpr(binary) => {
            binary.op.supports_propagation() || matches!(binary.op, Operator::And | Operator::Or)
        }
        Expr::Not(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::InList(_)
        | Expr::Literal(ScalarValue::Boolean(_), _) => true,
        _ => false,
    }
}

/// The expression of an internal column name (never split at dots).
pub(crate) fn column(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

/// Evaluates an expression without columns to an array of one row.
///
/// # Errors
/// What the expression's functions report.
pub(crate) fn evaluate_constant(expr: &Expr) -> Result<ArrayRef> {
    let schema = DFSchema::empty();
    let props = ExecutionProps::new();
    let physical = create_physical_expr(expr, &schema, &props, &Default::default());
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options);
    let batch = batch.map_err(|e| Error::bug(e.to_string()))?;
    let physical = physical.map_err(plan_error)?;
    let work = move || {
        let value = physical.evaluate(&batch);
        value.and_then(|v| v.into_array(1)).map_err(plan_error)
    };
    let array = constants::compute(expr, Box::new(work))?;
    if array.len() == 1 {
        Ok(array)
    } else {
        Err(Error::bug("a constant has one value"))
    }
}

/// The value as an array of `num_rows` rows.
///
/// # Errors
/// `TOO_LARGE_ARRAY_SIZE` if no array can hold that many copies of a constant.
pub(crate) fn expanded(value: ColumnarValue, num_rows: usize) -> Result<ArrayRef> {
    let (len, what) = match &value {
        ColumnarValue::Scalar(ScalarValue::List(list)) => {
            (list.value_length(0), "elements of arrays")
        }
        ColumnarValue::Scalar(ScalarValue::Map(map)) => (map.value_length(0), "entries of maps"),
        _ => (0, ""),
    };
    if (len as usize).saturating_mul(num_rows) > i32::MAX as usize {
        let message = format!("Too many {what} for one block: {len} in each of {num_rows} rows");
        return Err(Error::new(ErrorCode::TOO_LARGE_ARRAY_SIZE, message));
    }
    value.into_array(num_rows).map_err(plan_error)
}

/// The engine's error inside an error of DataFusion, or a bug if it is DataFusion's own.
pub fn plan_error(e: datafusion::error::DataFusionError) -> Error {
    use datafusion::error::DataFusionError;
    match e {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::bug(other.to_string()),
        },
        DataFusionError::Context(_, inner) => plan_error(*inner),
        DataFusionError::Diagnostic(_, inner) => plan_error(*inner),
        DataFusionError::Shared(inner) => match shared_error(&inner) {
            Some(error) => error,
            None => Error::bug(inner.to_string()),
        },
        DataFusionError::ArrowError(inner, _) => match *inner {
            datafusion::arrow::error::ArrowError::ExternalError(e) => match e.downcast::<Error>() {
                Ok(error) => *error,
                Err(other) => match other.downcast::<DataFusionError>() {
                    Ok(e) => plan_error(*e),
                    Err(other) => Error::bug(other.to_string()),
                },
            },
            other => Error::bug(other.to_string()),
        },
        DataFusionError::ResourcesExhausted(message) => out_of_memory(&message),
        DataFusionError::NotImplemented(what) => Error::not_implemented(what),
        DataFusionError::IoError(e) => e.downcast::<Error>().unwrap_or_else(Error::from),
        other => Error::bug(other.strip_backtrace()),
    }
}

fn shared_error(e: &datafusion::error::DataFusionError) -> Option<Error> {
    use datafusion::error::DataFusionError;
    match e {
        DataFusionError::External(inner) => inner.downcast_ref::<Error>().cloned(),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            shared_error(inner)
        }
        DataFusionError::Shared(inner) => shared_error(inner),
        DataFusionError::ResourcesExhausted(message) => Some(out_of_memory(message)),
        _ => None,
    }
}

/// DataFusion tells behind ` with ` what its pool and the operator hold: nothing that helps a user.
fn out_of_memory(message: &str) -> Error {
    /// What DataFusion's join calls the rows of its right side.
    const JOINED: &str = "HashJoinInput";
    let what = message.split(" with ").next().unwrap_or(message);
    // Operators number their tasks.
    let what = what.trim_end_matches(|c: char| c == '[' || c == ']' || c.is_ascii_digit());
    let hint = match what.ends_with(JOINED) {
        true => {
            "Raise max_memory_usage, or set join_algorithm = 'grace_hash', which goes on in files"
        }
        false => "Raise max_memory_usage",
    };
    let what = what.replace(JOINED, "the right side of a JOIN");
    Error::new(
        ErrorCode::MEMORY_LIMIT_EXCEEDED,
        format!("{hint}: memory limit exceeded: {what}"),
    )
}

/// Our error on its way through DataFusion.
pub fn into_plan_error(e: Error) -> datafusion::error::DataFusionError {
    datafusion::error::DataFusionError::External(Box::new(e))
}

#[cfg(test)]
mod tests {
    use super::out_of_memory;

    #[test]
    fn memory_is_told_in_the_words_of_sql() {
        let told = |name: &str| {
            let pool = format!("Failed to allocate additional 4.0 MB for {name} with 3.0 MB");
            out_of_memory(&pool).to_string()
        };
        assert!(told("ORDER BY").contains(
            "Raise max_memory_usage: memory limit exceeded: Failed to allocate additional 4.0 MB for ORDER BY"
        ));
        let join = told("HashJoinInput[12]");
        assert!(join.contains("join_algorithm = 'grace_hash'"), "{join}");
        assert!(join.contains("for the right side of a JOIN"), "{join}");
        assert!(!join.contains('['), "{join}");
    }
}
