//! Parses what follows a function's name: arguments, parameters, FILTER, NULLS, OVER.

use basalt_error::{ErrorCode, Result};

use super::Parser;
use crate::ast::{Expr, ExprKind, Function, NullsAction, Span};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// A call of `name`; the next token is the opening parenthesis.
    pub(super) fn call(&mut self, mut name: String, start: Span) -> Result<Expr> {
        if name.eq_ignore_ascii_case("grouping") {
            name.make_ascii_lowercase();
        }
        let (mut distinct, mut args) = self.call_arguments()?;
        let mut params = None;
        if self.symbol(K::OpenRound) {
            self.back(self.mark() - 1);
            params = Some(args);
            (distinct, args) = self.call_arguments()?;
        }
        let mut function = Function {
            params,
            ..Function::call(name, args)
        };
        if distinct {
            function.name += "Distinct";
        }
        self.call_suffix(&mut function)?;
        Ok(Expr::new(
            ExprKind::Function(Box::new(function)),
            self.span_from(start),
        ))
    }

    /// `([DISTINCT | ALL] args)`
    fn call_arguments(&mut self) -> Result<(bool, Vec<Expr>)> {
        self.expect_symbol(K::OpenRound)?;
        // `distinct` and `all` are also names: `f(distinct, 1)`, `f(all)`.
        let is_name = matches!(self.token(1).kind, K::Comma | K::CloseRound | K::Dot);
        let distinct = !is_name && self.keyword("DISTINCT");
        if !is_name && !distinct {
            self.keyword("ALL");
        }
        let args = self.arguments()?;
        let is_lambda = |e: &&Expr| matches!(e.kind, ExprKind::Lambda(_)) && !e.span.parenthesised;
        if let Some(late) = args.iter().skip(1).find(is_lambda) {
            let message = "Write the lambda first: it can only be a function's first argument";
            return Err(self.error_at(late.span, ErrorCode::SYNTAX_ERROR, message.to_owned()));
        }
        Ok((distinct, args))
    }

    /// Expressions up to the closing parenthesis; no comma stands before it.
    fn arguments(&mut self) -> Result<Vec<Expr>> {
        Ok(merge_lambda_names(self.items_until(K::CloseRound)?))
    }

    fn call_suffix(&mut self, function: &mut Function) -> Result<()> {
        loop {
            if self.keyword("FILTER") {
                self.expect_symbol(K::OpenRound)?;
                self.expect_keyword("WHERE")?;
                let condition = self.expr()?;
                self.expect_symbol(K::CloseRound)?;
                function.name += "If";
                if matches!(
                    function.args.as_slice(),
                    [Expr {
                        kind: ExprKind::Matcher(_),
                        ..
                    }]
                ) {
                    function.args.clear();
                }
                function.args.push(condition);
            } else if self.keyword("RESPECT NULLS") {
                function.nulls = Some(NullsAction::Respect);
            } else if self.keyword("IGNORE NULLS") {
                function.nulls = Some(NullsAction::Ignore);
            } else if self.keyword("OVER") {
                function.over = Some(self.window_reference()?);
                return Ok(());
            } else {
                return Ok(());
            }
        }
    }
}

/// `f(a, x -> body)` is `f((a, x) -> body)`: names before a lambda are its parameters, too.
fn merge_lambda_names(mut args: Vec<Expr>) -> Vec<Expr> {
    let is_lambda = |e: &Expr| {
        !e.span.parenthesised && matches!(&e.kind, ExprKind::Lambda(l) if l.params.len() == 1)
    };
    let Some(at) = args.iter().position(is_lambda) else {
        return args;
    };
    let name_of = |e: &Expr| match &e.kind {
        ExprKind::Identifier(parts) if parts.len() == 1 && !e.span.parenthesised => {
            parts.first().cloned()
        }
        _ => None,
    };
    let Some(mut names) = args[..at]
        .iter()
        .map(name_of)
        .collect::<Option<Vec<String>>>()
    else {
        return args;
    };
    if let ExprKind::Lambda(lambda) = &mut args[at].kind {
        names.append(&mut lambda.params);
        lambda.params = names;
    }
    args.drain(..at);
    args
}
