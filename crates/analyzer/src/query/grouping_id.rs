//! Reads DataFusion's grouping id: which keys the set of a row leaves out, and `grouping(key, …)`.

use basalt_error::Result;
use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::{Aggregate, Cast, Expr, LogicalPlan, Operator, lit};

use super::Analyzer;
use super::grouping::Grouping;
use crate::Typed;
use crate::expr::aggregate::GROUPING;
use crate::plan::project;
use crate::typed::column;
use crate::udf::FunctionUdf;

/// A key and its column behind the aggregation.
pub(super) struct KeyColumn {
    pub(super) expr: Expr,
    pub(super) internal: String,
    /// Column of the grouping id and the key's bit in it: set if the row's set leaves it out.
    bit: Option<(String, u64)>,
}

impl Analyzer<'_> {
    /// The keys' columns, as long as no set leaves one out.
    pub(super) fn key_columns(&self, grouping: &Grouping) -> Vec<KeyColumn> {
        let keys = grouping.keys.iter().map(|k| KeyColumn {
            expr: k.expr.clone(),
            internal: self.fresh("key"),
            bit: None,
        });
        keys.collect()
    }

    /// Keys that a row's set leaves out show their type's default (or NULL by a setting).
    pub(super) fn default_keys(
        &self,
        plan: LogicalPlan,
        grouping: &Grouping,
        keys: &mut [KeyColumn],
        aggregates: &[(Expr, String)],
    ) -> Result<LogicalPlan> {
        let id = Aggregate::INTERNAL_GROUPING_ID;
        let as_u64 = Expr::Cast(Cast::new(Box::new(column(id)), ArrowType::UInt64));
        let mut exprs: Vec<Expr> = aggregates.iter().map(|(_, name)| column(name)).collect();
        let grouping_id = self.fresh("grouping_id");
        exprs.push(as_u64.clone().alias(&grouping_id));
        // DataFusion numbers keys in the order in which the sets first name them; the first key
        // has the highest bit.
        let mut order: Vec<usize> = Vec::new();
        for i in grouping.sets.iter().flatten() {
            if !order.contains(i) {
                order.push(*i);
            }
        }
        for (position, i) in order.iter().enumerate() {
            let shift = order.len() - 1 - position;
            let mask = 1_u64 << shift;
            let key = column(&keys[*i].internal);
            let internal = self.fresh("key");
            let can_be_null = grouping.keys[*i]
                .data_type
                .clone()
                .to_nullable()
                .is_nullable();
            let shown = if grouping.keys[*i].constant.is_some() {
                // A constant is the same in every set.
                grouping.keys[*i].expr.clone()
            } else if self.flag("group_by_use_nulls") && can_be_null {
                key
            } else {
                let default = super::default_array(&grouping.keys[*i].data_type)?;
                let default = Typed::constant(default, grouping.keys[*i].data_type.clone())?;
                let left_out = masked(as_u64.clone(), mask).not_eq(lit(0_u64));
                Expr::Case(datafusion::logical_expr::expr::Case::new(
                    None,
                    vec![(Box::new(left_out), Box::new(default.expr))],
                    Some(Box::new(key)),
                ))
            };
            exprs.push(shown.alias(&internal));
            keys[*i].internal = internal;
            keys[*i].bit = Some((grouping_id.clone(), mask));
        }
        project(plan, exprs)
    }
}

/// The arguments of a `grouping(key, …)` call.
fn grouping_args(expr: &Expr) -> Option<&[Expr]> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let function = call.func.inner().as_ref() as &dyn std::any::Any;
    let function = function.downcast_ref::<FunctionUdf>()?;
    (function.function_name() == GROUPING).then_some(&call.args)
}

/// What `grouping(key, …)` is in the row of the totals: of ROLLUP and CUBE, all keys are left out there; the keys
/// of one set never are.
pub(super) fn grouping_of_totals(expr: &Expr, grouping: &Grouping) -> Option<Expr> {
    let args = grouping_args(expr)?;
    let is_key = |arg: &Expr| grouping.keys.iter().any(|key| key.expr == *arg);
    if !args.iter().all(is_key) {
        return None;
    }
    let all = args.iter().fold(0_u64, |bits, _| bits << 1 | 1);
    Some(lit(if grouping.sets.is_empty() { 0 } else { all }))
}

/// The value of a `grouping(key, …)` call: a bit for each key, 1 where the set leaves it out.
pub(super) fn grouping_value(expr: &Expr, keys: &[KeyColumn]) -> Option<Expr> {
    let args = grouping_args(expr)?;
    let mut value = lit(0_u64);
    for (i, arg) in args.iter().enumerate() {
        let key = keys.iter().find(|k| k.expr == *arg)?;
        let Some((id, mask)) = &key.bit else { continue };
        let weight = 1_u64 << (args.len() - 1 - i);
        let bit = Expr::Case(datafusion::logical_expr::expr::Case::new(
            None,
            vec![(
                Box::new(masked(column(id), *mask).not_eq(lit(0_u64))),
                Box::new(lit(weight)),
            )],
            Some(Box::new(lit(0_u64))),
        ));
        value = value + bit;
    }
    Some(value)
}

fn masked(id: Expr, mask: u64) -> Expr {
    datafusion::logical_expr::binary_expr(id, Operator::BitwiseAnd, lit(mask))
}
