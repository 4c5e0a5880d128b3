//! Holds what all sessions share: the catalog, the functions of users, the threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use basalt_error::{Error, Result};
use basalt_exec::TemporaryFiles;
use basalt_exec::accounted_tasks::count_tasks;
use basalt_exec::compile::WaitsForCompilation;
use basalt_parser::ast;
use basalt_storage::BlockCache;
use basalt_storage::merge_tree::BackgroundMerges;
use parking_lot::{Mutex, RwLock};

use crate::catalog::{Catalog, Table};
use crate::definitions::Folder;
use crate::memory::block_cache_bytes;
use crate::observation::choices::LastChoices;
use crate::settings::Settings;
use crate::system::processes::Processes;
use crate::workers::Workers;

/// Stack of a worker thread: expressions may be nested a thousand deep.
pub(crate) const STACK_BYTES: usize = 16 << 20;

/// A running engine.
#[derive(Debug)]
pub struct Database {
    /// Databases, tables, views.
    pub catalog: Catalog,
    /// Functions made by CREATE FUNCTION.
    pub sql_functions: RwLock<BTreeMap<String, Arc<ast::Lambda>>>,
    /// Folder of the definitions, unless everything is in memory.
    pub(crate) folder: Mutex<Option<Folder>>,
    /// Tables that are no more, whose folders go when no definition that is kept names them.
    pub(crate) dropped: Mutex<Vec<Arc<Table>>>,
    /// Folder of the tables on disk, unless everything is in memory.
    pub(crate) store: Option<PathBuf>,
    pub(crate) processes: Processes,
    pub(crate) temporary_files: Arc<TemporaryFiles>,
    /// Choices of the last queries.
    pub(crate) choices: LastChoices,
    /// Decoded blocks of all tables on disk.
    pub(crate) blocks: Arc<BlockCache>,
    /// Merges the parts of all tables on disk.
    pub(crate) merges: Arc<BackgroundMerges>,
    pub(crate) runtime: Workers,
    /// Dropped last, when no thread can ask for a compilation any more.
    pub(crate) _compilation: WaitsForCompilation,
}

impl Database {
    /// An engine whose tables and views are defined in a folder, with the rows of MergeTree tables; those
    /// of the engine Memory start empty.
    ///
    /// # Errors
    /// If the folder cannot be used.
    pub fn open(path: &std::path::Path) -> Result<Arc<Self>> {
        std::fs::create_dir_all(path).map_err(|e| {
            Error::from(e)
                .within(format!("Cannot keep tables in {}", path.display()))
                .hinted("Name a folder that is there or can be made")
        })?;
        let database = Self::with_files(
            TemporaryFiles::new(path.join("tmp")),
            Some(path.join("store")),
        )?;
        let folder = crate::definitions::load(&database, path)?;
        *database.folder.lock() = Some(folder);
        Ok(database)
    }

    /// An engine that keeps everything in memory, with one worker thread per processor.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn in_memory() -> Result<Arc<Self>> {
        Self::with_files(TemporaryFiles::default(), None)
    }

    fn with_files(temporary_files: TemporaryFiles, store: Option<PathBuf>) -> Result<Arc<Self>> {
        temporary_files.remove_leftovers();
        count_tasks();
        Ok(Arc::new(Self {
            catalog: Catalog::default(),
            sql_functions: RwLock::default(),
            folder: Mutex::default(),
            dropped: Mutex::default(),
            store,
            processes: Processes::default(),
            temporary_files: Arc::new(temporary_files),
            choices: LastChoices::default(),
            blocks: Arc::new(BlockCache::new(block_cache_bytes(&Settings::default()))),
            merges: Arc::default(),
            runtime: Workers::start()?,
            _compilation: WaitsForCompilation,
        }))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // It waits as long as it takes.
        let _ = self.catalog.flush_inserts(&|| Ok(()));
        self.runtime.end();
        // Tasks that take no notice of the end of their query still have theirs.
        self.temporary_files.remove();
    }
}
