//! Parses ORDER BY, LIMIT, OFFSET and FETCH.

use basalt_error::{ErrorCode, Result};

use super::Parser;
use crate::ast::{Expr, ExprKind, InterpolateItem, LimitBy, OrderBy, OrderItem, Select, WithFill};
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

    /// LIMIT BY, LIMIT, OFFSET, FETCH.
    pub(super) fn limits(&mut self, select: &mut Select) -> Result<()> {
        while self.keyword("LIMIT") {
            let mut limit = self.expr()?;
            let mut offset = None;
            if self.symbol(K::Comma) {
                offset = Some(std::mem::replace(&mut limit, self.expr()?));
            } else if self.keyword("OFFSET") {
                offset = Some(self.expr()?);
            }
            let by = !self.is_word(0, "WITH") && self.keyword("BY");
            if by {
                if select.limit_by.is_some() {
                    return self.fail("only one of DISTINCT ON and LIMIT BY");
                }
                select.limit_by = Some(self.limit_by_keys(limit, offset)?);
                continue;
            }
            if select.limit.is_some() {
                return self.fail("only one of TOP and LIMIT");
            }
            select.limit = Some(limit);
            select.offset = offset;
            select.with_ties |= self.keyword("WITH TIES");
            break;
        }
        if select.offset.is_none() && self.keyword("OFFSET") {
            select.offset = Some(self.expr()?);
            let _optional = self.keyword("ROWS") || self.keyword("ROW");
        }
        let at = self.start_span();
        if select.limit.is_none() && self.keyword("FETCH") {
            if select.order_by.is_none() {
                let text = "Add ORDER BY or write LIMIT: FETCH needs to know which rows are first";
                let code = ErrorCode::OFFSET_FETCH_WITHOUT_ORDER_BY;
                return Err(self.error_at(at, code, text.to_owned()));
            }
            self.fetch(select)?;
        }
        Ok(())
    }

    fn limit_by_keys(&mut self, limit: Expr, offset: Option<Expr>) -> Result<LimitBy> {
        let all = self.is_word(0, "ALL")
            && !matches!(self.token(1).kind, K::Comma | K::Dot | K::OpenRound);
        if all {
            self.advance();
            return Ok(LimitBy {
                limit,
                offset,
                by: Vec::new(),
                all,
            });
        }
        Ok(LimitBy {
            limit,
            offset,
            by: self.list(Self::aliased_expr)?,
            all,
        })
    }

    /// `FIRST | NEXT n ROW | ROWS ONLY | WITH TIES`
    fn fetch(&mut self, select: &mut Select) -> Result<()> {
        if self.keyword_of(&["FIRST", "NEXT"]).is_none() {
            return Err(self.failure());
        }
        select.limit = Some(self.expr()?);
        if self.keyword_of(&["ROWS", "ROW"]).is_none() {
            return Err(self.failure());
        }
        select.with_ties = self.keyword("WITH TIES");
        if select.with_ties {
            Ok(())
        } else {
            self.expect_keyword("ONLY")
        }
    }
}
