//! Leaves keys out of a GROUP BY that follow from other keys, to be computed from these after it.
//!
//! `GROUP BY x, x + 1, 'a'` has the groups of `GROUP BY x`; `GROUP BY toString(x)` has them, too,
//! because different numbers have different texts. What is grouped gets narrower, and what is
//! computed is computed once for a group instead of once for a row.

use basalt_error::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, lit};

use super::select::replace;
use crate::typed::column;
use crate::udf::FunctionUdf;

/// What rules apply: each is a setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Keys that are functions of other keys are computed after the grouping.
    pub(crate) functions_of_keys: bool,
    /// `f(x)` becomes `x` if `f` gives different values for different ones.
    pub(crate) injective: bool,
}

/// Keys in two parts, each an expression with its column's name.
#[derive(Debug, Default)]
pub(crate) struct ReducedKeys {
    /// What rows are grouped by.
    pub(crate) grouped: Vec<(Expr, String)>,
    /// What is computed from the columns of `grouped`.
    pub(crate) computed: Vec<(Expr, String)>,
}

impl ReducedKeys {
    /// Parts `keys`; `fresh` names a column that no key has.
    pub(crate) fn new(
        keys: Vec<(Expr, String)>,
        rules: Rules,
        mut fresh: impl FnMut() -> String,
    ) -> Result<Self> {
        let mut grouped: Vec<(Expr, String)> = Vec::with_capacity(keys.len());
        for (expr, name) in &keys {
            let core = if rules.injective { core(expr) } else { expr };
            if grouped.iter().any(|(other, _)| other == core) {
                continue;
            }
            let name = match core == expr {
                true => name.clone(),
                false => fresh(),
            };
            grouped.push((core.clone(), name));
        }
        if rules.functions_of_keys {
            // One key has to stay, or no row would give a group, too.
            for place in (0..grouped.len()).rev() {
                let (before, after) = grouped.split_at(place);
                let others = before.iter().chain(&after[1..]).map(|(expr, _)| expr);
                if grouped.len() > 1 && follows(&after[0].0, &others.collect::<Vec<_>>()) {
                    grouped.remove(place);
                }
            }
            // If it is a constant, one that tables of numbers take.
            if let [(expr @ Expr::Literal(..), name)] = grouped.as_mut_slice() {
                (*expr, *name) = (lit(1_u8), fresh());
            }
        }
        let mut computed = Vec::new();
        for (expr, name) in keys {
            // The grouped key itself, unless a name stands for the core of another key.
            if grouped.iter().any(|(_, other)| *other == name) {
                continue;
            }
            let known = |part: &Expr| {
                let found = grouped.iter().find(|(key, _)| key == part);
                found.map(|(_, name)| column(name))
            };
            computed.push((replace(expr, known)?, name));
        }
        Ok(Self { grouped, computed })
    }
}

/// Whether the value of `expr` is the same wherever those of `keys` are.
fn follows(expr: &Expr, keys: &[&Expr]) -> bool {
    let mut is_function = !expr.is_volatile();
    // The closure never fails, and so neither does the walk.
    let _ = expr.apply(|part| {
        if keys.contains(&part) {
            return Ok(TreeNodeRecursion::Jump);
        }
        let is_plain = matches!(
            part,
            Expr::Literal(..)
                | Expr::ScalarFunction(_)
                | Expr::Cast(_)
                | Expr::Alias(_)
                | Expr::BinaryExpr(_)
                | Expr::Case(_)
                | Expr::Not(_)
                | Expr::IsNull(_)
                | Expr::IsNotNull(_)
        );
        if is_plain {
            return Ok(TreeNodeRecursion::Continue);
        }
        is_function = false;
        Ok(TreeNodeRecursion::Stop)
    });
    is_function
}

const INTEGERS: [&str; 8] = [
    "UInt8", "UInt16", "UInt32", "UInt64", "Int8", "Int16", "Int32", "Int64",
];

/// Functions of one argument that give different values for different ones, by its types.
const INJECTIVE: [(&str, &[&[&str]]); 6] = [
    ("toString", &[&INTEGERS, &["Date", "Date32", "UUID"]]),
    ("negate", &[&INTEGERS]),
    ("bitNot", &[&INTEGERS]),
    ("reverse", &[&["String"]]),
    ("hex", &[&["String"]]),
    ("base64Encode", &[&["String"]]),
];

/// What is left of `expr` without injective functions around it.
fn core(expr: &Expr) -> &Expr {
    match injective_argument(expr) {
        Some(inner) => core(inner),
        None => expr,
    }
}

fn injective_argument(expr: &Expr) -> Option<&Expr> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let [arg] = call.args.as_slice() else {
        return None;
    };
    let function = call.func.inner().as_ref() as &dyn std::any::Any;
    let function = function.downcast_ref::<FunctionUdf>()?;
    let arg_type = function.only_argument_type()?.base().to_string();
    let (_, types) = INJECTIVE
        .iter()
        .find(|(name, _)| *name == function.function_name())?;
    let is_known = types.iter().any(|types| types.contains(&arg_type.as_str()));
    // A core without columns would leave a constant to group by.
    (is_known && !arg.column_refs().is_empty()).then_some(arg)
}
