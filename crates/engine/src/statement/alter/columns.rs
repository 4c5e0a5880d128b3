//! Knows a table's columns after commands of ALTER TABLE, and whose values each takes.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, AlterCommand, AlterStep, ColumnPosition};

use super::clauses::changes_columns;
use crate::catalog::{ColumnDefinition, Table};
use crate::session::{RunningQuery, Session};
use crate::statement::columns::{codec_text, declared_columns, rename_in_default, uses};
use crate::statement::create::shown_column;

/// A column of the altered table, and the column whose values it takes.
pub(in crate::statement) struct Altered {
    pub(in crate::statement) definition: ColumnDefinition,
    pub(in crate::statement) from: Option<String>,
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
fn same_columns(table: &Table) -> Vec<Altered> {
    let keep = |c: &ColumnDefinition| Altered {
        definition: c.clone(),
        from: Some(c.column.name.clone()),
    };
    table.columns.iter().map(keep).collect()
}

/// The columns after all commands of a step; those that are not about columns leave them as they are. `check` may refuse
/// what a command makes of them.
pub(in crate::statement) fn altered_columns(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    step: &[AlterStep],
    check: &dyn Fn(&[Altered]) -> Result<()>,
) -> Result<Vec<Altered>> {
    let mut altered = same_columns(table);
    let mut between = table.clone();
    for AlterStep { command, span } in step {
        if changes_columns(command) {
            let next = after_command(session, query, &between, command);
            let next = next.map(|next| combined(&altered, next));
            let next = next.and_then(|next| check(&next).map(|()| next));
            altered = next.map_err(|e| query.placed(e, *span))?;
            between.columns = altered.iter().map(|a| a.definition.clone()).collect();
        }
    }
    Ok(altered)
}

/// Two changes as one.
fn combined(first: &[Altered], mut second: Vec<Altered>) -> Vec<Altered> {
    for altered in &mut second {
        let from = altered.from.take();
        let mut columns = first.iter();
        let from = columns.find(|a| Some(&a.definition.column.name) == from.as_ref());
        altered.from = from.and_then(|a| a.from.clone());
    }
    second
}

fn after_command(
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
                let at = place(query, &table.columns, position.as_ref())?;
                let added =
                    declared_columns(session, query, std::slice::from_ref(column), &table.columns)?;
                columns.splice(at..at, added.into_iter().map(Altered::new));
            }
        },
        AlterCommand::DropColumn { if_exists, name } => {
            let of_nested = format!("{name}.");
            let mut all = table.columns.iter();
            let is_nested = all.any(|c| c.column.name.starts_with(&of_nested));
            if find(name).is_none() && is_nested {
                check_drop(table, &|column| column.starts_with(&of_nested))?;
                columns.retain(|c| !c.definition.column.name.starts_with(&of_nested));
            } else if let Some(at) = existing(name, *if_exists)? {
                check_drop(table, &|column| column == name)?;
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

/// Refuses to drop columns that others need, or all of them.
fn check_drop(table: &Table, is_dropped: &dyn Fn(&str) -> bool) -> Result<()> {
    let (dropped, others): (Vec<_>, Vec<_>) = table
        .columns
        .iter()
        .partition(|c| is_dropped(&c.column.name));
    if others.is_empty() {
        return Err(last_column());
    }
    for column in dropped {
        let name = &column.column.name;
        if let Some(other) = others.iter().find(|c| uses(c, name)) {
            return Err(needed(name, &other.column.name));
        }
    }
    Ok(())
}

/// What changes a column in its place.
fn changed_columns(
    session: &Session,
    query: &RunningQuery<'_>,
    (command, columns): (&AlterCommand, &mut Vec<Altered>),
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
            position,
        } => {
            if let Some(at) = existing(&column.name, *if_exists)? {
                let mut modified = columns.remove(at);
                let others: Vec<_> = columns.iter().map(|c| c.definition.clone()).collect();
                let definition = &mut modified.definition;
                modify(session, query, (definition, &others), (column, remove))?;
                let at = match position {
                    Some(_) => place(query, &others, position.as_ref())?,
                    None => at,
                };
                columns.insert(at, modified);
            }
        }
        _ => return Err(Error::bug("a command that is not about columns")),
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
    let loses_default = matches!(
        remove.as_deref(),
        Some("DEFAULT" | "MATERIALIZED" | "ALIAS")
    );
    if column.data_type.is_some() || column.default.is_some() || loses_default {
        let mut wanted = column.clone();
        if wanted.data_type.is_none() {
            wanted.data_type = shown_column(definition).data_type;
        }
        if wanted.default.is_none() && !loses_default {
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
        Some(_) if loses_default => {}
        Some("COMMENT") => definition.comment.clear(),
        Some(other) => {
            return Err(Error::not_implemented(format!(
                "MODIFY COLUMN … REMOVE {other}"
            )));
        }
    }
    Ok(())
}

fn place(
    query: &RunningQuery<'_>,
    columns: &[ColumnDefinition],
    position: Option<&ColumnPosition>,
) -> Result<usize> {
    match position {
        None => Ok(columns.len()),
        Some(ColumnPosition::First) => Ok(0),
        Some(ColumnPosition::After(name, span)) => {
            let mut all = columns.iter();
            let at = all.position(|c| c.column.name == *name);
            at.map(|at| at + 1).ok_or_else(|| {
                let e = Error::new(
                    ErrorCode::NO_SUCH_COLUMN_IN_TABLE,
                    format!(
                        "{}Cannot find column `{name}` to insert after",
                        hint(columns, name)
                    ),
                );
                query.placed(e, *span)
            })
        }
    }
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
    Error::new(
        ErrorCode::NOT_FOUND_COLUMN_IN_BLOCK,
        format!(
            "{}Cannot find column `{column}`",
            hint(&table.columns, column)
        ),
    )
}

/// The name that was meant, or all there are.
fn hint(columns: &[ColumnDefinition], column: &str) -> String {
    let names = || columns.iter().map(|c| c.column.name.as_str());
    match basalt_functions::registry::nearest(column, names()).first() {
        Some(near) => format!("Maybe you meant `{near}`? "),
        None => String::new(),
    }
}
