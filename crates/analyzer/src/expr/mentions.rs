//! Remembers where columns and aggregate functions stand, for errors that are found when all clauses are
//! resolved.

use basalt_parser::ast::Span;
use datafusion::logical_expr::Expr;

/// What stands somewhere in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mentioned {
    /// The column of that internal name, outside of aggregate functions.
    Column(String),
    /// An aggregate or window function.
    Aggregation,
}

impl Mentioned {
    fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Column(column) => Some(Self::Column(column.name.clone())),
            Expr::AggregateFunction(_) | Expr::WindowFunction(_) => Some(Self::Aggregation),
            _ => None,
        }
    }
}

/// The places of what a query mentions, inner ones before those around them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions(Vec<(Mentioned, Span)>);

impl Mentions {
    /// Remembers that `expr` stands at `span`.
    pub(super) fn note(&mut self, expr: &Expr, span: Span) {
        self.0.extend(Mentioned::of(expr).map(|what| (what, span)));
    }

    /// These, and those of other clauses.
    pub(crate) fn with(mut self, mut others: Self) -> Self {
        self.0.append(&mut others.0);
        self
    }

    /// The first place of `wanted` within a part of the text.
    pub(crate) fn first(&self, wanted: &Mentioned, within: Span) -> Option<Span> {
        let is_inside = |span: &Span| within.start <= span.start && span.end <= within.end;
        let found = self
            .0
            .iter()
            .find(|(what, span)| what == wanted && is_inside(span));
        found.map(|(_, span)| *span)
    }
}
