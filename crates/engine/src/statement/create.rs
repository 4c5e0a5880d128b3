//! Runs CREATE TABLE, VIEW, DATABASE and FUNCTION.

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_analyzer::{OutputColumn, TableColumn};
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ColumnDef, CreateTable, Statement};

use super::columns::{self, check_columns, declared_columns, stored};
use super::dependencies::check_no_cycle;
use super::{merge_tree, query, table_engine, table_of_function};
use crate::catalog::{ColumnDefinition, Engine, Table, already_exists};
use crate::session::{RunningQuery, Session, Summary};

/// `CREATE TABLE`; with AS SELECT its rows are inserted at once.
pub(crate) fn table(
    session: &mut Session,
    query: &RunningQuery<'_>,
    create: &CreateTable,
) -> Result<Summary> {
    check_supported(create)?;
    let create = &with_own_storage(session, create);
    if create.if_not_exists && is_taken(session, create) {
        return Ok(Summary::default());
    }
    if let Some(function) = &create.as_function {
        let table = table_of_function::table(session, query, create, function)?;
        publish(session, create, table)?;
        return Ok(Summary::default());
    }
    let planned = create
        .query
        .as_ref()
        .map(|q| query::plan(session, query, q))
        .transpose()?;
    let mut columns = match (&create.schema, &planned) {
        (Some(schema), _) if !schema.columns.is_empty() => {
            declared_columns(session, query, &schema.columns, &[])?
        }
        (_, Some(planned)) => {
            let column = |c: &OutputColumn| {
                ColumnDefinition::new(TableColumn::new(&c.name, c.data_type.clone()))
            };
            planned.columns.iter().map(column).collect()
        }
        _ => columns_like(session, query, create)?,
    };
    let declared = create.schema.as_ref().map(|s| columns::places(&s.columns));
    check_columns(query, &columns, &declared.unwrap_or_default())
        .and_then(|()| columns::check_insertable(session, &columns))
        .map_err(|e| query.placed(e, create.name.span))?;
    // Before the query runs: what it takes long for is not to be thrown away.
    check_absent(session, create)?;
    let engine = table_engine::engine(session, query, create, &columns);
    let place = create.storage.engine.as_ref().map(|e| e.span);
    let engine = engine.map_err(|e| query.placed(e, place.unwrap_or(create.name.span)))?;
    if matches!(engine, Engine::MergeTree(_)) {
        for column in &mut columns {
            column.codec = merge_tree::full_codec(column);
        }
    }
    let table = Table {
        create_sql: create_sql(session, create, &columns, &engine),
        columns,
        engine,
        comment: create.comment.as_deref().map(text).unwrap_or_default(),
        is_temporary: create.temporary,
    };
    let mut summary = Summary::default();
    if let (Some(planned), false) = (planned, create.empty) {
        let given: Vec<String> = planned.columns.iter().map(|c| c.name.clone()).collect();
        let names: Vec<String> = stored(&table.columns)
            .map(|c| c.column.name.clone())
            .collect();
        // A declared column takes the query's column of its position.
        let given = if create.schema.is_some() {
            names
        } else {
            given
        };
        summary.written_rows =
            super::insert::insert_planned(session, query, &table, planned, &given)?;
    }
    publish(session, create, table)?;
    Ok(summary)
}

/// Whether a table has the name; a temporary one and one of a database may have the same.
fn is_taken(session: &Session, create: &CreateTable) -> bool {
    let name = &create.name;
    if create.temporary {
        return session.temporary.contains_key(&name.name);
    }
    let database = session.database_of(name);
    session
        .database
        .catalog
        .find(&database, &name.name)
        .is_some()
        || crate::system::has_table(&database, &name.name)
}

fn check_absent(session: &Session, create: &CreateTable) -> Result<()> {
    let replaces = create.or_replace || create.replace_only;
    if replaces || !is_taken(session, create) {
        return Ok(());
    }
    let database = session.database_of(&create.name);
    Err(already_exists(&database, &create.name.name))
}

/// Puts the table where queries find it; what is not found goes with its folder.
fn publish(session: &mut Session, create: &CreateTable, table: Table) -> Result<()> {
    let name = &create.name;
    let published = table.clone();
    if create.temporary {
        session.temporary.insert(name.name.clone(), Arc::new(table));
    } else {
        let replace = create.or_replace || create.replace_only;
        let (catalog, database) = (&session.database.catalog, session.database_of(name));
        let old = catalog.find(&database, &name.name);
        catalog.add(&database, &name.name, table, replace)?;
        session.database.dropped.lock().extend(old);
    }
    if let Some(on_disk) = published.on_disk() {
        on_disk.set_removed(false);
    }
    Ok(())
}

/// The statement with the storage of its own, which settings of queries are not part of.
fn with_own_storage(session: &Session, create: &CreateTable) -> CreateTable {
    let mut create = with_storage_of_other(session, create);
    let settings = &mut create.storage.settings;
    settings.retain(|s| crate::settings::find(&s.name).is_none());
    create
}

/// `CREATE TABLE … AS other` without an engine takes the engine of a table on disk, and its keys, or
/// the function that is a table.
fn with_storage_of_other(session: &Session, create: &CreateTable) -> CreateTable {
    let mut create = create.clone();
    if create.comment.is_none()
        && let Some(other) = &create.as_table
        && let Ok(table) = session.find_table(other)
        && !table.comment.is_empty()
    {
        create.comment = Some(table.comment.clone().into_bytes());
    }
    if create.storage == ast::Storage::default()
        && let Some(other) = &create.as_table
        && let Ok(table) = session.find_table(other)
        && matches!(
            table.engine,
            Engine::MergeTree(_) | Engine::Mmap(_) | Engine::Function(_)
        )
        && let Ok(parsed) = basalt_parser::parse_statement(&table.create_sql)
        && let Statement::CreateTable(other) = parsed.statement
    {
        create.storage = other.storage;
        create.as_function = other.as_function;
    }
    create
}

fn check_supported(create: &CreateTable) -> Result<()> {
    if create.attach {
        return Err(Error::not_implemented("ATTACH TABLE"));
    }
    if create.clone_as {
        return Err(Error::not_implemented("CREATE TABLE … CLONE AS"));
    }
    let constraints = create.schema.as_ref().map(|s| s.constraints.as_slice());
    if constraints.is_some_and(|c| !c.is_empty()) {
        // To take it and not to check it would let in the rows that it is there to keep out.
        return Err(Error::not_implemented("CONSTRAINT of a table"));
    }
    if create.schema.as_ref().is_some_and(|s| s.columns.is_empty()) {
        return Err(Error::new(
            ErrorCode::SYNTAX_ERROR,
            "Declare a column: the brackets behind the table's name are empty",
        ));
    }
    Ok(())
}

fn columns_like(
    session: &Session,
    query: &RunningQuery<'_>,
    create: &CreateTable,
) -> Result<Vec<ColumnDefinition>> {
    if let Some(other) = &create.as_table {
        let database = session.database_of(other);
        if crate::system::has_table(&database, &other.name) {
            let environment = session.environment(query);
            let columns = crate::system::columns_of(&environment, &database, &other.name)?;
            return Ok(columns.into_iter().map(ColumnDefinition::new).collect());
        }
        let table = session.find_table(other).map_err(no_statement)?;
        return Ok(table.columns.clone());
    }
    Err(Error::new(
        ErrorCode::INCORRECT_QUERY,
        "CREATE TABLE needs columns in brackets, AS table or AS SELECT",
    ))
}

/// The error for a table that was never made, where the statement that made it is wanted.
pub(super) fn no_statement(error: Error) -> Error {
    match error.code() {
        ErrorCode::UNKNOWN_TABLE => {
            Error::new(ErrorCode::CANNOT_GET_CREATE_TABLE_QUERY, error.message())
        }
        _ => error,
    }
}

pub(super) fn create_sql(
    session: &Session,
    create: &CreateTable,
    columns: &[ColumnDefinition],
    engine: &Engine,
) -> String {
    let mut shown = create.clone();
    shown.query = None;
    shown.as_table = None;
    shown.as_function = match engine {
        Engine::Function(table) => Some(table.function.clone()),
        _ => None,
    };
    (shown.uuid, shown.if_not_exists, shown.or_replace) = (None, false, false);
    shown.output = ast::OutputOptions::default();
    if !create.temporary {
        shown.name.database = Some(session.database_of(&create.name));
    }
    if shown.as_function.is_none() {
        shown.storage.engine.get_or_insert_with(|| ast::Engine {
            name: engine.name().to_owned(),
            args: None,
            span: ast::Span::default(),
        });
    }
    let mut schema = shown.schema.take().unwrap_or_default();
    schema.columns = columns.iter().map(shown_column).collect();
    if matches!(engine, Engine::MergeTree(_)) {
        merge_tree::complete(&mut shown);
        for (column, definition) in schema.columns.iter_mut().zip(columns) {
            column.codec = merge_tree::shown_codec(definition);
        }
    }
    shown.schema = Some(schema);
    basalt_parser::format_statement(&Statement::CreateTable(Box::new(shown)))
}

/// The statement that would make a session's own table, which none has made.
pub(crate) fn temporary_sql(session: &Session, name: &str, table: &Table) -> Result<String> {
    let any = "CREATE TEMPORARY TABLE t (a Int8) ENGINE = Memory";
    let Statement::CreateTable(mut create) = basalt_parser::parse_statement(any)?.statement else {
        return Err(Error::bug("CREATE TABLE is parsed as another statement"));
    };
    name.clone_into(&mut create.name.name);
    Ok(create_sql(session, &create, &table.columns, &table.engine))
}

pub(super) fn shown_column(column: &ColumnDefinition) -> ColumnDef {
    let mut name = column.column.data_type.to_string();
    if let Some(function) = &column.simple_aggregate {
        name = format!("SimpleAggregateFunction({function}, {name})");
    }
    ColumnDef {
        name: column.column.name.clone(),
        data_type: basalt_parser::parse_data_type(&name).ok(),
        nullable: None,
        default: column.default.clone(),
        auto_increment: false,
        comment: (!column.comment.is_empty()).then(|| column.comment.clone().into_bytes()),
        codec: None,
        statistics: None,
        ttl: None,
        collate: None,
        settings: Vec::new(),
        span: ast::Span::default(),
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `CREATE VIEW`.
pub(crate) fn view(
    session: &mut Session,
    query: &RunningQuery<'_>,
    create: &ast::CreateView,
) -> Result<Summary> {
    if create.kind == ast::ViewKind::Materialized {
        let construct = match create.refresh {
            Some(_) => "MATERIALIZED VIEW with REFRESH",
            None => "MATERIALIZED VIEW",
        };
        return Err(Error::not_implemented(construct));
    }
    if !session.loads_definitions {
        check_definer(create)?;
    }
    let mut select = create
        .query
        .clone()
        .ok_or_else(|| Error::not_implemented("ATTACH VIEW"))?;
    let temporary: Vec<String> = session.temporary.keys().cloned().collect();
    super::qualify::tables(&mut select, &session.current_database, &temporary);
    let declared = create.schema.as_ref().map_or(&[][..], |s| &s.columns);
    let has_types = declared.iter().any(|c| c.data_type.is_some());
    if !declared.is_empty() && !has_types {
        *select = renamed(&select, declared);
    }
    let shown_query = select.clone();
    if has_types {
        *select = cast_to(&select, declared)?;
    }
    let (database, name) = (session.database_of(&create.name), &create.name.name);
    if create.if_not_exists && session.database.catalog.find(&database, name).is_some() {
        return Ok(Summary::default());
    }
    let columns: Vec<_> = match query::plan(session, query, &select) {
        Ok(planned) => {
            let column = |c: &OutputColumn| TableColumn::new(&c.name, c.data_type.clone());
            let columns = planned.columns.iter().map(column);
            columns.map(ColumnDefinition::new).collect()
        }
        // A view with parameters has columns when it is asked.
        Err(e) if e.code() == ErrorCode::UNKNOWN_QUERY_PARAMETER => Vec::new(),
        // What it reads is gone: whoever asks it is told.
        Err(_) if session.loads_definitions => declared_columns(session, query, declared, &[])?,
        Err(e) => return Err(e),
    };
    let mut shown = create.clone();
    shown.name.database = Some(database.clone());
    shown.query = Some(shown_query);
    show_columns(&mut shown, &columns, has_types);
    let table = Table {
        columns,
        engine: Engine::View(Arc::new(*select)),
        create_sql: basalt_parser::format_statement(&Statement::CreateView(Box::new(shown))),
        comment: create.comment.as_deref().map(text).unwrap_or_default(),
        is_temporary: false,
    };
    let catalog = &session.database.catalog;
    if create.or_replace {
        let placed = BTreeMap::from([((database.as_str(), name.as_str()), Some(&table))]);
        check_no_cycle(catalog, &placed)?;
    }
    catalog.add(&database, name, table, create.or_replace)?;
    Ok(Summary::default())
}

/// Views run as the one user that there is.
fn check_definer(create: &ast::CreateView) -> Result<()> {
    let definer = create.security.as_deref().and_then(|text| {
        let (_, name) = text.split_once("DEFINER = ")?;
        name.split_whitespace().next()
    });
    match definer.map(|name| name.trim_matches(['`', '\''])) {
        None | Some("CURRENT_USER" | "default") => Ok(()),
        Some(name) => Err(Error::new(
            ErrorCode::UNKNOWN_USER,
            format!("Write DEFINER = CURRENT_USER: there is no user `{name}`"),
        )),
    }
}

/// A view as it is kept: with the columns that it has. Those of a view with parameters are not known: it keeps what it
/// declares, if that has types, as its query has the names.
fn show_columns(shown: &mut ast::CreateView, columns: &[ColumnDefinition], has_types: bool) {
    shown.if_not_exists = false;
    shown.or_replace = false;
    if !has_types {
        shown.schema = None;
    }
    if !columns.is_empty() {
        let schema = shown.schema.get_or_insert_default();
        schema.columns = columns.iter().map(shown_column).collect();
    }
}

/// The query with its columns by the names that the view declares for them.
fn renamed(select: &ast::Query, declared: &[ColumnDef]) -> ast::Query {
    let source = ast::TableSource::Subquery(Box::new(select.clone()));
    let table = ast::TableExpr {
        alias: Some("renamed".to_owned()),
        column_aliases: declared.iter().map(|c| c.name.clone()).collect(),
        ..ast::TableExpr::of(source, ast::Span::default())
    };
    let select = ast::Select {
        columns: declared
            .iter()
            .map(|c| ast::Expr::column(&c.name))
            .collect(),
        from: vec![ast::FromElement::Table {
            join: None,
            table: Box::new(table),
        }],
        ..ast::Select::default()
    };
    ast::Query::new(ast::SetExpr::Select(Box::new(select)))
}

/// The query with its columns cast to the types that the view declares for them.
pub(crate) fn cast_to(select: &ast::Query, declared: &[ColumnDef]) -> Result<ast::Query> {
    let column = |c: &ColumnDef| {
        let name = basalt_parser::format_expr(&ast::Expr::column(&c.name));
        match &c.data_type {
            Some(t) => {
                let data_type = basalt_parser::format_data_type(t).replace('\'', "\\'");
                format!("CAST({name}, '{data_type}') AS {name}")
            }
            None => name,
        }
    };
    let columns: Vec<String> = declared.iter().map(column).collect();
    let inner = Statement::Query(Box::new(select.clone()));
    let inner = basalt_parser::format_one_line(&inner);
    query::parse_query(&format!("SELECT {} FROM ({inner})", columns.join(", ")))
}

/// `CREATE DATABASE`.
pub(crate) fn database(session: &Session, create: &ast::CreateDatabase) -> Result<Summary> {
    if !create.table_overrides.is_empty() {
        return Err(Error::not_implemented("TABLE OVERRIDE"));
    }
    if create.attach {
        return Err(Error::not_implemented("ATTACH DATABASE"));
    }
    let engine = create.storage.engine.as_ref().map(|e| e.name.as_str());
    if let Some(unknown) = engine.filter(|e| !matches!(*e, "Atomic" | "Memory")) {
        return Err(Error::new(
            ErrorCode::UNKNOWN_DATABASE_ENGINE,
            format!("Use ENGINE = Memory: unknown database engine: {unknown}"),
        ));
    }
    let catalog = &session.database.catalog;
    if !(create.if_not_exists && catalog.has_database(&create.name.name)) {
        let comment = create.comment.as_deref().map(text).unwrap_or_default();
        catalog.add_database(&create.name.name, comment)?;
    }
    Ok(Summary::default())
}

/// `CREATE FUNCTION name AS (x) -> …`.
pub(crate) fn function(session: &Session, create: &ast::CreateFunction) -> Result<Summary> {
    use basalt_functions::registry::all_function_names;
    let mut functions = session.database.sql_functions.write();
    let is_builtin = all_function_names().any(|n| n == create.name);
    if is_builtin || (functions.contains_key(&create.name) && !create.or_replace) {
        if create.if_not_exists {
            return Ok(Summary::default());
        }
        let hint = if is_builtin {
            "Choose another name"
        } else {
            "Write CREATE OR REPLACE FUNCTION"
        };
        return Err(Error::new(
            ErrorCode::FUNCTION_ALREADY_EXISTS,
            format!("{hint}: function '{}' already exists", create.name),
        ));
    }
    functions.insert(create.name.clone(), Arc::new(create.lambda.clone()));
    Ok(Summary::default())
}
