//! Writes the database before the names of a query's tables: a view means those of the database
//! that it was made in. Tells which tables a query reads.

use basalt_parser::ast::{
    Expr, ExprKind, FromElement, ObjectName, Query, Select, SetExpr, TableSource, WithItem,
};

type Visit<'a> = &'a mut dyn FnMut(&mut ObjectName);

/// Qualifies the tables in FROM, those of subqueries too, except `others` and names of WITH.
pub(super) fn tables(query: &mut Query, database: &str, others: &[String]) {
    set(&mut query.body, others, &mut |name| {
        name.database.get_or_insert_with(|| database.to_owned());
    });
}

/// The tables that a query reads, as it names them.
pub(super) fn tables_of(query: &Query) -> Vec<ObjectName> {
    let mut found = Vec::new();
    set(&mut query.body.clone(), &[], &mut |name| {
        found.push(name.clone());
    });
    found
}

fn set(body: &mut SetExpr, with: &[String], visit: Visit<'_>) {
    match body {
        SetExpr::Select(body) => select(body, with, visit),
        SetExpr::Nested(inner) => set(inner, with, visit),
        SetExpr::Operation { branches, .. } => {
            let mut with = with.to_vec();
            if let Some(SetExpr::Select(first)) = branches.first() {
                with.extend(names(first));
            }
            for branch in branches {
                set(branch, &with, visit);
            }
        }
    }
}

fn names(select: &Select) -> impl Iterator<Item = String> {
    select.with.iter().filter_map(|item| match item {
        WithItem::Subquery { name, .. } => Some(name.clone()),
        WithItem::Expr(_) => None,
    })
}

fn select(select: &mut Select, with: &[String], visit: Visit<'_>) {
    let mut known = with.to_vec();
    known.extend(names(select));
    for item in &mut select.with {
        match item {
            WithItem::Subquery { query, .. } => set(&mut query.body, &known, visit),
            WithItem::Expr(e) => expr(e, &known, visit),
        }
    }
    for element in &mut select.from {
        let FromElement::Table { table, .. } = element else {
            continue;
        };
        match &mut table.source {
            TableSource::Table(name) => {
                if name.database.is_some() || !known.contains(&name.name) {
                    visit(name);
                }
            }
            TableSource::Subquery(query) => set(&mut query.body, &known, visit),
            TableSource::Function(function) => {
                for argument in &mut function.args {
                    expr(argument, &known, visit);
                }
            }
            TableSource::File(_) => {}
        }
    }
    let conditions = [
        &mut select.prewhere,
        &mut select.where_,
        &mut select.having,
        &mut select.qualify,
    ];
    let exprs = conditions.into_iter().flatten();
    for e in select.columns.iter_mut().chain(exprs) {
        expr(e, &known, visit);
    }
}

fn expr(e: &mut Expr, with: &[String], visit: Visit<'_>) {
    match &mut e.kind {
        ExprKind::Subquery(query) => set(&mut query.body, with, visit),
        ExprKind::Alias { expr: inner, .. } => expr(inner, with, visit),
        ExprKind::Array(items) | ExprKind::Tuple(items) => {
            items.iter_mut().for_each(|i| expr(i, with, visit));
        }
        ExprKind::Function(f) => f.args.iter_mut().for_each(|a| expr(a, with, visit)),
        _ => {}
    }
}
