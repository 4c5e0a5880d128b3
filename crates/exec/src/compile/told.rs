//! Tells what was compiled, and which rows went through it.

use std::sync::Arc;
use std::time::Duration;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::PhysicalExpr;

use super::rows::CompiledExpr;
use crate::report::figures;

/// What a run did.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// Rows that took the usual way, and their time.
    pub(crate) usual: (u64, Duration),
    /// Rows in compiled code, and their time.
    pub(crate) compiled: (u64, Duration),
    /// Whether the code was there before the query.
    pub(crate) is_hit: bool,
    /// What compiling took, if there is code.
    pub(crate) compilation: Option<Duration>,
    /// Whether both ways were compared.
    pub(crate) is_verified: bool,
}

impl Told {
    /// As EXPLAIN ANALYZE shows it; nothing if there was no code.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let of = |(num_rows, elapsed): (u64, Duration)| {
            let rows = figures::counted(num_rows, "row");
            let ns = elapsed.as_nanos() as f64 / num_rows.max(1) as f64;
            format!("{rows}, {}", figures::ns_per_row(ns))
        };
        let Some(compilation) = self.compilation else {
            return Vec::new();
        };
        let origin = match self.is_hit {
            true => "found compiled, once",
            false => "compiled",
        };
        let verified = if self.is_verified { ", verified" } else { "" };
        let elapsed_us = compilation.as_micros();
        let compiled = of(self.compiled);
        let mut facts = vec![(
            "Compiled",
            format!("{compiled}{verified}; {origin} in {elapsed_us} us"),
        )];
        if self.usual.0 > 0 {
            facts.push(("Not compiled", of(self.usual)));
        }
        facts
    }
}

/// Whether parts of the expression go over to compiled code.
pub(crate) fn is_compiled(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.is::<CompiledExpr>() || expr.children().into_iter().any(is_compiled)
}

/// What the compiled parts of an expression did in the last run, as EXPLAIN ANALYZE shows it.
pub fn compiled_facts(expr: &Arc<dyn PhysicalExpr>) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let visited = expr.apply(|expr| {
        let compiled = expr.downcast_ref::<CompiledExpr>();
        if let Some(told) = compiled.and_then(CompiledExpr::told) {
            facts.extend(told.facts());
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.map_or_else(|_| Vec::new(), |_| facts)
}
