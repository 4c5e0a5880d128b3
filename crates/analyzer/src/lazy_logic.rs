//! Keeps the right side of AND and OR from failing on rows that the left side has decided.
//!
//! In `x != 0 AND intDiv(10, x) > 1` the division must not see a 0. DataFusion evaluates both sides
//! for all rows unless the left side leaves few, which is faster where nothing can fail; so only
//! sides that can are held back.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::compute::{and_kleene, or_kleene};
use datafusion::arrow::datatypes::{DataType as ArrowType, Schema};
use datafusion::common::internal_err;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::expressions::BinaryExpr;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use crate::udf::FunctionUdf;

/// Whether evaluating the expression can fail for some values of its columns.
pub fn may_fail(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let fails = expr
        .downcast_ref::<ScalarFunctionExpr>()
        .is_some_and(call_may_fail);
    fails || expr.children().into_iter().any(may_fail)
}

fn call_may_fail(call: &ScalarFunctionExpr) -> bool {
    let function = call.fun().inner().downcast_ref::<FunctionUdf>();
    function.is_none_or(FunctionUdf::may_fail)
}

/// The expression with each AND and OR whose right side may fail as one that holds it back.
///
/// # Errors
/// If the expression is damaged.
pub fn lazy(expr: Arc<dyn PhysicalExpr>) -> Result<Transformed<Arc<dyn PhysicalExpr>>> {
    expr.transform_up(|expr| {
        let Some(binary) = expr.downcast_ref::<BinaryExpr>() else {
            return Ok(Transformed::no(expr));
        };
        let is_logic = matches!(binary.op(), Operator::And | Operator::Or);
        if !is_logic || !may_fail(binary.right()) {
            return Ok(Transformed::no(expr));
        }
        Ok(Transformed::yes(Arc::new(LazyLogic {
            is_and: *binary.op() == Operator::And,
            left: Arc::clone(binary.left()),
            right: Arc::clone(binary.right()),
        })))
    })
}

/// As [`lazy`], if anything changes.
///
/// # Errors
/// As [`lazy`].
pub fn made_lazy(expr: &Arc<dyn PhysicalExpr>) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let lazy = lazy(Arc::clone(expr))?;
    Ok(lazy.transformed.then_some(lazy.data))
}

/// AND or OR, three-valued.
#[derive(Clone, Debug)]
struct LazyLogic {
    is_and: bool,
    left: Arc<dyn PhysicalExpr>,
    right: Arc<dyn PhysicalExpr>,
}

impl PartialEq for LazyLogic {
    fn eq(&self, other: &Self) -> bool {
        self.is_and == other.is_and && self.left.eq(&other.left) && self.right.eq(&other.right)
    }
}

impl Eq for LazyLogic {}

impl Hash for LazyLogic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.is_and.hash(state);
        self.left.hash(state);
        self.right.hash(state);
    }
}

impl LazyLogic {
    /// The rows that the left side leaves open.
    fn open_rows(&self, left: &BooleanArray) -> BooleanBuffer {
        let decided = if self.is_and {
            !left.values()
        } else {
            left.values().clone()
        };
        match left.nulls() {
            Some(nulls) => !&(&decided & nulls.inner()),
            None => !&decided,
        }
    }
}

fn flags(value: ColumnarValue, num_rows: usize) -> Result<BooleanArray> {
    let array = value.into_array(num_rows)?;
    match array.as_boolean_opt() {
        Some(flags) => Ok(flags.clone()),
        None => internal_err!("a condition of type {}", array.data_type()),
    }
}

impl fmt::Display for LazyLogic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = if self.is_and { "AND" } else { "OR" };
        write!(f, "({} {operator} {})", self.left, self.right)
    }
}

impl PhysicalExpr for LazyLogic {
    fn data_type(&self, _input_schema: &Schema) -> Result<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn nullable(&self, input_schema: &Schema) -> Result<bool> {
        Ok(self.left.nullable(input_schema)? || self.right.nullable(input_schema)?)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let num_rows = batch.num_rows();
        let left = flags(self.left.evaluate(batch)?, num_rows)?;
        let open = self.open_rows(&left);
        if open.count_set_bits() == 0 {
            return Ok(ColumnarValue::Array(Arc::new(left)));
        }
        let open = BooleanArray::new(open, None);
        let right = flags(self.right.evaluate_selection(batch, &open)?, num_rows)?;
        let both = if self.is_and {
            and_kleene(&left, &right)?
        } else {
            or_kleene(&left, &right)?
        };
        Ok(ColumnarValue::Array(Arc::new(both)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.left, &self.right]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match <[Arc<dyn PhysicalExpr>; 2]>::try_from(children) {
            Ok([left, right]) => Ok(Arc::new(Self {
                is_and: self.is_and,
                left,
                right,
            })),
            Err(_) => internal_err!("AND and OR have two sides"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
