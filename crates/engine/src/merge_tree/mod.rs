//! Joins MergeTree tables to the catalog: their keys as expressions.

mod combine;
mod mutations;

use std::sync::Arc;

use basalt_exec::scan::merge_tree::KeyExprs;
use basalt_parser::ast;
use basalt_storage::MergeTree;
use basalt_types::DataType;

use crate::insert_queue::InsertQueue;

pub(crate) use combine::{Aggregating, Measure};
pub(crate) use mutations::{Mutation, Mutations};

/// A table on disk with what its CREATE said about keys.
#[derive(Debug)]
pub struct MergeTreeTable {
    /// The parts.
    pub storage: Arc<MergeTree>,
    /// Name of the engine.
    pub kind: &'static str,
    /// Name of its folder, which a new name of the table does not change.
    pub uuid: String,
    /// What is calculated for keys when rows are inserted.
    pub computed: Vec<Computed>,
    /// The keys.
    pub keys: Keys,
    /// What was changed.
    pub(crate) mutations: Mutations,
    /// Small inserts that wait.
    pub(crate) queue: Arc<InsertQueue>,
}

/// A column that only keys use.
#[derive(Clone, Debug)]
pub struct Computed {
    /// A name that no column has.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// What its values are.
    pub expr: ast::Expr,
    /// The same as plans over the table have it.
    pub planned: datafusion::logical_expr::Expr,
}

/// The keys of a table as its CREATE has them.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// `PARTITION BY`, each of its expressions.
    pub partition: Vec<ast::Expr>,
    /// `PARTITION BY` as written.
    pub partition_by: Option<ast::Expr>,
    /// `ORDER BY`.
    pub sorting: Vec<ast::Expr>,
    /// `PRIMARY KEY`, or the same as `ORDER BY`.
    pub primary: Vec<ast::Expr>,
    /// Columns that the engine's arguments name.
    pub engine: Vec<String>,
}

impl Keys {
    /// `PARTITION BY` as text.
    pub(crate) fn partition_text(&self) -> String {
        let text = self.partition_by.as_ref().map(basalt_parser::format_expr);
        text.unwrap_or_default()
    }
}

/// Expressions with commas between them.
pub(crate) fn list_text(exprs: &[ast::Expr]) -> String {
    let texts: Vec<String> = exprs.iter().map(basalt_parser::format_expr).collect();
    texts.join(", ")
}

impl MergeTreeTable {
    /// What keys calculate, for scans.
    pub(crate) fn key_exprs(&self) -> KeyExprs {
        let columns = &self.storage.layout().columns;
        let place = |name: &str| columns.iter().position(|c| c.name == name);
        let computed = self.computed.iter();
        KeyExprs::new(computed.filter_map(|c| Some((place(&c.name)?, c.planned.clone()))))
    }

    /// Whether a key, or what the engine does with its rows, depends on a column.
    pub(crate) fn is_key(&self, column: &str) -> bool {
        let keys = self.keys.sorting.iter().chain(&self.keys.partition);
        let in_key = |key: &ast::Expr| {
            let names = basalt_analyzer::column_names(key);
            names.iter().any(|name| name == column)
        };
        keys.into_iter().any(in_key) || self.keys.engine.iter().any(|name| name == column)
    }
}
