//! Parses what has no operator before it: constants, names, parentheses, brackets.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, Literal, NamePart, Query, QueryParameter, SetExpr, Span};
use crate::keywords::{is_follower, is_plain_name, is_reserved_name};
use crate::lexer::TokenKind as K;

/// Words that follow expressions, and aliases too.
const AFTER_EXPRESSIONS: &[&str] = &[
    "COMMENT",
    "DELETE",
    "GRANULARITY",
    "PRIMARY",
    "RECOMPRESS",
    "STALENESS",
    "STEP",
    "TO",
    "TTL",
    "TYPE",
    "UNIQUE",
];

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Result<Expr> {
        let start = self.start_span();
        match self.kind() {
            K::Number => {
                let Some(number) = self.try_number(false)? else {
                    return Err(self.failure());
                };
                Ok(Expr::new(ExprKind::Literal(number), start))
            }
            K::String | K::Heredoc | K::HexString | K::BinaryString => {
                let bytes = self.string("string")?;
                Ok(Expr::new(ExprKind::Literal(Literal::String(bytes)), start))
            }
            K::OpenRound => self.parentheses(),
            K::OpenSquare => {
                self.advance();
                let items = self.items_until(K::CloseSquare)?;
                Ok(Expr::new(ExprKind::Array(items), self.span_from(start)))
            }
            K::OpenCurly => self.query_parameter(),
            K::Asterisk => {
                self.advance();
                self.asterisk(None, start)
            }
            K::DoubleAt => self.global_variable(),
            K::Word => self.word(),
            K::QuotedIdentifier => match self.special_form()? {
                Some(form) => Ok(form),
                None => self.name(),
            },
            _ => self.fail("expression"),
        }
    }

    /// Expressions up to `close`, which is consumed.
    pub(super) fn items_until(&mut self, close: K) -> Result<Vec<Expr>> {
        if self.symbol(close) {
            return Ok(Vec::new());
        }
        let items = self.list(Self::aliased_expr)?;
        self.expect_symbol(close)?;
        Ok(items)
    }

    /// Expressions up to the closing parenthesis of a list that may have a comma before it.
    pub(super) fn items_with_last_comma(&mut self) -> Result<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.symbol(K::CloseRound) {
            items.push(self.aliased_expr()?);
            if !self.symbol(K::Comma) {
                self.expect_symbol(K::CloseRound)?;
                break;
            }
        }
        Ok(items)
    }

    /// `(SELECT ..)`, `(a)`, `(a, b)`, `(a,)`, `()`.
    fn parentheses(&mut self) -> Result<Expr> {
        let start = self.advance().span;
        if self.at_query() {
            let query = self.query_body()?;
            return self.subquery(query, start);
        }
        if self.at_rows() {
            let rows = self.rows_as_query(start)?;
            return self.subquery(rows, start);
        }
        if self.symbol(K::CloseRound) {
            return Ok(self.call_expr("tuple", Vec::new(), start));
        }
        let mut first = self.aliased_expr()?;
        if let ExprKind::Subquery(query) = first.kind {
            if self.at_set_operator() {
                let body = self.set_operations(query.body)?;
                return self.subquery(body, start);
            }
            first.kind = ExprKind::Subquery(query);
        }
        if self.symbol(K::Comma) {
            let mut items = vec![first];
            items.extend(self.items_with_last_comma()?);
            if items.len() == 1 {
                return Ok(self.call_expr("tuple", items, start));
            }
            return Ok(Expr::new(ExprKind::Tuple(items), self.span_from(start)));
        }
        self.expect_symbol(K::CloseRound)?;
        Ok(Expr {
            span: Span {
                parenthesised: keeps_parentheses(&first),
                ..first.span
            },
            ..first
        })
    }

    fn subquery(&mut self, body: SetExpr, start: Span) -> Result<Expr> {
        self.expect_symbol(K::CloseRound)?;
        let query = ExprKind::Subquery(Box::new(Query::new(body)));
        Ok(Expr::new(query, self.span_from(start)))
    }

    /// `{name:Type}`
    fn query_parameter(&mut self) -> Result<Expr> {
        let start = self.advance().span;
        let name = self.identifier("parameter name")?;
        self.expect_symbol(K::Colon)?;
        let data_type = self.data_type()?;
        self.expect_symbol(K::CloseCurly)?;
        if data_type.name == "Identifier" && self.at_part_of_name() {
            return self.parameter_name(vec![NamePart::Parameter(name)], start);
        }
        let parameter = ExprKind::QueryParameter(Box::new(QueryParameter { name, data_type }));
        Ok(Expr::new(parameter, self.span_from(start)))
    }

    /// Whether a dot and a name, or a parameter in its place, are next.
    fn at_part_of_name(&mut self) -> bool {
        let part = [K::Word, K::QuotedIdentifier, K::OpenCurly].contains(&self.token(1).kind);
        self.kind() == K::Dot && part
    }

    /// The rest of a name of which some parts are parameters, from a dot on.
    fn parameter_name(&mut self, mut parts: Vec<NamePart>, start: Span) -> Result<Expr> {
        while self.at_part_of_name() {
            self.advance();
            let (name, is_parameter) = self.name_or_parameter("name")?;
            parts.push(match is_parameter {
                true => NamePart::Parameter(name),
                false => NamePart::Name(name),
            });
        }
        Ok(Expr::new(
            ExprKind::ParameterName(parts),
            self.span_from(start),
        ))
    }

    /// `@@name`
    fn global_variable(&mut self) -> Result<Expr> {
        let start = self.advance().span;
        let mut parts = self.compound_identifier("variable name")?;
        let is_scope = |scope: &String| ["session", "global"].contains(&scope.as_str());
        if parts.len() > 1 && parts.first().is_some_and(is_scope) {
            parts.remove(0);
        }
        let name = parts.join(".");
        let text = ExprKind::Literal(Literal::String(name.clone().into_bytes()));
        let argument = Expr::new(text, self.last_span());
        let call = self.call_expr("globalVariable", vec![argument], start);
        if self.peek_keyword("AS") {
            return Ok(call);
        }
        let span = call.span;
        let alias = ExprKind::Alias {
            expr: Box::new(call),
            name: format!("@@{name}"),
        };
        Ok(Expr::new(alias, span))
    }

    /// A word: a constant, a special form, a call or a name.
    fn word(&mut self) -> Result<Expr> {
        let start = self.start_span();
        if self.token(1).kind != K::OpenRound
            && let Some(literal) = self.word_constant()?
        {
            return Ok(Expr::new(ExprKind::Literal(literal), start));
        }
        if let Some(expr) = self.special_form()? {
            return Ok(expr);
        }
        let text = self.token_text(0);
        let is_called = self.token(1).kind == K::OpenRound;
        if is_reserved_name(text) && !is_called && !self.is_followed_as_name() {
            return self.fail("expression");
        }
        self.name()
    }

    /// Whether what stands behind the next word follows names: a reserved word begins nothing there.
    pub(super) fn is_followed_as_name(&mut self) -> bool {
        let next = self.token(1);
        match next.kind {
            // `FROM format` and the like begin a clause, `group FROM t` does not.
            K::Word if self.is_word(0, "FROM") => self.is_word(1, "FROM") || self.is_word(1, "AS"),
            K::Word => {
                is_follower(self.slice(next.span))
                    || AFTER_EXPRESSIONS.iter().any(|word| self.is_word(1, word))
            }
            // None of these clauses begins with an operator.
            K::Asterisk | K::Minus | K::OpenSquare if is_plain_name(self.token_text(0)) => true,
            K::Number
            | K::String
            | K::Heredoc
            | K::HexString
            | K::BinaryString
            | K::QuotedIdentifier
            | K::OpenRound
            | K::OpenSquare
            | K::OpenCurly
            | K::Asterisk
            | K::Minus
            | K::DoubleAt => false,
            _ => true,
        }
    }

    fn word_constant(&mut self) -> Result<Option<Literal>> {
        if self.token(1).kind == K::Dot {
            return Ok(None);
        }
        let literal = match self.token_text(0) {
            w if w.eq_ignore_ascii_case(b"NULL") => Literal::Null,
            w if w.eq_ignore_ascii_case(b"TRUE") => Literal::Bool(true),
            w if w.eq_ignore_ascii_case(b"FALSE") => Literal::Bool(false),
            _ => return self.try_number(false),
        };
        self.advance();
        Ok(Some(literal))
    }

    /// `a.b.c`, `f(..)`, `t.*`, `t.COLUMNS(..)`.
    fn name(&mut self) -> Result<Expr> {
        let start = self.start_span();
        let mut parts = vec![self.identifier("name")?];
        while self.kind() == K::Dot {
            let ahead = self.token(1).kind;
            let word = matches!(ahead, K::Word | K::QuotedIdentifier);
            if ahead == K::Asterisk {
                self.advance();
                self.advance();
                return self.asterisk(Some(parts), start);
            }
            if word && self.is_word(1, "COLUMNS") && self.token(2).kind == K::OpenRound {
                self.advance();
                self.advance();
                return self.columns_matcher(Some(parts), start);
            }
            if ahead == K::OpenCurly {
                let parts = parts.into_iter().map(NamePart::Name).collect();
                return self.parameter_name(parts, start);
            }
            if !word && !matches!(ahead, K::Caret | K::Colon) {
                break;
            }
            self.advance();
            parts.push(self.name_part()?);
            self.array_path(&mut parts);
        }
        if parts.len() > 1 {
            self.array_path(&mut parts);
        }
        if self.kind() == K::OpenRound {
            return self.call(parts.join("."), start);
        }
        Ok(Expr::new(
            ExprKind::Identifier(parts),
            self.span_from(start),
        ))
    }

    /// A part of a name after a dot: a name, or a JSON subcolumn `^name`, `:Type`.
    fn name_part(&mut self) -> Result<String> {
        let sign = match self.kind() {
            K::Caret => '^',
            K::Colon => ':',
            _ => return self.identifier("name"),
        };
        self.advance();
        let name = self.identifier("name")?;
        Ok(format!("{sign}`{}`", name.replace('`', "\\`")))
    }

    /// `[]` after a JSON path, once for each level of arrays.
    fn array_path(&mut self, parts: &mut Vec<String>) {
        let mut levels = 0;
        while self.token(0).kind == K::OpenSquare && self.token(1).kind == K::CloseSquare {
            self.advance();
            self.advance();
            levels += 1;
        }
        if levels > 0 {
            let open = "Array(".repeat(levels);
            parts.push(format!(":`{open}JSON{}`", ")".repeat(levels)));
        }
    }
}

/// Whether parentheses around `expr` are kept by the formatter: all but those that change nothing.
fn keeps_parentheses(expr: &Expr) -> bool {
    !matches!(expr.kind, ExprKind::Tuple(_) | ExprKind::Subquery(_))
}
