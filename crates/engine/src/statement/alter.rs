//! Runs ALTER TABLE: changes of columns, UPDATE and DELETE of rows of Memory tables.
//!
//! Each command makes the table's rows anew from a query over the old ones; readers keep the
//! snapshot that they have.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use basalt_error::{Error, Result};
use basalt_parser::ast::{
    self, Alter, AlterCommand, DefaultKind, Expr, ObjectName, Select, SetExpr, Span,
};
use basalt_storage::MemoryTable;

use super::altered_columns::{Altered, altered_columns};
use super::columns::stored;
use super::create::shown_column;
use super::insert::{column_of, planned_rows};
use super::{merge_tree, query};
use crate::catalog::{ColumnDefinition, Engine, Table};
use crate::session::{RunningQuery, Session, Summary};

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
    for step in &alter.commands {
        let done = run_command(session, query, &alter.table, &step.command);
        done.map_err(|e| query.placed(e, step.span))?;
    }
    Ok(Summary::default())
}

fn run_command(
    session: &mut Session,
    query: &RunningQuery<'_>,
    name: &ObjectName,
    command: &AlterCommand,
) -> Result<()> {
    let table = session
        .find_table(name)
        .map_err(|e| query.placed(e, name.span))?;
    let named = (name, table.as_ref());
    match (&table.engine, command) {
        (
            Engine::Memory(_) | Engine::MergeTree(_) | Engine::Mmap(_),
            AlterCommand::ModifyComment(comment),
        ) => {
            modify_comment(session, named, comment)?;
        }
        (Engine::Memory(memory), _) => alter_memory(session, query, (named, memory), command)?,
        (Engine::MergeTree(_), _) => {
            merge_tree::alter(session, query, (name, &table), command)?;
        }
        _ => {
            return Err(Error::not_implemented(format!(
                "ALTER of a table with engine {}",
                table.engine.name()
            )));
        }
    }
    Ok(())
}

fn alter_memory(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (named, memory): ((&ObjectName, &Table), &MemoryTable),
    command: &AlterCommand,
) -> Result<()> {
    let (_, table) = named;
    match command {
        AlterCommand::Delete {
            partition: None,
            where_,
        } => {
            let keep = Expr::call("not", vec![where_.clone().or_false()]).at(where_.span);
            let columns = columns_of(table).map(|c| Expr::column(&c.column.name));
            rewrite(
                session,
                query,
                (named, memory),
                (columns.collect(), Some(keep)),
            )
        }
        AlterCommand::Update {
            partition: None,
            assignments,
            where_,
        } => {
            let columns = updated(table, assignments, where_)?;
            rewrite(session, query, (named, memory), (columns, None))
        }
        _ => {
            let columns = altered_columns(session, query, table, command)?;
            replace(session, query, (named, memory), columns)
        }
    }
}

/// `MODIFY COMMENT`
fn modify_comment(
    session: &mut Session,
    (name, table): (&ObjectName, &Table),
    comment: &[u8],
) -> Result<()> {
    let mut statement = basalt_parser::parse_statement(&table.create_sql)?.statement;
    if let ast::Statement::CreateTable(create) = &mut statement {
        create.comment = (!comment.is_empty()).then(|| comment.to_vec());
    }
    let changed = Table {
        create_sql: basalt_parser::format_statement(&statement),
        comment: String::from_utf8_lossy(comment).into_owned(),
        ..table.clone()
    };
    put(session, name, changed)
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

/// Stores the rows of a SELECT over the table in their place.
fn rewrite(
    session: &Session,
    query: &RunningQuery<'_>,
    ((table_name, table), memory): ((&ObjectName, &Table), &MemoryTable),
    (columns, where_): (Vec<Expr>, Option<Expr>),
) -> Result<()> {
    let planned = query::plan(session, query, &select(table_name, columns, where_))?;
    let given: Vec<String> = columns_of(table).map(|c| c.column.name.clone()).collect();
    let (batches, _) = planned_rows(session, query, table, planned, &given)?;
    memory.replace(batches)
}

/// Puts a table with other columns in the place of the old one.
fn replace(
    session: &mut Session,
    query: &RunningQuery<'_>,
    ((table_name, table), memory): ((&ObjectName, &Table), &MemoryTable),
    altered: Vec<Altered>,
) -> Result<()> {
    let is_stored = |a: &&Altered| stored(std::slice::from_ref(&a.definition)).next().is_some();
    let mut values = Vec::new();
    for column in altered.iter().filter(is_stored) {
        let data_type = &column.definition.column.data_type;
        values.push(match &column.from {
            Some(from) => Expr::column(from).cast(data_type),
            None => {
                let name = Expr::string(&data_type.to_string());
                Expr::call("defaultValueOfTypeName", vec![name])
            }
        });
    }
    let columns: Vec<ColumnDefinition> = altered.into_iter().map(|a| a.definition).collect();
    let fields: Vec<_> = stored(&columns)
        .map(|c| c.column.data_type.field(&c.column.name))
        .collect();
    let new = MemoryTable::new(Arc::new(Schema::new(fields)));
    if memory.num_rows() > 0 {
        let planned = query::plan(session, query, &select(table_name, values, None))?;
        let mut batches = Vec::new();
        query
            .execution
            .for_each(&planned.plan, true, &mut |batch: RecordBatch| {
                batches.push(batch);
                Ok(true)
            })?;
        new.insert(batches)?;
    }
    let changed = Table {
        create_sql: changed_sql(table, &columns)?,
        columns,
        engine: Engine::Memory(Arc::new(new)),
        ..table.clone()
    };
    put(session, table_name, changed)
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

/// The statement that makes the table with these columns.
fn changed_sql(table: &Table, columns: &[ColumnDefinition]) -> Result<String> {
    let mut statement = basalt_parser::parse_statement(&table.create_sql)?.statement;
    if let ast::Statement::CreateTable(create) = &mut statement
        && let Some(schema) = &mut create.schema
    {
        schema.columns = columns.iter().map(shown_column).collect();
    }
    Ok(basalt_parser::format_statement(&statement))
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
