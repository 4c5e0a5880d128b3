//! Makes keys of a hash join of what ON compares by the function `equals`.
//!
//! Where Arrow's `=` is not that of the dialect, a comparison is a call, for which a join would look at all
//! pairs of rows. The keys of a JOIN are another matter: ClickHouse looks them up by their bytes, so that NaN
//! finds NaN, as by the operator. (0 does not find -0 there, which it does here, as under USING.)

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};

use super::join::Sides;

impl Sides {
    /// The conditions, with an operator in place of each call that compares values of one type, one of each
    /// side.
    pub(super) fn with_keys(&self, conditions: Vec<Expr>) -> Vec<Expr> {
        let key = |condition: Expr| match compared_by_call(&condition) {
            Some((a, b)) if self.have_one_type(a, b) => a.clone().eq(b.clone()),
            _ => condition,
        };
        conditions.into_iter().map(key).collect()
    }

    fn have_one_type(&self, a: &Expr, b: &Expr) -> bool {
        let type_of = |left: &Expr, right: &Expr| {
            let is_right_way =
                Self::is_only_of(left, &self.left) && Self::is_only_of(right, &self.right);
            let left = left.get_type(self.left.plan.schema()).ok()?;
            let right = right.get_type(self.right.plan.schema()).ok()?;
            is_right_way.then_some(left == right)
        };
        type_of(a, b).or_else(|| type_of(b, a)) == Some(true)
    }
}

/// The arguments of `equals(a, b) != 0`.
fn compared_by_call(condition: &Expr) -> Option<(&Expr, &Expr)> {
    let Expr::BinaryExpr(BinaryExpr {
        left,
        op: Operator::NotEq,
        right,
    }) = condition
    else {
        return None;
    };
    let is_zero = matches!(
        right.as_ref(),
        Expr::Literal(ScalarValue::UInt8(Some(0)), _)
    );
    match left.as_ref() {
        Expr::ScalarFunction(call) if is_zero && call.name() == "equals" => match &call.args[..] {
            [a, b] => Some((a, b)),
            _ => None,
        },
        _ => None,
    }
}
