//! Puts the values of identifier parameters in the place of names: `DROP TABLE {database:Identifier}.t`.
//!
//! Those in FROM are the analyzer's, which may know them later: a view with parameters has them when it is
//! asked.

use std::borrow::Cow;
use std::collections::BTreeMap;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::Parsed;
use basalt_parser::ast::{InsertTarget, ObjectName, ShowKind, Statement, TableSource};

/// The statement with the names of what it is about.
///
/// # Errors
/// `UNKNOWN_QUERY_PARAMETER`.
pub(crate) fn resolved<'a>(
    parsed: &'a Parsed,
    parameters: &BTreeMap<String, String>,
) -> Result<Cow<'a, Parsed>> {
    let mut copy = match &parsed.statement {
        // What has no names of its own need not be copied.
        Statement::Query(_) | Statement::Set(_) => return Ok(Cow::Borrowed(parsed)),
        _ => parsed.clone(),
    };
    let names = names(&mut copy.statement);
    let mut changes = false;
    for name in names {
        changes |= name.name_is_parameter || name.database_is_parameter;
        if std::mem::take(&mut name.name_is_parameter) {
            name.name = value(parameters, &name.name)?;
        }
        if std::mem::take(&mut name.database_is_parameter)
            && let Some(database) = &mut name.database
        {
            *database = value(parameters, database)?;
        }
    }
    Ok(match changes {
        true => Cow::Owned(copy),
        false => Cow::Borrowed(parsed),
    })
}

fn value(parameters: &BTreeMap<String, String>, name: &str) -> Result<String> {
    let value = parameters.get(name).cloned();
    value.ok_or_else(|| {
        Error::new(
            ErrorCode::UNKNOWN_QUERY_PARAMETER,
            format!("Substitution `{name}` is not set"),
        )
    })
}

/// The names of what a statement makes, changes or shows.
fn names(statement: &mut Statement) -> Vec<&mut ObjectName> {
    match statement {
        Statement::Insert(insert) => match &mut insert.target {
            InsertTarget::Table(name) => vec![name],
            InsertTarget::Function(_) => Vec::new(),
        },
        Statement::CreateTable(create) => {
            let others = create.as_table.iter_mut();
            std::iter::once(&mut create.name).chain(others).collect()
        }
        Statement::CreateView(create) => vec![&mut create.name],
        Statement::CreateDatabase(create) => vec![&mut create.name],
        Statement::Drop(drop) => drop.names.iter_mut().collect(),
        Statement::Truncate(truncate) => vec![&mut truncate.name],
        Statement::Rename(rename) => {
            let pairs = rename.pairs.iter_mut();
            pairs.flat_map(|p| [&mut p.from, &mut p.to]).collect()
        }
        Statement::Alter(alter) => vec![&mut alter.table],
        Statement::Delete { table, .. } | Statement::Update { table, .. } => vec![table],
        Statement::Optimize(optimize) => vec![&mut optimize.table],
        Statement::Exists(exists) => vec![&mut exists.name],
        Statement::Show(show) => match &mut show.kind {
            ShowKind::Create { name, .. } => vec![name],
            ShowKind::Columns { table, .. } | ShowKind::Indexes { table, .. } => vec![table],
            _ => Vec::new(),
        },
        Statement::Describe(describe) => match &mut describe.table.source {
            TableSource::Table(name) => vec![name],
            _ => Vec::new(),
        },
        Statement::Parallel(all) => all.iter_mut().flat_map(names).collect(),
        _ => Vec::new(),
    }
}
