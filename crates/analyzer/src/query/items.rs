//! Resolves the select list: its expressions, and the names that users see.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};
use basalt_parser::{column_name, column_names};
use basalt_types::DataType;

use crate::Typed;
use crate::expr::Resolver;
use crate::scope::Scope;

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
        for (expr, plain_name) in columns.iter().zip(column_names(columns)) {
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
            if let ExprKind::Function(f) = &expr.unaliased().kind
                && f.name == "untuple"
            {
                items.extend(self.untupled(expr, &f.args)?);
                continue;
            }
            let typed = self.resolve(expr)?;
            let name = self.shown_identifier(expr, &typed).unwrap_or(plain_name);
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

    /// `untuple(t)`: a column for each element.
    fn untupled(&self, expr: &ast::Expr, args: &[ast::Expr]) -> Result<Vec<Item>> {
        let [argument] = args else {
            return Err(Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                "Function untuple takes one argument, a tuple",
            ));
        };
        let typed = self.resolve(argument)?;
        let DataType::Tuple(tuple) = typed.data_type.clone() else {
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_METHOD,
                format!("Function untuple takes a tuple, got {}", typed.data_type),
            ));
        };
        let shown = column_name(argument);
        let item = |idx: usize| {
            let element = tuple.name(idx);
            let name = match &expr.kind {
                ExprKind::Alias { name, .. } => format!("{name}.{element}"),
                _ => format!("tupleElement({shown}, '{element}')"),
            };
            let position = crate::expr::literal::unsigned(idx as u64 + 1)?;
            let typed = self.call_by_name("tupleElement", vec![typed.clone(), position])?;
            Ok(Item { name, typed })
        };
        (0..tuple.types.len()).map(item).collect()
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
    let taken = scope.columns[..index].iter().any(|c| c.name == column.name);
    match column.qualifier.last() {
        Some(table) if taken => Some(format!("{table}.{}", column.name)),
        _ => Some(column.name.clone()),
    }
}
