//! Makes the tables of the database `system`, fresh for every query.
//!
//! | module | owns |
//! |---|---|
//! | [`rows`] | building a table column by column |
//! | [`objects`] | databases, tables, columns |
//! | [`functions`] | functions, table functions, combinators |
//! | [`processes`] | the statements that are running |
//! | [`adaptation`] | the processor, and what was chosen for it |
//! | [`parts`] | parts of tables on disk |
//! | [`merges`] | merges that are running |
//! | [`asynchronous_inserts`] | inserts that wait to be written |
//! | [`mutations`] | changes of rows |
//! | [`events`] | what has been counted |
//! | [`facts`] | settings, formats, types, build options and other lists |
//! | [`type_families`] | the names of types |
//! | [`absent`] | what ClickHouse has and Basalt has not: empty tables |
//! | [`information_schema`] | the views of `information_schema` |

pub mod absent;
pub mod adaptation;
pub mod asynchronous_inserts;
pub mod events;
pub mod facts;
pub mod functions;
pub mod information_schema;
pub mod merges;
pub mod mutations;
pub mod objects;
pub mod parts;
pub mod processes;
pub mod rows;
pub mod type_families;

use basalt_analyzer::{TableColumn, TableEntry};
use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::scan::NumbersKind;
use basalt_functions::registry::nearest;

use crate::catalog::unknown_table;
use crate::environment::QueryEnvironment;
use crate::table_function;
use rows::Rows;

/// Makes one table.
type MakeTable = fn(&QueryEnvironment<'_>) -> Result<TableEntry>;

/// Every table of `system` with rows, by name.
const TABLES: &[(&str, MakeTable)] = &[
    ("adaptive_choices", adaptation::adaptive_choices),
    ("aggregate_function_combinators", functions::combinators),
    (
        "asynchronous_inserts",
        asynchronous_inserts::asynchronous_inserts,
    ),
    ("build_options", facts::build_options),
    ("columns", objects::columns),
    ("contributors", facts::contributors),
    ("cpu", adaptation::cpu),
    ("data_skipping_indices", parts::data_skipping_indices),
    ("data_type_families", type_families::data_type_families),
    ("databases", objects::databases),
    ("detached_parts", parts::detached_parts),
    ("errors", facts::errors),
    ("events", events::events),
    ("formats", facts::formats),
    ("functions", functions::functions),
    ("keywords", facts::keywords),
    ("merges", merges::merges),
    ("mutations", mutations::mutations),
    ("numbers", |_| Ok(numbers(false))),
    ("numbers_mt", |_| Ok(numbers(true))),
    ("one", |_| one()),
    ("parts", parts::parts),
    ("parts_columns", parts::parts_columns),
    ("primes", |_| {
        Ok(table_function::prime_numbers(0, u64::MAX, 1))
    }),
    ("processes", processes::processes),
    ("settings", facts::settings),
    ("table_engines", facts::table_engines),
    ("table_functions", functions::table_functions),
    ("tables", objects::tables),
    ("time_zones", facts::time_zones),
    ("zeros", |_| Ok(zeros(false))),
    ("zeros_mt", |_| Ok(zeros(true))),
];

/// Names of a system database's tables; none for other databases.
pub(crate) fn table_names(database: &str) -> Vec<String> {
    if database.eq_ignore_ascii_case("information_schema") {
        return information_schema::names();
    }
    if database != "system" {
        return Vec::new();
    }
    let with_rows = TABLES.iter().map(|(name, _)| *name);
    let mut names: Vec<String> = with_rows
        .chain(absent::TABLES.iter().map(|(name, _)| *name))
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names
}

/// Whether the system database has a table of that name.
pub(crate) fn has_table(database: &str, name: &str) -> bool {
    table_names(database).iter().any(|n| n == name)
}

/// The error for a change of a table, or of what would be one, of a system database.
pub(crate) fn fixed_table(database: &str, name: &str) -> Error {
    if has_table(database, name) {
        return Error::new(
            ErrorCode::NOT_IMPLEMENTED,
            format!("Use a database of your own: {database}.{name} cannot be changed"),
        );
    }
    no_table(database, name)
}

fn no_table(database: &str, name: &str) -> Error {
    let names = table_names(database);
    let near = nearest(name, names.iter().map(String::as_str));
    unknown_table(database, name, &near)
}

/// The table of that name.
pub(crate) fn table(
    environment: &QueryEnvironment<'_>,
    database: &str,
    name: &str,
) -> Result<TableEntry> {
    if database != "system" {
        return information_schema::query(database, name).map(TableEntry::View);
    }
    if let Some((_, make)) = TABLES.iter().find(|(n, _)| *n == name) {
        return make(environment);
    }
    match absent::TABLES.iter().find(|(n, _)| *n == name) {
        Some((_, structure)) => absent::table(structure),
        None => Err(no_table(database, name)),
    }
}

/// The columns of the table of that name.
pub(crate) fn columns_of(
    environment: &QueryEnvironment<'_>,
    database: &str,
    name: &str,
) -> Result<Vec<TableColumn>> {
    if database != "system" {
        let columns = information_schema::columns(database, name)?;
        return Ok(columns
            .into_iter()
            .map(|(name, data_type)| TableColumn::new(name, data_type))
            .collect());
    }
    let entry = match name {
        // Its rows would ask for the columns of all tables again.
        "columns" => objects::columns_of_columns()?,
        _ => table(environment, database, name)?,
    };
    Ok(match entry {
        TableEntry::Table { columns, .. } => columns,
        TableEntry::View(_) => Vec::new(),
    })
}

fn numbers(is_parallel: bool) -> TableEntry {
    let kind = NumbersKind::Numbers { start: 0, step: 1 };
    table_function::numbers(kind, u64::MAX, is_parallel, "number")
}

fn zeros(is_parallel: bool) -> TableEntry {
    table_function::numbers(NumbersKind::Zeros, u64::MAX, is_parallel, "zero")
}

fn one() -> Result<TableEntry> {
    Rows::default().flag("dummy", [false]).table()
}
