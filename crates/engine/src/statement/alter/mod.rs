//! Runs ALTER TABLE.
//!
//! Commands that follow each other and change the definition are one step, as are rows and partitions that one command
//! changes. With several steps, all are checked before the first is done, each with the table as those before it make it:
//! a statement that is refused has changed nothing. What only the rows tell (a cast that fails) is seen when a step is
//! done, behind those before it.
//!
//! | module | owns |
//! |---|---|
//! | [`columns`] | the columns after a command |
//! | [`clauses`] | what stands behind the columns, after a command |
//! | [`memory`] | Memory tables |
//! | [`rows`] | expressions over a table's rows, or over none |

pub(super) mod clauses;
pub(super) mod columns;
mod memory;
pub(super) mod rows;

use std::sync::Arc;

use basalt_error::{Error, Result};
use basalt_parser::ast::{
    self, Alter, AlterCommand, AlterStep, DefaultKind, Expr, ObjectName, Select, SetExpr, Span,
};

use super::columns::stored;
use super::insert::column_of;
use super::merge_tree;
use crate::catalog::{ColumnDefinition, Engine, Table};
use crate::session::{RunningQuery, Session, Summary};
use clauses::{changed_statement, changes_definition};

/// `ALTER TABLE t command, …`
pub(crate) fn run(
    session: &mut Session,
    query: &RunningQuery<'_>,
    alter: &Alter,
) -> Result<Summary> {
    if alter.cluster.is_some() {
        return Err(Error::not_implemented("ON CLUSTER"));
    }
    if alter.is_database {
        return Err(Error::not_implemented("ALTER DATABASE"));
    }
    let name = &alter.table;
    let steps = steps(&alter.commands);
    let found = session.find_table(name);
    let mut table = found.map_err(|e| query.placed(e, name.span))?;
    if steps.len() > 1 {
        for step in &steps {
            let after = check(session, query, (name, &table), step);
            table = after.map_err(|e| placed(query, e, step))?;
        }
    }
    for step in &steps {
        let table = session.find_table(name)?;
        let done = run_step(session, query, (name, &table), step);
        done.map_err(|e| placed(query, e, step))?;
    }
    Ok(Summary::default())
}

/// Commands that are done at once.
fn steps(commands: &[AlterStep]) -> Vec<&[AlterStep]> {
    let is_one = |a: &AlterStep, b: &AlterStep| {
        changes_definition(&a.command) && changes_definition(&b.command)
    };
    commands.chunk_by(is_one).collect()
}

/// An error without a place is at the first command.
fn placed(query: &RunningQuery<'_>, error: Error, step: &[AlterStep]) -> Error {
    match step.first() {
        Some(first) => query.placed(error, first.span),
        None => error,
    }
}

/// Finds what is wrong with a step, and gives the table with the definition that it makes, without rows.
fn check(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Arc<Table>),
    step: &[AlterStep],
) -> Result<Arc<Table>> {
    if let Some(commented) = commented(table, step)? {
        return Ok(Arc::new(commented));
    }
    match &table.engine {
        Engine::Memory(_) => memory::check(session, query, (name, table), step),
        Engine::MergeTree(_) => merge_tree::check_alter(session, query, (name, table), step),
        engine => Err(unsupported(engine)),
    }
}

fn run_step(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    step: &[AlterStep],
) -> Result<()> {
    if let Some(commented) = commented(table, step)? {
        return put(session, name, commented);
    }
    match &table.engine {
        Engine::Memory(memory) => memory::run(session, query, (name, table, memory), step),
        Engine::MergeTree(_) => merge_tree::alter(session, query, (name, table), step),
        engine => Err(unsupported(engine)),
    }
}

fn unsupported(engine: &Engine) -> Error {
    let name = engine.name();
    Error::not_implemented(format!("ALTER of a table with engine {name}"))
}

/// The table with another comment, if a step changes nothing else.
fn commented(table: &Table, step: &[AlterStep]) -> Result<Option<Table>> {
    let is_comment = |s: &AlterStep| matches!(s.command, AlterCommand::ModifyComment(_));
    let has_comment = matches!(
        table.engine,
        Engine::Memory(_) | Engine::MergeTree(_) | Engine::Mmap(_)
    );
    if !has_comment || !step.iter().all(is_comment) {
        return Ok(None);
    }
    let create = changed_statement(table, None, step)?;
    Ok(Some(Table {
        comment: comment_of(&create),
        create_sql: statement_text(create),
        ..table.clone()
    }))
}

/// The comment of a statement's table.
pub(super) fn comment_of(create: &ast::CreateTable) -> String {
    let comment = create.comment.as_deref().unwrap_or_default();
    String::from_utf8_lossy(comment).into_owned()
}

/// A CREATE TABLE as it is kept.
pub(super) fn statement_text(create: ast::CreateTable) -> String {
    basalt_parser::format_statement(&ast::Statement::CreateTable(Box::new(create)))
}

/// The columns that are not computed from others.
pub(super) fn columns_of(table: &Table) -> impl Iterator<Item = &ColumnDefinition> {
    stored(&table.columns).filter(|c| {
        let kind = c.default.as_ref().map(|d| d.kind);
        kind != Some(DefaultKind::Materialized)
    })
}

/// Each column's value after an UPDATE.
pub(super) fn updated(
    table: &Table,
    assignments: &[(String, Expr)],
    where_: &Expr,
) -> Result<Vec<Expr>> {
    for (column, _) in assignments {
        column_of(table, column)?;
    }
    let value = |c: &ColumnDefinition| {
        let old = Expr::column(&c.column.name);
        match assignments.iter().find(|(n, _)| *n == c.column.name) {
            None => old,
            Some((_, new)) => {
                let new = new.clone().cast(&c.column.data_type);
                Expr::call("if", vec![where_.clone().or_false(), new, old]).at(where_.span)
            }
        }
    };
    Ok(columns_of(table).map(value).collect())
}

pub(super) fn put(session: &mut Session, name: &ObjectName, table: Table) -> Result<()> {
    if table.is_temporary {
        let name = name.name.clone();
        session.temporary.insert(name, Arc::new(table));
        return Ok(());
    }
    let database = session.database_of(name);
    let catalog = &session.database.catalog;
    catalog.add(&database, &name.name, table, true)
}

pub(super) fn select(table: &ObjectName, columns: Vec<Expr>, where_: Option<Expr>) -> ast::Query {
    let table = ast::TableExpr {
        source: ast::TableSource::Table(table.clone()),
        alias: None,
        column_aliases: Vec::new(),
        final_: false,
        sample: None,
        stream: false,
        span: Span::default(),
    };
    let select = Select {
        columns,
        from: vec![ast::FromElement::Table {
            join: None,
            table: Box::new(table),
        }],
        where_,
        ..Select::default()
    };
    ast::Query::new(SetExpr::Select(Box::new(select)))
}

/// Gives the table of a `select` another name in the query.
pub(super) fn set_alias(query: &mut ast::Query, alias: &str) {
    if let SetExpr::Select(select) = &mut query.body
        && let Some(ast::FromElement::Table { table, .. }) = select.from.first_mut()
    {
        table.alias = Some(alias.to_owned());
    }
}
