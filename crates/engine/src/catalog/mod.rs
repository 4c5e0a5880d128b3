//! Holds databases with their tables and views.
//!
//! | module | owns |
//! |---|---|
//! | [`table`] | a table or view: its columns and what holds its rows |

mod table;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::registry::nearest;
use parking_lot::{RwLock, RwLockWriteGuard};

pub use table::{ColumnDefinition, Engine, FunctionTable, Table};

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
    /// How often it was changed.
    num_changes: AtomicU64,
}

/// Databases that cannot be dropped and have tables of their own kind.
pub const SYSTEM_DATABASES: [&str; 3] = ["system", "INFORMATION_SCHEMA", "information_schema"];

impl Default for Catalog {
    fn default() -> Self {
        let databases = BTreeMap::from([("default".to_owned(), Namespace::default())]);
        Self {
            databases: RwLock::new(databases),
            num_changes: AtomicU64::new(0),
        }
    }
}

impl Catalog {
    /// How often it was changed; what is read behind this call has at least these changes.
    pub(crate) fn num_changes(&self) -> u64 {
        self.num_changes.load(Ordering::SeqCst)
    }

    /// The databases, to be changed.
    fn changed(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Namespace>> {
        let databases = self.databases.write();
        self.num_changes.fetch_add(1, Ordering::SeqCst);
        databases
    }

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
    /// `TABLE_ALREADY_EXISTS`, `UNKNOWN_DATABASE`; `LOGICAL_ERROR` for a definition that could not be read again: it
    /// would keep the whole folder from being opened.
    pub fn add(&self, database: &str, name: &str, table: Table, replace: bool) -> Result<()> {
        Self::check_changeable((database, name))?;
        if let Err(e) = basalt_parser::parse_statement(&table.create_sql) {
            return Err(Error::bug(format!("a definition that is no SQL: {e}")));
        }
        let unknown = self.unknown_database(database);
        let mut databases = self.changed();
        let tables = &mut databases.get_mut(database).ok_or(unknown)?.tables;
        if !replace && tables.contains_key(name) {
            return Err(already_exists(database, name));
        }
        tables.insert(name.to_owned(), Arc::new(table));
        Ok(())
    }

    /// Whether tables may be put where a name says.
    fn check_changeable((database, name): (&str, &str)) -> Result<()> {
        if !SYSTEM_DATABASES.contains(&database) {
            return Ok(());
        }
        Err(match crate::system::has_table(database, name) {
            true => already_exists(database, name),
            false => read_only(database),
        })
    }

    /// Removes a table and gives it back.
    ///
    /// # Errors
    /// `UNKNOWN_DATABASE`, `UNKNOWN_TABLE`.
    pub fn remove(&self, database: &str, name: &str) -> Result<Arc<Table>> {
        let table = self.table(database, name)?;
        if let Some(database) = self.changed().get_mut(database) {
            database.tables.remove(name);
        }
        Ok(table)
    }

    /// Gives a table another name. At no moment it has both or none.
    ///
    /// # Errors
    /// If there is no such table or the new name is taken.
    pub fn rename(&self, from: (&str, &str), to: (&str, &str)) -> Result<()> {
        self.table(from.0, from.1)?;
        Self::check_changeable(to)?;
        let unknown = self.unknown_database(to.0);
        let mut databases = self.changed();
        let target = databases.get(to.0).ok_or(unknown)?;
        if target.tables.contains_key(to.1) {
            return Err(already_exists(to.0, to.1));
        }
        let table = databases
            .get_mut(from.0)
            .and_then(|d| d.tables.remove(from.1));
        if let (Some(table), Some(target)) = (table, databases.get_mut(to.0)) {
            let renamed = Arc::new(table.renamed(to));
            target.tables.insert(to.1.to_owned(), renamed);
        }
        Ok(())
    }

    /// Swaps two tables at once.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn exchange(&self, a: (&str, &str), b: (&str, &str)) -> Result<()> {
        let (first, second) = (self.table(a.0, a.1)?, self.table(b.0, b.1)?);
        let mut databases = self.changed();
        for (table, to) in [(second, a), (first, b)] {
            if let Some(database) = databases.get_mut(to.0) {
                let renamed = Arc::new(table.renamed(to));
                database.tables.insert(to.1.to_owned(), renamed);
            }
        }
        Ok(())
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
        self.changed().insert(name.to_owned(), database);
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
        self.changed().remove(name).map(|_| ()).ok_or(unknown)
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
        let mut databases = self.changed();
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

    /// The names of the folders of all tables that have one.
    pub(crate) fn uuids(&self) -> Vec<String> {
        let tables = self.on_disk();
        let on_disk = tables.iter().filter_map(|table| table.on_disk());
        on_disk.map(|table| table.uuid().to_owned()).collect()
    }

    /// Waits until all rows are written that wait for others; `check` says again and again whether to wait on.
    pub(crate) fn flush_inserts(&self, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let tables = self.on_disk();
        let mut on_disk = tables.iter().filter_map(|table| table.on_disk());
        on_disk.try_for_each(|table| table.queue().flush(check))
    }

    /// All databases but those of the system at one moment: name, comment and tables.
    pub(crate) fn all(&self) -> Vec<(String, String, Vec<Arc<Table>>)> {
        let databases = self.databases.read();
        let all = databases.iter().map(|(name, database)| {
            let tables = database.tables.values().map(Arc::clone).collect();
            (name.clone(), database.comment.clone(), tables)
        });
        all.collect()
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
