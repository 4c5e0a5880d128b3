//! Makes keys of a hash join of what ON compares by the function `equals`.
//!
//! Where Arrow's `=` is not that of the dialect, a comparison is a call, for which a join would look at all
//! pairs of rows. The keys of a JOIN are another matter: ClickHouse looks them up by their bytes, so that NaN
//! finds NaN, as by the operator. (0 does not find -0 there; here it does, as under USING, but not inside of tuples
//! and arrays.)

use basalt_types::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use super::join::Sides;
use crate::udf::FunctionUdf;

impl Sides {
    /// The conditions, with an operator in place of each call that compares values of one type, one of each
    /// side.
    pub(super) fn with_keys(&self, conditions: Vec<Expr>) -> Vec<Expr> {
        let key = |condition: Expr| match compared_by_call(&condition) {
            Some((a, b)) if self.are_of_both(a, b) => a.clone().eq(b.clone()),
            _ => condition,
        };
        conditions.into_iter().map(key).collect()
    }

    fn are_of_both(&self, a: &Expr, b: &Expr) -> bool {
        let are_of = |left: &Expr, right: &Expr| {
            Self::is_only_of(left, &self.left) && Self::is_only_of(right, &self.right)
        };
        are_of(a, b) || are_of(b, a)
    }
}

/// The arguments of `equals(a, b) != 0`, if they are of one type. Times of different precision or units have
/// the same type for Arrow, so it is the dialect's that counts.
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
    let call = match left.as_ref() {
        Expr::ScalarFunction(call) if is_zero => call,
        _ => return None,
    };
    let udf = call.func.inner().downcast_ref::<FunctionUdf>()?;
    let have_one_type = match udf.argument_types() {
        [a, b] => a.base() == b.base() && is_looked_up(a),
        _ => false,
    };
    match &call.args[..] {
        [a, b] if udf.function_name() == "equals" && have_one_type => Some((a, b)),
        _ => None,
    }
}

/// Whether a hash join takes keys of a type. It finds the least and the greatest of them, and DataFusion (as of
/// version 55) compares no lists and maps inside of others.
fn is_looked_up(data_type: &DataType) -> bool {
    let is_flat = |data_type: &DataType| {
        let base = data_type.base();
        !matches!(
            base,
            DataType::Array(_) | DataType::Tuple(_) | DataType::Map(..)
        )
    };
    match data_type.base() {
        DataType::Array(item) => is_flat(item),
        DataType::Tuple(tuple) => tuple.types.iter().all(is_flat),
        base => is_flat(base),
    }
}
