//! Parses operators by precedence, and aliases.

use basalt_error::{ErrorCode, Result};

use super::Parser;
use super::operator::{Infix, Shape, precedence};
use crate::ast::{
    ColumnMatcher, Expr, ExprKind, FromElement, Function, Literal, MatcherPattern, Query, Select,
    SetExpr, Span, TableExpr, TableSource,
};
use crate::keywords::is_reserved_alias;
use crate::lexer::TokenKind as K;

/// Levels of depth that a nested expression counts as: its share of the stack.
pub(super) const EXPR_LEVELS: u32 = 5;

/// Levels that an operator adds to what stands on its left.
const OPERATOR_LEVELS: u32 = 2;

/// How many BETWEENs may be nested in each other's left sides: each doubles the tree.
const MAX_COPIES: u32 = 8;

impl Parser<'_> {
    /// An expression without alias.
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.expr_above(0)
    }

    /// An expression, perhaps with `AS name`.
    pub(super) fn aliased_expr(&mut self) -> Result<Expr> {
        let start = self.start_span();
        let outer_height = std::mem::take(&mut self.height);
        let mut expr = self.expr()?;
        if self.keyword("AS") {
            self.expect_one_column(&expr)?;
            let name = self.identifier("alias")?;
            expr = self.alias(expr, name, start);
        }
        self.height = self.height.max(outer_height);
        Ok(expr)
    }

    /// An expression, perhaps with `AS name` or just `name`.
    pub(super) fn select_item(&mut self) -> Result<Expr> {
        let outer_height = std::mem::take(&mut self.height);
        let item = self.maybe_aliased();
        self.height = self.height.max(outer_height);
        item
    }

    fn maybe_aliased(&mut self) -> Result<Expr> {
        let start = self.start_span();
        let expr = self.aliased_expr()?;
        if matches!(expr.kind, ExprKind::Alias { .. }) {
            return Ok(expr);
        }
        // `COMMENT 'text'` may follow the query of a view.
        if self.is_word(0, "COMMENT") && self.token(1).kind == K::String {
            return Ok(expr);
        }
        let mark = self.mark();
        match self.implicit_alias()? {
            Some(name) => {
                let end = self.mark();
                self.back(mark);
                self.expect_one_column(&expr)?;
                self.back(end);
                Ok(self.alias(expr, name, start))
            }
            None => Ok(expr),
        }
    }

    /// Before an alias: `*` and `COLUMNS(..)` have none, since they are any number of columns.
    fn expect_one_column(&mut self, expr: &Expr) -> Result<()> {
        if !matches!(expr.kind, ExprKind::Matcher(_)) {
            return Ok(());
        }
        let span = self.start_span();
        let message = "Leave out the alias: * and COLUMNS(..) are any number of columns";
        Err(self.error_at(span, ErrorCode::SYNTAX_ERROR, message.to_owned()))
    }

    /// A name that is no keyword of what may follow an expression or table.
    pub(super) fn implicit_alias(&mut self) -> Result<Option<String>> {
        let is_reserved = self.kind() == K::Word && is_reserved_alias(self.token_text(0));
        if is_reserved || self.at_parallel() {
            self.note("alias");
            return Ok(None);
        }
        self.try_identifier("alias")
    }

    fn alias(&mut self, expr: Expr, name: String, start: Span) -> Expr {
        self.height += 1;
        Expr::new(
            ExprKind::Alias {
                expr: Box::new(expr),
                name,
            },
            self.span_from(start),
        )
    }

    /// An expression whose operators bind at least as tightly as `min`.
    pub(super) fn expr_above(&mut self, min: u8) -> Result<Expr> {
        self.enter(EXPR_LEVELS)?;
        let outer_height = std::mem::take(&mut self.height);
        let outer_copies = std::mem::take(&mut self.copies);
        let start = self.start_span();
        let mut left = self.prefix()?;
        self.height += 1;
        if min <= precedence::TERNARY && self.kind() == K::Arrow {
            left = self.lambda(left, start)?;
            self.height += 1;
        }
        while let Some(operator) = self.infix(min) {
            left = self.apply(operator, left, start)?;
            self.height += OPERATOR_LEVELS;
            self.check_depth()?;
        }
        self.height = self.height.max(outer_height);
        self.copies = self.copies.max(outer_copies);
        self.leave(EXPR_LEVELS);
        Ok(left)
    }

    /// A prefix operator with its operand, or a primary expression.
    fn prefix(&mut self) -> Result<Expr> {
        match self.kind() {
            K::Minus => self.negation(),
            K::Plus => {
                self.advance();
                self.expr_above(precedence::UNARY)
            }
            K::Word if self.is_word(0, "NOT") => self.not(),
            _ => self.primary(),
        }
    }

    fn not(&mut self) -> Result<Expr> {
        let start = self.advance().span;
        let operand = self.expr_above(precedence::NOT)?;
        Ok(self.operator_call("not", vec![operand], start))
    }

    /// `-x`; directly before a number the sign belongs to the number.
    fn negation(&mut self) -> Result<Expr> {
        let start = self.advance().span;
        if let Some(number) = self.try_number(true)? {
            return Ok(Expr::new(ExprKind::Literal(number), self.span_from(start)));
        }
        let operand = self.expr_above(precedence::UNARY)?;
        Ok(self.operator_call("negate", vec![operand], start))
    }

    pub(super) fn operator_call(&self, name: &str, args: Vec<Expr>, start: Span) -> Expr {
        let function = ExprKind::Function(Box::new(Function::operator(name, args)));
        Expr::new(function, self.span_from(start))
    }

    pub(super) fn call_expr(&self, name: &str, args: Vec<Expr>, start: Span) -> Expr {
        let function = ExprKind::Function(Box::new(Function::call(name, args)));
        Expr::new(function, self.span_from(start))
    }

    /// Applies an operator that was just consumed to `left` and what follows.
    fn apply(&mut self, operator: Infix, left: Expr, start: Span) -> Result<Expr> {
        let Infix {
            function,
            precedence,
            shape,
        } = operator;
        let args = match shape {
            Shape::Binary => vec![left, self.expr_above(precedence + 1)?],
            Shape::Chain => return self.chain(operator, left, start),
            Shape::Quantified => return self.comparison(operator, left, start),
            Shape::Like => return self.like(operator, left, start),
            Shape::In => vec![left, self.expr_above(precedence + 1)?],
            Shape::Between { negated } => return self.between(left, negated, start),
            Shape::IsNull => vec![left],
            Shape::IsBool(value) => {
                vec![
                    left,
                    Expr::new(ExprKind::Literal(Literal::Bool(value)), self.last_span()),
                ]
            }
            Shape::Local => {
                let span = self.last_span();
                vec![left, self.call_expr("timeZone", Vec::new(), span)]
            }
            Shape::Ternary => {
                let then = self.expr_above(precedence + 1)?;
                self.expect_symbol(K::Colon)?;
                let args = vec![left, then, self.expr_above(precedence + 1)?];
                if self.kind() == K::Question {
                    return self.fail("parentheses around one of two conditions");
                }
                return Ok(self.call_expr(function, args, start));
            }
            Shape::Index => {
                let index = self.aliased_expr()?;
                self.expect_symbol(K::CloseSquare)?;
                vec![left, index]
            }
            Shape::Element => return self.element(left, start),
            Shape::Cast => return self.cast_operator(left, start),
        };
        Ok(match function {
            "match"
            | "matchCaseInsensitive"
            | "notMatch"
            | "notMatchCaseInsensitive"
            | "intDiv"
            | "toTimeZone" => self.call_expr(function, args, start),
            _ => self.operator_call(function, args, start),
        })
    }

    /// `a AND b AND c`: one call; parentheses keep calls apart.
    fn chain(&mut self, operator: Infix, left: Expr, start: Span) -> Result<Expr> {
        let mut args = vec![left, self.expr_above(operator.precedence + 1)?];
        loop {
            let mark = self.mark();
            match self.infix(operator.precedence) {
                Some(next) if next.function == operator.function && next.shape == Shape::Chain => {
                    args.push(self.expr_above(operator.precedence + 1)?);
                }
                Some(_) => {
                    self.back(mark);
                    break;
                }
                None => break,
            }
        }
        Ok(match operator.function {
            "concat" => self.call_expr(operator.function, args, start),
            _ => self.operator_call(operator.function, args, start),
        })
    }

    /// `a = b`, and with a subquery `a = ANY (SELECT ..)`, `a < ALL (SELECT ..)`.
    fn comparison(&mut self, operator: Infix, left: Expr, start: Span) -> Result<Expr> {
        let is_query = self.token(1).kind == K::OpenRound
            && (self.is_word(2, "SELECT") || self.is_word(2, "WITH"));
        let is_all = self.is_word(0, "ALL");
        let is_any = self.is_word(0, "ANY") || self.is_word(0, "SOME");
        if !is_query || !(is_all || is_any) {
            let right = self.expr_above(operator.precedence + 1)?;
            return Ok(self.operator_call(operator.function, vec![left, right], start));
        }
        self.advance();
        let mut right = self.expr_above(operator.precedence + 1)?;
        let (function, aggregate) = match (operator.function, is_all) {
            ("equals", false) => ("in", None),
            ("equals", true) => ("in", Some("singleValueOrNull")),
            ("notEquals", true) => ("notIn", None),
            ("notEquals", false) => ("notIn", Some("singleValueOrNull")),
            (name @ ("less" | "lessOrEquals"), is_all) => {
                (name, Some(if is_all { "min" } else { "max" }))
            }
            (name, is_all) => (name, Some(if is_all { "max" } else { "min" })),
        };
        if let Some(aggregate) = aggregate {
            right = self.aggregate_of(right, aggregate, start);
        }
        Ok(self.operator_call(function, vec![left, right], start))
    }

    /// `(SELECT aggregate(*) FROM query)`
    fn aggregate_of(&mut self, query: Expr, aggregate: &str, start: Span) -> Expr {
        let span = query.span;
        let ExprKind::Subquery(query) = query.kind else {
            return query;
        };
        let matcher = ColumnMatcher {
            qualifier: None,
            pattern: MatcherPattern::All,
            transformers: Vec::new(),
        };
        let all = Expr::new(ExprKind::Matcher(Box::new(matcher)), span);
        self.height += 1;
        let table = TableExpr {
            source: TableSource::Subquery(query),
            alias: None,
            column_aliases: Vec::new(),
            final_: false,
            sample: None,
            stream: false,
            span,
        };
        let select = Select {
            columns: vec![self.call_expr(aggregate, vec![all], start)],
            from: vec![FromElement::Table {
                join: None,
                table: Box::new(table),
            }],
            span,
            ..Select::default()
        };
        let query = Query::new(SetExpr::Select(Box::new(select)));
        Expr::new(ExprKind::Subquery(Box::new(query)), span)
    }

    fn like(&mut self, operator: Infix, left: Expr, start: Span) -> Result<Expr> {
        let mut args = vec![left, self.expr_above(operator.precedence + 1)?];
        if self.keyword("ESCAPE") {
            args.push(self.expr_above(operator.precedence + 1)?);
        }
        Ok(self.operator_call(operator.function, args, start))
    }

    fn between(&mut self, left: Expr, negated: bool, start: Span) -> Result<Expr> {
        let low = self.expr_above(precedence::BETWEEN + 1)?;
        self.expect_keyword("AND")?;
        let high = self.expr_above(precedence::BETWEEN + 1)?;
        let (outer, at_low, at_high) = if negated {
            ("or", "less", "greater")
        } else {
            ("and", "greaterOrEquals", "lessOrEquals")
        };
        self.height += 1;
        self.copies += 1;
        if self.copies > MAX_COPIES {
            let message =
                "simplify the query: too many BETWEENs are nested in each other".to_owned();
            return Err(self.error_at(start, ErrorCode::TOO_DEEP_RECURSION, message));
        }
        let low = self.operator_call(at_low, vec![left.clone(), low], start);
        let high = self.operator_call(at_high, vec![left, high], start);
        Ok(self.operator_call(outer, vec![low, high], start))
    }

    /// `.1`, `.-1`, `.name` after an expression.
    fn element(&mut self, left: Expr, start: Span) -> Result<Expr> {
        let at = self.start_span();
        let index = match self.kind() {
            K::Word | K::QuotedIdentifier => {
                let name = self.identifier("name of the element")?;
                ExprKind::Literal(Literal::String(name.into_bytes()))
            }
            K::Minus => {
                self.advance();
                let Some(number) = self.try_number(false)? else {
                    return self.fail("number of the element");
                };
                let number = Expr::new(ExprKind::Literal(number), self.last_span());
                self.height += 1;
                self.operator_call("negate", vec![number], at).kind
            }
            _ => match self.try_number(false)? {
                Some(number) => ExprKind::Literal(number),
                None => return self.fail("number or name of the element"),
            },
        };
        let plain = matches!(index, ExprKind::Literal(Literal::UInt(_)))
            && !matches!(left.kind, ExprKind::Literal(_));
        let args = vec![left, Expr::new(index, self.span_from(at))];
        // Only `expr.1` can be written as an operator in all places.
        Ok(match plain {
            true => self.operator_call("tupleElement", args, start),
            false => self.call_expr("tupleElement", args, start),
        })
    }

    /// `::T`; a constant is cast from its text.
    fn cast_operator(&mut self, left: Expr, start: Span) -> Result<Expr> {
        let is_text = self.is_text_constant(&left);
        let left = if is_text {
            let text: Vec<u8> = match (&left.kind, left.span.parenthesised) {
                (ExprKind::Literal(Literal::String(s)), false) => s.clone(),
                (ExprKind::Literal(_), false) => {
                    let text = self.slice(left.span);
                    text.iter()
                        .copied()
                        .filter(|b| !b.is_ascii_whitespace())
                        .collect()
                }
                // The cast's own tokens `::` follow directly.
                _ => self
                    .slice(Span {
                        end: self.last_span().start,
                        ..start
                    })
                    .trim_ascii()
                    .to_vec(),
            };
            let span = Span {
                parenthesised: false,
                ..left.span
            };
            Expr::new(ExprKind::Literal(Literal::String(text)), span)
        } else {
            left
        };
        let at = self.start_span();
        let data_type = self.data_type()?;
        let name = crate::format::format_data_type(&data_type).into_bytes();
        let name = Expr::new(ExprKind::Literal(Literal::String(name)), self.span_from(at));
        Ok(self.call_expr("CAST", vec![left, name], start))
    }

    /// Whether `::` takes the text of `expr`: numbers, strings, and arrays and tuples of them.
    fn is_text_constant(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Literal(Literal::UInt(_) | Literal::Int(_) | Literal::String(_)) => true,
            ExprKind::Literal(Literal::Float(f)) => f.value.is_finite(),
            ExprKind::Array(items) => items.iter().all(|e| self.is_text_constant(e)),
            ExprKind::Tuple(items) => {
                items.len() > 1 && items.iter().all(|e| self.is_text_constant(e))
            }
            _ => false,
        }
    }
}
