//! Names the columns of a result: the functional form of their expressions, as ClickHouse does.
//!
//! `1 + x` is `plus(1, x)`, `x::UInt8` is `CAST(x, 'UInt8')`, `[a, 1]` stays as it is, an aliased
//! expression has its alias wherever it stands, subqueries are `_subquery_1`, `_subquery_2` and so on.

use crate::ast::{Expr, ExprKind, FrameBound, Function, Literal, WindowRef, WindowSpec};
use crate::format::{float, format_expr, format_order_suffix, identifier, quoted};

/// The name of a result column that stands alone; see [`column_names`] for several.
pub fn column_name(expr: &Expr) -> String {
    Namer::default().name(expr)
}

/// The names of a SELECT's columns; subqueries are numbered through.
pub fn column_names(columns: &[Expr]) -> Vec<String> {
    let mut namer = Namer::default();
    columns.iter().map(|expr| namer.name(expr)).collect()
}

#[derive(Default)]
struct Namer {
    out: String,
    num_subqueries: usize,
}

impl Namer {
    fn name(&mut self, expr: &Expr) -> String {
        self.expr(expr);
        std::mem::take(&mut self.out)
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Function(f) => self.function(f),
            ExprKind::Alias { expr, name } => self.alias(expr, name),
            ExprKind::Array(items) if is_of_floats(items) => self.floats(items),
            ExprKind::Array(items) => self.list("[", items, "]"),
            ExprKind::Tuple(items) => self.list("(", items, ")"),
            ExprKind::Lambda(lambda) => {
                self.out.push_str("lambda(tuple(");
                self.out.push_str(&lambda.params.join(", "));
                self.out.push_str("), ");
                self.expr(&lambda.body);
                self.out.push(')');
            }
            _ => self.leaf(e),
        }
    }

    /// The alias; subqueries under it are counted all the same.
    fn alias(&mut self, expr: &Expr, name: &str) {
        let len = self.out.len();
        self.expr(expr);
        self.out.truncate(len);
        self.out.push_str(name);
    }

    fn leaf(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Literal(literal) => self.out.push_str(&literal_name(literal)),
            ExprKind::Identifier(parts) => self.out.push_str(&parts.join(".")),
            ExprKind::Subquery(_) => {
                self.num_subqueries += 1;
                self.out
                    .push_str(&format!("_subquery_{}", self.num_subqueries));
            }
            ExprKind::QueryParameter(_) | ExprKind::ParameterName(_) | ExprKind::Matcher(_) => {
                self.out.push_str(&format_expr(e));
            }
            _ => {}
        }
    }

    fn list(&mut self, open: &str, items: &[Expr], close: &str) {
        self.out.push_str(open);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.expr(item);
        }
        self.out.push_str(close);
    }

    /// An array of literals, whole numbers as the floats that they become.
    fn floats(&mut self, items: &[Expr]) {
        if items.is_empty() {
            return self.out.push_str("[]");
        }
        for (i, item) in items.iter().enumerate() {
            self.out.push_str(if i == 0 { "[" } else { ", " });
            match &item.kind {
                ExprKind::Literal(Literal::UInt(n)) => self.out.push_str(&float(*n as f64)),
                ExprKind::Literal(Literal::Int(n)) => self.out.push_str(&float(*n as f64)),
                ExprKind::Literal(Literal::Bool(b)) => {
                    self.out.push_str(if *b { "1." } else { "0." });
                }
                ExprKind::Array(inner) => self.floats(inner),
                _ => self.leaf(item),
            }
        }
        self.out.push(']');
    }

    fn function(&mut self, f: &Function) {
        match (f.name.as_str(), f.args.as_slice()) {
            ("tuple", args) if f.params.is_none() => return self.list("(", args, ")"),
            ("array", args) if f.params.is_none() => return self.list("[", args, "]"),
            _ => {}
        }
        self.out.push_str(&f.name);
        if let Some(params) = &f.params {
            self.list("(", params, ")");
        }
        let counts_rows = f.name.eq_ignore_ascii_case("count")
            && matches!(
                f.args.as_slice(),
                [Expr {
                    kind: ExprKind::Matcher(_),
                    ..
                }]
            );
        self.list("(", if counts_rows { &[] } else { &f.args }, ")");
        if f.name.eq_ignore_ascii_case("exists") {
            // ClickHouse numbers the subquery of EXISTS twice.
            self.num_subqueries += 1;
        }
        self.suffix(f);
    }

    /// The window; RESPECT NULLS and IGNORE NULLS are no part of a name.
    fn suffix(&mut self, f: &Function) {
        match &f.over {
            Some(WindowRef::Named(name)) => self.out.push_str(&format!(" OVER {name}")),
            Some(WindowRef::Spec(spec)) => {
                self.out.push_str(" OVER ");
                self.window(spec);
            }
            None => {}
        }
    }

    fn window(&mut self, spec: &WindowSpec) {
        let mut separator = "(";
        let mut clause = |namer: &mut Self, start: &str| {
            namer.out.push_str(separator);
            namer.out.push_str(start);
            separator = " ";
        };
        if let Some(parent) = &spec.parent {
            clause(self, &identifier(parent));
        }
        if !spec.partition_by.is_empty() {
            clause(self, "PARTITION BY ");
            self.list("", &spec.partition_by, "");
        }
        for (i, item) in spec.order_by.iter().enumerate() {
            match i {
                0 => clause(self, "ORDER BY "),
                _ => self.out.push_str(", "),
            }
            self.expr(&item.expr);
            self.out.push_str(&format_order_suffix(item));
        }
        if let Some(frame) = &spec.frame {
            clause(self, frame.unit.start());
            self.frame_bound(&frame.start);
            self.out.push_str(" AND ");
            self.frame_bound(&frame.end);
        }
        self.out.push_str(if separator == "(" { "()" } else { ")" });
    }

    fn frame_bound(&mut self, bound: &FrameBound) {
        let (offset, rest) = match bound {
            FrameBound::CurrentRow => (None, "CURRENT ROW"),
            FrameBound::UnboundedPreceding => (None, "UNBOUNDED PRECEDING"),
            FrameBound::UnboundedFollowing => (None, "UNBOUNDED FOLLOWING"),
            FrameBound::Preceding(e) => (Some(e), " PRECEDING"),
            FrameBound::Following(e) => (Some(e), " FOLLOWING"),
        };
        offset.iter().for_each(|e| self.expr(e));
        self.out.push_str(rest);
    }
}

/// A constant as it stands in a column's name.
pub fn literal_name(literal: &Literal) -> String {
    match literal {
        Literal::Null => "NULL".to_owned(),
        Literal::Bool(b) => b.to_string(),
        Literal::UInt(n) => n.to_string(),
        Literal::Int(n) => n.to_string(),
        Literal::Float(f) => float(f.value),
        Literal::String(s) => quoted(s),
    }
}

/// Whether an array consists of literals, or of arrays of them, and a float is among them.
fn is_of_floats(items: &[Expr]) -> bool {
    holds_float(items) == Some(true)
}

/// None where something is no number and no NULL.
fn holds_float(items: &[Expr]) -> Option<bool> {
    items.iter().try_fold(false, |found, item| {
        Some(
            found
                | match &item.kind {
                    ExprKind::Literal(Literal::String(_)) => return None,
                    ExprKind::Literal(literal) => matches!(literal, Literal::Float(_)),
                    ExprKind::Array(inner) => holds_float(inner)?,
                    _ => return None,
                },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::column_names;
    use crate::ast::{SetExpr, Statement};

    fn check(select: &str, expected: &[&str]) {
        let parsed = crate::parse_statement(format!("SELECT {select}")).unwrap();
        let Statement::Query(query) = parsed.statement else {
            panic!("no query")
        };
        let SetExpr::Select(select) = query.body else {
            panic!("no select")
        };
        assert_eq!(column_names(&select.columns), expected);
    }

    #[test]
    fn operators_have_function_names() {
        check(
            "1+2, -a, not a, a AND b AND c, (a AND b) AND c",
            &[
                "plus(1, 2)",
                "negate(a)",
                "not(a)",
                "and(a, b, c)",
                "and(and(a, b), c)",
            ],
        );
        check(
            "number between 1 and 5, a ? b : c, a is not null, a[1], t.1, f(t).x",
            &[
                "and(greaterOrEquals(number, 1), lessOrEquals(number, 5))",
                "if(a, b, c)",
                "isNotNull(a)",
                "arrayElement(a, 1)",
                "tupleElement(t, 1)",
                "tupleElement(f(t), 'x')",
            ],
        );
        check(
            "'1'::UInt8, 1::UInt8, cast(1 as String), cast(1, 'String')",
            &[
                "CAST('1', 'UInt8')",
                "CAST('1', 'UInt8')",
                "CAST(1, 'String')",
                "CAST(1, 'String')",
            ],
        );
    }

    #[test]
    fn constants_and_lists() {
        check(
            "1e8, 1.0, 1e-7, -0.0, 'a\\nb', [1, x], (1, x), tuple(x), array(), NULL, true",
            &[
                "100000000.",
                "1.",
                "1e-7",
                "-0.",
                "'a\\nb'",
                "[1, x]",
                "(1, x)",
                "(x)",
                "[]",
                "NULL",
                "true",
            ],
        );
    }

    #[test]
    fn calls() {
        check(
            "count(*), COUNT(*), quantile(0.9)(x), sum(distinct x), sum(x) filter (where y > 1)",
            &[
                "count()",
                "COUNT()",
                "quantile(0.9)(x)",
                "sumDistinct(x)",
                "sumIf(x, greater(y, 1))",
            ],
        );
        check(
            "arrayMap((x, y) -> x + y, [1], [2]), (a as b) + 1, t.a + 1, `a b`",
            &[
                "arrayMap(lambda(tuple(x, y), plus(x, y)), [1], [2])",
                "plus(b, 1)",
                "plus(t.a, 1)",
                "a b",
            ],
        );
        check(
            "sum(x) over (partition by a order by b desc rows 1 preceding), lead(a) over w",
            &[
                "sum(x) OVER (PARTITION BY a ORDER BY b DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
                "lead(a) OVER w",
            ],
        );
        check(
            "(select 1), 1 in (select 1), (select 2) as s, (select 3) + (select 4), 1 in (1, 2)",
            &[
                "_subquery_1",
                "in(1, _subquery_2)",
                "s",
                "plus(_subquery_4, _subquery_5)",
                "in(1, (1, 2))",
            ],
        );
    }
}
