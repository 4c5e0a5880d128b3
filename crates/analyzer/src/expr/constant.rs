//! Evaluates what must be constant, like the number in LIMIT.

use basalt_error::Result;
use basalt_parser::ast;
use basalt_types::DataType;
use datafusion::arrow::array::ArrayRef;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr;

use super::Resolver;
use super::aggregate::has_aggregate;
use crate::plan_error;

impl Resolver<'_> {
    /// The value of an expression, which may use constants by their names; `None` if it has a
    /// value for each row.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub(crate) fn constant(&self, expr: &ast::Expr) -> Result<Option<(ArrayRef, DataType)>> {
        // Rows and subqueries that it asks for are not to become the query's.
        let alone = Resolver::new(self.analyzer, self.outer, self.scope, self.aliases);
        let typed = alone.resolve(expr)?;
        if let Some(array) = typed.constant {
            return Ok(Some((array, typed.data_type)));
        }
        let makes_rows = !alone.array_joins.borrow().is_empty();
        let has_window = typed
            .expr
            .exists(|e| Ok(matches!(e, Expr::WindowFunction(_))));
        if makes_rows
            || typed.expr.any_column_refs()
            || has_aggregate(&typed.expr)
            || has_window.map_err(plan_error)?
        {
            return Ok(None);
        }
        let typed = typed.folded()?;
        Ok(typed.constant.map(|array| (array, typed.data_type)))
    }
}
