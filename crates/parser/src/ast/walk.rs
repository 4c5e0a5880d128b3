//! Visits the expressions and joins of a query, those of its subqueries included.
//!
//! Every field of every node is named here, so that one that is added cannot be forgotten.

use super::expr::{
    ColumnMatcher, ColumnTransformer, Expr, ExprKind, FrameBound, Function, WindowFrame, WindowRef,
    WindowSpec,
};
use super::select::{
    GroupBy, InterpolateItem, LimitBy, LimitRange, OrderBy, OrderItem, Query, Select, SetExpr,
    WithFill, WithItem,
};
use super::table::{FromElement, Join, JoinConstraint, TableExpr, TableSource};

/// What is told of a query's parts, each before those inside of it.
pub trait Visitor {
    /// An expression; whether those inside of it are visited, too.
    fn expr(&mut self, expr: &Expr) -> bool;

    /// A join; its condition is an expression.
    fn join(&mut self, _join: &Join) {}

    /// An item of INTERPOLATE; its value is an expression.
    fn interpolated(&mut self, _item: &InterpolateItem) {}
}

impl Query {
    /// Tells a visitor of all parts. Values of settings and places of output are none.
    pub fn walk(&self, visitor: &mut impl Visitor) {
        let Query { body, output: _ } = self;
        set(body, visitor);
    }
}

impl Expr {
    /// Tells a visitor of the expression and all inside of it.
    pub fn walk(&self, visitor: &mut impl Visitor) {
        if !visitor.expr(self) {
            return;
        }
        match &self.kind {
            ExprKind::Array(items) | ExprKind::Tuple(items) => exprs(items, visitor),
            ExprKind::Matcher(inner) => matcher(inner, visitor),
            ExprKind::Function(inner) => function(inner, visitor),
            ExprKind::Lambda(lambda) => lambda.body.walk(visitor),
            ExprKind::Subquery(query) => query.walk(visitor),
            ExprKind::Alias { expr, name: _ } => expr.walk(visitor),
            ExprKind::Literal(_)
            | ExprKind::Identifier(_)
            | ExprKind::QueryParameter(_)
            | ExprKind::ParameterName(_) => {}
        }
    }
}

fn exprs<'a>(exprs: impl IntoIterator<Item = &'a Expr>, visitor: &mut impl Visitor) {
    for expr in exprs {
        expr.walk(visitor);
    }
}

fn set(body: &SetExpr, visitor: &mut impl Visitor) {
    match body {
        SetExpr::Select(inner) => select(inner, visitor),
        SetExpr::Nested(inner) => set(inner, visitor),
        SetExpr::Operation {
            operator: _,
            branches,
        } => branches.iter().for_each(|branch| set(branch, visitor)),
    }
}

fn select(select: &Select, visitor: &mut impl Visitor) {
    let Select {
        with,
        recursive: _,
        distinct: _,
        columns,
        from,
        prewhere,
        where_,
        group_by,
        with_totals: _,
        having,
        windows,
        qualify,
        order_by: order,
        limit_by,
        limit,
        offset,
        with_ties: _,
        limit_range,
        settings: _,
        span: _,
    } = select;
    for item in with {
        match item {
            WithItem::Expr(expr) => expr.walk(visitor),
            WithItem::Subquery { query, .. } => query.walk(visitor),
        }
    }
    exprs(columns, visitor);
    from.iter()
        .for_each(|element| from_element(element, visitor));
    exprs(prewhere.iter().chain(where_), visitor);
    match group_by {
        Some(GroupBy::Exprs {
            kind: _,
            exprs: keys,
        }) => exprs(keys, visitor),
        Some(GroupBy::GroupingSets(sets)) => exprs(sets.iter().flatten(), visitor),
        Some(GroupBy::All(_)) | None => {}
    }
    windows.iter().for_each(|w| window(&w.spec, visitor));
    exprs(having.iter().chain(qualify), visitor);
    if let Some(order) = order {
        order_by(order, visitor);
    }
    if let Some(by) = limit_by {
        let LimitBy {
            limit,
            offset,
            by,
            all: _,
        } = by;
        exprs([limit].into_iter().chain(offset).chain(by), visitor);
    }
    exprs(limit.iter().chain(offset), visitor);
    if let Some(range) = limit_range {
        let LimitRange {
            after,
            all: _,
            until,
        } = range.as_ref();
        exprs(after.iter().chain(until), visitor);
    }
}

fn from_element(element: &FromElement, visitor: &mut impl Visitor) {
    match element {
        FromElement::Table { join, table } => {
            table_expr(table, visitor);
            let Some(join) = join else {
                return;
            };
            visitor.join(join);
            match &join.constraint {
                Some(JoinConstraint::On(condition)) => condition.walk(visitor),
                Some(JoinConstraint::Using(columns)) => exprs(columns, visitor),
                None => {}
            }
        }
        FromElement::ArrayJoin {
            left: _,
            exprs: arrays,
        } => exprs(arrays, visitor),
    }
}

fn table_expr(table: &TableExpr, visitor: &mut impl Visitor) {
    match &table.source {
        TableSource::Function(function) => exprs(&function.args, visitor),
        TableSource::Subquery(query) => query.walk(visitor),
        TableSource::Table(_) | TableSource::File(_) => {}
    }
}

fn order_by(order: &OrderBy, visitor: &mut impl Visitor) {
    match order {
        OrderBy::All(item) => order_item(item, visitor),
        OrderBy::Items { items, interpolate } => {
            items.iter().for_each(|item| order_item(item, visitor));
            for item in interpolate.iter().flatten() {
                visitor.interpolated(item);
                exprs(&item.expr, visitor);
            }
        }
    }
}

fn order_item(item: &OrderItem, visitor: &mut impl Visitor) {
    let OrderItem {
        expr,
        descending: _,
        nulls_first: _,
        collate: _,
        with_fill,
    } = item;
    expr.walk(visitor);
    if let Some(fill) = with_fill {
        let WithFill {
            from,
            to,
            step,
            staleness,
        } = fill.as_ref();
        exprs([from, to, step, staleness].into_iter().flatten(), visitor);
    }
}

fn function(function: &Function, visitor: &mut impl Visitor) {
    let Function {
        name: _,
        params,
        args,
        form: _,
        nulls: _,
        over,
    } = function;
    exprs(params.iter().flatten().chain(args), visitor);
    match over {
        Some(WindowRef::Spec(spec)) => window(spec, visitor),
        Some(WindowRef::Named(_)) | None => {}
    }
}

fn window(spec: &WindowSpec, visitor: &mut impl Visitor) {
    let WindowSpec {
        parent: _,
        partition_by,
        order_by,
        frame,
    } = spec;
    exprs(partition_by, visitor);
    order_by.iter().for_each(|item| order_item(item, visitor));
    let Some(WindowFrame {
        unit: _,
        start,
        end,
    }) = frame
    else {
        return;
    };
    for bound in [start, end] {
        match bound {
            FrameBound::Preceding(offset) | FrameBound::Following(offset) => offset.walk(visitor),
            FrameBound::CurrentRow
            | FrameBound::UnboundedPreceding
            | FrameBound::UnboundedFollowing => {}
        }
    }
}

fn matcher(matcher: &ColumnMatcher, visitor: &mut impl Visitor) {
    let ColumnMatcher {
        qualifier: _,
        pattern: _,
        transformers,
    } = matcher;
    for transformer in transformers {
        match transformer {
            ColumnTransformer::Replace { strict: _, items } => {
                exprs(items.iter().map(|(expr, _)| expr), visitor);
            }
            ColumnTransformer::Apply {
                function: _,
                params,
                prefix: _,
            } => exprs(params.iter().flatten(), visitor),
            ColumnTransformer::ApplyLambda(lambda) => lambda.body.walk(visitor),
            ColumnTransformer::Except { .. } | ColumnTransformer::ExceptRegexp(_) => {}
        }
    }
}
