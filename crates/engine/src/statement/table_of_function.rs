//! Makes tables that are a table function: `CREATE TABLE t AS numbers(3)`.
//!
//! Such a table keeps the call, not its rows: each read runs it, as a view runs its query.

use std::sync::Arc;

use basalt_analyzer::{OutputColumn, TableColumn};
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, CreateTable};

use super::columns::{check_columns, declared_columns};
use super::create::{cast_to, create_sql, text};
use super::{qualify, query};
use crate::catalog::{ColumnDefinition, Engine, FunctionTable, Table};
use crate::session::{RunningQuery, Session};

/// The table of a call; columns that are declared are those of the call with other types.
pub(super) fn table(
    session: &Session,
    query: &RunningQuery<'_>,
    create: &CreateTable,
    function: &ast::TableFunction,
) -> Result<Table> {
    if create.temporary {
        return Err(Error::new(
            ErrorCode::INCORRECT_QUERY,
            "Leave out TEMPORARY: a table of a function is no temporary one",
        ));
    }
    let mut select = select_from(function)?;
    let temporary: Vec<String> = session.temporary.keys().cloned().collect();
    qualify::tables(&mut select, &session.current_database, &temporary);
    let function = function_of(&select).unwrap_or_else(|| function.clone());
    let declared = create.schema.as_ref().map_or(&[][..], |s| &s.columns);
    let columns = if declared.is_empty() {
        let planned = query::plan(session, query, &select)?;
        let column = |c: &OutputColumn| TableColumn::new(&c.name, c.data_type.clone());
        let columns = planned.columns.iter().map(column);
        columns.map(ColumnDefinition::new).collect()
    } else {
        select = cast_to(&select, declared)?;
        declared_columns(session, query, declared, &[])?
    };
    check_columns(query, &columns, &[])?;
    let engine = Engine::Function(Arc::new(FunctionTable {
        function,
        query: Arc::new(select),
    }));
    Ok(Table {
        create_sql: create_sql(session, create, &columns, &engine),
        columns,
        engine,
        comment: create.comment.as_deref().map(text).unwrap_or_default(),
        is_temporary: false,
    })
}

/// `SELECT * FROM function`
fn select_from(function: &ast::TableFunction) -> Result<ast::Query> {
    let mut select = query::parse_query("SELECT * FROM numbers(1)")?;
    match table_of(&mut select) {
        Some(table) => table.source = ast::TableSource::Function(function.clone()),
        None => return Err(Error::bug("a SELECT with a FROM")),
    }
    Ok(select)
}

fn table_of(query: &mut ast::Query) -> Option<&mut ast::TableExpr> {
    match &mut query.body {
        ast::SetExpr::Select(select) => match select.from.first_mut() {
            Some(ast::FromElement::Table { table, .. }) => Some(table),
            _ => None,
        },
        _ => None,
    }
}

/// The call of a query that [`select_from`] made.
fn function_of(query: &ast::Query) -> Option<ast::TableFunction> {
    match &table_of(&mut query.clone())?.source {
        ast::TableSource::Function(function) => Some(function.clone()),
        _ => None,
    }
}
