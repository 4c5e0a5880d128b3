//! Gives the rows of several tables with matching names: `merge`.

use std::sync::Arc;

use basalt_analyzer::TableEntry;
use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::scalar::search::regexp;
use basalt_types::{DataType, least_supertype};

use super::arguments::Arguments;
use crate::catalog::SYSTEM_DATABASES;
use crate::statement::query::parse_query;

/// `merge('tables')`, `merge(database, 'tables')`, `merge(REGEXP('databases'), 'tables')`.
///
/// Columns are those of all tables, in the least type that holds them; a table without one gives
/// its default.
pub(super) fn call(args: &Arguments<'_>) -> Result<TableEntry> {
    if !(1..=2).contains(&args.len()) {
        return Err(args.wrong_number("1 or 2"));
    }
    let tables = matching(args)?;
    let columns = all_columns(&tables)?;
    if columns.is_empty() {
        return Err(Error::new(
            ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
            "Change the regular expression: no table has a name that matches it",
        ));
    }
    let selects: Vec<String> = tables.iter().map(|t| t.select(&columns)).collect();
    let query = parse_query(&selects.join(" UNION ALL "))?;
    Ok(TableEntry::View(Arc::new(query)))
}

/// A table, and the columns that it can give.
struct Merged {
    database: String,
    name: String,
    columns: Vec<(String, DataType)>,
}

fn matching(args: &Arguments<'_>) -> Result<Vec<Merged>> {
    let tables = regexp::compile(&args.bytes(args.len() - 1)?)?;
    let catalog = &args.environment.database.catalog;
    let databases = match args.len() {
        1 => vec![args.environment.context.database.clone()],
        _ if args.all()[0].name.as_deref() == Some("REGEXP") => {
            let wanted = regexp::compile(&args.bytes(0)?)?;
            let mut all = catalog.databases();
            all.retain(|d| wanted.is_match(d.as_bytes()));
            all
        }
        _ => vec![args.text(0)?],
    };
    let mut merged = Vec::new();
    for database in databases {
        if !catalog.has_database(&database) {
            return Err(catalog.unknown_database(&database));
        }
        let names = match SYSTEM_DATABASES.contains(&database.as_str()) {
            true => crate::system::table_names(&database),
            false => {
                let tables = catalog.tables(&database)?;
                tables.into_iter().map(|(name, _)| name).collect()
            }
        };
        for name in names {
            if tables.is_match(name.as_bytes()) {
                let columns = columns_of(args, &database, &name)?;
                merged.push(Merged {
                    database: database.clone(),
                    name,
                    columns,
                });
            }
        }
    }
    Ok(merged)
}

fn columns_of(args: &Arguments<'_>, database: &str, name: &str) -> Result<Vec<(String, DataType)>> {
    if crate::system::has_table(database, name) {
        let columns = crate::system::columns_of(args.environment, database, name)?;
        let columns = columns.into_iter().filter(|c| !c.hidden);
        return Ok(columns.map(|c| (c.name, c.data_type)).collect());
    }
    let table = args.environment.database.catalog.table(database, name)?;
    let columns = table.columns.iter().map(|c| &c.column);
    let shown = columns.filter(|c| !c.hidden);
    Ok(shown
        .map(|c| (c.name.clone(), c.data_type.clone()))
        .collect())
}

/// Every name that a table has, with a type for all its values.
fn all_columns(tables: &[Merged]) -> Result<Vec<(String, DataType)>> {
    let mut all: Vec<(String, DataType)> = Vec::new();
    for (name, data_type) in tables.iter().flat_map(|t| &t.columns) {
        match all.iter_mut().find(|(n, _)| n == name) {
            Some((_, known)) => *known = least_supertype(&[known.clone(), data_type.clone()])?,
            None => all.push((name.clone(), data_type.clone())),
        }
    }
    Ok(all)
}

impl Merged {
    fn select(&self, columns: &[(String, DataType)]) -> String {
        let mut selected: Vec<String> = Vec::with_capacity(columns.len() + 2);
        for (name, data_type) in columns {
            let (quoted, data_type) = (identifier(name), string(&data_type.to_string()));
            selected.push(match self.columns.iter().any(|(n, _)| n == name) {
                true => format!("CAST({quoted}, {data_type}) AS {quoted}"),
                false => format!("defaultValueOfTypeName({data_type}) AS {quoted}"),
            });
        }
        selected.push(format!("{} AS _database", string(&self.database)));
        selected.push(format!("{} AS _table", string(&self.name)));
        format!(
            "SELECT {} FROM {}.{}",
            selected.join(", "),
            identifier(&self.database),
            identifier(&self.name)
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
}

/// A name in backticks.
pub(super) fn identifier(name: &str) -> String {
    format!("`{}`", escaped(name).replace('`', "\\`"))
}

fn string(text: &str) -> String {
    format!("'{}'", escaped(text).replace('\'', "\\'"))
}
