//! Lists the changes of rows of tables on disk.

use std::time::{SystemTime, UNIX_EPOCH};

use basalt_analyzer::TableEntry;
use basalt_error::Result;

use super::rows::Rows;
use crate::environment::QueryEnvironment;
use crate::merge_tree::Mutation;

const STRUCTURE: &str = "database String, table String, mutation_id String, command String, \
    create_time DateTime, finish_time DateTime, `block_numbers.partition_id` Array(String), \
    `block_numbers.number` Array(Int64), parts_in_progress_names Array(String), \
    parts_to_do_names Array(String), parts_to_do Int64, is_done UInt8, is_killed UInt8, \
    latest_failed_part String, latest_fail_time DateTime, latest_fail_reason String";

/// `system.mutations`
pub(crate) fn mutations(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let catalog = &environment.database.catalog;
    let mut all: Vec<(String, String, Mutation)> = Vec::new();
    for database in catalog.databases() {
        for (table, definition) in catalog.tables(&database)? {
            let mutations = definition.merge_tree().map(|m| m.mutations.all());
            for mutation in mutations.into_iter().flatten() {
                all.push((database.clone(), table.clone(), mutation));
            }
        }
    }
    let seconds = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{:010}", since.as_secs())
    };
    let started = all.iter().map(|(_, _, m)| seconds(m.started));
    let finished = all
        .iter()
        .map(|(_, _, m)| seconds(m.finished.unwrap_or(UNIX_EPOCH)));
    let is_done = || all.iter().map(|(_, _, m)| m.finished.is_some());
    let to_do = is_done().map(|is_done| u8::from(!is_done).to_string());
    Rows::default()
        .text("database", all.iter().map(|(database, _, _)| database))
        .text("table", all.iter().map(|(_, table, _)| table))
        .text(
            "mutation_id",
            all.iter()
                .map(|(_, _, m)| format!("mutation_{}.txt", m.number)),
        )
        .text("command", all.iter().map(|(_, _, m)| &m.command))
        .read("create_time", STRUCTURE, started)?
        .read("finish_time", STRUCTURE, finished)?
        .read(
            "block_numbers.number",
            STRUCTURE,
            all.iter().map(|(_, _, m)| format!("[{}]", m.number)),
        )?
        .read("parts_to_do", STRUCTURE, to_do)?
        .flag("is_done", is_done())
        .filled(STRUCTURE)?
        .table()
}
