//! Writes the database before the names of a query's tables: a view means those of the database
//! that it was made in.

use basalt_parser::ast::{
    Expr, ExprKind, FromElement, Query, Select, SetExpr, TableSource, WithItem,
};

/// Qualifies the tables in FROM, those of subqueries too, except `others` and names of WITH.
pub(super) fn tables(query: &mut Query, database: &str, others: &[String]) {
    set(&mut query.body, database, others);
}

fn set(body: &mut SetExpr, database: &str, with: &[String]) {
    match body {
        SetExpr::Select(body) => select(body, database, with),
        SetExpr::Nested(inner) => set(inner, database, with),
        SetExpr::Operation { branches, .. } => {
            let mut with = with.to_vec();
            if let Some(SetExpr::Select(first)) = branches.first() {
                with.extend(names(first));
            }
            for branch in branches {
                set(branch, database, &with);
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

fn select(select: &mut Select, database: &str, with: &[String]) {
    let mut known = with.to_vec();
    known.extend(names(select));
    for item in &mut select.with {
        match item {
            WithItem::Subquery { query, .. } => set(&mut query.body, database, &known),
            WithItem::Expr(e) => expr(e, database, &known),
        }
    }
    for element in &mut select.from {
        let FromElement::Table { table, .. } = element else {
            continue;
        };
        match &mut table.source {
            TableSource::Table(name) => {
                if name.database.is_none() && !known.contains(&name.name) {
                    name.database = Some(database.to_owned());
                }
            }
            TableSource::Subquery(query) => set(&mut query.body, database, &known),
            TableSource::Function(_) | TableSource::File(_) => {}
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
        expr(e, database, &known);
    }
}

fn expr(e: &mut Expr, database: &str, with: &[String]) {
    match &mut e.kind {
        ExprKind::Subquery(query) => set(&mut query.body, database, with),
        ExprKind::Alias { expr: inner, .. } => expr(inner, database, with),
        ExprKind::Array(items) | ExprKind::Tuple(items) => {
            items.iter_mut().for_each(|i| expr(i, database, with));
        }
        ExprKind::Function(f) => f.args.iter_mut().for_each(|a| expr(a, database, with)),
        _ => {}
    }
}
