//! Lists the inserts that wait to be written with others.

use std::time::{SystemTime, UNIX_EPOCH};

use basalt_analyzer::TableEntry;
use basalt_error::Result;

use super::rows::Rows;
use crate::environment::QueryEnvironment;
use crate::insert_queue::Listed;

const STRUCTURE: &str = "query String, database String, table String, format String, \
    first_update DateTime64(6), total_bytes UInt64, `entries.query_id` Array(String), \
    `entries.bytes` Array(UInt64)";

/// `system.asynchronous_inserts`
pub(crate) fn asynchronous_inserts(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let catalog = &environment.database.catalog;
    let mut all: Vec<(String, String, Listed)> = Vec::new();
    for database in catalog.databases() {
        for (table, definition) in catalog.tables(&database)? {
            let on_disk = definition.on_disk();
            let waiting = on_disk.map(|table| table.queue().list());
            for insert in waiting.into_iter().flatten() {
                all.push((database.clone(), table.clone(), insert));
            }
        }
    }
    let since = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{}.{:06}", since.as_secs(), since.subsec_micros())
    };
    let ids = |insert: &Listed| format!("['{}']", insert.query_id);
    let num_bytes = |insert: &Listed| format!("[{}]", insert.num_bytes);
    Rows::default()
        .text("query", all.iter().map(|(_, _, insert)| &insert.text))
        .text("database", all.iter().map(|(database, _, _)| database))
        .text("table", all.iter().map(|(_, table, _)| table))
        .text("format", all.iter().map(|(_, _, insert)| &insert.format))
        .read(
            "first_update",
            STRUCTURE,
            all.iter().map(|(_, _, insert)| since(insert.since)),
        )?
        .number(
            "total_bytes",
            all.iter().map(|(_, _, insert)| insert.num_bytes as u64),
        )
        .read(
            "entries.query_id",
            STRUCTURE,
            all.iter().map(|(_, _, insert)| ids(insert)),
        )?
        .read(
            "entries.bytes",
            STRUCTURE,
            all.iter().map(|(_, _, insert)| num_bytes(insert)),
        )?
        .filled(STRUCTURE)?
        .table()
}
