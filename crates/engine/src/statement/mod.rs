//! Runs each kind of statement.
//!
//! | module | owns |
//! |---|---|
//! | [`identifiers`] | names that are parameters |
//! | [`qualify`] | names of tables with their database |
//! | [`query`] | SELECT: planning, running, writing the result |
//! | [`alter`] | ALTER TABLE |
//! | [`insert`] | INSERT |
//! | [`async_insert`] | INSERT whose rows are written with those of others |
//! | [`insert_file`] | INSERT INTO FUNCTION |
//! | [`inline_data`] | the rows that an INSERT brings as text or bytes |
//! | [`columns`] | columns as CREATE and ALTER declare them |
//! | [`table_of_function`] | CREATE TABLE … AS function(…) |
//! | [`table_engine`] | the engine of a new table |
//! | [`table_folder`] | the folder of a new table on disk |
//! | [`merge_tree`] | MergeTree tables, OPTIMIZE |
//! | [`cluster`] | ON CLUSTER |
//! | [`create`] | CREATE TABLE, VIEW, DATABASE, FUNCTION |
//! | [`dependencies`] | views that would read themselves |
//! | [`drop`] | DROP, TRUNCATE, RENAME, EXCHANGE |
//! | [`check`] | CHECK TABLE |
//! | [`kill`] | KILL |
//! | [`parallel`] | PARALLEL WITH |
//! | [`show`] | SHOW, DESCRIBE, EXISTS |
//! | [`explain`] | EXPLAIN |
//! | [`analyze`] | EXPLAIN ANALYZE |
//! | [`extremes`] | least and greatest values of a result |
//! | [`set`] | SET, USE |
//! | [`result`] | results of statements that are no queries |
//! | [`insert_function`] | INSERT INTO FUNCTION |
//! | [`limits`] | what settings let a statement do |
//! | [`nested`] | lengths of the arrays of a Nested |
//! | [`partitioned_file`] | PARTITION BY of INSERT INTO FUNCTION |
//! | [`whole_file`] | files that are there whole or not at all |

pub mod alter;
mod analyze;
mod async_insert;
mod check;
mod cluster;
mod columns;
pub mod create;
mod dependencies;
pub mod drop;
pub mod explain;
pub mod extremes;
pub(crate) mod identifiers;
pub mod inline_data;
pub mod insert;
mod insert_file;
mod insert_function;
mod kill;
pub mod limits;
mod merge_tree;
mod nested;
mod parallel;
mod partitioned_file;
mod qualify;
pub mod query;
pub mod result;
pub mod set;
pub mod show;
mod table_engine;
mod table_folder;
mod table_of_function;
mod whole_file;

pub(crate) use whole_file::remove_unfinished;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, SetExpr, Setting, Statement};

use crate::session::{Io, RunningQuery, Session, Summary};

/// Runs a statement, and keeps the definitions that it changed.
pub(crate) fn run(session: &mut Session, query: RunningQuery<'_>, io: Io<'_>) -> Result<Summary> {
    let defines = matches!(
        query.parsed.statement,
        Statement::CreateTable(_)
            | Statement::CreateView(_)
            | Statement::CreateDatabase(_)
            | Statement::CreateFunction(_)
            | Statement::Drop(_)
            | Statement::Rename(_)
            | Statement::Alter(_)
    );
    if !session.loads_definitions {
        crate::definitions::refresh(&session.database)?;
    }
    let changes = defines || writes_to_disk(session, &query.parsed.statement);
    if changes {
        crate::definitions::claim(&session.database)?;
        crate::definitions::keep(&session.database)?;
        if changes_tables(&query.parsed.statement) {
            // What was inserted before is there before it is changed.
            let catalog = &session.database.catalog;
            catalog.flush_inserts(&|| query.control.check_end())?;
        }
    }
    let place = place(&query.parsed.statement).map(|span| query.position(span.start as usize));
    let start = query.position(query.parsed.span.start);
    let reads_rows = reads_rows(&query.parsed.statement);
    let result = dispatch(session, query, io).map_err(|e| match (e.code(), place) {
        (
            ErrorCode::UNKNOWN_TABLE
            | ErrorCode::UNKNOWN_DATABASE
            | ErrorCode::NUMBER_OF_COLUMNS_DOESNT_MATCH,
            Some(place),
        ) => e.at(place),
        (ErrorCode::NOT_IMPLEMENTED, _) => e.at(start),
        // Of rows that are read, any may be at fault.
        (_, Some(place)) if !reads_rows && !e.is_of_run() => e.at(place),
        _ => e,
    });
    let kept = match &result {
        Ok(_) if defines => crate::definitions::save(&session.database),
        // One that fails may have changed something before. Rows are there when their table is, which another session
        // may have made only now.
        _ if changes => crate::definitions::keep(&session.database),
        _ => Ok(()),
    };
    result.and_then(|summary| kept.map(|()| summary))
}

fn dispatch(session: &mut Session, query: RunningQuery<'_>, io: Io<'_>) -> Result<Summary> {
    // What was made once is loaded, whatever has become a fault since.
    if !session.loads_definitions {
        cluster::refuse(&query.parsed.statement)?;
    }
    match &query.parsed.statement {
        Statement::Query(select) => query::run(session, &query, select, io),
        Statement::Insert(insert) => insert::run(session, &query, insert, io),
        Statement::CreateTable(create) => create::table(session, &query, create),
        Statement::CreateView(create) => create::view(session, &query, create),
        Statement::CreateDatabase(create) => create::database(session, create),
        Statement::CreateFunction(create) => create::function(session, create),
        Statement::Drop(drop) => drop::drop(session, drop),
        Statement::Truncate(truncate) => drop::truncate(session, &query, truncate),
        Statement::Rename(rename) => drop::rename(session, rename),
        Statement::Show(show) => show::show(session, &query, show, io),
        Statement::Describe(describe) => show::describe(session, &query, describe, io),
        Statement::Exists(exists) => show::exists(session, &query, exists, io),
        Statement::Explain(explain) => explain::run(session, &query, explain, io),
        Statement::Set(settings) => set::run(session, query.text, settings),
        Statement::Use(database) => set::use_database(session, database),
        Statement::Alter(alter) => alter::run(session, &query, alter),
        Statement::Delete {
            table,
            partition,
            where_,
            ..
        } => {
            if !session.has_table(table) {
                session.find_table(table)?;
            }
            let found = session.find_table(table).ok();
            if let Some(found) = found.as_ref().filter(|found| found.merge_tree().is_some()) {
                let which = (partition.as_deref(), where_.as_ref());
                let deletion = merge_tree::Deletion::Mask;
                merge_tree::delete(session, &query, (table, found), which, deletion)?;
                return Ok(Summary::default());
            }
            let hint = match found.map(|found| found.engine.name()) {
                Some("Mmap") => "Use a MergeTree table: DELETE is not supported for Mmap tables",
                _ => {
                    "Write ALTER TABLE … DELETE WHERE …: DELETE is not supported for Memory tables"
                }
            };
            Err(Error::new(ErrorCode::BAD_ARGUMENTS, hint))
        }
        Statement::Update { table, .. } => {
            session.find_table(table)?;
            Err(Error::not_implemented(
                "UPDATE (ALTER TABLE … UPDATE … WHERE … does the same)",
            ))
        }
        Statement::Optimize(optimize) => merge_tree::optimize(session, &query, optimize),
        Statement::Check(check) => check::run(session, &query, check, io),
        Statement::System(system)
            if matches!(system.command.as_str(), "STOP MERGES" | "START MERGES") =>
        {
            merge_tree::merges(session, system)
        }
        Statement::System(system) => set::system(session, &query, &system.command),
        Statement::Kill(kill) => kill::run(session, &query, kill, io),
        Statement::Parallel(statements) => parallel::run(session, &query, statements, io),
        Statement::CreateIndex(_) => Err(Error::not_implemented("CREATE INDEX")),
        Statement::ExecuteAs { .. } => Err(Error::not_implemented("EXECUTE AS")),
        Statement::Tokens(tokens) => Err(Error::not_implemented(&tokens.construct)),
    }
}

/// Whether a statement changes tables that there are, or their rows, otherwise than by adding some.
fn changes_tables(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Drop(_)
            | Statement::Rename(_)
            | Statement::Alter(_)
            | Statement::Truncate(_)
            | Statement::Optimize(_)
            | Statement::Delete { .. }
    )
}

/// Whether a statement changes the rows of a table on disk.
fn writes_to_disk(session: &Session, statement: &Statement) -> bool {
    let name = match statement {
        Statement::Insert(insert) => match &insert.target {
            ast::InsertTarget::Table(name) => name,
            ast::InsertTarget::Function(_) => return false,
        },
        Statement::Truncate(truncate) if truncate.kind == ast::ObjectKind::Table => &truncate.name,
        Statement::Truncate(_) => return true,
        Statement::Optimize(optimize) => &optimize.table,
        Statement::Delete { table, .. } => table,
        _ => return false,
    };
    let table = session.find_table(name);
    table.is_ok_and(|table| table.has_own_data())
}

/// Whether a statement reads rows from elsewhere.
fn reads_rows(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(_) => true,
        Statement::CreateTable(create) => create.query.is_some(),
        _ => false,
    }
}

/// Where the name stands that a statement is about.
fn place(statement: &Statement) -> Option<ast::Span> {
    let name = match statement {
        Statement::Insert(insert) => match &insert.target {
            ast::InsertTarget::Table(name) => name,
            ast::InsertTarget::Function(_) => return None,
        },
        Statement::CreateTable(create) => &create.name,
        Statement::CreateView(create) => &create.name,
        Statement::CreateDatabase(create) => &create.name,
        Statement::Drop(drop) => drop.names.first()?,
        Statement::Truncate(truncate) => &truncate.name,
        Statement::Rename(rename) => &rename.pairs.first()?.from,
        Statement::Alter(alter) => &alter.table,
        Statement::Delete { table, .. } | Statement::Update { table, .. } => table,
        Statement::Optimize(optimize) => &optimize.table,
        Statement::Check(check) => check.table.as_ref()?,
        Statement::Use(database) => return Some(database.span),
        Statement::CreateFunction(create) => return Some(create.span),
        Statement::Exists(exists) => &exists.name,
        Statement::Show(show) => match &show.kind {
            ast::ShowKind::Create { name, .. } => name,
            ast::ShowKind::Tables { span, .. } => return Some(*span),
            _ => return None,
        },
        Statement::Describe(describe) => return Some(describe.table.span),
        _ => return None,
    };
    Some(name.span).filter(|span| span.end > span.start)
}

/// Whether a statement has a result, be it of no rows.
pub fn gives_rows(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_)
            | Statement::Show(_)
            | Statement::Describe(_)
            | Statement::Exists(_)
            | Statement::Explain(_)
            | Statement::Kill(_)
    )
}

/// What `system.processes` calls the kind of a statement.
pub(crate) fn kind(statement: &Statement) -> &'static str {
    match statement {
        Statement::Query(_) => "Select",
        Statement::Insert(_) => "Insert",
        Statement::CreateTable(_)
        | Statement::CreateView(_)
        | Statement::CreateDatabase(_)
        | Statement::CreateFunction(_) => "Create",
        Statement::Drop(_) | Statement::Truncate(_) => "Drop",
        Statement::Rename(_) => "Rename",
        Statement::Alter(_) => "Alter",
        Statement::Delete { .. } => "Delete",
        Statement::Update { .. } => "Update",
        Statement::Show(_) | Statement::Exists(_) => "Show",
        Statement::Describe(_) => "Describe",
        Statement::Explain(_) => "Explain",
        Statement::Set(_) => "Set",
        Statement::Use(_) => "Use",
        _ => "None",
    }
}

/// The settings that a statement brings along: those of its outermost SELECTs and behind FORMAT.
pub(crate) fn settings_of(statement: &Statement) -> Vec<&Setting> {
    match statement {
        Statement::Query(query) => of_query(query),
        Statement::Insert(insert) => {
            let mut settings: Vec<&Setting> = insert.settings.iter().collect();
            if let ast::InsertSource::Query(query) = &insert.source {
                settings.extend(of_query(query));
            }
            settings
        }
        Statement::CreateTable(create) => {
            // Settings of queries may stand among those of the table's engine.
            let of_engine = create.storage.settings.iter();
            let mut settings: Vec<&Setting> = of_engine
                .filter(|s| crate::settings::find(&s.name).is_some())
                .chain(&create.output.settings)
                .collect();
            settings.extend(create.query.iter().flat_map(|q| of_query(q)));
            settings
        }
        Statement::CreateView(create) => create.query.iter().flat_map(|q| of_query(q)).collect(),
        Statement::Show(show) => show.output.settings.iter().collect(),
        Statement::Alter(alter) => alter.output.settings.iter().collect(),
        Statement::Check(check) => check.output.settings.iter().collect(),
        Statement::Delete { settings, .. } => settings.iter().collect(),
        Statement::Optimize(optimize) => optimize.output.settings.iter().collect(),
        Statement::Describe(describe) => describe.output.settings.iter().collect(),
        Statement::Kill(kill) => kill.output.settings.iter().collect(),
        Statement::Parallel(all) => all.iter().flat_map(settings_of).collect(),
        Statement::Explain(explain) => {
            let mut settings: Vec<&Setting> = explain.output.settings.iter().collect();
            settings.extend(explain.statement.iter().flat_map(|s| settings_of(s)));
            settings
        }
        _ => Vec::new(),
    }
}

fn of_query(query: &ast::Query) -> Vec<&Setting> {
    fn of_set<'a>(set: &'a SetExpr, settings: &mut Vec<&'a Setting>) {
        match set {
            SetExpr::Select(select) => settings.extend(&select.settings),
            SetExpr::Nested(inner) => of_set(inner, settings),
            // Those of the other branches count for the branches themselves.
            SetExpr::Operation { branches, .. } => {
                branches
                    .last()
                    .into_iter()
                    .for_each(|b| of_set(b, settings));
            }
        }
    }
    let mut settings = Vec::new();
    of_set(&query.body, &mut settings);
    settings.extend(&query.output.settings);
    settings
}
