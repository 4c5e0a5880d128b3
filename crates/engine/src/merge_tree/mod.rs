//! Joins tables on disk to the catalog: their keys as expressions, and who may change them.

mod combine;
mod mutations;

use std::path::Path;
use std::sync::Arc;

use basalt_error::Result;
use basalt_parser::ast::{self, Statement};
use basalt_storage::MergeTree;
use basalt_types::DataType;

use crate::catalog::Catalog;
use crate::database::Database;

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
    /// Whether a key, or what the engine does with its rows, depends on a column.
    pub(crate) fn is_key(&self, column: &str) -> bool {
        let keys = self.keys.sorting.iter().chain(&self.keys.partition);
        let in_key = |key: &ast::Expr| {
            let names = basalt_analyzer::column_names(key);
            names.iter().any(|name| name == column)
        };
        keys.into_iter().any(in_key) || self.keys.engine.iter().any(|name| name == column)
    }

    /// The statement that makes the table again, with its folder.
    pub(crate) fn definition(&self, create_sql: &str) -> Result<String> {
        let mut statement = basalt_parser::parse_statement(create_sql)?.statement;
        if let Statement::CreateTable(create) = &mut statement {
            create.uuid = Some(self.uuid.clone());
        }
        Ok(basalt_parser::format_statement(&statement))
    }
}

/// Takes all tables for this process, which has just become the one that changes them, and removes
/// the folders of tables that are no more.
pub(crate) fn own_all(database: &Database) {
    for table in database.catalog.merge_trees() {
        table.storage.own();
    }
    if let Some(store) = &database.store {
        remove_unknown(store, &database.catalog);
    }
}

fn remove_unknown(store: &Path, catalog: &Catalog) {
    let known: Vec<_> = catalog
        .merge_trees()
        .iter()
        .map(|t| t.uuid.clone())
        .collect();
    let Ok(entries) = std::fs::read_dir(store) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        // Only what a table may be called.
        let is_folder = name
            .to_str()
            .is_some_and(|n| uuid::Uuid::parse_str(n).is_ok());
        if is_folder && !known.iter().any(|k| name.to_str() == Some(k)) {
            // What cannot be removed is in nobody's way.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
