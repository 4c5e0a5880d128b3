//! Rewrites a statement into the form that EXPLAIN SYNTAX prints: every operator is a call, constants
//! that are no plain values have their types, joins say ALL, and a SELECT without FROM reads `system.one`.

use basalt_analyzer::Analyzer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{
    ColumnTransformer, Expr, ExprKind, FromElement, Function, FunctionForm, GroupBy, InsertSource,
    Join, JoinConstraint, JoinKind, JoinStrictness, Lambda, Literal, ObjectName, OrderBy,
    OrderItem, Query, Select, SetExpr, SetOperator, Span, Statement, TableExpr, TableSource,
    WindowRef, WindowSpec, WithItem,
};

/// The statement as EXPLAIN SYNTAX shows it.
pub(super) fn rewritten(statement: &Statement, analyzer: &Analyzer<'_>) -> Result<Statement> {
    let mut shown = statement.clone();
    match &mut shown {
        Statement::Query(query) => Rewriter::new(analyzer, true).query(query)?,
        Statement::Insert(insert) => {
            if let InsertSource::Query(query) = &mut insert.source {
                // As in ClickHouse, whose INSERT looks at the query first.
                analyzer.plan(query)?;
                Rewriter::new(analyzer, false).query(query)?;
            }
        }
        _ => {}
    }
    Ok(shown)
}

/// Rewrites queries in place.
struct Rewriter<'a> {
    analyzer: &'a Analyzer<'a>,
    /// Whether to write the table that a SELECT without FROM reads.
    shows_one: bool,
}

impl<'a> Rewriter<'a> {
    fn new(analyzer: &'a Analyzer<'a>, shows_one: bool) -> Self {
        Self {
            analyzer,
            shows_one,
        }
    }

    fn query(&self, query: &mut Query) -> Result<()> {
        self.set(&mut query.body)
    }

    fn set(&self, body: &mut SetExpr) -> Result<()> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Nested(inner) => self.set(inner),
            SetExpr::Operation { operator, branches } => {
                match operator {
                    SetOperator::UnionDefault => {
                        return Err(Error::new(
                            ErrorCode::EXPECTED_ALL_OR_DISTINCT,
                            "Write UNION ALL or UNION DISTINCT",
                        ));
                    }
                    SetOperator::ExceptDefault => *operator = SetOperator::ExceptAll,
                    SetOperator::IntersectDefault => *operator = SetOperator::IntersectAll,
                    _ => {}
                }
                for branch in branches {
                    self.set(branch)?;
                    if matches!(branch, SetExpr::Select(_)) {
                        let select = std::mem::replace(branch, SetExpr::Select(Box::default()));
                        *branch = SetExpr::Nested(Box::new(select));
                    }
                }
                Ok(())
            }
        }
    }

    fn select(&self, select: &mut Select) -> Result<()> {
        for item in &mut select.with {
            match item {
                WithItem::Expr(e) => self.expr(e)?,
                WithItem::Subquery { query, .. } => self.query(query)?,
            }
        }
        self.exprs(&mut select.columns)?;
        if select.from.is_empty() && self.shows_one {
            select.from.push(one());
        }
        for element in &mut select.from {
            self.from(element)?;
        }
        let clauses = [
            &mut select.prewhere,
            &mut select.where_,
            &mut select.having,
            &mut select.qualify,
            &mut select.limit,
            &mut select.offset,
        ];
        for clause in clauses.into_iter().flatten() {
            self.expr(clause)?;
        }
        match &mut select.group_by {
            Some(GroupBy::Exprs { exprs, .. }) => self.exprs(exprs)?,
            Some(GroupBy::GroupingSets(sets)) => {
                sets.iter_mut().try_for_each(|set| self.exprs(set))?;
            }
            Some(GroupBy::All(_)) | None => {}
        }
        for window in &mut select.windows {
            self.window(&mut window.spec)?;
        }
        if let Some(limit_by) = &mut select.limit_by {
            self.exprs(&mut limit_by.by)?;
        }
        self.order_by(select.order_by.as_mut())
    }

    fn order_by(&self, order_by: Option<&mut OrderBy>) -> Result<()> {
        let Some(OrderBy::Items { items, interpolate }) = order_by else {
            return Ok(());
        };
        self.order_items(items)?;
        let interpolated = interpolate.iter_mut().flatten();
        for expr in interpolated.filter_map(|i| i.expr.as_mut()) {
            self.expr(expr)?;
        }
        Ok(())
    }

    fn order_items(&self, items: &mut [OrderItem]) -> Result<()> {
        items.iter_mut().try_for_each(|i| self.expr(&mut i.expr))
    }

    fn from(&self, element: &mut FromElement) -> Result<()> {
        match element {
            FromElement::Table { join, table } => {
                match &mut table.source {
                    TableSource::Subquery(query) => self.query(query)?,
                    TableSource::Function(f) => self.exprs(&mut f.args)?,
                    TableSource::Table(_) | TableSource::File(_) => {}
                }
                join.as_mut().map_or(Ok(()), |join| self.join(join))
            }
            FromElement::ArrayJoin { exprs, .. } => self.exprs(exprs),
        }
    }

    fn join(&self, join: &mut Join) -> Result<()> {
        let has_strictness = !matches!(
            join.kind,
            JoinKind::Cross | JoinKind::Comma | JoinKind::Paste
        );
        if has_strictness && join.strictness == JoinStrictness::Unspecified {
            join.strictness = JoinStrictness::All;
        }
        match &mut join.constraint {
            Some(JoinConstraint::On(condition)) => self.expr(condition),
            Some(JoinConstraint::Using(columns)) => self.exprs(columns),
            None => Ok(()),
        }
    }

    fn exprs(&self, exprs: &mut [Expr]) -> Result<()> {
        exprs.iter_mut().try_for_each(|e| self.expr(e))
    }

    fn expr(&self, e: &mut Expr) -> Result<()> {
        e.span.parenthesised &= matches!(e.kind, ExprKind::Alias { .. });
        if is_constant(e) {
            return self.typed(e);
        }
        match &mut e.kind {
            ExprKind::Alias { expr, .. } => {
                let parenthesised = expr.span.parenthesised;
                self.expr(expr)?;
                expr.span.parenthesised = parenthesised;
            }
            ExprKind::Literal(Literal::Null) => self.typed(e)?,
            ExprKind::Array(_) | ExprKind::Tuple(_) => self.elements(e)?,
            ExprKind::Function(f) => self.function(f)?,
            ExprKind::Lambda(lambda) => {
                let (params, body) = self.lambda(lambda)?;
                e.kind = call("lambda", vec![params, body]);
            }
            ExprKind::Subquery(query) => self.query(query)?,
            ExprKind::Matcher(matcher) => {
                for transformer in &mut matcher.transformers {
                    self.transformer(transformer)?;
                }
            }
            ExprKind::Literal(_)
            | ExprKind::Identifier(_)
            | ExprKind::QueryParameter(_)
            | ExprKind::ParameterName(_) => {}
        }
        Ok(())
    }

    /// An array or a tuple that is no constant is a call, too.
    fn elements(&self, e: &mut Expr) -> Result<()> {
        let (name, items) = match &mut e.kind {
            ExprKind::Array(items) => ("array", items),
            ExprKind::Tuple(items) => ("tuple", items),
            _ => return Ok(()),
        };
        self.exprs(items)?;
        e.kind = call(name, std::mem::take(items));
        Ok(())
    }

    /// A constant with its type.
    fn typed(&self, e: &mut Expr) -> Result<()> {
        let (_, data_type) = self.analyzer.constant(e)?;
        let data_type = Literal::String(data_type.to_string().into_bytes());
        let data_type = Expr::new(ExprKind::Literal(data_type), e.span);
        let constant = Expr::new(e.kind.clone(), e.span);
        e.kind = call("_CAST", vec![constant, data_type]);
        Ok(())
    }

    fn function(&self, f: &mut Function) -> Result<()> {
        f.form = FunctionForm::Call;
        let is_in = matches!(f.name.as_str(), "in" | "notIn" | "globalIn" | "globalNotIn");
        for (i, arg) in f.args.iter_mut().enumerate() {
            let is_set = is_in && i == 1 && is_constant_tuple(arg);
            if is_set {
                arg.span.parenthesised = false;
            } else {
                self.expr(arg)?;
            }
        }
        self.exprs(f.params.as_deref_mut().unwrap_or_default())?;
        match &mut f.over {
            Some(WindowRef::Spec(spec)) => self.window(spec),
            Some(WindowRef::Named(_)) | None => Ok(()),
        }
    }

    fn window(&self, spec: &mut WindowSpec) -> Result<()> {
        self.exprs(&mut spec.partition_by)?;
        self.order_items(&mut spec.order_by)
    }

    /// The parameters as a call of `tuple`, and the body.
    fn lambda(&self, lambda: &mut Lambda) -> Result<(Expr, Expr)> {
        self.expr(&mut lambda.body)?;
        let span = lambda.body.span;
        let params = lambda.params.iter();
        let params = params.map(|p| Expr::new(ExprKind::Identifier(vec![p.clone()]), span));
        let params = Expr::new(call("tuple", params.collect()), span);
        Ok((params, lambda.body.clone()))
    }

    fn transformer(&self, transformer: &mut ColumnTransformer) -> Result<()> {
        match transformer {
            ColumnTransformer::Replace { items, .. } => {
                items.iter_mut().try_for_each(|(e, _)| self.expr(e))
            }
            ColumnTransformer::Apply { params, .. } => {
                self.exprs(params.as_deref_mut().unwrap_or_default())
            }
            ColumnTransformer::ApplyLambda(lambda) => {
                let (params, body) = self.lambda(lambda)?;
                *transformer = ColumnTransformer::Apply {
                    function: "lambda".to_owned(),
                    params: Some(vec![params, body]),
                    prefix: None,
                };
                Ok(())
            }
            ColumnTransformer::Except { .. } | ColumnTransformer::ExceptRegexp(_) => Ok(()),
        }
    }
}

fn call(name: &str, args: Vec<Expr>) -> ExprKind {
    ExprKind::Function(Box::new(Function::call(name, args)))
}

/// Whether it is a constant array of values or of such arrays, or the like of tuples.
fn is_constant(e: &Expr) -> bool {
    let is_value = |e: &Expr| matches!(e.kind, ExprKind::Literal(_));
    match &e.kind {
        ExprKind::Array(items) => items
            .iter()
            .all(|i| is_value(i) || (matches!(i.kind, ExprKind::Array(_)) && is_constant(i))),
        ExprKind::Tuple(items) => items.iter().all(|i| is_value(i) || is_constant_tuple(i)),
        _ => false,
    }
}

/// Whether it is a set of constants, as IN takes it.
fn is_constant_tuple(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Tuple(_)) && is_constant(e)
}

/// `system.one` in FROM.
fn one() -> FromElement {
    let name = ObjectName {
        database: Some("system".to_owned()),
        ..ObjectName::bare("one")
    };
    let table = TableExpr::of(TableSource::Table(name), Span::default());
    FromElement::Table {
        join: None,
        table: Box::new(table),
    }
}
