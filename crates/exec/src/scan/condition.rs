//! Reads conditions as far as least and greatest values tell something about them.

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type, UInt64Type};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};

/// A condition as far as bounds tell something about it.
pub(in crate::scan) enum Condition<'a> {
    And(&'a Expr, &'a Expr),
    Or(&'a Expr, &'a Expr),
    /// `operand op value`, for one of the values.
    Compare(&'a Expr, Operator, Vec<&'a ScalarValue>),
    /// `column op number`, by their values, of whatever types they are.
    CompareNumber(&'a str, Operator, &'a ScalarValue),
    /// The column's string begins with a text.
    Begins(&'a str, &'a [u8]),
    /// May be anything.
    Unknown,
}

impl<'a> Condition<'a> {
    pub(in crate::scan) fn of(filter: &'a Expr) -> Self {
        match filter {
            Expr::BinaryExpr(binary) => match binary.op {
                Operator::NotEq if is_zero(&binary.right) => {
                    let left = &binary.left;
                    let known = number_compared(left).or_else(|| beginning(left));
                    known.unwrap_or(Self::Unknown)
                }
                Operator::And => Self::And(&binary.left, &binary.right),
                Operator::Or => Self::Or(&binary.left, &binary.right),
                op => match (binary.left.as_ref(), binary.right.as_ref()) {
                    (operand, Expr::Literal(v, _)) => Self::Compare(operand, op, vec![v]),
                    (Expr::Literal(v, _), operand) => match op.swap() {
                        Some(op) => Self::Compare(operand, op, vec![v]),
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
                values.map_or(Self::Unknown, |values| {
                    Self::Compare(&list.expr, Operator::Eq, values)
                })
            }
            _ => Self::Unknown,
        }
    }
}

/// Whether an expression is the 0 that a function's answer is compared with.
pub(in crate::scan) fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(ScalarValue::UInt8(Some(0)), _))
}

/// The values of integers.
pub(in crate::scan) fn integers_of(values: &ArrayRef) -> Option<Vec<Option<i128>>> {
    let physical = values.data_type();
    Some(if physical.is_unsigned_integer() {
        let wide = cast(values, &ArrowType::UInt64).ok()?;
        let wide = wide.as_primitive::<UInt64Type>().iter();
        wide.map(|v| v.map(i128::from)).collect()
    } else if physical.is_signed_integer() {
        let wide = cast(values, &ArrowType::Int64).ok()?;
        let wide = wide.as_primitive::<Int64Type>().iter();
        wide.map(|v| v.map(i128::from)).collect()
    } else {
        return None;
    })
}

/// A comparison that is a function of ClickHouse's, such as those of floats, which know NaN.
fn number_compared(expr: &Expr) -> Option<Condition<'_>> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let op = match call.name() {
        "equals" => Operator::Eq,
        "less" => Operator::Lt,
        "lessOrEquals" => Operator::LtEq,
        "greater" => Operator::Gt,
        "greaterOrEquals" => Operator::GtEq,
        _ => return None,
    };
    let [left, right] = call.args.as_slice() else {
        return None;
    };
    match (left, right) {
        (Expr::Column(c), Expr::Literal(v, _)) => Some(Condition::CompareNumber(&c.name, op, v)),
        (Expr::Literal(v, _), Expr::Column(c)) => {
            Some(Condition::CompareNumber(&c.name, op.swap()?, v))
        }
        _ => None,
    }
}

/// What strings begin with for which `LIKE 'text%'` or `startsWith` holds.
fn beginning(expr: &Expr) -> Option<Condition<'_>> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let [
        Expr::Column(column),
        Expr::Literal(ScalarValue::BinaryView(Some(text)), _),
    ] = call.args.as_slice()
    else {
        return None;
    };
    let text = match call.name() {
        "startsWith" => &text[..],
        "like" => text.split(|byte| b"%_\\".contains(byte)).next()?,
        _ => return None,
    };
    Some(Condition::Begins(&column.name, text))
}

/// What bounds and indexes know of columns; `None` where they cannot tell.
pub(in crate::scan) trait Known {
    /// Whether a column, or what is calculated from columns, can be in that relation to one of the values.
    fn compare(&self, operand: &Expr, op: Operator, values: &[&ScalarValue]) -> Option<bool>;

    /// Whether a column can be in that relation to a number, by their values.
    fn compare_number(&self, _column: &str, _op: Operator, _value: &ScalarValue) -> Option<bool> {
        None
    }

    /// Whether a column can have a string that begins with a text.
    fn begins(&self, _column: &str, _text: &[u8]) -> Option<bool> {
        None
    }
}

impl<F: Fn(&str, Operator, &[&ScalarValue]) -> Option<bool>> Known for F {
    fn compare(&self, operand: &Expr, op: Operator, values: &[&ScalarValue]) -> Option<bool> {
        self(&operand.try_as_col()?.name, op, values)
    }
}

/// Whether a filter can hold, by what is known of columns.
pub(in crate::scan) fn can_match(filter: &Expr, known: &impl Known) -> bool {
    let told = match Condition::of(filter) {
        Condition::And(a, b) => return can_match(a, known) && can_match(b, known),
        Condition::Or(a, b) => return can_match(a, known) || can_match(b, known),
        Condition::Compare(operand, op, values) => known.compare(operand, op, &values),
        Condition::CompareNumber(column, op, value) => known.compare_number(column, op, value),
        Condition::Begins(column, text) => known.begins(column, text),
        Condition::Unknown => None,
    };
    told.unwrap_or(true)
}
