//! Tells the functions apart whose result follows the order of the rows.

use std::sync::Arc;

use basalt_analyzer::plan::is_of_rows_before;
use basalt_analyzer::udf::FunctionUdf;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

/// How the names of functions begin that show the order of the rows themselves.
const SHOWN: &[&str] = &[
    "any",
    "first_value",
    "groupArray",
    "groupConcat",
    "last_value",
];

/// How the names of functions begin that only follow an order which the query gives: of rows without one
/// each answer is as good as another.
const FOLLOWED: &[&str] = &[
    "argMax",
    "argMin",
    "deltaSum",
    "exponential",
    "histogram",
    "singleValueOrNull",
    "stochastic",
];

/// Whether the result of a function shows in which order the rows came.
pub(crate) fn shows_order(name: &str) -> bool {
    SHOWN.iter().any(|ordered| name.starts_with(ordered))
}

/// Whether rows that the query sorts must come in that order.
pub(crate) fn follows_sort(name: &str) -> bool {
    shows_order(name) || FOLLOWED.iter().any(|ordered| name.starts_with(ordered))
}

/// Whether the expression depends on the rows that came before.
pub(crate) fn looks_back(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let call = expr.downcast_ref::<ScalarFunctionExpr>();
    let function = call.and_then(|call| call.fun().inner().downcast_ref::<FunctionUdf>());
    let is_one = function.is_some_and(|f| is_of_rows_before(f.function_name()));
    is_one || expr.children().into_iter().any(looks_back)
}
