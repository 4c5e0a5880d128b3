//! Writes `*`, `COLUMNS(..)` and their transformers.

use super::Writer;
use super::text::quoted;
use crate::ast::{ColumnMatcher, ColumnTransformer, Expr, ExprKind, MatcherPattern};

impl Writer {
    pub(super) fn matcher(&mut self, matcher: &ColumnMatcher) {
        self.matcher_in(matcher, false);
    }

    /// A matcher that is a whole column of SELECT: no operator follows that a lambda could take in.
    pub(super) fn matcher_column(&mut self, matcher: &ColumnMatcher) {
        self.matcher_in(matcher, true);
    }

    fn matcher_in(&mut self, matcher: &ColumnMatcher, is_column: bool) {
        if let Some(qualifier) = &matcher.qualifier {
            self.identifier_parts(qualifier);
            self.put(".");
        }
        match &matcher.pattern {
            MatcherPattern::All => self.put("*"),
            MatcherPattern::Regexp(re) => {
                self.put("COLUMNS(");
                self.put(&quoted(re.as_bytes()));
                self.put(")");
            }
            MatcherPattern::List(names) => {
                self.put("COLUMNS(");
                self.commas(names, |w, name| w.column_path(name));
                self.put(")");
            }
        }
        for transformer in &matcher.transformers {
            self.transformer(transformer, is_column);
        }
    }

    /// A column's name of one or more parts.
    pub(super) fn column_path(&mut self, parts: &[String]) {
        for (i, part) in parts.iter().enumerate() {
            self.put_if(i > 0, ".");
            self.put_name(part);
        }
    }

    fn transformer(&mut self, transformer: &ColumnTransformer, is_column: bool) {
        match transformer {
            ColumnTransformer::Except { strict, columns } => {
                self.put(" EXCEPT ");
                self.put_if(*strict, "STRICT ");
                match columns.as_slice() {
                    [one]
                        if !one
                            .first()
                            .is_some_and(|n| n.eq_ignore_ascii_case("STRICT")) =>
                    {
                        self.column_path(one);
                    }
                    many => self.parentheses(many, |w, name| w.column_path(name)),
                }
            }
            ColumnTransformer::ExceptRegexp(re) => {
                self.put(" EXCEPT ");
                self.put(&quoted(re.as_bytes()));
            }
            ColumnTransformer::Replace { strict, items } => {
                self.put(" REPLACE ");
                self.put_if(*strict, "STRICT ");
                self.parentheses(items, |w, (expr, name)| {
                    w.expr(expr);
                    w.put(" AS ");
                    w.put_name(name);
                });
            }
            ColumnTransformer::Apply {
                function,
                params,
                prefix,
            } => {
                self.put(" APPLY ");
                self.put_if(prefix.is_some(), "(");
                self.applied_function(function, params.as_deref());
                if let Some(prefix) = prefix {
                    self.put(", ");
                    self.put(&quoted(prefix.as_bytes()));
                    self.put(")");
                }
            }
            ColumnTransformer::ApplyLambda(lambda) => {
                let takes_more = matches!(
                    lambda.body.kind,
                    ExprKind::Matcher(_) | ExprKind::Lambda(_) | ExprKind::Alias { .. }
                );
                let parentheses = !is_column || takes_more;
                self.put(" APPLY ");
                self.put_if(parentheses, "(");
                self.lambda(lambda);
                self.put_if(parentheses, ")");
            }
        }
    }

    fn applied_function(&mut self, function: &str, params: Option<&[Expr]>) {
        self.put_name(function);
        if let Some(params) = params {
            self.parentheses(params, |w, e| w.expr(e));
        }
    }
}
