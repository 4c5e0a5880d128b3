//! Finds the tuples by which ON joins two sides: a NULL inside of a key is equal to a NULL.

use std::borrow::Cow;

use basalt_error::Result;
use basalt_parser::ast::{self, ExprKind};
use basalt_types::DataType;

use super::join::Sides;
use crate::Typed;
use crate::expr::Resolver;

impl Sides {
    /// The condition with the equality that joins have for tuples of one side and of the other.
    pub(super) fn with_tuple_keys<'e>(
        &self,
        on: &'e ast::Expr,
        resolver: &Resolver<'_>,
    ) -> Result<Cow<'e, ast::Expr>> {
        let ExprKind::Function(function) = &on.kind else {
            return Ok(Cow::Borrowed(on));
        };
        let args = match (function.name.as_str(), function.args.as_slice()) {
            ("and", args) => {
                let parts = args.iter().map(|a| self.with_tuple_keys(a, resolver));
                parts.collect::<Result<Vec<_>>>()?
            }
            ("equals", [a, b]) => {
                if !self.are_tuple_keys(&resolver.resolve(a)?, &resolver.resolve(b)?) {
                    return Ok(Cow::Borrowed(on));
                }
                vec![Cow::Borrowed(a), Cow::Borrowed(b)]
            }
            _ => return Ok(Cow::Borrowed(on)),
        };
        let mut replaced = on.clone();
        if let ExprKind::Function(function) = &mut replaced.kind {
            function.args = args.into_iter().map(Cow::into_owned).collect();
            if function.name == "equals" {
                function.name = String::from("isNotDistinctFrom");
            }
        }
        Ok(Cow::Owned(replaced))
    }

    fn are_tuple_keys(&self, a: &Typed, b: &Typed) -> bool {
        let may_have_null = |t: &Typed| has_nullable_element(&t.data_type);
        let is_of = |left: &Typed, right: &Typed| {
            Self::is_only_of(&left.expr, &self.left) && Self::is_only_of(&right.expr, &self.right)
        };
        may_have_null(a) && may_have_null(b) && (is_of(a, b) || is_of(b, a))
    }
}

/// Whether it is a tuple with a NULL in it.
fn has_nullable_element(data_type: &DataType) -> bool {
    match data_type {
        DataType::Tuple(elements) => elements
            .types
            .iter()
            .any(|t| t.is_nullable() || has_nullable_element(t)),
        _ => false,
    }
}
