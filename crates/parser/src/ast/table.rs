//! Describes what stands in FROM.

use super::Span;
use super::expr::Expr;
use super::select::{Query, Setting};

/// A step of FROM, applied from left to right to what stands before it.
#[derive(Clone, Debug, PartialEq)]
pub enum FromElement {
    /// A table and how it joins what stands before; `join` is `None` for the first.
    Table {
        /// How to join; a comma is [`JoinKind::Comma`].
        join: Option<Join>,
        /// The table.
        table: Box<TableExpr>,
    },
    /// `[LEFT] ARRAY JOIN exprs`
    ArrayJoin {
        /// `LEFT`: rows with empty arrays stay.
        left: bool,
        /// Arrays, often with aliases.
        exprs: Vec<Expr>,
    },
}

/// How two tables join.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// `GLOBAL`, `LOCAL`
    pub locality: JoinLocality,
    /// `ANY`, `ALL`, ..
    pub strictness: JoinStrictness,
    /// `INNER`, `LEFT`, ..
    pub kind: JoinKind,
    /// `NATURAL`
    pub natural: bool,
    /// `ON`, `USING`
    pub constraint: Option<JoinConstraint>,
}

/// Where a distributed join runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinLocality {
    /// Not written.
    Unspecified,
    /// `LOCAL`
    Local,
    /// `GLOBAL`
    Global,
}

/// Which of several matching rows a join takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinStrictness {
    /// Not written: `join_default_strictness`, which is ALL.
    Unspecified,
    /// `ANY`
    Any,
    /// `ALL`
    All,
    /// `SEMI`
    Semi,
    /// `ANTI`
    Anti,
    /// `ASOF`
    Asof,
}

/// The kind of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// `[INNER] JOIN`
    Inner,
    /// `LEFT [OUTER] JOIN`
    Left,
    /// `RIGHT [OUTER] JOIN`
    Right,
    /// `FULL [OUTER] JOIN`
    Full,
    /// `CROSS JOIN`
    Cross,
    /// A comma.
    Comma,
    /// `PASTE JOIN`
    Paste,
}

/// What rows of two tables must fulfil to join.
#[derive(Clone, Debug, PartialEq)]
pub enum JoinConstraint {
    /// `ON condition`
    On(Expr),
    /// `USING (a, b)`, `USING a, b`
    Using(Vec<Expr>),
}

/// A table, table function or subquery with its modifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct TableExpr {
    /// Where rows come from. A join in parentheses arrives as the subquery `SELECT * FROM ..`.
    pub source: TableSource,
    /// `AS alias`
    pub alias: Option<String>,
    /// `AS alias (a, b)`
    pub column_aliases: Vec<String>,
    /// `FINAL`
    pub final_: bool,
    /// `SAMPLE`
    pub sample: Option<Box<Sample>>,
    /// `STREAM`
    pub stream: bool,
    /// Where it stands, modifiers included.
    pub span: Span,
}

/// Where rows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum TableSource {
    /// A table or view, or a WITH subquery's name.
    Table(ObjectName),
    /// A table function.
    Function(TableFunction),
    /// `(SELECT ..)`
    Subquery(Box<Query>),
    /// A bare string: `FROM 'file.parquet'`.
    File(String),
}

/// A call of a table function.
#[derive(Clone, Debug, PartialEq)]
pub struct TableFunction {
    /// Name as written.
    pub name: String,
    /// Arguments; a query (`view(SELECT ..)`) is a `Subquery`, `a = 1` the operator `equals`.
    pub args: Vec<Expr>,
    /// `SETTINGS` inside the parentheses.
    pub settings: Vec<Setting>,
    /// Where it stands.
    pub span: Span,
}

impl TableExpr {
    /// A table without alias and modifiers.
    pub fn of(source: TableSource, span: Span) -> TableExpr {
        TableExpr {
            source,
            alias: None,
            column_aliases: Vec::new(),
            final_: false,
            sample: None,
            stream: false,
            span,
        }
    }
}

/// Whether a query stands in a table function without parentheses of its own: `view(SELECT ..)`.
pub(crate) fn takes_bare_query(function: &str) -> bool {
    ["view", "viewIfPermitted"].contains(&function)
}

/// `SAMPLE ratio [OFFSET offset]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// A share (`1/10`, `0.1`) or a number of rows.
    pub ratio: Ratio,
    /// `OFFSET`
    pub offset: Option<Ratio>,
}

/// A fraction of two integers; `0.25` is 25 / 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// What stands before the slash.
    pub numerator: u64,
    /// What stands after it, 1 without a slash; never 0.
    pub denominator: u64,
}

/// The name of a table, view or dictionary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectName {
    /// Database, if written.
    pub database: Option<String>,
    /// Name within the database.
    pub name: String,
    /// `database` is the name of an identifier parameter: `{db:Identifier}.t`.
    pub database_is_parameter: bool,
    /// `name` is the name of an identifier parameter: `{t:Identifier}`.
    pub name_is_parameter: bool,
    /// Where it stands.
    pub span: Span,
}

impl ObjectName {
    /// A name without database.
    pub fn bare(name: impl Into<String>) -> ObjectName {
        ObjectName {
            name: name.into(),
            ..ObjectName::default()
        }
    }
}

/// The argument of a call of a table function that names a format.
pub fn format_argument<'a>(function: &str, args: &'a [Expr]) -> Option<&'a Expr> {
    match function {
        "format" => args.first(),
        "file" => args.get(1),
        _ => None,
    }
}
