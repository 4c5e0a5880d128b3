//! Holds databases with their tables and views.

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_analyzer::TableColumn;
use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::registry::nearest;
use basalt_parser::ast;
use basalt_storage::MemoryTable;
use parking_lot::RwLock;

use crate::merge_tree::MergeTreeTable;
use crate::on_disk::{MmapTable, OnDisk};

/// A table or view.
#[derive(Clone, Debug)]
pub struct Table {
    /// Columns as declared or as the query gave them.
    pub columns: Vec<ColumnDefinition>,
    /// What holds the rows.
    pub engine: Engine,
    /// The statement that made it, for SHOW CREATE.
    pub create_sql: String,
    /// COMMENT of the table.
    pub comment: String,
    /// Whether only its session sees it.
    pub is_temporary: bool,
}

impl Table {
    /// Number of rows, where the table knows it.
    pub fn num_rows(&self) -> Option<usize> {
        match &self.engine {
            Engine::Memory(memory) => Some(memory.num_rows()),
            Engine::MergeTree(table) => table.storage.num_rows(),
            Engine::Mmap(table) => table.storage.num_rows(),
            Engine::Null => Some(0),
            Engine::View(_) | Engine::Function(_) => None,
        }
    }

    /// Whether it keeps rows that outlive the process.
    pub(crate) fn has_own_data(&self) -> bool {
        self.on_disk().is_some()
    }

    /// The table with another name in the statement that makes it.
    fn renamed(&self, (database, name): (&str, &str)) -> Self {
        let mut table = self.clone();
        let Ok(parsed) = basalt_parser::parse_statement(&self.create_sql) else {
            return table;
        };
        let mut statement = parsed.statement;
        let object = match &mut statement {
            ast::Statement::CreateTable(create) => &mut create.name,
            ast::Statement::CreateView(create) => &mut create.name,
            _ => return table,
        };
        object.database = Some(database.to_owned());
        name.clone_into(&mut object.name);
        table.create_sql = basalt_parser::format_statement(&statement);
        table
    }

    /// Whether another definition is of the same table.
    fn is_same(&self, other: &Table) -> bool {
        let uuid = |table| OnDisk::of(table).map(OnDisk::uuid);
        self.create_sql == other.create_sql && uuid(self) == uuid(other)
    }

    /// The table as one with a folder of its own, if it has one.
    pub(crate) fn on_disk(&self) -> Option<OnDisk<'_>> {
        OnDisk::of(self)
    }

    /// The MergeTree table, if it is one.
    pub(crate) fn merge_tree(&self) -> Option<&Arc<MergeTreeTable>> {
        match &self.engine {
            Engine::MergeTree(table) => Some(table),
            _ => None,
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct ColumnDefinition {
    /// Name, type and ALIAS expression, as queries see it.
    pub column: TableColumn,
    /// DEFAULT, MATERIALIZED, ALIAS or EPHEMERAL with its expression.
    pub default: Option<ast::ColumnDefault>,
    /// COMMENT of the column.
    pub comment: String,
    /// CODEC as written.
    pub codec: String,
    /// TTL as written.
    pub ttl: String,
    /// The function of a SimpleAggregateFunction.
    pub simple_aggregate: Option<String>,
}

impl ColumnDefinition {
    /// The type as it was declared.
    pub fn declared_type(&self) -> String {
        let data_type = self.column.data_type.pretty_name();
        match &self.simple_aggregate {
            Some(function) => format!("SimpleAggregateFunction({function}, {data_type})"),
            None => data_type,
        }
    }

    /// The expression of its default; EPHEMERAL alone has the type's.
    pub fn default_expression(&self) -> String {
        let Some(default) = &self.default else {
            return String::new();
        };
        match &default.expr {
            Some(expr) => basalt_parser::format_expr(expr),
            None => {
                let name = self.column.data_type.to_string();
                let name = name.replace('\\', "\\\\").replace('\'', "\\'");
                format!("defaultValueOfTypeName('{name}')")
            }
        }
    }

    /// A column without default.
    pub fn new(column: TableColumn) -> Self {
        Self {
            column,
            default: None,
            comment: String::new(),
            codec: String::new(),
            ttl: String::new(),
            simple_aggregate: None,
        }
    }
}

/// What holds a table's rows.
#[derive(Clone, Debug)]
pub enum Engine {
    /// Batches in memory.
    Memory(Arc<MemoryTable>),
    /// Sorted parts on disk.
    MergeTree(Arc<MergeTreeTable>),
    /// Raw columns in files that are mapped.
    Mmap(Arc<MmapTable>),
    /// Nothing: what is inserted is gone.
    Null,
    /// A view's query.
    View(Arc<ast::Query>),
    /// A table function, run at each read.
    Function(Arc<FunctionTable>),
}

/// A table that is a table function.
#[derive(Debug)]
pub struct FunctionTable {
    /// The call.
    pub function: ast::TableFunction,
    /// The query of its rows.
    pub query: Arc<ast::Query>,
}

impl FunctionTable {
    /// The name of the engine behind the function.
    fn engine_name(&self) -> &'static str {
        match self.function.name.as_str() {
            "numbers" | "numbers_mt" | "generateSeries" | "generate_series" => "SystemNumbers",
            "zeros" | "zeros_mt" => "SystemZeros",
            "primes" => "SystemPrimes",
            "generateRandom" => "GenerateRandom",
            "values" => "Values",
            "file" => "File",
            _ => "Proxy",
        }
    }
}

impl Engine {
    /// Name as `system.tables` shows it.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Memory(_) => "Memory",
            Engine::MergeTree(table) => table.kind,
            Engine::Mmap(_) => "Mmap",
            Engine::Null => "Null",
            Engine::View(_) => "View",
            Engine::Function(table) => table.engine_name(),
        }
    }
}

/// A database: what belongs to its name.
#[derive(Clone, Debug, Default)]
struct Namespace {
    tables: BTreeMap<String, Arc<Table>>,
    comment: String,
}

/// All databases.
#[derive(Debug)]
pub struct Catalog {
    databases: RwLock<BTreeMap<String, Namespace>>,
}

/// Databases that cannot be dropped and have tables of their own kind.
pub const SYSTEM_DATABASES: [&str; 3] = ["system", "INFORMATION_SCHEMA", "information_schema"];

impl Default for Catalog {
    fn default() -> Self {
        let databases = BTreeMap::from([("default".to_owned(), Namespace::default())]);
        Self {
            databases: RwLock::new(databases),
        }
    }
}

impl Catalog {
    /// Names of all databases, those of the system included.
    pub fn databases(&self) -> Vec<String> {
        let mut names: Vec<String> = self.databases.read().keys().cloned().collect();
        names.extend(SYSTEM_DATABASES.iter().map(|n| (*n).to_owned()));
        names.sort();
        names
    }

    /// Whether there is a database of that name.
    pub fn has_database(&self, name: &str) -> bool {
        SYSTEM_DATABASES.contains(&name) || self.databases.read().contains_key(name)
    }

    /// Tables of a database, by name.
    ///
    /// # Errors
    /// `UNKNOWN_DATABASE`.
    pub fn tables(&self, database: &str) -> Result<Vec<(String, Arc<Table>)>> {
        if SYSTEM_DATABASES.contains(&database) {
            return Ok(Vec::new());
        }
        let databases = self.databases.read();
        let database = databases
            .get(database)
            .ok_or_else(|| self.unknown_database(database))?;
        let tables = database.tables.iter();
        Ok(tables.map(|(n, t)| (n.clone(), Arc::clone(t))).collect())
    }

    /// The table of that name.
    ///
    /// # Errors
    /// `UNKNOWN_DATABASE`, `UNKNOWN_TABLE` with near names.
    pub fn table(&self, database: &str, name: &str) -> Result<Arc<Table>> {
        if SYSTEM_DATABASES.contains(&database) {
            return Err(crate::system::fixed_table(database, name));
        }
        if let Some(table) = self.find(database, name) {
            return Ok(table);
        }
        if !self.has_database(database) {
            return Err(self.unknown_database(database));
        }
        Err(self.no_such_table(database, name))
    }

    /// The error for a name that no table of the database has: near names there, else the same
    /// name in another database.
    fn no_such_table(&self, database: &str, name: &str) -> Error {
        let databases = self.databases.read();
        let tables = databases.get(database).into_iter().flat_map(|d| &d.tables);
        let near = nearest(name, tables.map(|(n, _)| n.as_str()));
        if !near.is_empty() {
            return unknown_table(database, name, &near);
        }
        let elsewhere = databases
            .iter()
            .find(|(_, other)| other.tables.contains_key(name));
        let elsewhere = elsewhere.map(|(other, _)| other.as_str());
        let system = || {
            SYSTEM_DATABASES
                .into_iter()
                .find(|d| crate::system::has_table(d, name))
        };
        match elsewhere.or_else(system) {
            Some(other) => unknown_table(other, name, &[name]),
            None => unknown_table(database, name, &[]),
        }
    }

    /// The table of that name, if there is one.
    pub fn find(&self, database: &str, name: &str) -> Option<Arc<Table>> {
        self.databases
            .read()
            .get(database)?
            .tables
            .get(name)
            .map(Arc::clone)
    }

    /// Adds a table; `replace` takes the place of one that is there.
    ///
    /// # Errors
    /// `TABLE_ALREADY_EXISTS`, `UNKNOWN_DATABASE`.
    pub fn add(&self, database: &str, name: &str, table: Table, replace: bool) -> Result<()> {
        if SYSTEM_DATABASES.contains(&database) {
            let is_taken = crate::system::has_table(database, name);
            return Err(match is_taken {
                true => already_exists(database, name),
                false => read_only(database),
            });
        }
        let unknown = self.unknown_database(database);
        let mut databases = self.databases.write();
        let tables = &mut databases.get_mut(database).ok_or(unknown)?.tables;
        if !replace && tables.contains_key(name) {
            return Err(already_exists(database, name));
        }
        tables.insert(name.to_owned(), Arc::new(table));
        Ok(())
    }

    /// Removes a table and gives it back.
    ///
    /// # Errors
    /// `UNKNOWN_DATABASE`, `UNKNOWN_TABLE`.
    pub fn remove(&self, database: &str, name: &str) -> Result<Arc<Table>> {
        let table = self.table(database, name)?;
        if let Some(database) = self.databases.write().get_mut(database) {
            database.tables.remove(name);
        }
        Ok(table)
    }

    /// Gives a table another name.
    ///
    /// # Errors
    /// If there is no such table or the new name is taken.
    pub fn rename(&self, from: (&str, &str), to: (&str, &str)) -> Result<()> {
        let table = self.table(from.0, from.1)?;
        self.add(to.0, to.1, table.renamed(to), false)?;
        self.remove(from.0, from.1).map(|_| ())
    }

    /// Swaps two tables.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn exchange(&self, a: (&str, &str), b: (&str, &str)) -> Result<()> {
        let (first, second) = (self.table(a.0, a.1)?, self.table(b.0, b.1)?);
        self.add(a.0, a.1, second.renamed(a), true)?;
        self.add(b.0, b.1, first.renamed(b), true)
    }

    /// The COMMENT of a database; empty without one.
    pub fn comment(&self, database: &str) -> String {
        let databases = self.databases.read();
        databases
            .get(database)
            .map(|d| d.comment.clone())
            .unwrap_or_default()
    }

    /// Adds a database.
    ///
    /// # Errors
    /// `DATABASE_ALREADY_EXISTS`.
    pub fn add_database(&self, name: &str, comment: String) -> Result<()> {
        if self.has_database(name) {
            return Err(Error::new(
                ErrorCode::DATABASE_ALREADY_EXISTS,
                format!("Add IF NOT EXISTS: database {name} already exists"),
            ));
        }
        let database = Namespace {
            comment,
            ..Namespace::default()
        };
        self.databases.write().insert(name.to_owned(), database);
        Ok(())
    }

    /// Removes a database with its tables.
    ///
    /// # Errors
    /// `UNKNOWN_DATABASE`.
    pub fn remove_database(&self, name: &str) -> Result<()> {
        if SYSTEM_DATABASES.contains(&name) {
            return Err(read_only(name));
        }
        let unknown = self.unknown_database(name);
        self.databases
            .write()
            .remove(name)
            .map(|_| ())
            .ok_or(unknown)
    }

    /// Gives a database another name.
    ///
    /// # Errors
    /// If there is no such database or the new name is taken.
    pub fn rename_database(&self, from: &str, to: &str) -> Result<()> {
        if SYSTEM_DATABASES.contains(&from) {
            return Err(read_only(from));
        }
        self.add_database(to, String::new())?;
        let mut databases = self.databases.write();
        match databases.remove(from) {
            Some(mut database) => {
                for (name, table) in &mut database.tables {
                    *table = Arc::new(table.renamed((to, name)));
                }
                databases.insert(to.to_owned(), database);
                Ok(())
            }
            None => {
                databases.remove(to);
                drop(databases);
                Err(self.unknown_database(from))
            }
        }
    }

    /// All tables with a folder of their own.
    pub(crate) fn on_disk(&self) -> Vec<Arc<Table>> {
        let databases = self.databases.read();
        let tables = databases.values().flat_map(|d| d.tables.values());
        tables
            .filter(|t| t.has_own_data())
            .map(Arc::clone)
            .collect()
    }

    /// Waits until all rows are written that wait for others.
    pub(crate) fn flush_inserts(&self) {
        let tables = self.on_disk();
        let on_disk = tables.iter().filter_map(|table| table.on_disk());
        on_disk.for_each(|table| table.queue().flush());
    }

    /// Takes over the databases and tables of another catalog; a table that both define alike keeps its
    /// rows.
    pub(crate) fn adopt(&self, other: &Catalog) {
        let theirs = other.databases.read();
        let mut ours = self.databases.write();
        let mut adopted = theirs.clone();
        for (name, database) in &mut adopted {
            let ours = ours.get(name);
            for (name, table) in &mut database.tables {
                let known = ours.and_then(|ours| ours.tables.get(name));
                if let Some(known) = known.filter(|known| known.is_same(table)) {
                    *table = Arc::clone(known);
                }
            }
        }
        *ours = adopted;
    }

    /// The error for a name that no database has.
    pub fn unknown_database(&self, name: &str) -> Error {
        let names = self.databases();
        let near = nearest(name, names.iter().map(String::as_str));
        let hint = match near.first() {
            Some(near) => format!("Maybe you meant {near}? "),
            None => String::new(),
        };
        Error::new(
            ErrorCode::UNKNOWN_DATABASE,
            format!("{hint}Database {name} does not exist"),
        )
    }
}

pub(crate) fn already_exists(database: &str, name: &str) -> Error {
    Error::new(
        ErrorCode::TABLE_ALREADY_EXISTS,
        format!("Add IF NOT EXISTS or drop it first: table {database}.{name} already exists"),
    )
}

fn read_only(database: &str) -> Error {
    Error::new(
        ErrorCode::ACCESS_DENIED,
        format!("Database {database} cannot be changed"),
    )
}

/// The error for a name that is no table.
pub fn unknown_table(database: &str, name: &str, near: &[&str]) -> Error {
    let hint = match near {
        [] => String::new(),
        [nearest, ..] => format!("Maybe you meant {database}.{nearest}? "),
    };
    Error::new(
        ErrorCode::UNKNOWN_TABLE,
        format!("{hint}Unknown table expression identifier '{name}'"),
    )
}
