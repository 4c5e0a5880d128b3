//! Describes INSERT.

use super::Span;
use super::expr::Expr;
use super::select::{IntoOutfile, Query, Setting};
use super::table::{ObjectName, TableFunction};

/// `INSERT INTO ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// Where rows go.
    pub target: InsertTarget,
    /// Columns: identifiers and matchers (`* EXCEPT a`); `None` means all.
    pub columns: Option<Vec<Expr>>,
    /// `PARTITION BY` after a table function.
    pub partition_by: Option<Expr>,
    /// `FROM INFILE 'x' [COMPRESSION 'y']`; its `path` and `compression` alone are set.
    pub infile: Option<Box<IntoOutfile>>,
    /// `SETTINGS` before the source.
    pub settings: Vec<Setting>,
    /// Where rows come from.
    pub source: InsertSource,
}

/// Where an INSERT writes.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertTarget {
    /// `[TABLE] t`
    Table(ObjectName),
    /// `[TABLE] FUNCTION f(..)`
    Function(TableFunction),
}

/// Where an INSERT reads.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// `SELECT ..`
    Query(Box<Query>),
    /// `VALUES ..`, `FORMAT name ..`: rows in the text after the statement, or from outside.
    ///
    /// Where they begin is in [`Parsed::data`](crate::Parsed). `VALUES` is the format `Values`.
    Format {
        /// Name of the format.
        name: String,
        /// Where the name stands.
        span: Span,
    },
}
