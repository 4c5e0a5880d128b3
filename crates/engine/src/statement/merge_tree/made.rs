//! What must be evaluated to make new columns of a part: as few of its columns as that takes.

use arrow::array::ArrayRef;
use basalt_analyzer::{TargetColumn, column_names};
use basalt_parser::ast::Expr;

use super::group_rows::{Wanted, may_name};
use crate::catalog::Table;
use crate::session::Session;

/// The columns that are evaluated: new ones, and those that they are computed from.
pub(super) struct Made<'t> {
    targets: Vec<TargetColumn<'t>>,
    is_new: Vec<bool>,
    given: Vec<String>,
    exprs: Vec<Expr>,
}

impl<'t> Made<'t> {
    /// Of all columns of a part, of which some `is_new`; the values of some are `given`.
    pub(super) fn new(
        all: Vec<TargetColumn<'t>>,
        is_new: &[bool],
        given: Vec<(String, Expr)>,
    ) -> Self {
        let is_needed = needed(&all, is_new, &given);
        let targets = all.into_iter().zip(is_new.iter().copied()).zip(is_needed);
        let targets = targets.filter(|(_, is_needed)| *is_needed);
        let (targets, is_new): (Vec<_>, Vec<bool>) = targets.map(|(target, _)| target).unzip();
        let is_target = |name: &str| targets.iter().any(|t| t.name == name);
        let given = given.into_iter().filter(|(name, _)| is_target(name));
        let (given, exprs) = given.unzip();
        Self {
            targets,
            is_new,
            given,
            exprs,
        }
    }

    /// What is evaluated over a table's rows.
    pub(super) fn wanted(&self, session: &Session, table: &Table) -> Wanted<'_> {
        Wanted::new(session, table, (&self.given, &self.exprs), &self.targets)
    }

    /// Of the values of all that was evaluated, those of the new columns.
    pub(super) fn new_ones(&self, values: Vec<ArrayRef>) -> Vec<ArrayRef> {
        let values = values.into_iter().zip(&self.is_new);
        let values = values.filter(|(_, is_new)| **is_new);
        values.map(|(values, _)| values).collect()
    }
}

/// Which columns must be known to make the new ones: those that they are computed from, if they are not `given`, and the
/// arrays of the same Nested, which are equally long.
fn needed(targets: &[TargetColumn<'_>], is_new: &[bool], given: &[(String, Expr)]) -> Vec<bool> {
    let is_given = |name: &str| given.iter().any(|(given, _)| given == name);
    let nested = |name: &str| name.split_once('.').map(|(nested, _)| nested.to_owned());
    let mut is_needed = is_new.to_vec();
    let mut open: Vec<usize> = (0..targets.len()).filter(|i| is_new[*i]).collect();
    while let Some(i) = open.pop() {
        let target = &targets[i];
        let default = target.default.filter(|_| !is_given(target.name));
        let names = default.map(column_names).unwrap_or_default();
        for (j, other) in targets.iter().enumerate() {
            let is_beside = nested(target.name).is_some_and(|n| nested(other.name) == Some(n));
            let is_used = is_beside || names.iter().any(|name| may_name(name, other.name));
            if is_used && !std::mem::replace(&mut is_needed[j], true) {
                open.push(j);
            }
        }
    }
    is_needed
}
