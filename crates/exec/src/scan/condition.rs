//! Reads conditions as far as least and greatest values tell something about them.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};

/// A condition as far as bounds tell something about it.
pub(in crate::scan) enum Condition<'a> {
    And(&'a Expr, &'a Expr),
    Or(&'a Expr, &'a Expr),
    /// `column op value`, for one of the values.
    Compare(&'a str, Operator, Vec<&'a ScalarValue>),
    /// May be anything.
    Unknown,
}

impl<'a> Condition<'a> {
    pub(in crate::scan) fn of(filter: &'a Expr) -> Self {
        match filter {
            Expr::BinaryExpr(binary) => match binary.op {
                Operator::And => Self::And(&binary.left, &binary.right),
                Operator::Or => Self::Or(&binary.left, &binary.right),
                op => match (binary.left.as_ref(), binary.right.as_ref()) {
                    (Expr::Column(c), Expr::Literal(v, _)) => Self::Compare(&c.name, op, vec![v]),
                    (Expr::Literal(v, _), Expr::Column(c)) => match op.swap() {
                        Some(op) => Self::Compare(&c.name, op, vec![v]),
                        None => Self::Unknown,
                    },
                    _ => Self::Unknown,
                },
            },
            Expr::InList(list) if !list.negated => {
                let value = |item: &'a Expr| match item {
                    Expr::Literal(v, _) => Some(v),
                    _ => None,
                };
                let values: Option<Vec<_>> = list.list.iter().map(value).collect();
                match (list.expr.as_ref(), values) {
                    (Expr::Column(c), Some(values)) => Self::Compare(&c.name, Operator::Eq, values),
                    _ => Self::Unknown,
                }
            }
            _ => Self::Unknown,
        }
    }
}

/// Tells whether a column can be in that relation to one of the values; `None` if it cannot tell.
pub(in crate::scan) type Compare<'a> = dyn Fn(&str, Operator, &[&ScalarValue]) -> Option<bool> + 'a;

/// Whether a filter can hold, if `compare` tells that of comparisons.
pub(in crate::scan) fn can_match(filter: &Expr, compare: &Compare<'_>) -> bool {
    match Condition::of(filter) {
        Condition::And(a, b) => can_match(a, compare) && can_match(b, compare),
        Condition::Or(a, b) => can_match(a, compare) || can_match(b, compare),
        Condition::Compare(column, op, values) => compare(column, op, &values).unwrap_or(true),
        Condition::Unknown => true,
    }
}
