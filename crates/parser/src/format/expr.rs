//! Writes expressions.

use super::Writer;
use super::text::{backticked, float, is_clause_word, quoted};
use crate::ast::{
    Expr, ExprKind, FrameBound, Function, FunctionForm, Lambda, Literal, NamePart, NullsAction,
    WindowFrame, WindowRef, WindowSpec,
};

/// Where an expression stands, which decides about parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// An item of a list or a clause that may have an alias.
    Item,
    /// A clause where AS would mean something else.
    Clause,
    /// A side of an operator.
    Operand,
}

impl Writer {
    /// An expression that may have an alias.
    pub(super) fn aliased(&mut self, e: &Expr) {
        self.expr_in(e, Place::Item);
    }

    /// An expression whose alias needs parentheses.
    pub(super) fn expr(&mut self, e: &Expr) {
        self.expr_in(e, Place::Clause);
    }

    /// An operand: operators, lambdas and aliases in it get parentheses.
    pub(super) fn operand(&mut self, e: &Expr) {
        self.expr_in(e, Place::Operand);
    }

    fn expr_in(&mut self, e: &Expr, place: Place) {
        let nested = place == Place::Operand;
        let is_alias = matches!(e.kind, ExprKind::Alias { .. });
        let parentheses = (e.span.parenthesised && !is_alias)
            || (nested && needs_parentheses(e))
            || (is_alias && place == Place::Clause);
        self.put_if(parentheses, "(");
        match &e.kind {
            ExprKind::Alias { expr, name } => {
                let keep = e.span.parenthesised && !parentheses && !expr.span.parenthesised;
                self.put_if(keep, "(");
                self.expr_in(expr, Place::Clause);
                self.put_if(keep, ")");
                self.put(" AS ");
                self.put_name(name);
            }
            ExprKind::Function(f) if f.form == FunctionForm::Operator => self.operator(f),
            ExprKind::Function(f) => self.call(f),
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Array(items) => self.elements("[", items, "]"),
            ExprKind::Tuple(items) => self.elements("(", items, ")"),
            ExprKind::Subquery(query) => self.block(|w| w.query_body(&query.body)),
            _ => self.leaf(e),
        }
        self.put_if(parentheses, ")");
    }

    /// What contains no expressions.
    #[inline(never)]
    fn leaf(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::Identifier(parts) => self.identifier_parts(parts),
            ExprKind::Matcher(matcher) => self.matcher(matcher),
            ExprKind::QueryParameter(parameter) => {
                self.put("{");
                self.put_name(&parameter.name);
                self.put(":");
                self.data_type(&parameter.data_type);
                self.put("}");
            }
            ExprKind::ParameterName(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    self.put_if(i > 0, ".");
                    match part {
                        NamePart::Name(name) if i == 0 => self.put_expression_name(name),
                        NamePart::Name(name) => self.name_part(name, false),
                        NamePart::Parameter(name) => self.name_part(name, true),
                    }
                }
            }
            _ => {}
        }
    }

    fn elements(&mut self, open: &str, items: &[Expr], close: &str) {
        self.put(open);
        for (i, item) in items.iter().enumerate() {
            self.put_if(i > 0, ", ");
            self.element(i, item);
        }
        self.put(close);
    }

    /// An item of a list. A lambda after names would take them as its parameters.
    pub(super) fn element(&mut self, index: usize, item: &Expr) {
        let lambda = index > 0 && matches!(item.kind, ExprKind::Lambda(_));
        self.expr_in(item, if lambda { Place::Operand } else { Place::Item });
    }

    /// An expression in parentheses, whether it had its own or not.
    pub(super) fn in_parentheses(&mut self, e: &Expr) {
        if e.span.parenthesised && !matches!(e.kind, ExprKind::Alias { .. }) {
            self.expr_in(e, Place::Item);
        } else {
            self.put("(");
            self.expr_in(e, Place::Item);
            self.put(")");
        }
    }

    pub(super) fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.put("NULL"),
            Literal::Bool(b) => self.put(if *b { "true" } else { "false" }),
            Literal::UInt(n) => self.put(&n.to_string()),
            Literal::Int(n) => self.put(&n.to_string()),
            Literal::Float(f) => self.put(&float(f.value)),
            Literal::String(s) => self.put(&quoted(s)),
        }
    }

    pub(super) fn identifier_parts(&mut self, parts: &[String]) {
        for (i, part) in parts.iter().enumerate() {
            self.put_if(i > 0, ".");
            match part.as_bytes() {
                // Subcolumns of JSON: ^`name`, :`Type`.
                [sign @ (b'^' | b':'), b'`', .., b'`'] if i > 0 => {
                    self.put(if *sign == b'^' { "^" } else { ":" });
                    let name = crate::lexer::decode_quoted(&part.as_bytes()[1..]);
                    self.put_name(&String::from_utf8_lossy(&name));
                }
                _ if i == 0 => self.put_expression_name(part),
                _ if part.eq_ignore_ascii_case("COLUMNS") => self.put(&backticked(part)),
                _ => self.put_name(part),
            }
        }
    }

    /// `name(params)(args) ..`
    fn call(&mut self, f: &Function) {
        self.function_name(&f.name);
        if let Some(params) = &f.params {
            self.elements("(", params, ")");
        }
        match unit_named_column(f) {
            Some(column) => {
                self.put(&format!("({}, ", backticked(column)));
                self.elements("", &f.args[1..], ")");
            }
            None => self.elements("(", &f.args, ")"),
        }
        self.call_suffix(f);
    }

    #[inline(never)]
    fn function_name(&mut self, name: &str) {
        let plain = name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
            && !name.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if name == "not" {
            // NOT before parentheses is the same function.
            self.put(name);
        } else if !plain || crate::parser::is_special_call(name) {
            self.put(&backticked(name));
        } else if name.contains('.') {
            self.put(name);
        } else {
            self.put_risky(name, is_clause_word(name));
        }
    }

    #[inline(never)]
    fn call_suffix(&mut self, f: &Function) {
        match f.nulls {
            Some(NullsAction::Respect) => self.put(" RESPECT NULLS"),
            Some(NullsAction::Ignore) => self.put(" IGNORE NULLS"),
            None => {}
        }
        match &f.over {
            Some(WindowRef::Named(name)) => {
                self.put(" OVER ");
                self.put_name(name);
            }
            Some(WindowRef::Spec(spec)) => {
                self.put(" OVER ");
                self.window_spec(spec);
            }
            None => {}
        }
    }

    pub(super) fn lambda(&mut self, lambda: &Lambda) {
        match lambda.params.as_slice() {
            [one] => self.put_expression_name(one),
            // The only way to write no parameters.
            params => self.parentheses(params, |w, p| w.put_expression_name(p)),
        }
        self.put(" -> ");
        self.operand(&lambda.body);
    }

    pub(super) fn window_spec(&mut self, spec: &WindowSpec) {
        self.put("(");
        let mut separator = "";
        if let Some(parent) = &spec.parent {
            self.put_name(parent);
            separator = " ";
        }
        if !spec.partition_by.is_empty() {
            self.put(separator);
            self.put("PARTITION BY ");
            self.commas(&spec.partition_by, |w, e| w.expr(e));
            separator = " ";
        }
        if !spec.order_by.is_empty() {
            self.put(separator);
            self.put("ORDER BY ");
            self.commas(&spec.order_by, |w, item| w.order_item(item));
            separator = " ";
        }
        if let Some(frame) = &spec.frame {
            self.put(separator);
            self.window_frame(frame);
        }
        self.put(")");
    }

    fn window_frame(&mut self, frame: &WindowFrame) {
        self.put(frame.unit.start());
        self.frame_bound(&frame.start);
        self.put(" AND ");
        self.frame_bound(&frame.end);
    }

    fn frame_bound(&mut self, bound: &FrameBound) {
        match bound {
            FrameBound::CurrentRow => self.put("CURRENT ROW"),
            FrameBound::UnboundedPreceding => self.put("UNBOUNDED PRECEDING"),
            FrameBound::UnboundedFollowing => self.put("UNBOUNDED FOLLOWING"),
            FrameBound::Preceding(e) => {
                self.operand(e);
                self.put(" PRECEDING");
            }
            FrameBound::Following(e) => {
                self.operand(e);
                self.put(" FOLLOWING");
            }
        }
    }
}

/// A column that `dateDiff` would take for a unit of time, were it not for backticks.
fn unit_named_column(f: &Function) -> Option<&str> {
    match f
        .args
        .first()
        .filter(|e| f.name == "dateDiff" && !e.span.parenthesised)
    {
        Some(Expr {
            kind: ExprKind::Identifier(parts),
            ..
        }) => match parts.as_slice() {
            [one] if f.args.len() > 1 && crate::parser::unit_of(one).is_some() => Some(one),
            _ => None,
        },
        _ => None,
    }
}

fn needs_parentheses(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Function(f) => f.form == FunctionForm::Operator,
        ExprKind::Lambda(_) | ExprKind::Alias { .. } => true,
        _ => false,
    }
}
