//! Resolves the select list: its expressions, and the names that users see.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind, Span};
use basalt_parser::{column_name, column_names};
use basalt_types::DataType;

use crate::Typed;
use crate::expr::Resolver;

/// An expression of the select list.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Name that users see.
    pub(crate) name: String,
    /// The expression.
    pub(crate) typed: Typed,
    /// Where it stands.
    pub(crate) span: Span,
}

impl Resolver<'_> {
    /// Resolves a select list, matchers expanded.
    pub(crate) fn items(&self, columns: &[ast::Expr]) -> Result<Vec<Item>> {
        let mut items = Vec::with_capacity(columns.len());
        let mut plain: Vec<(usize, usize)> = Vec::new();
        for (position, expr) in columns.iter().enumerate() {
            let _at = self.analyzer.enter(expr.span);
            let placed = |e| self.analyzer.placed(e, expr.span);
            if let ExprKind::Matcher(matcher) = &expr.kind {
                for matched in self.expand_matcher(matcher).map_err(placed)? {
                    let name = self.shown_name(&matched.shown, &matched.typed);
                    items.push(Item {
                        name,
                        typed: matched.typed,
                        span: expr.span,
                    });
                }
                continue;
            }
            if let Some(elements) = self.untupled(expr).map_err(placed)? {
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
                    let span = expr.span;
                    items.push(Item { name, typed, span });
                }
                continue;
            }
            let typed = self.resolve(expr)?;
            let shown = match self.is_alias(expr) {
                true => None,
                false => self.shown_identifier(expr, &typed),
            };
            let name = shown.unwrap_or_else(|| {
                plain.push((items.len(), position));
                String::new()
            });
            let span = expr.span;
            items.push(Item { name, typed, span });
        }
        if !plain.is_empty() {
            // Subqueries are numbered through the whole list.
            let shown: Vec<ast::Expr> = columns.iter().map(|e| self.with_shown_names(e)).collect();
            let mut names = column_names(&shown);
            for (item, position) in plain {
                items[item].name = std::mem::take(&mut names[position]);
            }
        }
        let of_nothing = |i: &&Item| i.typed.data_type == DataType::Nothing;
        if let Some(item) = items.iter().find(of_nothing) {
            let e = Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                "Cast the empty array to Array(T): a column cannot be of type Nothing",
            );
            return Err(self.analyzer.placed(e, item.span));
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
}

/// The argument of `untuple(argument)`, aliased or not.
fn untuple_argument(expr: &ast::Expr) -> Option<&ast::Expr> {
    match &expr.unaliased().kind {
        ExprKind::Function(f) if f.name == "untuple" && f.args.len() == 1 => f.args.first(),
        _ => None,
    }
}
