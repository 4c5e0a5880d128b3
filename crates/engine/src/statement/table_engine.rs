//! Finds the engine of a new table.

use std::sync::Arc;

use arrow::datatypes::Schema;
use basalt_error::{Error, ErrorCode, Result, nearest};
use basalt_parser::ast::CreateTable;
use basalt_storage::MemoryTable;

use super::columns::stored;
use super::merge_tree;
use super::table_folder::TableFolder;
use crate::catalog::{ColumnDefinition, Engine};
use crate::on_disk::MmapTable;
use crate::session::{RunningQuery, Session};

/// The engine that the statement names, empty.
pub(super) fn engine(
    session: &Session,
    query: &RunningQuery<'_>,
    create: &CreateTable,
    columns: &[ColumnDefinition],
) -> Result<Engine> {
    if merge_tree::is_wanted(session, create) {
        return merge_tree::engine(session, query, create, columns);
    }
    let name = create
        .storage
        .engine
        .as_ref()
        .map_or("Memory", |e| e.name.as_str());
    if matches!(name, "Memory" | "Mmap" | "Null") && !session.loads_definitions {
        check_clauses(name, create)?;
        check_settings(name, create).map_err(|e| query.placed(e, create.name.span))?;
    }
    match name {
        "Memory" => {
            let fields: Vec<_> = stored(columns)
                .map(|c| c.column.data_type.field(&c.column.name))
                .collect();
            Ok(Engine::Memory(Arc::new(MemoryTable::new(Arc::new(
                Schema::new(fields),
            )))))
        }
        "Mmap" => mmap(session, create, columns),
        "Null" => Ok(Engine::Null),
        known if is_of_dialect(known) => {
            Err(Error::not_implemented(format!("Table engine {known}"))
                .hinted("Use ENGINE = MergeTree, Mmap or Memory"))
        }
        unknown => {
            let error = unknown_engine(unknown);
            let engine = create.storage.engine.as_ref();
            let place = engine.map(|e| query.position(e.span.start as usize));
            Err(place.into_iter().fold(error, Error::at))
        }
    }
}

/// A table of mapped files, whose folder is made unless it is loaded.
fn mmap(session: &Session, create: &CreateTable, columns: &[ColumnDefinition]) -> Result<Engine> {
    let folder = TableFolder::of(session, create)?;
    let columns: Vec<_> = stored(columns)
        .map(|c| (c.column.name.clone(), c.column.data_type.clone()))
        .collect();
    let storage = basalt_storage::MmapTable::new(folder.path, &columns);
    let storage = match folder.temporary {
        None => storage,
        Some(temporary) => storage.keeping(temporary),
    };
    if folder.is_owned {
        storage.own();
    }
    // Its folder goes with it, unless the table gets into the catalog.
    storage.set_removed(!session.loads_definitions);
    if !session.loads_definitions {
        storage.create()?;
    }
    Ok(Engine::Mmap(Arc::new(MmapTable {
        storage: Arc::new(storage),
        uuid: folder.uuid,
        queue: Arc::default(),
    })))
}

fn unknown_engine(name: &str) -> Error {
    let engines = ["Memory", "Mmap", "Null"].into_iter();
    let near = nearest(name, engines.chain(merge_tree::engine_names()));
    let hint = match near.first() {
        Some(near) => format!("Maybe you meant: ['{near}']. Unknown"),
        None => "Use ENGINE = MergeTree, Mmap, Memory or Null: unknown".to_owned(),
    };
    let message = format!("{hint} table engine {name}");
    Error::new(ErrorCode::UNKNOWN_STORAGE, message)
}

/// Whether the dialect has an engine of that name that does not exist here.
fn is_of_dialect(name: &str) -> bool {
    let is_replicated = name.starts_with("Replicated") || name.starts_with("Shared");
    (is_replicated && name.ends_with("MergeTree")) || OTHER_ENGINES.contains(&name)
}

const OTHER_ENGINES: [&str; 51] = [
    "ArrowFlight",
    "AzureBlobStorage",
    "AzureQueue",
    "Buffer",
    "COSN",
    "CoalescingMergeTree",
    "CollapsingMergeTree",
    "DeltaLake",
    "Dictionary",
    "Distributed",
    "EmbeddedRocksDB",
    "Executable",
    "ExecutablePool",
    "ExternalDistributed",
    "File",
    "FileLog",
    "FuzzJSON",
    "FuzzQuery",
    "GenerateRandom",
    "GraphiteMergeTree",
    "HDFS",
    "Hive",
    "Hudi",
    "Iceberg",
    "IcebergLocal",
    "IcebergS3",
    "JDBC",
    "Join",
    "Kafka",
    "KeeperMap",
    "Log",
    "Loop",
    "MaterializedPostgreSQL",
    "Merge",
    "MongoDB",
    "MySQL",
    "NATS",
    "ODBC",
    "OSS",
    "PostgreSQL",
    "RabbitMQ",
    "Redis",
    "S3",
    "S3Queue",
    "SQLite",
    "Set",
    "StripeLog",
    "TimeSeries",
    "TinyLog",
    "URL",
    "VersionedCollapsingMergeTree",
];

/// Engines without parts take no arguments and have no order.
fn check_clauses(name: &str, create: &CreateTable) -> Result<()> {
    let storage = &create.storage;
    let engine = storage.engine.as_ref();
    let num_args = engine.and_then(|e| e.args.as_ref()).map_or(0, Vec::len);
    if num_args > 0 {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!("Write ENGINE = {name}: it takes no arguments ({num_args} given)"),
        ));
    }
    let columns = create.schema.iter().flat_map(|s| &s.columns);
    let clauses = [
        ("PARTITION BY", storage.partition_by.is_some()),
        ("PRIMARY KEY", storage.primary_key.is_some()),
        ("ORDER BY", storage.order_by.is_some()),
        ("UNIQUE KEY", storage.unique_key.is_some()),
        ("SAMPLE BY", storage.sample_by.is_some()),
        (
            "PROJECTION",
            create.schema.iter().any(|s| !s.projections.is_empty()),
        ),
        ("INDEX", create.schema.iter().any(|s| !s.indexes.is_empty())),
        (
            "TTL",
            !storage.ttl.is_empty() || columns.into_iter().any(|c| c.ttl.is_some()),
        ),
    ];
    match clauses.into_iter().find(|(_, is_there)| *is_there) {
        None => Ok(()),
        Some((clause, _)) => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Remove {clause}: engine {name} does not support it"),
        )),
    }
}

/// Settings of the statement are not the engine's, and no longer among them.
fn check_settings(engine: &str, create: &CreateTable) -> Result<()> {
    const OF_MEMORY: [&str; 5] = [
        "compress",
        "max_bytes_to_keep",
        "max_rows_to_keep",
        "min_bytes_to_keep",
        "min_rows_to_keep",
    ];
    for setting in &create.storage.settings {
        let name = setting.name.as_str();
        if engine != "Memory" || !OF_MEMORY.contains(&name) {
            let message = format!("Leave it out: unknown setting '{name}' of storage {engine}");
            return Err(Error::new(ErrorCode::UNKNOWN_SETTING, message));
        }
        if name.ends_with("_to_keep") {
            return Err(Error::not_implemented(format!("Setting {name} of Memory")));
        }
    }
    Ok(())
}
