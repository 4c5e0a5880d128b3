//! Runs steps of ALTER TABLE for Memory tables.
//!
//! Each step makes the table's rows anew from a query over the old ones; readers keep the snapshot that they have.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use basalt_error::{Error, Result};
use basalt_parser::ast::{AlterCommand, AlterStep, Expr, ObjectName};
use basalt_storage::MemoryTable;

use super::clauses::{changed_statement, changes_columns};
use super::columns::{Altered, altered_columns};
use super::rows::planned_over;
use super::{columns_of, comment_of, put, select, statement_text, updated};
use crate::catalog::{ColumnDefinition, Engine, Table};
use crate::session::{RunningQuery, Session};
use crate::statement::columns::stored;
use crate::statement::create::shown_column;
use crate::statement::insert::planned_rows;
use crate::statement::query;

/// Finds what is wrong with a step, and gives the table with the definition that it makes.
pub(super) fn check(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Arc<Table>),
    step: &[AlterStep],
) -> Result<Arc<Table>> {
    match changed_rows(table, step)? {
        Some((mut columns, keep)) => {
            columns.extend(keep);
            planned_over(session, query, (name, &table.columns), columns)?;
            Ok(Arc::clone(table))
        }
        None => {
            let altered = altered_columns(session, query, table, step, &|_| Ok(()))?;
            let memory = MemoryTable::new(schema_of(&altered));
            Ok(Arc::new(altered_table(table, step, altered, memory)?))
        }
    }
}

/// Runs a step.
pub(super) fn run(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table, memory): (&ObjectName, &Table, &MemoryTable),
    step: &[AlterStep],
) -> Result<()> {
    if let Some((columns, keep)) = changed_rows(table, step)? {
        // The rows of a SELECT over the table come in their place.
        let planned = query::plan(session, query, &select(name, columns, keep))?;
        let given: Vec<String> = columns_of(table).map(|c| c.column.name.clone()).collect();
        let (batches, _) = planned_rows(session, query, table, planned, &given)?;
        return memory.replace(batches);
    }
    let altered = altered_columns(session, query, table, step, &|_| Ok(()))?;
    let new = MemoryTable::new(schema_of(&altered));
    if memory.num_rows() > 0 {
        let planned = query::plan(session, query, &select(name, values(&altered), None))?;
        let mut batches = Vec::new();
        query
            .execution
            .for_each(&planned.plan, true, &mut |batch: RecordBatch| {
                batches.push(batch);
                Ok(true)
            })?;
        new.insert(batches)?;
    }
    let altered = altered_table(table, step, altered, new)?;
    put(session, name, altered)
}

/// What becomes of the columns of which the values are given, and which rows stay; none if a step changes the definition.
fn changed_rows(table: &Table, step: &[AlterStep]) -> Result<Option<(Vec<Expr>, Option<Expr>)>> {
    let is_definition = |s: &AlterStep| {
        changes_columns(&s.command) || matches!(s.command, AlterCommand::ModifyComment(_))
    };
    match step {
        [only] => match &only.command {
            AlterCommand::Delete {
                partition: None,
                where_,
            } => {
                let keep = Expr::call("not", vec![where_.clone().or_false()]).at(where_.span);
                let columns = columns_of(table).map(|c| Expr::column(&c.column.name));
                Ok(Some((columns.collect(), Some(keep))))
            }
            AlterCommand::Update {
                partition: None,
                assignments,
                where_,
            } => Ok(Some((updated(table, assignments, where_)?, None))),
            _ if is_definition(only) => Ok(None),
            _ => Err(unsupported()),
        },
        several if several.iter().all(is_definition) => Ok(None),
        _ => Err(unsupported()),
    }
}

fn unsupported() -> Error {
    Error::not_implemented(
        "ALTER of a Memory table other than UPDATE, DELETE, MODIFY COMMENT and ADD, DROP, CLEAR, \
         MODIFY, RENAME, COMMENT COLUMN",
    )
}

fn stored_columns(altered: &[Altered]) -> impl Iterator<Item = &Altered> {
    let is_stored = |a: &&Altered| stored(std::slice::from_ref(&a.definition)).next().is_some();
    altered.iter().filter(is_stored)
}

fn schema_of(altered: &[Altered]) -> Arc<Schema> {
    let columns = stored_columns(altered).map(|a| &a.definition.column);
    let fields: Vec<_> = columns.map(|c| c.data_type.field(&c.name)).collect();
    Arc::new(Schema::new(fields))
}

/// The values of the columns that are stored, from those of the table as it was.
fn values(altered: &[Altered]) -> Vec<Expr> {
    let value = |altered: &Altered| {
        let data_type = &altered.definition.column.data_type;
        match &altered.from {
            Some(from) => Expr::column(from).cast(data_type),
            None => {
                let name = Expr::string(&data_type.to_string());
                Expr::call("defaultValueOfTypeName", vec![name])
            }
        }
    };
    stored_columns(altered).map(value).collect()
}

fn altered_table(
    table: &Table,
    step: &[AlterStep],
    altered: Vec<Altered>,
    memory: MemoryTable,
) -> Result<Table> {
    let columns: Vec<ColumnDefinition> = altered.into_iter().map(|a| a.definition).collect();
    let shown = columns.iter().map(shown_column).collect();
    let create = changed_statement(table, Some(shown), step)?;
    Ok(Table {
        columns,
        engine: Engine::Memory(Arc::new(memory)),
        comment: comment_of(&create),
        create_sql: statement_text(create),
        is_temporary: table.is_temporary,
    })
}
