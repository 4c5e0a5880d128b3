//! Describes the statements that ask about tables and statements: SHOW, DESCRIBE, EXISTS, EXPLAIN.

use super::Span;
use super::administration::TokenStatement;
use super::expr::Expr;
use super::select::{OutputOptions, Setting};
use super::statement::{ObjectKind, Statement};
use super::table::{ObjectName, TableExpr};

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
        /// Where the database's name is.
        span: Span,
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
    pub table: TableExpr,
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
