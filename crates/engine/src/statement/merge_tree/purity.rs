//! Refuses keys and TTLs that have not one value for a row.

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::Purity;
use basalt_functions::registry::find_scalar;
use basalt_parser::ast::{CreateTable, Expr, ExprKind};

use super::keys::elements;
use crate::session::Session;

/// Refuses what depends on more than the row, makes several rows, or reads other tables. Tables that are kept may have
/// it from earlier builds.
///
/// # Errors
/// `BAD_ARGUMENTS` or `ILLEGAL_COLUMN`, which name the part.
pub(super) fn check(session: &Session, create: &CreateTable) -> Result<()> {
    if session.loads_definitions {
        return Ok(());
    }
    let storage = &create.storage;
    let partition = storage.partition_by.iter().flat_map(elements);
    let sorting = storage.order_by.iter().flatten().map(|i| i.expr.clone());
    let ttl = storage.ttl.iter();
    let ttl = ttl.flat_map(|item| [Some(&item.expr), item.where_.as_ref()]);
    let ttl = ttl.flatten().cloned();
    let named = |name: &'static str| move |expr: Expr| (name, expr);
    let mut all = partition
        .map(named("Partition key"))
        .chain(sorting.map(named("Sorting key")))
        .chain(ttl.map(named("TTL expression")));
    all.try_for_each(|(what, expr)| check_parts(what, &expr))
}

fn check_parts(what: &str, expr: &Expr) -> Result<()> {
    let all = |exprs: &[Expr]| exprs.iter().try_for_each(|e| check_parts(what, e));
    match &expr.kind {
        ExprKind::Subquery(_) => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Write values instead: {what} cannot contain subqueries"),
        )),
        ExprKind::Function(f) if f.name == "arrayJoin" => Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("Remove arrayJoin: {what} cannot contain array joins"),
        )),
        ExprKind::Function(f) => {
            // `materialize` is no constant, and yet the same for the same row.
            let function = find_scalar(&f.name).filter(|f| f.name != "materialize");
            match function.is_none_or(|f| f.purity == Purity::Pure) {
                true => all(&f.args),
                false => Err(Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    format!(
                        "Use a column: {what} must be deterministic, but contains `{}`",
                        basalt_parser::format_expr(expr)
                    ),
                )),
            }
        }
        ExprKind::Array(items) | ExprKind::Tuple(items) => all(items),
        ExprKind::Lambda(lambda) => check_parts(what, &lambda.body),
        ExprKind::Alias { expr, .. } => check_parts(what, expr),
        _ => Ok(()),
    }
}
