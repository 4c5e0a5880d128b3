//! Runs ALTER TABLE: changes of columns, UPDATE and DELETE of rows of Memory tables.
//!
//! Each command makes the table's rows anew from a query over the old ones; readers keep the
//! snapshot that they have.

use std::sync::Arc;

use arrow::datatypes::Schema;
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{
    self, Alter, AlterCommand, ColumnPosition, DefaultKind, Expr, ExprKind, Function, ObjectName,
    Select, SetExpr, Span,
};
use basalt_storage::MemoryTable;

use super::columns::{codec_text, declared_columns, rename_in_default, stored, uses};
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
    for command in &alter.commands {
        let table = session.find_table(&alter.table)?;
        let is_comment = matches!(command, AlterCommand::ModifyComment(_));
        let memory = match &table.engine {
            Engine::Memory(memory) => memory,
            Engine::MergeTree(_) if !is_comment => {
                merge_tree::alter(session, query, (&alter.table, &table), command)?;
                continue;
            }
            Engine::MergeTree(_) => {
                comment(session, (&alter.table, &table), command)?;
                continue;
            }
            _ => {
                return Err(Error::not_implemented(format!(
                    "ALTER of a table with engine {}",
                    table.engine.name()
                )));
            }
        };
        match command {
            AlterCommand::Delete {
                partition: None,
                where_,
            } => {
                let keep = call("not", vec![or_false(where_)]);
                let columns = columns_of(&table).map(|c| name(&c.column.name)).collect();
                rewrite(session, query, (&alter.table, &table), columns, Some(keep))?;
            }
            AlterCommand::Update {
                partition: None,
                assignments,
                where_,
            } => {
                let columns = updated(&table, assignments, where_)?;
                rewrite(session, query, (&alter.table, &table), columns, None)?;
            }
            AlterCommand::ModifyComment(_) => {
                comment(session, (&alter.table, &table), command)?;
            }
            _ => {
                let columns = altered_columns(session, query, &table, command)?;
                replace(session, query, (&alter.table, &table, memory), columns)?;
            }
        }
    }
    Ok(Summary::default())
}

/// `MODIFY COMMENT`
fn comment(
    session: &mut Session,
    (name, table): (&ObjectName, &Table),
    command: &AlterCommand,
) -> Result<()> {
    let AlterCommand::ModifyComment(comment) = command else {
        return Err(Error::bug("another command than MODIFY COMMENT"));
    };
    let comment = String::from_utf8_lossy(comment).into_owned();
    let mut statement = basalt_parser::parse_statement(&table.create_sql)?.statement;
    if let ast::Statement::CreateTable(create) = &mut statement {
        create.comment = (!comment.is_empty()).then(|| comment.as_bytes().to_vec());
    }
    let changed = Table {
        create_sql: basalt_parser::format_statement(&statement),
        comment,
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
        let old = name(&c.column.name);
        match assignments.iter().find(|(n, _)| *n == c.column.name) {
            None => old,
            Some((_, new)) => {
                let new = cast(new.clone(), &c.column.data_type.to_string());
                call("if", vec![or_false(where_), new, old])
            }
        }
    };
    Ok(columns_of(table).map(value).collect())
}

/// Stores the rows of a SELECT over the table in their place.
fn rewrite(
    session: &Session,
    query: &RunningQuery<'_>,
    (table_name, table): (&ObjectName, &Table),
    columns: Vec<Expr>,
    where_: Option<Expr>,
) -> Result<()> {
    let Engine::Memory(memory) = &table.engine else {
        return Err(Error::bug("mutation of a table without rows"));
    };
    let planned = query::plan(session, query, &select(table_name, columns, where_))?;
    let given: Vec<String> = columns_of(table).map(|c| c.column.name.clone()).collect();
    let (batches, _) = planned_rows(session, query, table, planned, &given)?;
    memory.replace(batches)
}

/// A column of the altered table, and the column whose values it takes.
pub(super) struct Altered {
    pub(super) definition: ColumnDefinition,
    pub(super) from: Option<String>,
}

impl Altered {
    /// A column that had no values before.
    fn new(definition: ColumnDefinition) -> Self {
        Self {
            definition,
            from: None,
        }
    }
}

/// All columns as they are.
pub(super) fn same_columns(table: &Table) -> Vec<Altered> {
    let keep = |c: &ColumnDefinition| Altered {
        definition: c.clone(),
        from: Some(c.column.name.clone()),
    };
    table.columns.iter().map(keep).collect()
}

pub(super) fn altered_columns(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    command: &AlterCommand,
) -> Result<Vec<Altered>> {
    let mut columns = same_columns(table);
    let find = |wanted: &str| {
        let mut all = table.columns.iter();
        all.position(|c| c.column.name == wanted)
    };
    // The place of a column that must be there, unless the command says IF EXISTS.
    let existing = |name: &str, if_exists: bool| match find(name) {
        None if !if_exists => Err(missing(table, name)),
        found => Ok(found),
    };
    match command {
        AlterCommand::AddColumn {
            if_not_exists,
            column,
            position,
        } => match find(&column.name) {
            Some(_) if *if_not_exists => {}
            Some(_) => return Err(taken(&column.name)),
            None => {
                check_properties("ADD COLUMN", column)?;
                let at = place(table, position.as_ref(), columns.len())?;
                let added =
                    declared_columns(session, query, std::slice::from_ref(column), &table.columns)?;
                columns.splice(at..at, added.into_iter().map(Altered::new));
            }
        },
        AlterCommand::DropColumn { if_exists, name } => {
            if let Some(at) = existing(name, *if_exists)? {
                check_drop(table, name)?;
                columns.remove(at);
            }
        }
        AlterCommand::ClearColumn {
            if_exists,
            name,
            partition: None,
        } => {
            if let Some(at) = existing(name, *if_exists)? {
                columns[at].from = None;
            }
        }
        AlterCommand::RenameColumn {
            if_exists,
            from,
            to,
        } => match (existing(from, *if_exists)?, find(to)) {
            (Some(_), Some(_)) => return Err(taken(to)),
            (Some(at), None) => {
                columns[at].definition.column.name.clone_from(to);
                for column in &mut columns {
                    rename_in_default(&mut column.definition, from, to);
                }
            }
            (None, _) => {}
        },
        _ => changed_columns(session, query, (command, &mut columns), existing)?,
    }
    Ok(columns)
}

fn check_drop(table: &Table, name: &str) -> Result<()> {
    if table.columns.len() == 1 {
        return Err(last_column());
    }
    match table.columns.iter().find(|c| uses(c, name)) {
        Some(other) => Err(needed(name, &other.column.name)),
        None => Ok(()),
    }
}

/// What changes a column in its place.
fn changed_columns(
    session: &Session,
    query: &RunningQuery<'_>,
    (command, columns): (&AlterCommand, &mut [Altered]),
    existing: impl Fn(&str, bool) -> Result<Option<usize>>,
) -> Result<()> {
    match command {
        AlterCommand::CommentColumn {
            if_exists,
            name,
            comment,
        } => {
            if let Some(at) = existing(name, *if_exists)? {
                columns[at].definition.comment = String::from_utf8_lossy(comment).into_owned();
            }
        }
        AlterCommand::ModifyColumn {
            if_exists,
            column,
            remove,
            position: None,
        } => {
            if let Some(at) = existing(&column.name, *if_exists)? {
                let others = columns.iter().enumerate().filter(|(i, _)| *i != at);
                let others: Vec<_> = others.map(|(_, c)| c.definition.clone()).collect();
                let definition = &mut columns[at].definition;
                modify(session, query, (definition, &others), (column, remove))?;
            }
        }
        _ => return Err(unsupported()),
    }
    Ok(())
}

/// Refuses what would be kept nowhere.
fn check_properties(command: &str, column: &ast::ColumnDef) -> Result<()> {
    let unknown = [
        ("TTL", column.ttl.is_some()),
        ("STATISTICS", column.statistics.is_some()),
        ("SETTINGS", !column.settings.is_empty()),
    ];
    match unknown.iter().find(|(_, is_there)| *is_there) {
        Some((what, _)) => Err(Error::not_implemented(format!("{command} … {what}"))),
        None => Ok(()),
    }
}

/// What MODIFY COLUMN does not mention stays as it is.
fn modify(
    session: &Session,
    query: &RunningQuery<'_>,
    (definition, others): (&mut ColumnDefinition, &[ColumnDefinition]),
    (column, remove): (&ast::ColumnDef, &Option<String>),
) -> Result<()> {
    check_properties("MODIFY COLUMN", column)?;
    if column.data_type.is_some() || column.default.is_some() {
        let mut wanted = column.clone();
        if wanted.data_type.is_none() {
            wanted.data_type = shown_column(definition).data_type;
        }
        if wanted.default.is_none() {
            wanted.default.clone_from(&definition.default);
        }
        let new = declared_columns(session, query, &[wanted], others)?;
        let [new] = <[ColumnDefinition; 1]>::try_from(new)
            .map_err(|_| Error::not_implemented("MODIFY COLUMN of a Nested"))?;
        let comment = std::mem::take(&mut definition.comment);
        let codec = std::mem::take(&mut definition.codec);
        *definition = new;
        if definition.codec.is_empty() {
            definition.codec = codec;
        }
        if definition.comment.is_empty() {
            definition.comment = comment;
        }
    }
    if let Some(codec) = &column.codec {
        definition.codec = codec_text(codec);
    }
    if let Some(comment) = &column.comment {
        definition.comment = String::from_utf8_lossy(comment).into_owned();
    }
    match remove.as_deref() {
        None => {}
        Some("CODEC") => definition.codec.clear(),
        Some("DEFAULT" | "MATERIALIZED" | "ALIAS") => definition.default = None,
        Some("COMMENT") => definition.comment.clear(),
        Some(other) => {
            return Err(Error::not_implemented(format!(
                "MODIFY COLUMN … REMOVE {other}"
            )));
        }
    }
    Ok(())
}

fn place(table: &Table, position: Option<&ColumnPosition>, end: usize) -> Result<usize> {
    match position {
        None => Ok(end),
        Some(ColumnPosition::First) => Ok(0),
        Some(ColumnPosition::After(name)) => {
            let mut all = table.columns.iter();
            let at = all.position(|c| c.column.name == *name);
            at.map(|at| at + 1).ok_or_else(|| {
                Error::new(
                    ErrorCode::NO_SUCH_COLUMN_IN_TABLE,
                    format!("Cannot find column `{name}` to insert after"),
                )
            })
        }
    }
}

/// Puts a table with other columns in the place of the old one.
fn replace(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (table_name, table, memory): (&ObjectName, &Table, &Arc<MemoryTable>),
    altered: Vec<Altered>,
) -> Result<()> {
    let is_stored = |a: &&Altered| stored(std::slice::from_ref(&a.definition)).next().is_some();
    let mut values = Vec::new();
    for column in altered.iter().filter(is_stored) {
        let data_type = column.definition.column.data_type.to_string();
        let default = call("defaultValueOfTypeName", vec![string(&data_type)]);
        values.push(match &column.from {
            Some(from) => cast(name(from), &data_type),
            None => default,
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
            .for_each(&planned.plan, true, &mut |batch| {
                batches.push(batch);
                Ok(true)
            })?;
        new.insert(batches)?;
    }
    let changed = Table {
        create_sql: changed_sql(table, &columns, &table.comment)?,
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
fn changed_sql(table: &Table, columns: &[ColumnDefinition], comment: &str) -> Result<String> {
    let mut statement = basalt_parser::parse_statement(&table.create_sql)?.statement;
    if let ast::Statement::CreateTable(create) = &mut statement
        && let Some(schema) = &mut create.schema
    {
        schema.columns = columns.iter().map(shown_column).collect();
        create.comment = (!comment.is_empty()).then(|| comment.as_bytes().to_vec());
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

pub(super) fn name(column: &str) -> Expr {
    Expr::new(
        ExprKind::Identifier(vec![column.to_owned()]),
        Span::default(),
    )
}

fn string(text: &str) -> Expr {
    let literal = ast::Literal::String(text.as_bytes().to_vec());
    Expr::new(ExprKind::Literal(literal), Span::default())
}

pub(super) fn call(function: &str, args: Vec<Expr>) -> Expr {
    let function = Function::call(function.to_owned(), args);
    Expr::new(ExprKind::Function(Box::new(function)), Span::default())
}

pub(super) fn cast(expr: Expr, data_type: &str) -> Expr {
    call("CAST", vec![expr, string(data_type)])
}

/// The condition, false where it is NULL.
pub(super) fn or_false(condition: &Expr) -> Expr {
    let zero = Expr::new(ExprKind::Literal(ast::Literal::UInt(0)), Span::default());
    call("ifNull", vec![condition.clone(), zero])
}

fn unsupported() -> Error {
    Error::not_implemented(
        "ALTER of a Memory table other than UPDATE, DELETE, MODIFY COMMENT and ADD, DROP, CLEAR, \
         MODIFY, RENAME, COMMENT COLUMN",
    )
}

fn needed(column: &str, by: &str) -> Error {
    Error::new(
        ErrorCode::ILLEGAL_COLUMN,
        format!("Cannot drop column `{column}`, because column `{by}` is computed from it"),
    )
}

fn last_column() -> Error {
    Error::new(
        ErrorCode::BAD_ARGUMENTS,
        "Drop the table: it cannot be without columns",
    )
}

fn taken(column: &str) -> Error {
    Error::new(
        ErrorCode::DUPLICATE_COLUMN,
        format!("Choose another name: the table has a column `{column}`"),
    )
}

fn missing(table: &Table, column: &str) -> Error {
    let names = table.columns.iter().map(|c| c.column.name.as_str());
    let near = basalt_functions::registry::nearest(column, names);
    let hint = near.first().map(|n| format!("Maybe you meant `{n}`? "));
    Error::new(
        ErrorCode::NOT_FOUND_COLUMN_IN_BLOCK,
        format!("{}Cannot find column `{column}`", hint.unwrap_or_default()),
    )
}
