//! `sum(x + c)` with a constant `c` as `sum(x) + c * count(x)`: nothing is computed for each row,
//! and sums of one column with different constants are one sum.
//!
//! Integers only: all three wrap around at 2^64, so that both forms agree in every bit. Sums of
//! floats would be rounded elsewhere.

use basalt_error::Result;
use basalt_parser::ast::{self, ExprKind};
use basalt_types::DataType;
use datafusion::logical_expr::Expr;

use super::Resolver;
use crate::Typed;

impl Resolver<'_> {
    /// The sum `f` of the type `data_type` without the constant in its argument; none if it has
    /// another argument than a column plus or minus a constant.
    pub(super) fn sum_of_shifted(
        &self,
        f: &ast::Function,
        data_type: &DataType,
    ) -> Result<Option<Typed>> {
        let is_plain = f.params.is_none() && f.nulls.is_none() && f.over.is_none();
        if !is_plain
            || !f.name.eq_ignore_ascii_case("sum")
            || !self
                .analyzer
                .flag("optimize_arithmetic_operations_in_aggregate_functions")
        {
            return Ok(None);
        }
        let Some((operator, column, constant)) = shifted(&f.args) else {
            return Ok(None);
        };
        let (of_column, of_constant) = (self.resolve(column)?, self.resolve(constant)?);
        let is_integer = |t: &Typed| t.data_type.is_integer();
        if !matches!(of_column.expr, Expr::Column(_))
            || !is_integer(&of_column)
            || !is_integer(&of_constant)
        {
            return Ok(None);
        }
        let call = |name: &str, args| ast::Expr::call(name, args).at(column.span);
        let sum = call("sum", vec![column.clone()]);
        let count = call("count", vec![column.clone()]);
        let shift = call("multiply", vec![count, constant.clone()]);
        let sum = call(operator, vec![sum, shift]).cast(data_type);
        self.resolve(&sum).map(Some)
    }
}

/// The operator, column and constant of `x + c`, `c + x` or `x - c`.
fn shifted(args: &[ast::Expr]) -> Option<(&'static str, &ast::Expr, &ast::Expr)> {
    let [arg] = args else {
        return None;
    };
    let ExprKind::Function(f) = &arg.kind else {
        return None;
    };
    let [left, right] = f.args.as_slice() else {
        return None;
    };
    let is_column = |e: &ast::Expr| matches!(e.kind, ExprKind::Identifier(_));
    let is_constant = |e: &ast::Expr| matches!(e.kind, ExprKind::Literal(_));
    match f.name.as_str() {
        "plus" if is_column(left) && is_constant(right) => Some(("plus", left, right)),
        "plus" if is_constant(left) && is_column(right) => Some(("plus", right, left)),
        "minus" if is_column(left) && is_constant(right) => Some(("minus", left, right)),
        _ => None,
    }
}
