//! Finds the engine of a new table.

use std::sync::Arc;

use arrow::datatypes::Schema;
use basalt_error::{Error, ErrorCode, Result, nearest};
use basalt_parser::ast::CreateTable;
use basalt_storage::MemoryTable;

use super::columns::stored;
use super::merge_tree;
use crate::catalog::{ColumnDefinition, Engine};
use crate::session::{RunningQuery, Session};

/// The engine that the statement names, empty.
pub(super) fn engine(
    session: &Session,
    query: &RunningQuery<'_>,
    create: &CreateTable,
    columns: &[ColumnDefinition],
) -> Result<Engine> {
    if merge_tree::is_wanted(create) {
        return merge_tree::engine(session, query, create, columns);
    }
    let name = create
        .storage
        .engine
        .as_ref()
        .map_or("Memory", |e| e.name.as_str());
    if matches!(name, "Memory" | "Null") {
        check_clauses(name, create)?;
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
        "Null" => Ok(Engine::Null),
        known if KNOWN_ENGINES.contains(&known) => {
            Err(Error::not_implemented(format!("Table engine {known}"))
                .hinted("Use ENGINE = MergeTree or Memory"))
        }
        unknown => {
            let error = unknown_engine(unknown);
            let engine = create.storage.engine.as_ref();
            let place =
                engine.map(|e| basalt_parser::position_of(query.text, e.span.start as usize));
            Err(place.into_iter().fold(error, Error::at))
        }
    }
}

fn unknown_engine(name: &str) -> Error {
    let engines = ["Memory", "Null"].into_iter();
    let near = nearest(name, engines.chain(merge_tree::engine_names()));
    let hint = match near.first() {
        Some(near) => format!("Maybe you meant: ['{near}']. Unknown"),
        None => "Use ENGINE = MergeTree, Memory or Null: unknown".to_owned(),
    };
    let message = format!("{hint} table engine {name}");
    Error::new(ErrorCode::UNKNOWN_STORAGE, message)
}

/// Engines of the dialect that do not exist here yet.
const KNOWN_ENGINES: [&str; 13] = [
    "CollapsingMergeTree",
    "VersionedCollapsingMergeTree",
    "CoalescingMergeTree",
    "GraphiteMergeTree",
    "Log",
    "TinyLog",
    "StripeLog",
    "File",
    "Set",
    "Join",
    "Buffer",
    "Merge",
    "Distributed",
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
