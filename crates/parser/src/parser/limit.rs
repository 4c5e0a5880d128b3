//! Parses LIMIT, LIMIT BY, OFFSET and FETCH.

use basalt_error::{ErrorCode, Result};

use super::Parser;
use crate::ast::{Expr, LimitBy, LimitRange, Select};
use crate::lexer::TokenKind as K;

/// Words that follow a count, so that AFTER and UNTIL before them are names.
const BEHIND_COUNTS: &[&str] = &[
    "AS",
    "BY",
    "OFFSET",
    "WITH TIES",
    "AFTER",
    "UNTIL",
    "FETCH",
    "SETTINGS",
    "FORMAT",
    "INTO OUTFILE",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "PARALLEL WITH",
];

/// The numbers of a LIMIT.
struct Count {
    limit: Expr,
    offset: Option<Expr>,
    with_ties: bool,
}

impl Parser<'_> {
    /// LIMIT BY, LIMIT, OFFSET, FETCH; TOP and DISTINCT ON are in `select` already.
    pub(super) fn limits(&mut self, select: &mut Select) -> Result<()> {
        let has_top = select.limit.is_some();
        let has_distinct_on = select.limit_by.is_some();
        let (mut has_offset, mut has_rows) = (false, false);
        let at = self.start_span();
        if self.keyword("LIMIT") {
            let count = self.limit_or_range(select)?;
            has_offset = count.as_ref().is_some_and(|c| c.offset.is_some());
            if let Some(count) = count {
                self.first_limit(select, count, has_top, has_distinct_on)?;
            }
            if has_top && (select.limit_range.is_some() || select.limit_by.is_none()) {
                let text = "Write only one of TOP and LIMIT";
                let code = ErrorCode::TOP_AND_LIMIT_TOGETHER;
                return Err(self.error_at(at, code, text.to_owned()));
            }
        } else if self.keyword("OFFSET") {
            has_offset = true;
            select.offset = Some(self.aliased_expr()?);
            has_rows = self.row_or_rows()?;
        }
        if !has_offset || has_rows {
            self.fetch(select, has_top)?;
        }
        let is_second = select.limit_by.is_some() && select.limit_range.is_none();
        if is_second && (select.limit.is_none()) && self.keyword("LIMIT") {
            let count = self.limit_or_range(select)?;
            if let Some(count) = count {
                (select.limit, select.offset) = (Some(count.limit), count.offset);
                select.with_ties |= count.with_ties;
                self.limit_range(select)?;
            }
        }
        Ok(())
    }

    /// What follows LIMIT: a count, or a range, which goes into `select`.
    fn limit_or_range(&mut self, select: &mut Select) -> Result<Option<Count>> {
        if self.limit_range(select)? {
            return Ok(None);
        }
        let mut limit = self.aliased_expr()?;
        let mut offset = None;
        if self.symbol(K::Comma) {
            offset = Some(std::mem::replace(&mut limit, self.aliased_expr()?));
        } else if self.keyword("OFFSET") {
            offset = Some(self.aliased_expr()?);
        }
        let with_ties = self.keyword("WITH TIES");
        Ok(Some(Count {
            limit,
            offset,
            with_ties,
        }))
    }

    /// The first LIMIT of a query, which may be a LIMIT BY.
    fn first_limit(
        &mut self,
        select: &mut Select,
        count: Count,
        has_top: bool,
        has_distinct_on: bool,
    ) -> Result<()> {
        let at = self.start_span();
        let is_by = self.keyword("BY");
        if count.with_ties && (is_by || has_distinct_on) {
            let text = "Leave out WITH TIES: it does not go together with LIMIT BY and DISTINCT ON";
            let code = ErrorCode::LIMIT_BY_WITH_TIES_IS_NOT_SUPPORTED;
            return Err(self.error_at(at, code, text.to_owned()));
        }
        if is_by && has_distinct_on {
            return self.fail("only one of DISTINCT ON and LIMIT BY");
        }
        if is_by {
            select.limit_by = Some(self.limit_by_keys(count.limit, count.offset)?);
            return Ok(());
        }
        if has_top {
            let text = "Write only one of TOP and LIMIT";
            let code = ErrorCode::TOP_AND_LIMIT_TOGETHER;
            return Err(self.error_at(at, code, text.to_owned()));
        }
        (select.limit, select.offset) = (Some(count.limit), count.offset);
        select.with_ties |= count.with_ties;
        self.limit_range(select)?;
        Ok(())
    }

    /// `AFTER condition [ALL] [UNTIL condition]`, `UNTIL condition`, if one is next.
    fn limit_range(&mut self, select: &mut Select) -> Result<bool> {
        let is_after = self.peek_keyword("AFTER");
        if !is_after && !self.peek_keyword("UNTIL") {
            return Ok(false);
        }
        let mark = self.mark();
        self.advance();
        let is_count = BEHIND_COUNTS.iter().any(|words| self.peek_keyword(words));
        let Some(first) = (if is_count {
            None
        } else {
            self.aliased_expr().ok()
        }) else {
            // `LIMIT after`: a column or constant of that name.
            self.back(mark);
            return Ok(false);
        };
        let mut range = LimitRange {
            after: None,
            all: false,
            until: None,
        };
        if is_after {
            range.after = Some(first);
            range.all = self.keyword("ALL");
            if self.keyword("UNTIL") {
                range.until = Some(self.aliased_expr()?);
            }
        } else {
            range.until = Some(first);
        }
        select.limit_range = Some(Box::new(range));
        Ok(true)
    }

    /// `ROW` or `ROWS`, if one is next.
    fn row_or_rows(&mut self) -> Result<bool> {
        let is_row = self.keyword("ROW");
        let at = self.start_span();
        let is_rows = self.keyword("ROWS");
        if is_row && is_rows {
            let text = "Write only one of ROW and ROWS";
            let code = ErrorCode::ROW_AND_ROWS_TOGETHER;
            return Err(self.error_at(at, code, text.to_owned()));
        }
        Ok(is_row || is_rows)
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

    /// `FETCH FIRST | NEXT n ROW | ROWS ONLY | WITH TIES`, if it is next.
    fn fetch(&mut self, select: &mut Select, has_top: bool) -> Result<()> {
        let at = self.start_span();
        if !self.keyword("FETCH") {
            return Ok(());
        }
        if select.order_by.is_none() {
            let text = "Add ORDER BY or write LIMIT: FETCH needs to know which rows are first";
            let code = ErrorCode::OFFSET_FETCH_WITHOUT_ORDER_BY;
            return Err(self.error_at(at, code, text.to_owned()));
        }
        let at = self.start_span();
        if self.keyword("FIRST") {
            if self.keyword("NEXT") {
                let text = "Write only one of FIRST and NEXT";
                let code = ErrorCode::FIRST_AND_NEXT_TOGETHER;
                return Err(self.error_at(at, code, text.to_owned()));
            }
        } else {
            self.expect_keyword("NEXT")?;
        }
        let limit = self.aliased_expr()?;
        if !has_top {
            select.limit = Some(limit);
        }
        if !self.row_or_rows()? {
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
