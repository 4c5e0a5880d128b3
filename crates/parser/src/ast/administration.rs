//! Describes the statements of administration: OPTIMIZE, CHECK, SYSTEM, KILL, and those kept as text.

use super::alter::Partition;
use super::expr::Expr;
use super::select::OutputOptions;
use super::table::ObjectName;

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
