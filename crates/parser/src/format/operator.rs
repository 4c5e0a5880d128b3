//! Writes operators.

use super::Writer;
use crate::ast::{Expr, ExprKind, Function, FunctionForm};

/// Functions of two arguments that are written between them.
const BINARY: &[(&str, &str)] = &[
    ("plus", " + "),
    ("minus", " - "),
    ("multiply", " * "),
    ("divide", " / "),
    ("modulo", " % "),
    ("equals", " = "),
    ("notEquals", " != "),
    ("less", " < "),
    ("greater", " > "),
    ("lessOrEquals", " <= "),
    ("greaterOrEquals", " >= "),
    ("isNotDistinctFrom", " <=> "),
    ("isDistinctFrom", " IS DISTINCT FROM "),
    ("like", " LIKE "),
    ("notLike", " NOT LIKE "),
    ("ilike", " ILIKE "),
    ("notILike", " NOT ILIKE "),
];

const IN: &[(&str, &str)] = &[
    ("in", " IN "),
    ("notIn", " NOT IN "),
    ("globalIn", " GLOBAL IN "),
    ("globalNotIn", " GLOBAL NOT IN "),
];

impl Writer {
    /// A function in its operator form.
    pub(super) fn operator(&mut self, f: &Function) {
        match f.args.as_slice() {
            [argument] => self.unary(&f.name, argument),
            [left, right] => self.binary(&f.name, left, right),
            args => self.chain(&f.name, args),
        }
    }

    fn unary(&mut self, name: &str, argument: &Expr) {
        match name {
            "not" => {
                self.put("NOT ");
                self.operand(argument);
            }
            "negate" => {
                self.put("-");
                // `-1` would be a constant.
                let constant =
                    matches!(argument.kind, ExprKind::Literal(_)) && !argument.span.parenthesised;
                self.put_if(constant, "(");
                self.operand(argument);
                self.put_if(constant, ")");
            }
            _ => {
                self.operand(argument);
                self.put(if name == "isNull" {
                    " IS NULL"
                } else {
                    " IS NOT NULL"
                });
            }
        }
    }

    fn binary(&mut self, name: &str, left: &Expr, right: &Expr) {
        if before_access(name, left) {
            self.in_parentheses(left);
        } else {
            self.operand(left);
        }
        if let Some(symbol) = find(BINARY, name) {
            self.put(symbol);
            self.operand(right);
        } else if let Some(symbol) = find(IN, name) {
            self.put(symbol);
            self.in_list(right);
        } else {
            self.access_or_chain(name, right);
        }
    }

    /// What follows the left side of `a[i]`, `a.1`, `a AND b`.
    fn access_or_chain(&mut self, name: &str, right: &Expr) {
        match name {
            "arrayElement" => {
                self.put("[");
                self.aliased(right);
                self.put("]");
            }
            "tupleElement" => {
                self.put(".");
                self.operand(right);
            }
            _ => {
                self.put(if name == "or" { " OR " } else { " AND " });
                self.operand(right);
            }
        }
    }

    fn chain(&mut self, name: &str, args: &[Expr]) {
        if let Some((symbol, [left, pattern, escape])) = find(BINARY, name).zip(args.as_array()) {
            self.operand(left);
            self.put(symbol);
            self.operand(pattern);
            self.put(" ESCAPE ");
            self.operand(escape);
            return;
        }
        for (i, argument) in args.iter().enumerate() {
            self.put_if(i > 0, if name == "or" { " OR " } else { " AND " });
            self.operand(argument);
        }
    }

    /// The right side of IN: in parentheses unless it is an array or a call.
    fn in_list(&mut self, right: &Expr) {
        let bare = match &right.kind {
            ExprKind::Subquery(_) | ExprKind::Tuple(_) => true,
            ExprKind::Array(_) => !right.span.parenthesised,
            ExprKind::Function(f) => {
                f.form == FunctionForm::Call && f.over.is_none() && !right.span.parenthesised
            }
            _ => false,
        };
        if bare {
            self.expr(right)
        } else {
            self.in_parentheses(right)
        }
    }
}

/// Whether `left.1` or `left[1]` needs parentheses although `left` is no operator.
fn before_access(name: &str, left: &Expr) -> bool {
    match &left.kind {
        ExprKind::Matcher(_) => name == "tupleElement" || name == "arrayElement",
        // A tuple of one value is a tuple, though it is written as a call.
        ExprKind::Function(f) => {
            name == "tupleElement" && f.form == FunctionForm::Call && f.name != "tuple"
        }
        _ => false,
    }
}

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(function, _)| *function == name)
        .map(|(_, symbol)| *symbol)
}
