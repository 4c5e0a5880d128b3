//! Lists databases, tables and columns.

use std::sync::Arc;

use basalt_analyzer::TableEntry;
use basalt_error::Result;

use super::{Rows, TABLES};
use crate::catalog::{ColumnDefinition, Engine, SYSTEM_DATABASES, Table};
use crate::environment::QueryEnvironment;
use crate::statement::show::default_kind;

/// `system.databases`
pub(crate) fn databases(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let names = environment.database.catalog.databases();
    let none = || names.iter().map(|_| "");
    Rows::default()
        .text("name", &names)
        .text("engine", names.iter().map(|_| "Memory"))
        .text("data_path", none())
        .text("metadata_path", none())
        .text(
            "uuid",
            names.iter().map(|_| "00000000-0000-0000-0000-000000000000"),
        )
        .text("engine_full", names.iter().map(|_| "Memory"))
        .text("comment", none())
        .table()
}

/// A table with its database and name.
struct Listed {
    database: String,
    name: String,
    table: Option<Arc<Table>>,
}

fn all_tables(environment: &QueryEnvironment<'_>) -> Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for database in environment.database.catalog.databases() {
        if SYSTEM_DATABASES.contains(&database.as_str()) {
            if database == "system" {
                listed.extend(TABLES.iter().map(|(name, _)| Listed {
                    database: database.clone(),
                    name: (*name).to_owned(),
                    table: None,
                }));
            }
            continue;
        }
        for (name, table) in environment.database.catalog.tables(&database)? {
            listed.push(Listed {
                database: database.clone(),
                name,
                table: Some(table),
            });
        }
    }
    for (name, table) in environment.temporary {
        let (name, table) = (name.clone(), Some(Arc::clone(table)));
        listed.push(Listed {
            database: String::new(),
            name,
            table,
        });
    }
    Ok(listed)
}

impl Listed {
    fn of<T>(&self, f: impl Fn(&Table) -> T, system: T) -> T {
        self.table.as_deref().map_or(system, f)
    }

    fn memory_bytes(&self) -> u64 {
        match self.table.as_deref().map(|t| &t.engine) {
            Some(Engine::Memory(memory)) => memory.size_bytes() as u64,
            _ => 0,
        }
    }
}

/// `system.tables`
pub(crate) fn tables(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let all = all_tables(environment)?;
    let engine = |l: &Listed| l.of(|t| t.engine.name().to_owned(), format!("System{}", l.name));
    Rows::default()
        .text("database", all.iter().map(|l| &l.database))
        .text("name", all.iter().map(|l| &l.name))
        .text(
            "uuid",
            all.iter().map(|_| "00000000-0000-0000-0000-000000000000"),
        )
        .text("engine", all.iter().map(engine))
        .flag(
            "is_temporary",
            all.iter().map(|l| l.of(|t| t.is_temporary, false)),
        )
        .text(
            "create_table_query",
            all.iter()
                .map(|l| l.of(|t| t.create_sql.clone(), String::new())),
        )
        .text("engine_full", all.iter().map(engine))
        .text(
            "as_select",
            all.iter().map(|l| l.of(view_query, String::new())),
        )
        .text("partition_key", all.iter().map(|_| ""))
        .text("sorting_key", all.iter().map(|_| ""))
        .text("primary_key", all.iter().map(|_| ""))
        .number(
            "total_rows",
            all.iter()
                .map(|l| l.of(Table::num_rows, None).unwrap_or(0) as u64),
        )
        .number("total_bytes", all.iter().map(Listed::memory_bytes))
        .text(
            "comment",
            all.iter()
                .map(|l| l.of(|t| t.comment.clone(), String::new())),
        )
        .table()
}

fn view_query(table: &Table) -> String {
    match &table.engine {
        Engine::View(query) => {
            let statement = basalt_parser::ast::Statement::Query(Box::new(query.as_ref().clone()));
            basalt_parser::format_one_line(&statement)
        }
        _ => String::new(),
    }
}

/// `system.columns`
pub(crate) fn columns(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let mut rows: Vec<(String, String, u64, ColumnDefinition)> = Vec::new();
    for listed in all_tables(environment)? {
        let columns = match &listed.table {
            Some(table) => table.columns.clone(),
            // Listing the columns of `columns` itself needs no rows.
            None if matches!(listed.name.as_str(), "columns" | "tables") => Vec::new(),
            None => match super::table(environment, &listed.database, &listed.name)? {
                TableEntry::Table { columns, .. } => {
                    columns.into_iter().map(ColumnDefinition::new).collect()
                }
                TableEntry::View(_) => Vec::new(),
            },
        };
        for (i, column) in columns.into_iter().enumerate() {
            rows.push((
                listed.database.clone(),
                listed.name.clone(),
                i as u64 + 1,
                column,
            ));
        }
    }
    let default = |c: &ColumnDefinition| {
        let expr = c.default.as_ref().and_then(|d| d.expr.as_ref());
        expr.map(basalt_parser::format_expr).unwrap_or_default()
    };
    Rows::default()
        .text("database", rows.iter().map(|(d, _, _, _)| d))
        .text("table", rows.iter().map(|(_, t, _, _)| t))
        .text("name", rows.iter().map(|(_, _, _, c)| &c.column.name))
        .text(
            "type",
            rows.iter()
                .map(|(_, _, _, c)| c.column.data_type.to_string()),
        )
        .number("position", rows.iter().map(|(_, _, p, _)| *p))
        .text(
            "default_kind",
            rows.iter().map(|(_, _, _, c)| default_kind(c)),
        )
        .text(
            "default_expression",
            rows.iter().map(|(_, _, _, c)| default(c)),
        )
        .text("comment", rows.iter().map(|(_, _, _, c)| &c.comment))
        .text(
            "compression_codec",
            rows.iter().map(|(_, _, _, c)| &c.codec),
        )
        .table()
}
