//! Declares what the analyzer asks the engine for: tables, settings, results of subqueries.

use std::collections::BTreeMap;
use std::sync::Arc;

use basalt_error::Result;
use basalt_functions::Context;
use basalt_parser::ast;
use basalt_types::DataType;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::catalog::TableProvider;
use datafusion::logical_expr::LogicalPlan;

use crate::query_settings::QuerySettings;

/// A column of a table as queries see it.
#[derive(Clone, Debug)]
pub struct TableColumn {
    /// Name of the column.
    pub name: String,
    /// Type of the column.
    pub data_type: DataType,
    /// The expression of an `ALIAS` column, which is computed, not stored.
    pub alias: Option<ast::Expr>,
    /// Whether `*` leaves the column out (MATERIALIZED, ALIAS and virtual columns).
    pub hidden: bool,
}

impl TableColumn {
    /// A stored column that `*` shows.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self {
            name: name.into(),
            data_type,
            alias: None,
            hidden: false,
        }
    }
}

/// What a name in FROM stands for.
#[derive(Clone)]
pub enum TableEntry {
    /// Rows from a provider whose schema has the stored columns, in order.
    Table {
        /// Gives the rows.
        provider: Arc<dyn TableProvider>,
        /// All columns; those without `alias` are the provider's fields.
        columns: Vec<TableColumn>,
    },
    /// A view: its query runs in place.
    View(Arc<ast::Query>),
}

/// A constant argument of a table function.
#[derive(Clone, Debug)]
pub struct ConstantArg {
    /// The `k` of `k = value`, for arguments with names.
    pub name: Option<String>,
    /// Type of the value.
    pub data_type: DataType,
    /// The value, as an array of one row.
    pub value: ArrayRef,
}

/// The engine's side of the analyzer. What depends on settings is asked with those of the subquery that it is
/// for, `own`, if it has its own.
pub trait Environment {
    /// The table or view of that name, in the current database if none is given.
    ///
    /// # Errors
    /// `UNKNOWN_TABLE`, `UNKNOWN_DATABASE`.
    fn table(&self, name: &ast::ObjectName, own: Option<&QuerySettings>) -> Result<TableEntry>;

    /// The table of that name with the rows of a key combined, as FINAL has them; none if the table does
    /// not combine rows.
    ///
    /// # Errors
    /// `UNKNOWN_TABLE`, `UNKNOWN_DATABASE`.
    fn final_table(&self, name: &ast::ObjectName) -> Result<Option<TableEntry>>;

    /// The rows of a call of a table function.
    ///
    /// # Errors
    /// `UNKNOWN_FUNCTION`, and what the function finds wrong with its arguments.
    fn table_function(
        &self,
        name: &str,
        args: &[ConstantArg],
        own: Option<&QuerySettings>,
    ) -> Result<TableEntry>;

    /// The rows of `(EXPLAIN … SELECT …)` in FROM: the words before the query, the settings between
    /// them as text, and the query.
    ///
    /// # Errors
    /// What is wrong with the query; what cannot be explained.
    fn explain(&self, words: &str, settings: &str, query: &ast::Query) -> Result<TableEntry>;

    /// Runs a subquery whose value the plan needs: scalars, sets of IN.
    ///
    /// # Errors
    /// What the subquery reports.
    fn run(&self, plan: LogicalPlan) -> Result<Vec<RecordBatch>>;

    /// The lambda of `CREATE FUNCTION name AS lambda`.
    fn sql_function(&self, name: &str) -> Option<Arc<ast::Lambda>>;

    /// Whether a table can read some columns before others, so that PREWHERE means something.
    fn has_prewhere(&self, table: &ast::ObjectName) -> bool;

    /// Text of the query parameter of that name.
    fn parameter(&self, name: &str) -> Option<String>;

    /// What functions may know of the session.
    fn context(&self) -> &Context;

    /// Settings that are not at their defaults, as text.
    fn settings(&self) -> &BTreeMap<String, String>;

    /// The settings of a subquery: those `around` it, changed by its own.
    ///
    /// # Errors
    /// `UNKNOWN_SETTING`, and what is wrong with a value.
    fn own_settings(
        &self,
        around: &BTreeMap<String, String>,
        own: &[ast::Setting],
    ) -> Result<QuerySettings>;

    /// Whether a setting is on, its default included.
    fn flag(&self, setting: &str) -> bool;

    /// The number that a setting is, its default included; 0 for what is none.
    fn number(&self, setting: &str) -> u64;
}
