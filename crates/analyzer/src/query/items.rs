//! Resolves the select list: its expressions, and the names that users see.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};
use basalt_parser::{column_name, column_names};
use basalt_types::DataType;

use crate::Typed;
use crate::expr::Resolver;
use crate::scope::ScopeColumn;

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
            if let Some(elements) = self.untupled(expr)? {
                let argument =
                    untuple_argument(expr).map(|a| column_name(&self.with_shown_names(a)));
                for (element, typed) in elements {
                    let name = match expr.alias() {
                        Some(alias) => format!("{alias}.{element}"),
                        None => format!(
                            "tupleElement({}, '{element}')",
                            argument.as_deref().unwrap_or_default()
                        ),
                    };
                    items.push(Item { name, typed });
                }
                continue;
            }
            let typed = self.resolve(expr)?;
            let name = self.shown_identifier(expr, &typed).unwrap_or(plain_name);
            items.push(Item { name, typed });
        }
        if items.iter().any(|i| i.typed.data_type == DataType::Nothing) {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                "Cast the empty array to Array(T): a column cannot be of type Nothing",
            ));
        }
        if items.is_empty() {
            return Err(Error::new(
                ErrorCode::EMPTY_LIST_OF_COLUMNS_QUERIED,
                "SELECT needs at least one column",
            ));
        }
        Ok(items)
    }

    /// The elements of an `untuple(t)` with their names; `None` for any other expression.
    pub(crate) fn untupled(&self, expr: &ast::Expr) -> Result<Option<Vec<(String, Typed)>>> {
        let Some(argument) = untuple_argument(expr) else {
            return Ok(None);
        };
        let tuple = self.resolve(argument)?;
        let DataType::Tuple(elements) = tuple.data_type.base().clone() else {
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_METHOD,
                format!(
                    "The argument of untuple must be a tuple, not {}",
                    tuple.data_type
                ),
            ));
        };
        let mut untupled = Vec::with_capacity(elements.types.len());
        for index in 0..elements.types.len() {
            let position = crate::expr::literal::unsigned(index as u64 + 1)?;
            let element = self.call_by_name("tupleElement", vec![tuple.clone(), position])?;
            untupled.push((elements.name(index), element));
        }
        Ok(Some(untupled))
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
                    && let Ok(Some((column, taken))) = self.names.find(parts)
                    && let Some(name) = self.shown_column(&column.internal)
                {
                    let rest = parts.split_off(taken);
                    *parts = std::iter::once(name).chain(rest).collect();
                }
            }
            ExprKind::QueryParameter(parameter) => {
                if let Ok(Some(shown)) = self.shown_parameter(parameter, expr.span) {
                    expr.kind = ExprKind::Identifier(vec![shown]);
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
            && let Some(name) = self.shown_column(&column.name)
        {
            return Some(name);
        }
        None
    }

    /// A column's name where several tables may have it: of one join the first is plain, the others
    /// qualified, of more joins all are qualified.
    fn shown_column(&self, internal: &str) -> Option<String> {
        let index = self.names.position(internal)?;
        let columns = &self.scope.columns;
        let column = &columns[index];
        // Merged columns are no tables' of their own.
        let has_table = |c: &ScopeColumn| !c.qualifier.is_empty() || c.merged;
        let are_several = column.origin.is_some();
        let others = self.names.of_name(&column.name).iter();
        let taken = others
            .filter(|i| **i < index || (are_several && **i > index))
            .map(|i| &columns[*i])
            .any(|c| has_table(c) || !column.merged);
        match column.qualifier.last() {
            Some(table) if taken => Some(format!("{table}.{}", column.name)),
            _ => Some(column.name.clone()),
        }
    }
}

/// The argument of `untuple(argument)`, aliased or not.
fn untuple_argument(expr: &ast::Expr) -> Option<&ast::Expr> {
    match &expr.unaliased().kind {
        ExprKind::Function(f) if f.name == "untuple" && f.args.len() == 1 => f.args.first(),
        _ => None,
    }
}
