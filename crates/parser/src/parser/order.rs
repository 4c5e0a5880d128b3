//! Parses ORDER BY.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, InterpolateItem, OrderBy, OrderItem, WithFill};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// What follows ORDER BY.
    pub(super) fn order_by(&mut self) -> Result<OrderBy> {
        let all = self.is_word(0, "ALL")
            && !matches!(self.token(1).kind, K::Comma | K::Dot | K::OpenRound);
        if all {
            let mut item = self.order_item()?;
            item.expr.kind = ExprKind::Identifier(vec!["all".to_owned()]);
            return Ok(OrderBy::All(Box::new(item)));
        }
        let items = self.list(Self::order_item)?;
        let interpolate = if self.keyword("INTERPOLATE") {
            if self.peek_symbol(K::OpenRound) {
                Some(self.parenthesised(Self::interpolate_item)?)
            } else {
                Some(Vec::new())
            }
        } else {
            None
        };
        Ok(OrderBy::Items { items, interpolate })
    }

    fn interpolate_item(&mut self) -> Result<InterpolateItem> {
        let column = self.identifier("column")?;
        let span = self.last_span();
        let expr = if self.keyword("AS") {
            self.expr()?
        } else {
            Expr::new(ExprKind::Identifier(vec![column.clone()]), span)
        };
        Ok(InterpolateItem {
            column,
            expr: Some(expr),
        })
    }

    /// `expr [ASC | DESC] [NULLS FIRST | LAST] [COLLATE 'x'] [WITH FILL ..]`
    pub(super) fn order_item(&mut self) -> Result<OrderItem> {
        let expr = self.aliased_expr()?;
        let direction = self.keyword_of(&["DESCENDING", "DESC", "ASCENDING", "ASC"]);
        let nulls = self.keyword_of(&["NULLS FIRST", "NULLS LAST"]);
        let collate = if self.keyword("COLLATE") {
            Some(self.name_or_string("collation")?)
        } else {
            None
        };
        let with_fill = if self.keyword("WITH FILL") {
            Some(Box::new(self.with_fill()?))
        } else {
            None
        };
        Ok(OrderItem {
            expr,
            descending: matches!(direction, Some(0 | 1)),
            nulls_first: nulls.map(|choice| choice == 0),
            collate,
            with_fill,
        })
    }

    fn with_fill(&mut self) -> Result<WithFill> {
        let mut fill = WithFill::default();
        if self.keyword("FROM") {
            fill.from = Some(self.expr()?);
        }
        if self.keyword("TO") {
            fill.to = Some(self.expr()?);
        }
        if self.keyword("STEP") {
            fill.step = Some(self.expr()?);
        }
        if self.keyword("STALENESS") {
            fill.staleness = Some(self.expr()?);
        }
        Ok(fill)
    }
}
