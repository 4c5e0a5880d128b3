//! Finds the names that lambdas give to values: their parameters, and the aliases inside of their bodies.

use std::collections::HashSet;

use basalt_error::Result;
use basalt_parser::ast;

use super::aliases::Aliases;
use super::{Resolver, State};
use crate::Typed;
use crate::query::defaults::column_names;

/// The names of one lambda.
#[derive(Debug, Default)]
pub(super) struct LambdaFrame {
    parameters: Vec<(String, Typed)>,
    /// Aliases hide what has the same name outside of the lambda, also before the place they stand at.
    aliases: Vec<(String, ast::Expr)>,
}

impl LambdaFrame {
    /// The values of the parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &Typed> {
        self.parameters.iter().map(|(_, typed)| typed)
    }

    fn has(&self, name: &str) -> bool {
        self.parameter(name).is_some() || self.alias(name).is_some()
    }

    fn parameter(&self, name: &str) -> Option<&Typed> {
        let mut parameters = self.parameters.iter();
        parameters.find(|(n, _)| n == name).map(|(_, typed)| typed)
    }

    fn alias(&self, name: &str) -> Option<&ast::Expr> {
        let mut aliases = self.aliases.iter();
        aliases.find(|(n, _)| n == name).map(|(_, expr)| expr)
    }
}

impl State {
    /// Whether the alias of that lambda is being resolved.
    fn is_open_in_lambda(&self, depth: usize, name: &str) -> bool {
        let mut open = self.open_in_lambdas.iter();
        open.any(|(d, n)| *d == depth && n == name)
    }
}

impl Resolver<'_> {
    /// Runs `resolve` with the parameters and the aliases of a lambda in sight.
    ///
    /// # Errors
    /// `MULTIPLE_EXPRESSIONS_FOR_ALIAS`, and what `resolve` reports.
    pub(super) fn with_lambda<T>(
        &self,
        parameters: Vec<(String, Typed)>,
        body: &ast::Expr,
        resolve: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut aliases = Aliases::default();
        let walked = aliases.walk(body);
        walked.map_err(|conflict| self.analyzer.placed_conflict(conflict))?;
        let owned = |name: &str| Some((name.to_owned(), aliases.get(name)?.clone()));
        let frame = LambdaFrame {
            parameters,
            aliases: aliases.names().filter_map(owned).collect(),
        };
        self.state.borrow_mut().lambda_frames.push(frame);
        let result = resolve();
        self.state.borrow_mut().lambda_frames.pop();
        result
    }

    /// What the innermost lambda that knows the name calls so.
    pub(super) fn of_lambda(&self, name: &str) -> Result<Option<Typed>> {
        let num_frames = self.state.borrow().lambda_frames.len();
        for depth in (0..num_frames).rev() {
            let expr = {
                let state = self.state.borrow();
                let frame = &state.lambda_frames[depth];
                if let Some(typed) = frame.parameter(name) {
                    return Ok(Some(typed.clone()));
                }
                match frame.alias(name) {
                    Some(expr) if !state.is_open_in_lambda(depth, name) => expr.clone(),
                    _ => continue,
                }
            };
            // As in ClickHouse, an alias means what its expression means where the alias is named.
            return self.opened_in_lambda(depth, name, &expr).map(Some);
        }
        Ok(None)
    }

    /// `expr AS name` where it stands, if a lambda knows it: inside, the name means what it means around the lambda.
    pub(super) fn aliased_in_lambda(&self, expr: &ast::Expr, name: &str) -> Result<Option<Typed>> {
        let depth = {
            let state = self.state.borrow();
            let is_it = |frame: &LambdaFrame| frame.alias(name) == Some(expr);
            let depth = state.lambda_frames.iter().rposition(is_it);
            depth.filter(|depth| !state.is_open_in_lambda(*depth, name))
        };
        let resolved = depth.map(|depth| self.opened_in_lambda(depth, name, expr));
        resolved.transpose()
    }

    fn opened_in_lambda(&self, depth: usize, name: &str, expr: &ast::Expr) -> Result<Typed> {
        let open = (depth, name.to_owned());
        self.state.borrow_mut().open_in_lambdas.push(open);
        let typed = self.resolve(expr);
        self.state.borrow_mut().open_in_lambdas.pop();
        typed
    }

    /// Whether an expression of the query means something else inside of the lambdas around, also by what it
    /// names itself.
    pub(super) fn is_changed_by_lambdas(&self, expr: &ast::Expr) -> bool {
        let state = self.state.borrow();
        if state.lambda_frames.is_empty() {
            return false;
        }
        let mut seen = HashSet::new();
        let mut open = column_names(expr);
        while let Some(name) = open.pop() {
            if state.lambda_frames.iter().any(|frame| frame.has(&name)) {
                return true;
            }
            let aliased = self.aliases.get(&name);
            if let Some(expr) = aliased.filter(|_| seen.insert(name)) {
                open.extend(column_names(expr));
            }
        }
        false
    }
}
