//! Describes CREATE VIEW of all kinds.

use super::create::{Storage, TableSchema};
use super::select::{OutputOptions, Query};
use super::table::ObjectName;

/// `CREATE [MATERIALIZED] VIEW ..`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// `ATTACH` instead of `CREATE`.
    pub attach: bool,
    /// `OR REPLACE`
    pub or_replace: bool,
    /// Plain, materialized, ..
    pub kind: ViewKind,
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The view's name.
    pub name: ObjectName,
    /// `UUID '..'`
    pub uuid: Option<String>,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// `REFRESH ..` of a materialized view.
    pub refresh: Option<Refresh>,
    /// `TO table`
    pub to_table: Option<ObjectName>,
    /// Columns, if written.
    pub schema: Option<TableSchema>,
    /// Engine of the inner table.
    pub storage: Storage,
    /// `POPULATE`
    pub populate: bool,
    /// `EMPTY`
    pub empty: bool,
    /// `DEFINER = ..`, `SQL SECURITY ..`, as text.
    pub security: Option<String>,
    /// `TO INNER UUID`
    pub inner_uuid: Option<String>,
    /// `AS SELECT ..`; `None` only for ATTACH without definition.
    pub query: Option<Box<Query>>,
    /// `COMMENT`
    pub comment: Option<Vec<u8>>,
    /// `FORMAT`, `SETTINGS` of the statement.
    pub output: OutputOptions,
}

/// The kind of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// `VIEW`
    Plain,
    /// `MATERIALIZED VIEW`
    Materialized,
}

/// `REFRESH EVERY | AFTER interval ..`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refresh {
    /// The canonical text.
    pub text: String,
    /// How many intervals are in it.
    pub num_intervals: usize,
    /// `DEPENDS ON`
    pub depends_on: Vec<ObjectName>,
    /// `SETTINGS`
    pub has_settings: bool,
}
