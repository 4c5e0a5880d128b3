//! Parses `*`, `COLUMNS(..)` and their transformers.

use basalt_error::{ErrorCode, Result};

use super::Parser;
use crate::ast::{
    ColumnMatcher, ColumnTransformer, Expr, ExprKind, Function, Lambda, MatcherPattern, Span,
};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// What follows `*` or `t.*`.
    pub(super) fn asterisk(&mut self, qualifier: Option<Vec<String>>, start: Span) -> Result<Expr> {
        let pattern = match self.name_pattern()? {
            Some(regexp) => MatcherPattern::Regexp(regexp),
            None => MatcherPattern::All,
        };
        self.matcher(qualifier, pattern, start)
    }

    /// `LIKE 'pattern'`, `ILIKE 'pattern'` behind an asterisk: the regular expression for it.
    fn name_pattern(&mut self) -> Result<Option<String>> {
        let prefix = if self.keyword("LIKE") {
            ""
        } else if self.keyword("ILIKE") {
            "(?i)"
        } else {
            return Ok(None);
        };
        let span = self.start_span();
        let pattern = self.text_string("string literal")?;
        match regexp_of_like(&pattern) {
            Some(regexp) => Ok(Some(format!("{prefix}{regexp}"))),
            None => Err(self.error_at(
                span,
                ErrorCode::CANNOT_PARSE_ESCAPE_SEQUENCE,
                "write two backslashes for one at the end of a LIKE pattern".to_owned(),
            )),
        }
    }

    /// `('re')` or `(a, b)` after COLUMNS.
    pub(super) fn columns_matcher(
        &mut self,
        qualifier: Option<Vec<String>>,
        start: Span,
    ) -> Result<Expr> {
        self.expect_symbol(K::OpenRound)?;
        let pattern = if self.kind() == K::String {
            MatcherPattern::Regexp(self.text_string("regular expression")?)
        } else {
            MatcherPattern::List(self.list(|p| p.compound_identifier("column"))?)
        };
        self.expect_symbol(K::CloseRound)?;
        self.matcher(qualifier, pattern, start)
    }

    fn matcher(
        &mut self,
        qualifier: Option<Vec<String>>,
        pattern: MatcherPattern,
        start: Span,
    ) -> Result<Expr> {
        let mut transformers = Vec::new();
        while let Some(transformer) = self.transformer()? {
            transformers.push(transformer);
        }
        let matcher = ColumnMatcher {
            qualifier,
            pattern,
            transformers,
        };
        Ok(Expr::new(
            ExprKind::Matcher(Box::new(matcher)),
            self.span_from(start),
        ))
    }

    fn transformer(&mut self) -> Result<Option<ColumnTransformer>> {
        // EXCEPT may also be the set operation.
        let set_operation = self.is_word(1, "SELECT")
            || self.is_word(1, "ALL")
            || self.is_word(1, "DISTINCT")
            || self.is_word(1, "WITH")
            || (self.token(1).kind == K::OpenRound
                && (self.is_word(2, "SELECT") || self.token(2).kind == K::OpenRound));
        if !set_operation && self.keyword("EXCEPT") {
            return self.except().map(Some);
        }
        if self.keyword("REPLACE") {
            return self.replace().map(Some);
        }
        if self.keyword("APPLY") {
            return self.apply_transformer().map(Some);
        }
        Ok(None)
    }

    /// `[STRICT] a`, `[STRICT] (a, b)`, `'re'`, `('re')`
    fn except(&mut self) -> Result<ColumnTransformer> {
        let strict = self.keyword("STRICT");
        let in_parentheses = self.symbol(K::OpenRound);
        let transformer = if self.kind() == K::String {
            ColumnTransformer::ExceptRegexp(self.text_string("regular expression")?)
        } else if in_parentheses {
            let columns = self.list(|p| p.compound_identifier("column"))?;
            ColumnTransformer::Except { strict, columns }
        } else {
            let columns = vec![self.compound_identifier("column")?];
            ColumnTransformer::Except { strict, columns }
        };
        if in_parentheses {
            self.expect_symbol(K::CloseRound)?;
        }
        Ok(transformer)
    }

    /// `[STRICT] (expr AS name, ..)`, `[STRICT] expr AS name`
    fn replace(&mut self) -> Result<ColumnTransformer> {
        let strict = self.keyword("STRICT");
        let item = |p: &mut Self| -> Result<(Expr, String)> {
            let expr = p.expr()?;
            p.expect_keyword("AS")?;
            Ok((expr, p.identifier("column")?))
        };
        if !self.symbol(K::OpenRound) {
            return Ok(ColumnTransformer::Replace {
                strict,
                items: vec![item(self)?],
            });
        }
        let items = self.list(item)?;
        self.expect_symbol(K::CloseRound)?;
        Ok(ColumnTransformer::Replace { strict, items })
    }

    /// `f`, `f(params)`, `(f, 'prefix')`, `x -> body`, each perhaps in parentheses.
    fn apply_transformer(&mut self) -> Result<ColumnTransformer> {
        let in_parentheses = self.symbol(K::OpenRound);
        let mut prefix = None;
        let expr = if in_parentheses || self.token(1).kind == K::Arrow {
            self.expr()?
        } else {
            // Operators after the function are not its own.
            self.expr_above(super::operator::precedence::POSTFIX + 1)?
        };
        if in_parentheses {
            if self.symbol(K::Comma) {
                prefix = Some(self.text_string("prefix of the columns' names")?);
            }
            self.expect_symbol(K::CloseRound)?;
        }
        match expr.kind {
            ExprKind::Lambda(lambda) if prefix.is_none() => {
                Ok(ColumnTransformer::ApplyLambda(lambda))
            }
            ExprKind::Identifier(parts) => Ok(ColumnTransformer::Apply {
                function: parts.join("."),
                params: None,
                prefix,
            }),
            ExprKind::Function(function) => {
                let Function { name, args, .. } = *function;
                Ok(ColumnTransformer::Apply {
                    function: name,
                    params: Some(args),
                    prefix,
                })
            }
            _ => self.fail("function or lambda"),
        }
    }

    /// `-> body` after `params`, when the next token is the arrow.
    pub(super) fn lambda(&mut self, left: Expr, start: Span) -> Result<Expr> {
        let name_of = |e: &Expr| match &e.kind {
            ExprKind::Identifier(parts) if parts.len() == 1 => parts.first().cloned(),
            _ => None,
        };
        let params: Option<Vec<String>> = match &left.kind {
            ExprKind::Tuple(items) => items.iter().map(name_of).collect(),
            // `() -> x`, `(x,) -> x`
            ExprKind::Function(f) if f.name == "tuple" => f.args.iter().map(name_of).collect(),
            _ => name_of(&left).map(|name| vec![name]),
        };
        let Some(params) = params else {
            return self.fail("names of the lambda's parameters before ->");
        };
        self.expect_symbol(K::Arrow)?;
        let body = self.expr()?;
        if matches!(body.kind, ExprKind::Lambda(_)) && !body.span.parenthesised {
            return self.fail("parentheses around the lambda's result, which is a lambda");
        }
        let lambda = ExprKind::Lambda(Box::new(Lambda { params, body }));
        Ok(Expr::new(lambda, self.span_from(start)))
    }
}

/// The regular expression that finds what a pattern of LIKE matches; `None` if its last backslash
/// escapes nothing.
fn regexp_of_like(pattern: &str) -> Option<String> {
    let mut regexp = String::with_capacity(pattern.len() + 2);
    let body = pattern.trim_start_matches('%');
    if body.len() == pattern.len() {
        regexp.push('^');
    }
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '%' if chars.peek().is_none() => return Some(regexp),
            '%' => regexp.push_str(".*"),
            '_' => regexp.push('.'),
            // Only wildcards and the backslash itself are escaped.
            '\\' => match chars.peek()? {
                '%' | '_' | '\\' => push_literal(&mut regexp, chars.next()?),
                _ => push_literal(&mut regexp, c),
            },
            c => push_literal(&mut regexp, c),
        }
    }
    regexp.push('$');
    Some(regexp)
}

fn push_literal(regexp: &mut String, c: char) {
    if "^$.[|()?*+{\\".contains(c) {
        regexp.push('\\');
    }
    regexp.push(c);
}
