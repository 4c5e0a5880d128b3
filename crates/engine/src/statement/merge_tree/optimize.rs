//! Runs OPTIMIZE, and SYSTEM START MERGES and STOP MERGES.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{ObjectName, Optimize, SystemCommand};

use super::partition::partition_id;
use crate::merge_tree::MergeTreeTable;
use crate::session::{RunningQuery, Session, Summary};

/// `OPTIMIZE TABLE`
pub(in crate::statement) fn optimize(
    session: &Session,
    query: &RunningQuery<'_>,
    optimize: &Optimize,
) -> Result<Summary> {
    let table = session.find_table(&optimize.table)?;
    let Some(on_disk) = table.merge_tree() else {
        return Err(Error::not_implemented(format!(
            "OPTIMIZE of a table with engine {}",
            table.engine.name()
        )));
    };
    let unknown = [
        ("ON CLUSTER", optimize.cluster.is_some()),
        ("DEDUPLICATE", optimize.deduplicate),
        ("CLEANUP", optimize.cleanup),
    ];
    if let Some((clause, _)) = unknown.into_iter().find(|(_, is_there)| *is_there) {
        return Err(Error::not_implemented(format!("OPTIMIZE with {clause}")));
    }
    let partition = match &optimize.partition {
        Some(partition) => partition_id(session, query, on_disk, partition)?,
        None => None,
    };
    if on_disk.storage.merges_are_stopped() {
        return Err(Error::new(
            ErrorCode::ABORTED,
            "Write SYSTEM START MERGES: merges of the table are stopped",
        ));
    }
    on_disk
        .storage
        .merge(partition.as_deref(), optimize.final_)?;
    Ok(Summary::default())
}

/// `SYSTEM START | STOP MERGES [table]`
pub(in crate::statement) fn merges(session: &Session, system: &SystemCommand) -> Result<Summary> {
    let are_stopped = system.command.starts_with("STOP");
    for table in named(session, &system.rest.text)? {
        table.storage.stop_merges(are_stopped);
    }
    Ok(Summary::default())
}

/// The tables on disk that a SYSTEM statement names; all if it names none.
fn named(session: &Session, text: &str) -> Result<Vec<Arc<MergeTreeTable>>> {
    let rest = ["SYSTEM", "STOP", "START", "MERGES"]
        .iter()
        .fold(text.trim(), |text, word| {
            text.strip_prefix(word).unwrap_or(text).trim_start()
        });
    if rest.is_empty() {
        let tables = session.database.catalog.on_disk();
        let merge_trees = tables.iter().filter_map(|table| table.merge_tree());
        return Ok(merge_trees.map(Arc::clone).collect());
    }
    if rest.starts_with("ON VOLUME ") {
        return Err(Error::not_implemented(
            "SYSTEM STOP and START MERGES ON VOLUME",
        ));
    }
    let name = table_name(rest)?;
    let table = session.find_table(&name)?;
    match table.merge_tree() {
        Some(on_disk) => Ok(vec![Arc::clone(on_disk)]),
        // As in ClickHouse: nothing is to be stopped.
        None => Ok(Vec::new()),
    }
}

fn table_name(text: &str) -> Result<ObjectName> {
    let parsed = basalt_parser::parse_statement(format!("EXISTS TABLE {text}"))?;
    match parsed.statement {
        basalt_parser::ast::Statement::Exists(exists) => Ok(exists.name),
        _ => Err(Error::bug("EXISTS is something else")),
    }
}
