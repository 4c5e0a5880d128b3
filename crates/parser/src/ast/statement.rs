//! Describes whole statements.

use super::Span;
use super::administration::{Check, Kill, Optimize, SystemCommand, TokenStatement};
use super::alter::{Alter, Partition};
use super::create::{CreateDatabase, CreateFunction, CreateIndex, CreateTable};
use super::expr::Expr;
use super::insert::Insert;
use super::select::{OutputOptions, Query, Setting};
use super::show::{Describe, Exists, Explain, Show, ShowFilter};
use super::table::ObjectName;
use super::view::CreateView;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `SELECT ..`, set operations, with INTO OUTFILE, FORMAT, SETTINGS.
    Query(Box<Query>),
    /// `INSERT INTO ..`
    Insert(Box<Insert>),
    /// `CREATE TABLE ..`, `ATTACH TABLE ..` with a definition.
    CreateTable(Box<CreateTable>),
    /// `CREATE [MATERIALIZED] VIEW ..`
    CreateView(Box<CreateView>),
    /// `CREATE DATABASE ..`
    CreateDatabase(Box<CreateDatabase>),
    /// `CREATE FUNCTION f AS x -> ..`
    CreateFunction(Box<CreateFunction>),
    /// `CREATE INDEX i ON t ..`
    CreateIndex(Box<CreateIndex>),
    /// `EXECUTE AS user [statement]`
    ExecuteAs {
        /// Whose rights count.
        user: String,
        /// `None`: from now on.
        statement: Option<Box<Statement>>,
    },
    /// `DROP ..`, `DETACH ..`
    Drop(Box<DropStatement>),
    /// `TRUNCATE ..`
    Truncate(Box<Truncate>),
    /// `RENAME ..`, `EXCHANGE ..`
    Rename(Box<Rename>),
    /// `ALTER TABLE ..`
    Alter(Box<Alter>),
    /// `DELETE FROM t WHERE ..`
    Delete {
        /// Table to delete from.
        table: ObjectName,
        /// `ON CLUSTER`
        cluster: Option<String>,
        /// `IN PARTITION`
        partition: Option<Box<Partition>>,
        /// Which rows.
        where_: Box<Expr>,
        /// `SETTINGS`
        settings: Vec<Setting>,
    },
    /// `UPDATE t SET a = 1 WHERE ..`
    Update {
        /// Table to change.
        table: ObjectName,
        /// `ON CLUSTER`
        cluster: Option<String>,
        /// Columns and their new values.
        assignments: Vec<(String, Expr)>,
        /// `IN PARTITION`
        partition: Option<Box<Partition>>,
        /// Which rows.
        where_: Box<Expr>,
        /// `SETTINGS`
        settings: Vec<Setting>,
    },
    /// `SHOW ..`
    Show(Box<Show>),
    /// `DESCRIBE TABLE ..`
    Describe(Box<Describe>),
    /// `EXISTS TABLE ..`
    Exists(Box<Exists>),
    /// `EXPLAIN ..`
    Explain(Box<Explain>),
    /// `SET a = 1`; query parameters are `SET param_x = 1`.
    Set(Vec<Setting>),
    /// `USE database`
    Use(Use),
    /// `OPTIMIZE TABLE ..`
    Optimize(Box<Optimize>),
    /// `CHECK TABLE ..`
    Check(Box<Check>),
    /// `SYSTEM ..`
    System(Box<SystemCommand>),
    /// `KILL QUERY | MUTATION ..`
    Kill(Box<Kill>),
    /// `a PARALLEL WITH b PARALLEL WITH c`: two statements or more.
    Parallel(Vec<Statement>),
    /// `BEGIN TRANSACTION`, `COMMIT`, `ROLLBACK`, GRANT, REVOKE, users and roles, dictionaries,
    /// BACKUP, and other statements that keep their tokens only.
    Tokens(Box<TokenStatement>),
}

/// What a statement works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// `TABLE`, also when no kind is written.
    Table,
    /// `VIEW`
    View,
    /// `DICTIONARY`
    Dictionary,
    /// `DATABASE`
    Database,
    /// `FUNCTION`
    Function,
    /// `INDEX`
    Index,
    /// `ALL TABLES`
    AllTables,
}

/// `DROP ..`, `DETACH ..`
#[derive(Clone, Debug, PartialEq)]
pub struct DropStatement {
    /// `DETACH` instead of `DROP`.
    pub detach: bool,
    /// What to drop. An index: `names` is the index, `on_table` its table.
    pub kind: ObjectKind,
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// `IF EMPTY`
    pub if_empty: bool,
    /// One or more names. A database or function is an [`ObjectName`] without database.
    pub names: Vec<ObjectName>,
    /// `ON table` of DROP INDEX.
    pub on_table: Option<ObjectName>,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// `PERMANENTLY`
    pub permanently: bool,
    /// `SYNC`, `NO DELAY`
    pub sync: bool,
    /// `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// `TRUNCATE TABLE | DATABASE | ALL TABLES ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Truncate {
    /// Table, Database, View or AllTables (of the database in `name`).
    pub kind: ObjectKind,
    /// `TEMPORARY`
    pub temporary: bool,
    /// `TABLES FROM` without ALL.
    pub is_filtered: bool,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// What to empty.
    pub name: ObjectName,
    /// `[NOT] LIKE | ILIKE` of ALL TABLES.
    pub filter: Option<ShowFilter>,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// `SYNC`
    pub sync: bool,
    /// `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// `RENAME TABLE | DATABASE | DICTIONARY a TO b, ..`, `EXCHANGE TABLES a AND b`
#[derive(Clone, Debug, PartialEq)]
pub struct Rename {
    /// Table, Database or Dictionary.
    pub kind: ObjectKind,
    /// `EXCHANGE`
    pub exchange: bool,
    /// What becomes what.
    pub pairs: Vec<RenamePair>,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// `[IF EXISTS] from TO to`
#[derive(Clone, Debug, PartialEq)]
pub struct RenamePair {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// Old name.
    pub from: ObjectName,
    /// New name.
    pub to: ObjectName,
}

/// `USE database`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The database.
    pub database: String,
    /// It is the name of an identifier parameter.
    pub is_parameter: bool,
    /// Where the name is.
    pub span: Span,
}
