//! Collects the names that a query gives to expressions, wherever it gives them.

use std::collections::{HashMap, HashSet};

use basalt_error::{Error, ErrorCode};
use basalt_parser::ast::{
    self, ColumnTransformer, ExprKind, FromElement, GroupBy, OrderBy, Span, WithItem,
};

use crate::query::Analyzer;

/// Aliases of one SELECT: usable in all of its clauses, also before the place they stand at.
#[derive(Debug, Default)]
pub(crate) struct Aliases<'a> {
    by_name: HashMap<&'a str, &'a ast::Expr>,
}

/// A name that stands for different expressions.
#[derive(Debug)]
pub(crate) struct Conflict {
    name: String,
    /// Where the second of them is.
    span: Span,
}

impl From<Conflict> for Error {
    fn from(conflict: Conflict) -> Self {
        Error::new(
            ErrorCode::MULTIPLE_EXPRESSIONS_FOR_ALIAS,
            format!(
                "Different expressions with the same alias `{}`",
                conflict.name
            ),
        )
    }
}

impl Analyzer<'_> {
    pub(crate) fn placed_conflict(&self, conflict: Conflict) -> Error {
        let span = conflict.span;
        self.placed(conflict.into(), span)
    }
}

impl<'a> Aliases<'a> {
    /// Collects the aliases of `select`.
    ///
    /// # Errors
    /// If a name stands for different expressions.
    pub(crate) fn of_select(select: &'a ast::Select) -> Result<Self, Conflict> {
        let mut aliases = Self::default();
        for item in &select.with {
            if let WithItem::Expr(expr) = item {
                aliases.walk(expr)?;
            }
        }
        let clauses = [
            &select.prewhere,
            &select.where_,
            &select.having,
            &select.qualify,
        ];
        let mut exprs: Vec<&'a ast::Expr> = select.columns.iter().collect();
        exprs.extend(clauses.into_iter().flatten());
        match &select.group_by {
            Some(GroupBy::Exprs { exprs: keys, .. }) => exprs.extend(keys),
            Some(GroupBy::GroupingSets(sets)) => exprs.extend(sets.iter().flatten()),
            Some(GroupBy::All(_)) | None => {}
        }
        if let Some(OrderBy::Items { items, .. }) = &select.order_by {
            exprs.extend(items.iter().map(|i| &i.expr));
        }
        exprs.extend(select.limit_by.iter().flat_map(|l| &l.by));
        for element in &select.from {
            if let FromElement::Table {
                join: Some(join), ..
            } = element
                && let Some(ast::JoinConstraint::On(on)) = &join.constraint
            {
                exprs.push(on);
            }
        }
        for expr in exprs {
            aliases.walk(expr)?;
        }
        for expr in &select.columns {
            if let ExprKind::Matcher(matcher) = &expr.kind {
                aliases.replaced(matcher)?;
            }
        }
        Ok(aliases)
    }

    /// The names of REPLACE, of several for one column the first, are aliases for the whole query.
    fn replaced(&mut self, matcher: &'a ast::ColumnMatcher) -> Result<(), Conflict> {
        let mut names = HashSet::new();
        for transformer in &matcher.transformers {
            let ColumnTransformer::Replace { items, .. } = transformer else {
                continue;
            };
            for (expr, name) in items {
                if names.insert(name) {
                    self.walk(expr.unaliased())?;
                    self.add(name, expr.unaliased())?;
                }
            }
        }
        Ok(())
    }

    /// Collects the aliases inside one expression.
    ///
    /// # Errors
    /// As [`Aliases::of_select`].
    pub(crate) fn walk(&mut self, expr: &'a ast::Expr) -> Result<(), Conflict> {
        match &expr.kind {
            ExprKind::Alias { expr: inner, name } => {
                // Of several aliases of one expression, `(a AS b) AS c`, the outermost counts.
                let mut inner = inner.as_ref();
                while let ExprKind::Alias { expr, .. } = &inner.kind {
                    inner = expr;
                }
                self.walk(inner)?;
                self.add(name, inner)
            }
            ExprKind::Array(items) | ExprKind::Tuple(items) => {
                items.iter().try_for_each(|i| self.walk(i))
            }
            ExprKind::Function(f) => f
                .params
                .iter()
                .flatten()
                .chain(&f.args)
                .try_for_each(|a| self.walk(a)),
            _ => Ok(()),
        }
    }

    /// Adds one name.
    ///
    /// # Errors
    /// As [`Aliases::of_select`].
    pub(crate) fn add(&mut self, name: &'a str, expr: &'a ast::Expr) -> Result<(), Conflict> {
        match self.by_name.insert(name, expr) {
            Some(other) if other != expr => Err(Conflict {
                name: name.to_owned(),
                span: expr.span,
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a ast::Expr> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.by_name.keys().copied()
    }
}
