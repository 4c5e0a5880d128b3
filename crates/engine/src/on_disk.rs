//! Knows what all tables have in common whose rows lie in a folder of their own, whatever their files are.

use std::sync::Arc;

use arrow::array::RecordBatch;
use basalt_error::Result;
use basalt_parser::ast::Statement;
use basalt_storage::{merge_tree, mmap};

use crate::catalog::{Engine, Table};
use crate::database::Database;
use crate::insert_queue::InsertQueue;
use crate::merge_tree::MergeTreeTable;
use crate::store;

/// A table of mapped files.
#[derive(Debug)]
pub struct MmapTable {
    /// The files.
    pub storage: Arc<basalt_storage::MmapTable>,
    /// Name of its folder, which a new name of the table does not change.
    pub uuid: String,
    /// Small inserts that wait.
    pub(crate) queue: Arc<InsertQueue>,
}

/// A table with a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnDisk<'t> {
    MergeTree(&'t MergeTreeTable),
    Mmap(&'t MmapTable),
}

impl<'t> OnDisk<'t> {
    /// The table as one with a folder, if it has one.
    pub(crate) fn of(table: &'t Table) -> Option<Self> {
        match &table.engine {
            Engine::MergeTree(table) => Some(Self::MergeTree(table)),
            Engine::Mmap(table) => Some(Self::Mmap(table)),
            _ => None,
        }
    }

    /// Name of its folder.
    pub(crate) fn uuid(self) -> &'t str {
        match self {
            Self::MergeTree(table) => &table.uuid,
            Self::Mmap(table) => &table.uuid,
        }
    }

    /// Whether the folder is removed with the table.
    pub(crate) fn set_removed(self, removes_folder: bool) {
        match self {
            Self::MergeTree(table) => table.storage.set_removed(removes_folder),
            Self::Mmap(table) => table.storage.set_removed(removes_folder),
        }
    }

    /// Small inserts that wait.
    pub(crate) fn queue(self) -> &'t Arc<InsertQueue> {
        match self {
            Self::MergeTree(table) => &table.queue,
            Self::Mmap(table) => &table.queue,
        }
    }

    /// Takes the table for this process.
    fn own(self) {
        match self {
            Self::MergeTree(table) => table.storage.own(),
            Self::Mmap(table) => table.storage.own(),
        }
    }

    /// The statement that makes the table again, with its folder.
    pub(crate) fn definition(self, create_sql: &str) -> Result<String> {
        let mut statement = basalt_parser::parse_statement(create_sql)?.statement;
        if let Statement::CreateTable(create) = &mut statement {
            create.uuid = Some(self.uuid().to_owned());
        }
        Ok(basalt_parser::format_statement(&statement))
    }
}

/// Rows on their way into a table; nobody sees them before [`TableWriter::finish`].
pub(crate) enum TableWriter<'t> {
    MergeTree(merge_tree::Insert),
    Mmap(mmap::Insert<'t>),
}

impl<'t> TableWriter<'t> {
    /// Begins to write into so many partitions at most, 0 for no limit; `check` says while others write whether to
    /// wait on.
    ///
    /// # Errors
    /// If the table takes no rows now.
    pub(crate) fn new(
        table: OnDisk<'t>,
        max_partitions: usize,
        check: &'t dyn Fn() -> Result<()>,
    ) -> Result<Self> {
        Ok(match table {
            OnDisk::MergeTree(table) => {
                Self::MergeTree(table.storage.insert()?.of_partitions(max_partitions))
            }
            OnDisk::Mmap(table) => Self::Mmap(table.storage.insert(check)),
        })
    }

    /// Adds rows as the table stores them.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn push(&mut self, batch: RecordBatch) -> Result<()> {
        match self {
            Self::MergeTree(insert) => insert.push(&batch),
            Self::Mmap(insert) => insert.push(batch),
        }
    }

    /// Makes all rows visible at once.
    ///
    /// # Errors
    /// If they cannot be written; then none of them is there.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::MergeTree(insert) => insert.finish(),
            Self::Mmap(insert) => insert.finish(),
        }
    }
}

/// Takes all tables for this process, which has just become the one that changes them, and removes
/// the folders of tables that are no more.
pub(crate) fn own_all(database: &Database) {
    for table in database.catalog.on_disk() {
        table.on_disk().into_iter().for_each(OnDisk::own);
    }
    if let Some(store) = &database.store {
        let known = database.catalog.uuids();
        store::finish(store, &known);
        store::remove_unfinished(store, &known);
        store::remove_retired(store, &known);
    }
}
