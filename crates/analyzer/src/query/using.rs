//! Finds the columns that USING and NATURAL name, and the types that both sides can have.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind, JoinConstraint};
use basalt_types::least_supertype;

use super::Analyzer;
use super::join::Sides;
use crate::scope::{Names, Scope, ScopeColumn};

/// Columns that both sides of USING have: positions in the left and the right scope.
pub(super) type UsingPairs = Vec<(usize, usize)>;

impl Analyzer<'_> {
    /// The columns of both sides that a join compares by their names.
    ///
    /// # Errors
    /// If USING names what is no column of both.
    pub(super) fn using_pairs(
        &self,
        left: &Scope,
        right: &Scope,
        join: &ast::Join,
    ) -> Result<UsingPairs> {
        let mut pairs = UsingPairs::new();
        if join.natural {
            for (i, l) in left.columns.iter().enumerate().filter(|c| c.1.is_shown()) {
                let same = |r: &ScopeColumn| r.is_shown() && r.name == l.name;
                pairs.extend(right.columns.iter().position(same).map(|j| (i, j)));
            }
        }
        if let Some(JoinConstraint::Using(exprs)) = &join.constraint {
            let (left, right) = (Names::new(left), Names::new(right));
            for (i, expr) in exprs.iter().enumerate() {
                let pair = using_pair((&left, &right), expr, &exprs[..i]);
                pairs.push(pair.map_err(|e| self.placed(e, expr.span))?);
            }
        }
        Ok(pairs)
    }

    /// Casts the columns of USING to the types that both sides can have.
    pub(super) fn common_using_types(&self, sides: &mut Sides, using: &UsingPairs) -> Result<()> {
        for (l, r) in using {
            let types = [
                &sides.left.scope.columns[*l],
                &sides.right.scope.columns[*r],
            ]
            .map(|c| c.data_type.clone());
            let common = least_supertype(&types)?;
            self.cast_column(&mut sides.left, *l, &common)?;
            self.cast_column(&mut sides.right, *r, &common)?;
        }
        Ok(())
    }
}

/// The columns of both sides that an expression of USING names; `before` are those in front of it.
fn using_pair(
    (left, right): (&Names<'_>, &Names<'_>),
    expr: &ast::Expr,
    before: &[ast::Expr],
) -> Result<(usize, usize)> {
    let ExprKind::Identifier(parts) = &expr.unaliased().kind else {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "Write ON for expressions: USING takes columns' names",
        ));
    };
    let own = parts.last().map(String::as_str);
    if let Some(alias) = expr.alias().filter(|alias| own != Some(*alias)) {
        return Err(left.scope.unknown(&[alias.to_owned()], &[]));
    }
    let mut before = before.iter();
    if before.any(|e| e.unaliased().kind == expr.unaliased().kind) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Write {} once: it is twice in USING", parts.join(".")),
        ));
    }
    let position = |side: &Names<'_>| -> Result<Option<usize>> {
        let found = side.find(parts)?;
        Ok(found.and_then(|(column, _)| side.position(&column.internal)))
    };
    let lacks = |side: &str| {
        let name = parts.join(".");
        let hint = format!("Write ON: the {side} side of the join has no column of this name.");
        let message = format!("{hint} Unknown expression identifier `{name}`");
        Error::new(ErrorCode::UNKNOWN_IDENTIFIER, message)
    };
    match (position(left)?, position(right)?) {
        (Some(left), Some(right)) => Ok((left, right)),
        (Some(_), None) => Err(lacks("right")),
        (None, Some(_)) => Err(lacks("left")),
        (None, None) => Err(left.scope.unknown(parts, &[])),
    }
}
