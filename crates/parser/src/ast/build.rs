//! Builds expressions that no text spells: parts of statements that the engine writes itself.

use std::fmt::Display;

use super::{Expr, ExprKind, Function, Literal, Span};

impl Expr {
    /// A constant.
    pub fn literal(value: Literal) -> Expr {
        Expr::new(ExprKind::Literal(value), Span::default())
    }

    /// A string constant.
    pub fn string(text: &str) -> Expr {
        Expr::literal(Literal::String(text.as_bytes().to_vec()))
    }

    /// A name of one part.
    pub fn column(name: impl Into<String>) -> Expr {
        Expr::new(ExprKind::Identifier(vec![name.into()]), Span::default())
    }

    /// A plain call `name(args)`.
    pub fn call(name: impl Into<String>, args: Vec<Expr>) -> Expr {
        let function = Box::new(Function::call(name, args));
        Expr::new(ExprKind::Function(function), Span::default())
    }

    /// `CAST(self, 'data_type')`, at the place of what it casts.
    pub fn cast(self, data_type: impl Display) -> Expr {
        let span = self.span;
        let data_type = Expr::string(&data_type.to_string()).at(span);
        Expr::call("CAST", vec![self, data_type]).at(span)
    }

    /// The condition, false where it is NULL.
    pub fn or_false(self) -> Expr {
        let span = self.span;
        Expr::call("ifNull", vec![self, Expr::literal(Literal::UInt(0))]).at(span)
    }

    /// The same at a place; what it is made of keeps its own.
    pub fn at(self, span: Span) -> Expr {
        Expr { span, ..self }
    }
}
