//! Describes whole statements.

use super::Span;
use super::alter::{Alter, Partition};
use super::create::{CreateDatabase, CreateFunction, CreateIndex, CreateTable, CreateView, Insert};
use super::expr::Expr;
use super::select::{OutputOptions, Query, Setting};
use super::table::ObjectName;

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

/// `SHOW ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// What to show.
    pub kind: ShowKind,
    /// `LIKE`, `WHERE`
    pub filter: Option<ShowFilter>,
    /// `LIMIT`
    pub limit: Option<Expr>,
    /// `INTO OUTFILE`, `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// What SHOW shows.
#[derive(Clone, Debug, PartialEq)]
pub enum ShowKind {
    /// `SHOW DATABASES`
    Databases,
    /// `SHOW [FULL] [TEMPORARY] TABLES [FROM database]`
    Tables {
        /// `FULL`
        full: bool,
        /// `TEMPORARY`
        temporary: bool,
        /// `FROM`
        database: Option<String>,
    },
    /// `SHOW DICTIONARIES [FROM database]`
    Dictionaries {
        /// `FROM`
        database: Option<String>,
    },
    /// `SHOW [EXTENDED] [FULL] COLUMNS FROM table [FROM database]`
    Columns {
        /// `EXTENDED`
        extended: bool,
        /// `FULL`
        full: bool,
        /// The table.
        table: ObjectName,
    },
    /// `SHOW [EXTENDED] INDEX | INDEXES | INDICES | KEYS FROM table [FROM database]`
    Indexes {
        /// `EXTENDED`
        extended: bool,
        /// The table.
        table: ObjectName,
    },
    /// `SHOW CREATE [TEMPORARY] TABLE | VIEW | DICTIONARY | DATABASE name`
    Create {
        /// What kind of object.
        object: ObjectKind,
        /// `TEMPORARY`
        temporary: bool,
        /// Its name.
        name: ObjectName,
    },
    /// `SHOW FUNCTIONS`
    Functions,
    /// `SHOW [CHANGED] SETTINGS`
    Settings {
        /// `CHANGED`
        changed: bool,
    },
    /// `SHOW SETTING name`
    Setting(String),
    /// `SHOW PROCESSLIST`
    ProcessList,
    /// `SHOW ENGINES`
    Engines,
    /// `SHOW MERGES`
    Merges,
    /// `SHOW CLUSTERS`
    Clusters,
    /// `SHOW CLUSTER name`
    Cluster(String),
    /// `SHOW [FULL?]` of anything else, in upper-case words: `ACCESS`, `GRANTS`, `USERS`, ..
    Other(TokenStatement),
}

/// Which rows SHOW gives.
#[derive(Clone, Debug, PartialEq)]
pub enum ShowFilter {
    /// `[NOT] LIKE | ILIKE 'pattern'`
    Like {
        /// `NOT`
        not: bool,
        /// `ILIKE`
        case_insensitive: bool,
        /// The pattern.
        pattern: Vec<u8>,
    },
    /// `WHERE condition`
    Where(Expr),
}

/// `DESCRIBE [TABLE] table | function(..) | (SELECT ..)`
#[derive(Clone, Debug, PartialEq)]
pub struct Describe {
    /// What to describe.
    pub table: super::table::TableExpr,
    /// `INTO OUTFILE`, `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// `EXISTS [TEMPORARY] TABLE | VIEW | DICTIONARY | DATABASE name`
#[derive(Clone, Debug, PartialEq)]
pub struct Exists {
    /// What kind of object.
    pub kind: ObjectKind,
    /// `TEMPORARY`
    pub temporary: bool,
    /// Its name.
    pub name: ObjectName,
    /// `INTO OUTFILE`, `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// `EXPLAIN [kind] [settings] statement`
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// What to explain.
    pub kind: ExplainKind,
    /// `header = 1, actions = 1`
    pub settings: Vec<Setting>,
    /// The statement; `None` only for CURRENT TRANSACTION.
    pub statement: Option<Box<Statement>>,
    /// `INTO OUTFILE`, `FORMAT`, `SETTINGS` of the EXPLAIN itself: always the innermost statement's
    /// in the text, so they are here and not in `statement`, unless that is an INSERT.
    pub output: OutputOptions,
}

/// What EXPLAIN explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainKind {
    /// `AST`
    Ast,
    /// `SYNTAX`
    Syntax,
    /// `QUERY TREE`
    QueryTree,
    /// `PLAN`, also when no kind is written.
    Plan,
    /// `PIPELINE`
    Pipeline,
    /// `ESTIMATE`
    Estimate,
    /// `ANALYZE`
    Analyze,
    /// `CURRENT TRANSACTION`
    CurrentTransaction,
}

impl ExplainKind {
    /// The words behind EXPLAIN.
    pub fn words(self) -> &'static str {
        match self {
            ExplainKind::Ast => "AST",
            ExplainKind::Syntax => "SYNTAX",
            ExplainKind::QueryTree => "QUERY TREE",
            ExplainKind::Plan => "PLAN",
            ExplainKind::Pipeline => "PIPELINE",
            ExplainKind::Estimate => "ESTIMATE",
            ExplainKind::Analyze => "ANALYZE",
            ExplainKind::CurrentTransaction => "CURRENT TRANSACTION",
        }
    }
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

/// `OPTIMIZE TABLE t [PARTITION p] [FINAL] [DEDUPLICATE [BY ..]] [CLEANUP]`
#[derive(Clone, Debug, PartialEq)]
pub struct Optimize {
    /// The table.
    pub table: ObjectName,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// `PARTITION`
    pub partition: Option<Partition>,
    /// `FINAL`
    pub final_: bool,
    /// `DEDUPLICATE`
    pub deduplicate: bool,
    /// `BY columns`
    pub deduplicate_by: Vec<Expr>,
    /// `CLEANUP`
    pub cleanup: bool,
    /// `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// `CHECK TABLE t [PARTITION p | PART 'x']`, `CHECK ALL TABLES`
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The table; `None` for ALL TABLES.
    pub table: Option<ObjectName>,
    /// `PARTITION`, `PART`
    pub partition: Option<Partition>,
    /// `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// `SYSTEM words [object]`
#[derive(Clone, Debug, PartialEq)]
pub struct SystemCommand {
    /// The leading keywords in upper case, one space between them: `FLUSH LOGS`, `DROP MARK CACHE`.
    pub command: String,
    /// What follows: names, strings, numbers.
    pub rest: TokenStatement,
}

/// `KILL QUERY | MUTATION [ON CLUSTER c] WHERE condition [SYNC | ASYNC | TEST]`
#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    /// `MUTATION` instead of `QUERY`.
    pub mutation: bool,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// Which ones.
    pub where_: Expr,
    /// `SYNC`
    pub sync: bool,
    /// `TEST`
    pub test: bool,
    /// `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// A statement kept as its tokens, keywords in upper case: formats back, runs nowhere yet.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenStatement {
    /// The construct's name for messages: `GRANT`, `CREATE USER`, `BACKUP`.
    pub construct: String,
    /// The text: comments left out, one space where there was space, keywords in upper case.
    pub text: String,
    /// What EXPLAIN AST shows below it.
    pub subjects: Vec<Expr>,
    /// `INTO OUTFILE`, `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

impl TokenStatement {
    /// A statement with nothing below it and no clauses behind it.
    pub(crate) fn new(construct: impl Into<String>, text: String) -> Self {
        Self {
            construct: construct.into(),
            text,
            subjects: Vec::new(),
            output: OutputOptions::default(),
        }
    }
}
