//! Parses forms with a grammar of their own: CASE, CAST, EXTRACT, TRIM, DATE_ADD and the like.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, Function, FunctionForm, Literal, Query, Span};
use crate::lexer::{TokenKind as K, decode_quoted};

/// Parts that EXTRACT takes besides the units of time, and the functions that give them.
const EXTRACT_PARTS: &[(&str, &str)] = &[
    ("SECOND", "toSecond"),
    ("MINUTE", "toMinute"),
    ("HOUR", "toHour"),
    ("DAY", "toDayOfMonth"),
    ("WEEK", "toISOWeek"),
    ("MONTH", "toMonth"),
    ("QUARTER", "toQuarter"),
    ("YEAR", "toYear"),
    ("DOY", "toDayOfYear"),
    ("DOW", "toDayOfWeek"),
    ("EPOCH", "toUnixTimestamp"),
    ("ISOYEAR", "toISOYear"),
    ("ISODOW", "toDayOfWeek"),
    ("NANOSECOND", "toNanosecond"),
    ("MICROSECOND", "toMicrosecond"),
    ("MILLISECOND", "toMillisecond"),
];

/// Names that a call cannot have without backticks: the parser would read another form.
pub(crate) fn is_special_call(name: &str) -> bool {
    const AS_WRITTEN: &[&str] = &[
        "CAST",
        "EXTRACT",
        "SUBSTRING",
        "POSITION",
        "OVERLAY",
        "EXISTS",
    ];
    let upper = name.to_ascii_uppercase();
    upper == "CASE"
        || (!AS_WRITTEN.contains(&upper.as_str())
            && CALLS.iter().any(|(call, _)| *call == upper)
            && name != "dateDiff")
}

type Form = fn(&mut Parser<'_>, Span) -> Result<Option<Expr>>;

/// Functions with a grammar of their own inside their parentheses, in upper case.
const CALLS: &[(&str, Form)] = &[
    ("CAST", |p, s| p.cast(s)),
    ("EXTRACT", |p, s| p.extract(s)),
    ("TRIM", |p, s| p.trim(s)),
    ("LTRIM", |p, s| p.renamed("trimLeft", s)),
    ("RTRIM", |p, s| p.renamed("trimRight", s)),
    ("SUBSTRING", |p, s| p.substring(s)),
    ("POSITION", |p, s| p.position(s)),
    ("OVERLAY", |p, s| p.overlay(s)),
    ("DATE_ADD", |p, s| p.date_add("plus", s)),
    ("DATEADD", |p, s| p.date_add("plus", s)),
    ("TIMESTAMP_ADD", |p, s| p.date_add("plus", s)),
    ("TIMESTAMPADD", |p, s| p.date_add("plus", s)),
    ("DATE_SUB", |p, s| p.date_add("minus", s)),
    ("DATESUB", |p, s| p.date_add("minus", s)),
    ("TIMESTAMP_SUB", |p, s| p.date_add("minus", s)),
    ("TIMESTAMPSUB", |p, s| p.date_add("minus", s)),
    ("DATE_DIFF", |p, s| p.date_diff(s)),
    ("DATEDIFF", |p, s| p.date_diff(s)),
    ("TIMESTAMP_DIFF", |p, s| p.date_diff(s)),
    ("TIMESTAMPDIFF", |p, s| p.date_diff(s)),
    ("EXISTS", |p, s| p.exists(s)),
    ("COLUMNS", |p, s| p.columns_matcher(None, s).map(Some)),
    ("NOT", |p, s| p.quoted_not(s)),
];

impl Parser<'_> {
    /// A form that begins with the word that is next; `None`, and nothing consumed, if it is none.
    pub(super) fn special_form(&mut self) -> Result<Option<Expr>> {
        let start = self.start_span();
        let mark = self.mark();
        let form = if self.token(1).kind == K::OpenRound {
            let word = self.unquoted(start).to_ascii_uppercase();
            match CALLS.iter().find(|(name, _)| name.as_bytes() == word) {
                Some((_, form)) => {
                    self.advance();
                    form(self, start)?
                }
                None => self.word_form(start)?,
            }
        } else {
            self.word_form(start)?
        };
        if form.is_none() {
            self.back(mark);
        }
        Ok(form)
    }

    /// The name at `start`, without its quotes: backticks, `"` or typographic ones, which begin with 0xE2.
    pub(super) fn unquoted(&self, start: Span) -> Vec<u8> {
        match self.slice(start) {
            quoted @ [b'`' | b'"' | 0xE2, ..] => decode_quoted(quoted),
            word => word.to_vec(),
        }
    }

    /// `` `not`(a) ``, the operator over what is in the parentheses alone.
    fn quoted_not(&mut self, start: Span) -> Result<Option<Expr>> {
        if !self.is_call_of_one() || self.token(1).kind == K::CloseRound {
            return Ok(None);
        }
        self.expect_symbol(K::OpenRound)?;
        if self.peek_keyword("DISTINCT") {
            return Ok(None);
        }
        let operand = self.aliased_expr()?;
        self.expect_symbol(K::CloseRound)?;
        Ok(Some(self.operator_call("not", vec![operand], start)))
    }

    /// Whether the parentheses that begin here hold no comma of their own, and no others follow them. Looks at
    /// tokens only: to parse the operand and to give it up would double the work of each nesting.
    fn is_call_of_one(&mut self) -> bool {
        let mut depth = 0_usize;
        for ahead in 0.. {
            match self.token(ahead).kind {
                K::OpenRound | K::OpenSquare | K::OpenCurly => depth += 1,
                K::CloseRound | K::CloseSquare | K::CloseCurly if depth == 1 => {
                    return self.token(ahead + 1).kind != K::OpenRound;
                }
                K::CloseRound | K::CloseSquare | K::CloseCurly => depth -= 1,
                K::Comma if depth == 1 => return false,
                K::End | K::Semicolon => return false,
                _ => {}
            }
        }
        false
    }

    /// CASE, INTERVAL, DATE and TIMESTAMP.
    fn word_form(&mut self, start: Span) -> Result<Option<Expr>> {
        if self.is_word(0, "CASE") {
            return self.case(start);
        }
        if self.is_word(0, "INTERVAL") {
            return self.interval(start);
        }
        for (word, function) in [("DATE", "toDate"), ("TIMESTAMP", "toDateTime")] {
            if self.is_word(0, word) && self.token(1).kind == K::String {
                self.advance();
                let text = self.primary()?;
                return Ok(Some(self.call_expr(function, vec![text], start)));
            }
        }
        Ok(None)
    }

    /// `CASE [x] WHEN a THEN b .. [ELSE c] END`
    fn case(&mut self, start: Span) -> Result<Option<Expr>> {
        // `case` alone is a name.
        if matches!(
            self.token(1).kind,
            K::Comma | K::Dot | K::End | K::CloseRound
        ) {
            return Ok(None);
        }
        self.advance();
        let mut args = Vec::new();
        let function = if self.peek_keyword("WHEN") {
            "multiIf"
        } else {
            args.push(self.aliased_expr()?);
            "caseWithExpression"
        };
        if !self.peek_keyword("WHEN") {
            return Err(self.failure());
        }
        while self.keyword("WHEN") {
            args.push(self.aliased_expr()?);
            self.expect_keyword("THEN")?;
            args.push(self.aliased_expr()?);
        }
        if self.keyword("ELSE") {
            args.push(self.aliased_expr()?);
        } else {
            args.push(Expr::new(
                ExprKind::Literal(Literal::Null),
                self.last_span(),
            ));
        }
        self.expect_keyword("END")?;
        Ok(Some(self.call_expr(function, args, start)))
    }

    /// `EXISTS (SELECT ..)`
    fn exists(&mut self, start: Span) -> Result<Option<Expr>> {
        let at = self.advance().span;
        if !self.at_query_or_parentheses() {
            return self.fail("SELECT");
        }
        if !self.at_query() {
            return Ok(None);
        }
        let body = self.query_body()?;
        self.expect_symbol(K::CloseRound)?;
        let query = ExprKind::Subquery(Box::new(Query::new(body)));
        let query = Expr::new(query, self.span_from(at));
        Ok(Some(self.call_expr("exists", vec![query], start)))
    }

    /// `CAST(x AS T)`; `CAST(x, 'T')` is a plain call.
    fn cast(&mut self, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        let at = self.start_span();
        let mut value = self.expr()?;
        while self.keyword("AS") {
            // `CAST(a AS b AS T)` and `CAST(a AS b, 'T')`: the first AS gives an alias.
            let mark = self.mark();
            if matches!(self.kind(), K::Word | K::QuotedIdentifier) {
                let name = self.identifier("alias")?;
                if self.peek_keyword("AS") || self.peek_symbol(K::Comma) {
                    let span = self.span_from(at);
                    value = Expr::new(
                        ExprKind::Alias {
                            expr: Box::new(value),
                            name,
                        },
                        span,
                    );
                    continue;
                }
            }
            self.back(mark);
            let type_start = self.start_span();
            let data_type = self.data_type()?;
            self.expect_symbol(K::CloseRound)?;
            let text = crate::format::format_data_type(&data_type).into_bytes();
            let span = self.span_from(type_start);
            let name = Expr::new(ExprKind::Literal(Literal::String(text)), span);
            return Ok(Some(self.call_expr("CAST", vec![value, name], start)));
        }
        let mut args = vec![value];
        self.expect_symbol(K::Comma)?;
        args.push(self.aliased_expr()?);
        self.expect_symbol(K::CloseRound)?;
        Ok(Some(self.call_expr("CAST", args, start)))
    }

    /// `EXTRACT(part FROM d)`; `extract(a, b)` is a plain call.
    fn extract(&mut self, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        if self.token(0).kind == K::CloseRound {
            return self.rest_of_call(Vec::new(), start).map(Some);
        }
        if !self.is_word(1, "FROM") {
            let first = vec![self.aliased_expr()?];
            return self.rest_of_call(first, start).map(Some);
        }
        let word = String::from_utf8_lossy(self.token_text(0)).to_ascii_uppercase();
        let part = super::interval::unit_of(&word).map_or(word, str::to_ascii_uppercase);
        let Some((_, function)) = EXTRACT_PARTS.iter().find(|(name, _)| *name == part) else {
            return self.fail("YEAR, MONTH, DAY or another part of a date");
        };
        self.advance();
        self.expect_keyword("FROM")?;
        let mut args = vec![self.expr()?];
        if part == "DOW" {
            // Sunday is 0.
            args.push(Expr::new(
                ExprKind::Literal(Literal::UInt(2)),
                self.last_span(),
            ));
        }
        self.expect_symbol(K::CloseRound)?;
        Ok(Some(self.call_expr(function, args, start)))
    }

    /// `TRIM([BOTH | LEADING | TRAILING what FROM] x)`
    fn trim(&mut self, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        let function = match self.keyword_of(&["BOTH", "LEADING", "TRAILING"]) {
            Some(0) => "trimBoth",
            Some(1) => "trimLeft",
            Some(_) => "trimRight",
            None => return self.arguments_of("trimBoth", start).map(Some),
        };
        let what = self.expr()?;
        self.expect_keyword("FROM")?;
        let args = vec![self.expr()?, what];
        self.expect_symbol(K::CloseRound)?;
        Ok(Some(self.call_expr(function, args, start)))
    }

    fn renamed(&mut self, function: &str, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        self.arguments_of(function, start).map(Some)
    }

    /// The rest of a call, which has at least one argument.
    fn arguments_of(&mut self, function: &str, start: Span) -> Result<Expr> {
        if self.kind() == K::CloseRound {
            return self.fail("an argument");
        }
        let args = self.items_until(K::CloseRound)?;
        Ok(self.call_expr(function, args, start))
    }

    /// `SUBSTRING(a FROM b [FOR c])`
    fn substring(&mut self, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        let mut args = vec![self.aliased_expr()?];
        if !self.keyword("FROM") {
            return self.longer_call(args, start).map(Some);
        }
        args.push(self.expr()?);
        if self.keyword("FOR") {
            args.push(self.expr()?);
        }
        self.expect_symbol(K::CloseRound)?;
        Ok(Some(self.call_expr("substring", args, start)))
    }

    /// `POSITION(needle IN haystack)`
    fn position(&mut self, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        let first = self.aliased_expr()?;
        match first.kind {
            ExprKind::Function(f)
                if f.name == "in"
                    && f.form == FunctionForm::Operator
                    && !first.span.parenthesised =>
            {
                let args = f.args.into_iter().rev().collect();
                self.expect_symbol(K::CloseRound)?;
                Ok(Some(self.call_expr("position", args, start)))
            }
            _ => self.longer_call(vec![first], start).map(Some),
        }
    }

    /// As [`Self::rest_of_call`], of a function whose first argument is not its last one.
    fn longer_call(&mut self, args: Vec<Expr>, start: Span) -> Result<Expr> {
        match self.peek_symbol(K::Comma) {
            true => self.rest_of_call(args, start),
            false => self.fail("','"),
        }
    }

    /// The plain call that `start` begins, after its first argument.
    fn rest_of_call(&mut self, mut args: Vec<Expr>, start: Span) -> Result<Expr> {
        if self.symbol(K::Comma) {
            args.extend(self.list(Self::aliased_expr)?);
        }
        self.expect_symbol(K::CloseRound)?;
        // Whatever case these words are in, the functions' names are in lower case.
        let name = String::from_utf8_lossy(&self.unquoted(start)).to_ascii_lowercase();
        Ok(self.call_expr(&name, args, start))
    }

    /// `OVERLAY(a PLACING b FROM c [FOR d])`
    fn overlay(&mut self, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        let mut args = vec![self.aliased_expr()?];
        if !self.keyword("PLACING") {
            return self.rest_of_call(args, start).map(Some);
        }
        args.push(self.expr()?);
        self.expect_keyword("FROM")?;
        args.push(self.expr()?);
        if self.keyword("FOR") {
            args.push(self.expr()?);
        }
        self.expect_symbol(K::CloseRound)?;
        Ok(Some(self.call_expr("overlay", args, start)))
    }

    /// `DATE_ADD(unit, n, d)`, `DATE_ADD(d, INTERVAL n unit)`
    fn date_add(&mut self, function: &str, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        let args = if let Some(unit) = self.leading_unit() {
            let amount = self.aliased_expr()?;
            self.expect_symbol(K::Comma)?;
            let date = self.aliased_expr()?;
            let span = amount.span;
            vec![
                date,
                self.call_expr(&format!("toInterval{unit}"), vec![amount], span),
            ]
        } else {
            let args = self.items_until(K::CloseRound)?;
            return Ok(Some(self.call_expr(function, args, start)));
        };
        self.expect_symbol(K::CloseRound)?;
        Ok(Some(self.call_expr(function, args, start)))
    }

    /// `DATE_DIFF(unit, a, b [, zone])`, the unit a word or an expression.
    fn date_diff(&mut self, start: Span) -> Result<Option<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        let args = if let Some(unit) = self.leading_unit() {
            let text = ExprKind::Literal(Literal::String(unit.to_ascii_lowercase().into_bytes()));
            let mut args = vec![Expr::new(text, self.last_span())];
            args.extend(self.list(Self::aliased_expr)?);
            self.expect_symbol(K::CloseRound)?;
            args
        } else {
            self.items_until(K::CloseRound)?
        };
        let call = Function::call("dateDiff", args);
        Ok(Some(Expr::new(
            ExprKind::Function(Box::new(call)),
            self.span_from(start),
        )))
    }

    /// A unit of time and the comma after it.
    fn leading_unit(&mut self) -> Option<&'static str> {
        if self.kind() != K::Word || self.token(1).kind != K::Comma {
            return None;
        }
        let unit = super::interval::unit_of(&String::from_utf8_lossy(self.token_text(0)))?;
        self.advance();
        self.advance();
        Some(unit)
    }
}
