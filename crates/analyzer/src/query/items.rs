//! Resolves the select list: its expressions, and the names that users see.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};
use basalt_parser::{column_name, column_names};

use crate::Typed;
use crate::expr::Resolver;
use crate::scope::{Scope, ScopeColumn};

/// An expression of the select list.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Name that users see.
    pub(crate) name: String,
    /// The expression.
    pub(crate) typed: Typed,
}

impl Resolver<'_> {
    /// Resolves a select list, matchers expanded.
    pub(crate) fn items(&self, columns: &[ast::Expr]) -> Result<Vec<Item>> {
        let mut items = Vec::with_capacity(columns.len());
        // Subqueries are numbered through the whole list.
        let named: Vec<ast::Expr> = columns.iter().map(|e| self.with_shown_names(e)).collect();
        for (expr, plain_name) in columns.iter().zip(column_names(&named)) {
            if let ExprKind::Matcher(matcher) = &expr.kind {
                for matched in self.expand_matcher(matcher)? {
                    let name = self.shown_name(&matched.shown, &matched.typed);
                    items.push(Item {
                        name,
                        typed: matched.typed,
                    });
                }
                continue;
            }
            let typed = self.resolve(expr)?;
            let name = self.shown_identifier(expr, &typed).unwrap_or(plain_name);
            if let ExprKind::Function(f) = &expr.unaliased().kind
                && f.name == "untuple"
            {
                return Err(Error::not_implemented("Function untuple"));
            }
            items.push(Item { name, typed });
        }
        if items.is_empty() {
            return Err(Error::new(
                ErrorCode::EMPTY_LIST_OF_COLUMNS_QUERIED,
                "SELECT needs at least one column",
            ));
        }
        Ok(items)
    }

    /// The expression with columns named as they show: `t.x` is `x`, unless another table has one.
    fn with_shown_names(&self, expr: &ast::Expr) -> ast::Expr {
        let mut shown = expr.clone();
        self.show_names(&mut shown);
        shown
    }

    fn show_names(&self, expr: &mut ast::Expr) {
        match &mut expr.kind {
            ExprKind::Identifier(parts) if parts.len() > 1 => {
                if self.aliases.get(&parts[0]).is_none()
                    && let Ok(Some((column, taken))) = self.scope.find(parts)
                    && let Some(name) = shown_column(self.scope, &column.internal)
                {
                    let rest = parts.split_off(taken);
                    *parts = std::iter::once(name).chain(rest).collect();
                }
            }
            ExprKind::Array(items) | ExprKind::Tuple(items) => {
                items.iter_mut().for_each(|i| self.show_names(i));
            }
            ExprKind::Function(f) => f.args.iter_mut().for_each(|a| self.show_names(a)),
            _ => {}
        }
    }

    fn shown_name(&self, expr: &ast::Expr, typed: &Typed) -> String {
        self.shown_identifier(expr, typed)
            .unwrap_or_else(|| column_name(expr))
    }

    /// The name of a column that stands alone, which does not depend on how it is written.
    fn shown_identifier(&self, expr: &ast::Expr, typed: &Typed) -> Option<String> {
        if let ExprKind::Identifier(_) = &expr.kind
            && let datafusion::logical_expr::Expr::Column(column) = &typed.expr
            && let Some(name) = shown_column(self.scope, &column.name)
        {
            return Some(name);
        }
        None
    }
}

/// A column's name where several tables may have it: the first is plain, the others qualified.
fn shown_column(scope: &Scope, internal: &str) -> Option<String> {
    let index = scope.columns.iter().position(|c| c.internal == internal)?;
    let column = &scope.columns[index];
    // Merged columns are no tables' of their own.
    let has_table = |c: &ScopeColumn| !c.qualifier.is_empty() || c.merged;
    let mut before = scope.columns[..index].iter();
    let taken = before.any(|c| c.name == column.name && (has_table(c) || !column.merged));
    match column.qualifier.last() {
        Some(table) if taken => Some(format!("{table}.{}", column.name)),
        _ => Some(column.name.clone()),
    }
}
