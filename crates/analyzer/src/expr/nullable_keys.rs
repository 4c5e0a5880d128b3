//! Recognises the keys of a GROUP BY behind it, where `group_by_use_nulls` has made them Nullable.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr, lit};

use crate::Typed;
use crate::udf;

/// Makes an expression that is a key, or the same over keys that have become Nullable, that key.
pub(super) fn recognise(typed: &mut Typed, keys: &[Typed]) {
    let Some(key) = keys.iter().find(|key| is_same(&typed.expr, &key.expr)) else {
        return;
    };
    if typed.expr == key.expr {
        typed.data_type = typed.data_type.clone().to_nullable();
    } else {
        *typed = Typed::new(key.expr.clone(), key.data_type.clone().to_nullable());
    }
}

/// Whether two expressions are the same but for the types that functions are called with.
fn is_same(a: &Expr, b: &Expr) -> bool {
    if let (Some(name), Some(other)) = (udf::function_name(a), udf::function_name(b))
        && name != other
    {
        return false;
    }
    let (parts, others) = (parts(a), parts(b));
    if parts.is_empty() || parts.len() != others.len() {
        return a == b;
    }
    let is_call = |e| udf::function_name(e).is_some();
    let is_same_node = if is_call(a) {
        is_call(b)
    } else {
        shell(a) == shell(b)
    };
    is_same_node && parts.iter().zip(&others).all(|(a, b)| is_same(a, b))
}

fn parts(expr: &Expr) -> Vec<Expr> {
    let mut parts = Vec::new();
    let collected = expr.clone().map_children(|part| {
        parts.push(part.clone());
        Ok(Transformed::no(part))
    });
    if collected.is_ok() { parts } else { Vec::new() }
}

/// The expression without its parts.
fn shell(expr: &Expr) -> Option<Expr> {
    let shell = expr
        .clone()
        .map_children(|_| Ok(Transformed::yes(lit(true))));
    shell.map(|t| t.data).ok()
}
