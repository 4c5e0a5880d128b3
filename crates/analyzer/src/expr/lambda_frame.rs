//! Finds the names that lambdas give to values: their parameters, and the aliases inside of their bodies.

use basalt_error::Result;
use basalt_parser::ast;

use super::Resolver;
use super::aliases::Aliases;
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

    /// Whether an expression means something else inside of the lambda than outside.
    pub(super) fn changes(&self, expr: &ast::Expr) -> bool {
        let has = |name: &str| self.parameter(name).is_some() || self.alias(name).is_some();
        column_names(expr).iter().any(|name| has(name))
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
                    Some(expr) if !state.alias_stack.iter().any(|a| a == name) => expr.clone(),
                    _ => continue,
                }
            };
            // As in ClickHouse, an alias means what its expression means where the alias is named.
            self.state.borrow_mut().alias_stack.push(name.to_owned());
            let typed = self.resolve(&expr);
            self.state.borrow_mut().alias_stack.pop();
            return typed.map(Some);
        }
        Ok(None)
    }
}
