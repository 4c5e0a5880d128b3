//! Parses queries: set operations, SELECT and its clauses.

use basalt_error::{ErrorCode, Result};

use super::Parser;
use crate::ast::{
    Distinct, Expr, ExprKind, GroupBy, GroupByKind, LimitBy, OrderBy, Query, Select, SetExpr,
    SetOperator, Span, WithItem,
};
use crate::lexer::TokenKind as K;

/// Levels of depth that a nested query counts as.
pub(super) const QUERY_LEVELS: u32 = 8;

/// Levels that a set operation adds to what stands on its left.
const SET_LEVELS: u32 = 3;

const SET_OPERATORS: &[(&str, SetOperator)] = &[
    ("UNION ALL", SetOperator::UnionAll),
    ("UNION DISTINCT", SetOperator::UnionDistinct),
    ("UNION", SetOperator::UnionDefault),
    ("EXCEPT ALL", SetOperator::ExceptAll),
    ("EXCEPT DISTINCT", SetOperator::ExceptDistinct),
    ("EXCEPT", SetOperator::ExceptDefault),
    ("INTERSECT ALL", SetOperator::IntersectAll),
    ("INTERSECT DISTINCT", SetOperator::IntersectDistinct),
    ("INTERSECT", SetOperator::IntersectDefault),
];

impl Parser<'_> {
    /// Whether a SELECT begins here, without parentheses before it.
    pub(super) fn at_query(&mut self) -> bool {
        if self.peek_keyword("SELECT") {
            return true;
        }
        let with = self.is_word(0, "WITH");
        let from = self.is_word(0, "FROM");
        with || (from
            && matches!(
                self.token(1).kind,
                K::Word | K::QuotedIdentifier | K::OpenRound
            ))
    }

    /// Whether a SELECT or parentheses with a SELECT begin here.
    pub(super) fn at_query_or_parentheses(&mut self) -> bool {
        let mut ahead = 0;
        while self.token(ahead).kind == K::OpenRound {
            ahead += 1;
        }
        ["SELECT", "WITH", "FROM"]
            .iter()
            .any(|word| self.is_word(ahead, word))
    }

    /// A whole query with its output options.
    pub(super) fn query(&mut self) -> Result<Query> {
        let body = self.query_body()?;
        Ok(Query {
            body,
            output: self.output_options()?,
        })
    }

    /// A query without output options, as in subqueries.
    pub(super) fn query_body(&mut self) -> Result<SetExpr> {
        self.enter(QUERY_LEVELS)?;
        let outer = std::mem::take(&mut self.height);
        let first = self.set_operand()?;
        let body = self.set_operations(first)?;
        self.height = (self.height + SET_LEVELS).max(outer);
        self.leave(QUERY_LEVELS);
        Ok(body)
    }

    pub(super) fn at_set_operator(&mut self) -> bool {
        self.peek_keyword("UNION") || self.peek_keyword("EXCEPT") || self.peek_keyword("INTERSECT")
    }

    /// What follows `left`: operators and operands; INTERSECT binds tighter than the others.
    pub(super) fn set_operations(&mut self, left: SetExpr) -> Result<SetExpr> {
        let mut left = self.intersections(left)?;
        while let Some(operator) = self.set_operator(false) {
            let right = self.set_operand()?;
            let right = self.intersections(right)?;
            left = self.combine(left, operator, right)?;
        }
        Ok(left)
    }

    fn intersections(&mut self, mut left: SetExpr) -> Result<SetExpr> {
        while let Some(operator) = self.set_operator(true) {
            let right = self.set_operand()?;
            left = self.combine(left, operator, right)?;
        }
        Ok(left)
    }

    fn set_operator(&mut self, intersect: bool) -> Option<SetOperator> {
        let is_intersect = |words: &str| words.starts_with("INTERSECT");
        let mut choices = SET_OPERATORS
            .iter()
            .filter(|(words, _)| is_intersect(words) == intersect);
        choices
            .find(|(words, _)| self.keyword(words))
            .map(|(_, operator)| *operator)
    }

    /// Chains of one operator become one node.
    fn combine(&mut self, left: SetExpr, op: SetOperator, right: SetExpr) -> Result<SetExpr> {
        match left {
            SetExpr::Operation {
                operator,
                mut branches,
            } if operator == op => {
                branches.push(right);
                Ok(SetExpr::Operation { operator, branches })
            }
            left => {
                self.height += SET_LEVELS;
                self.check_depth()?;
                Ok(SetExpr::Operation {
                    operator: op,
                    branches: vec![left, right],
                })
            }
        }
    }

    /// A SELECT, or a query in parentheses.
    fn set_operand(&mut self) -> Result<SetExpr> {
        if !self.symbol(K::OpenRound) {
            return Ok(SetExpr::Select(self.select()?));
        }
        let inner = self.query_body()?;
        self.expect_symbol(K::CloseRound)?;
        Ok(match inner {
            SetExpr::Operation { .. } => SetExpr::Nested(Box::new(inner)),
            single => single,
        })
    }

    /// One SELECT.
    fn select(&mut self) -> Result<Box<Select>> {
        let start = self.start_span();
        let mut select = Box::<Select>::default();
        self.with_clause(&mut select)?;
        self.select_body(&mut select)?;
        select.span = self.span_from(start);
        Ok(select)
    }

    pub(super) fn with_clause(&mut self, select: &mut Select) -> Result<()> {
        if self.keyword("WITH") {
            select.recursive = self.keyword("RECURSIVE");
            select.with = self.list(Self::with_item)?;
        }
        Ok(())
    }

    /// SELECT after its WITH.
    fn select_body(&mut self, select: &mut Select) -> Result<()> {
        let from_first = self.keyword("FROM");
        if from_first {
            select.from = self.table_list()?;
        }
        if !from_first || self.peek_keyword("SELECT") {
            self.expect_keyword("SELECT")?;
            self.select_list(select)?;
            if !from_first && self.keyword("FROM") {
                select.from = self.table_list()?;
            }
        } else {
            select.columns = vec![self.asterisk(None, Span::default())?];
        }
        self.filter_clauses(select)?;
        self.order_clauses(select)
    }

    fn with_item(&mut self) -> Result<WithItem> {
        if let Some(item) = self.with_subquery()? {
            return Ok(item);
        }
        Ok(WithItem::Expr(self.aliased_expr()?))
    }

    /// `name [(columns)] AS [MATERIALIZED] (SELECT ..)`
    fn with_subquery(&mut self) -> Result<Option<WithItem>> {
        if !matches!(self.kind(), K::Word | K::QuotedIdentifier) {
            return Ok(None);
        }
        let mark = self.mark();
        let name = self.identifier("name")?;
        let mut columns = Vec::new();
        if self.symbol(K::OpenRound) {
            while let Some(column) = self.try_identifier("column name")? {
                columns.push(column);
                if !self.symbol(K::Comma) {
                    break;
                }
            }
            if !self.symbol(K::CloseRound) {
                self.back(mark);
                return Ok(None);
            }
        }
        let is_subquery = self.keyword("AS") && {
            let ahead = usize::from(self.is_word(0, "MATERIALIZED"));
            self.token(ahead).kind == K::OpenRound
        };
        if !is_subquery {
            self.back(mark);
            return Ok(None);
        }
        let materialized = self.keyword("MATERIALIZED");
        self.expect_symbol(K::OpenRound)?;
        let start = self.start_span();
        let body = match self.at_rows() {
            true => self.rows_as_query(start)?,
            false => self.query_body()?,
        };
        let query = Box::new(Query::new(body));
        self.expect_symbol(K::CloseRound)?;
        Ok(Some(WithItem::Subquery {
            name,
            columns,
            materialized,
            query,
        }))
    }

    /// `[DISTINCT [ON (..)] | ALL] [TOP n [WITH TIES]] columns`
    fn select_list(&mut self, select: &mut Select) -> Result<()> {
        self.keyword("ALL");
        if self.keyword("DISTINCT ON") {
            let by = self.parenthesised(Self::expr)?;
            let one = ExprKind::Literal(crate::ast::Literal::UInt(1));
            let limit = Expr::new(one, self.last_span());
            select.limit_by = Some(LimitBy {
                limit,
                offset: None,
                by,
                all: false,
            });
        } else if self.keyword("DISTINCT") {
            select.distinct = Distinct::All;
        }
        if self.is_word(0, "TOP") && matches!(self.token(1).kind, K::Number | K::OpenRound) {
            self.advance();
            let mut limit = self.primary()?;
            limit.span.parenthesised = false;
            select.limit = Some(limit);
            select.with_ties = self.keyword("WITH TIES");
        }
        select.columns = vec![self.select_item()?];
        while self.symbol(K::Comma) {
            // A comma may stand after the last column.
            if (self.is_word(0, "FROM") && !self.is_followed_as_name())
                || matches!(self.kind(), K::End | K::Semicolon | K::CloseRound)
            {
                break;
            }
            select.columns.push(self.select_item()?);
        }
        Ok(())
    }

    /// PREWHERE to QUALIFY.
    fn filter_clauses(&mut self, select: &mut Select) -> Result<()> {
        if self.keyword("PREWHERE") {
            select.prewhere = Some(self.aliased_expr()?);
        }
        if self.keyword("WHERE") {
            select.where_ = Some(self.aliased_expr()?);
        }
        if self.keyword("GROUP BY") {
            select.group_by = Some(self.group_by()?);
        }
        if self.keyword("WITH TOTALS") {
            select.with_totals = true;
            if let Some(GroupBy::Exprs { kind, .. } | GroupBy::All(kind)) = &mut select.group_by {
                self.rollup_or_cube(kind);
            }
        }
        if self.keyword("HAVING") {
            select.having = Some(self.aliased_expr()?);
        }
        if self.keyword("WINDOW") {
            select.windows = self.list(Self::named_window)?;
        }
        if self.keyword("QUALIFY") {
            select.qualify = Some(self.aliased_expr()?);
        }
        Ok(())
    }

    fn group_by(&mut self) -> Result<GroupBy> {
        if self.is_word(0, "ALL") && !matches!(self.token(1).kind, K::Comma | K::Dot | K::OpenRound)
        {
            self.advance();
            let mut kind = GroupByKind::Plain;
            self.rollup_or_cube(&mut kind);
            return Ok(GroupBy::All(kind));
        }
        if self.keyword("GROUPING SETS") {
            let sets = self.parenthesised(Self::grouping_set)?;
            self.no_more_sets(&["WITH ROLLUP", "WITH CUBE"])?;
            return Ok(GroupBy::GroupingSets(sets));
        }
        let mut kind = GroupByKind::Plain;
        for (word, of) in [("ROLLUP", GroupByKind::Rollup), ("CUBE", GroupByKind::Cube)] {
            if self.token(1).kind == K::OpenRound && self.keyword(word) {
                kind = of;
            }
        }
        let exprs = if kind == GroupByKind::Plain {
            self.list(Self::aliased_expr)?
        } else {
            self.parenthesised(Self::aliased_expr)?
        };
        self.rollup_or_cube(&mut kind);
        match kind {
            GroupByKind::Plain => {}
            GroupByKind::Rollup => self.no_more_sets(&["WITH CUBE"])?,
            GroupByKind::Cube => self.no_more_sets(&["WITH ROLLUP"])?,
        }
        Ok(GroupBy::Exprs { kind, exprs })
    }

    /// ROLLUP, CUBE and GROUPING SETS do not combine.
    fn no_more_sets(&mut self, clauses: &[&'static str]) -> Result<()> {
        let at = self.start_span();
        let Some(found) = self.keyword_of(clauses) else {
            return Ok(());
        };
        let clause = clauses[found];
        let message =
            format!("Write all sets as GROUPING SETS: {clause} behind other sets is not supported");
        Err(self.error_at(at, ErrorCode::NOT_IMPLEMENTED, message))
    }

    fn rollup_or_cube(&mut self, kind: &mut GroupByKind) {
        for (words, of) in [
            ("WITH ROLLUP", GroupByKind::Rollup),
            ("WITH CUBE", GroupByKind::Cube),
        ] {
            if *kind == GroupByKind::Plain && self.keyword(words) {
                *kind = of;
            }
        }
    }

    /// `(a, b)`, `()`, or one key; the brackets are the set's, those inside are a tuple's.
    fn grouping_set(&mut self) -> Result<Vec<Expr>> {
        if self.peek_symbol(K::OpenRound) {
            return self.parenthesised(Self::aliased_expr);
        }
        Ok(vec![self.aliased_expr()?])
    }

    /// ORDER BY to SETTINGS.
    fn order_clauses(&mut self, select: &mut Select) -> Result<()> {
        if self.keyword("ORDER BY") {
            select.order_by = Some(self.order_by()?);
        }
        let at = self.start_span();
        self.limits(select)?;
        if select.with_ties && select.order_by.is_none() {
            let text = "Add ORDER BY: WITH TIES takes the rows that are equal in its order to the last one";
            let code = ErrorCode::WITH_TIES_WITHOUT_ORDER_BY;
            return Err(self.error_at(at, code, text.to_owned()));
        }
        if self.keyword("SETTINGS") {
            select.settings = self.list(Self::setting)?;
        }
        Ok(())
    }

    /// A projection's query: no FROM.
    pub(super) fn projection_query(&mut self) -> Result<Select> {
        let start = self.start_span();
        let mut select = Select::default();
        if self.keyword("WITH") {
            select.with = self.list(Self::with_item)?;
        }
        self.expect_keyword("SELECT")?;
        select.columns = self.list(Self::select_item)?;
        if self.keyword("WHERE") {
            select.where_ = Some(self.expr()?);
        }
        if self.keyword("GROUP BY") {
            select.group_by = Some(self.group_by()?);
        }
        if self.keyword("ORDER BY") {
            select.order_by = Some(OrderBy::Items {
                items: self.list(Self::order_item)?,
                interpolate: None,
            });
        }
        select.span = self.span_from(start);
        Ok(select)
    }
}
