//! Expands `*`, `t.*` and `COLUMNS(…)` with EXCEPT, REPLACE and APPLY.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ColumnTransformer, ExprKind, MatcherPattern};

use super::Resolver;
use super::identifier::{ARRAY_OF_COLUMN, EXACT_COLUMN};
use super::matcher_of_tuple::{Qualified, no_parts};
use crate::Typed;
use basalt_functions::scalar::search::regexp::cannot_compile;

/// A column that a matcher gave.
pub(crate) struct Matched {
    /// The expression as users would write it, for the name of the result.
    pub(crate) shown: ast::Expr,
    pub(crate) typed: Typed,
}

impl Resolver<'_> {
    /// The columns of a matcher, transformed and resolved; there may be none.
    pub(crate) fn expand_matcher(&self, matcher: &ast::ColumnMatcher) -> Result<Vec<Matched>> {
        let mut columns = self.matching_columns(matcher)?;
        for transformer in &matcher.transformers {
            self.transform(transformer, &mut columns)?;
        }
        let replaced = |t: &ColumnTransformer| match t {
            ColumnTransformer::Replace { items, .. } => items.iter().map(|i| i.1.clone()).collect(),
            _ => Vec::new(),
        };
        let replaced = matcher.transformers.iter().flat_map(replaced).collect();
        self.meaning_columns(replaced, || {
            let resolved = columns.into_iter().map(|c| {
                Ok(Matched {
                    typed: self.resolve(&c.expr)?,
                    shown: c.shown,
                })
            });
            resolved.collect()
        })
    }

    fn matching_columns(&self, matcher: &ast::ColumnMatcher) -> Result<Vec<Candidate>> {
        let qualifier = matcher.qualifier.as_deref().unwrap_or_default();
        let regexp = match &matcher.pattern {
            MatcherPattern::Regexp(pattern) => Some(compile(pattern)?),
            _ => None,
        };
        let meaning = if qualifier.is_empty() {
            Qualified::Unknown
        } else {
            self.qualified_parts(qualifier, &matcher.pattern)?
        };
        if let Qualified::Parts(parts) = meaning {
            return Ok(parts);
        }
        if let MatcherPattern::List(names) = &matcher.pattern {
            return names.iter().map(|n| Ok(Candidate::named(n))).collect();
        }
        let mut found = Vec::new();
        let mut is_table = qualifier.is_empty();
        for (i, column) in self.scope.columns.iter().enumerate() {
            if !column.qualifier.ends_with(qualifier) {
                continue;
            }
            let matches = match &regexp {
                Some(r) => r.is_match(&column.name),
                None => true,
            };
            let shown = column.is_shown()
                || (column.merged && !qualifier.is_empty())
                || (regexp.is_some() && column.is_declared());
            is_table |= shown;
            if shown && matches {
                let marker = match column.array {
                    Some(_) if !qualifier.is_empty() => ARRAY_OF_COLUMN,
                    _ => EXACT_COLUMN,
                };
                found.push(Candidate::exact(marker, i, &column.name));
            }
        }
        if !is_table {
            return Err(no_parts(qualifier, &meaning));
        }
        Ok(found)
    }

    fn transform(
        &self,
        transformer: &ColumnTransformer,
        columns: &mut Vec<Candidate>,
    ) -> Result<()> {
        match transformer {
            ColumnTransformer::Except {
                strict,
                columns: names,
            } => {
                if *strict {
                    check_strict(columns, names.iter().filter_map(|n| n.last()), "EXCEPT")?;
                }
                columns.retain(|c| !names.iter().any(|n| c.is_named(n.last())));
            }
            ColumnTransformer::ExceptRegexp(pattern) => {
                let regexp = compile(pattern)?;
                columns.retain(|c| c.changed || !regexp.is_match(&c.name));
            }
            ColumnTransformer::Replace { strict, items } => {
                if *strict {
                    check_strict(columns, items.iter().map(|(_, n)| n), "REPLACE")?;
                }
                for column in columns.iter_mut() {
                    if let Some((expr, _)) = items.iter().find(|(_, n)| column.is_named(Some(n))) {
                        let kind = ExprKind::Alias {
                            expr: Box::new(expr.unaliased().clone()),
                            name: column.name.clone(),
                        };
                        column.shown = ast::Expr::new(kind, expr.span);
                        column.expr = expr.unaliased().clone();
                        column.changed = true;
                    }
                }
            }
            ColumnTransformer::Apply {
                function,
                params,
                prefix: _,
            } => {
                for column in columns.iter_mut() {
                    column.wrap(|inner| {
                        let mut call = ast::Function::call(function.clone(), vec![inner]);
                        call.params.clone_from(params);
                        ast::Expr::new(ExprKind::Function(Box::new(call)), ast::Span::default())
                    });
                }
            }
            ColumnTransformer::ApplyLambda(lambda) => {
                for column in columns.iter_mut() {
                    column.wrap(|inner| substitute(&lambda.body, &lambda.params, &inner));
                }
            }
        }
        Ok(())
    }
}

/// A column that is matched, before its transformers.
pub(super) struct Candidate {
    name: String,
    expr: ast::Expr,
    shown: ast::Expr,
    /// Whether APPLY or REPLACE has made something else of it, which the column's name does not mean.
    changed: bool,
}

impl Candidate {
    /// A part of a value that is shown as `value`.
    pub(super) fn part(value: &str, name: String, expr: ast::Expr) -> Self {
        Self {
            shown: identifier(&[format!("{value}.{name}")]),
            name,
            expr,
            changed: false,
        }
    }

    fn exact(marker: &str, index: usize, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            expr: identifier(&[marker.to_owned(), index.to_string()]),
            shown: identifier(&[name.to_owned()]),
            changed: false,
        }
    }

    fn named(parts: &[String]) -> Self {
        let name = parts.last().cloned().unwrap_or_default();
        Self {
            shown: identifier(std::slice::from_ref(&name)),
            name,
            expr: identifier(parts),
            changed: false,
        }
    }

    fn is_named(&self, name: Option<&String>) -> bool {
        !self.changed && name == Some(&self.name)
    }

    fn wrap(&mut self, f: impl Fn(ast::Expr) -> ast::Expr) {
        self.expr = f(self.expr.clone());
        self.shown = f(self.shown.unaliased().clone());
        self.changed = true;
    }
}

fn identifier(parts: &[String]) -> ast::Expr {
    ast::Expr::new(ExprKind::Identifier(parts.to_vec()), ast::Span::default())
}

pub(super) fn compile(pattern: &str) -> Result<regex::Regex> {
    regex::Regex::new(pattern).map_err(|e| cannot_compile(pattern, &e.to_string()))
}

fn check_strict<'n>(
    columns: &[Candidate],
    names: impl Iterator<Item = &'n String>,
    what: &str,
) -> Result<()> {
    for name in names {
        if !columns.iter().any(|c| c.is_named(Some(name))) {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Columns transformer {what} expects the column `{name}`"),
            ));
        }
    }
    Ok(())
}

/// `body` with `value` in the place of the one parameter.
fn substitute(body: &ast::Expr, params: &[String], value: &ast::Expr) -> ast::Expr {
    let all = |items: &[ast::Expr]| -> Vec<ast::Expr> {
        items.iter().map(|i| substitute(i, params, value)).collect()
    };
    let kind = match &body.kind {
        ExprKind::Identifier(parts) if parts.len() == 1 && params.contains(&parts[0]) => {
            return value.clone();
        }
        ExprKind::Array(items) => ExprKind::Array(all(items)),
        ExprKind::Tuple(items) => ExprKind::Tuple(all(items)),
        ExprKind::Function(f) => {
            let mut f = f.clone();
            f.args = all(&f.args);
            ExprKind::Function(f)
        }
        ExprKind::Alias { expr, name } => ExprKind::Alias {
            expr: Box::new(substitute(expr, params, value)),
            name: name.clone(),
        },
        other => other.clone(),
    };
    ast::Expr::new(kind, body.span)
}
