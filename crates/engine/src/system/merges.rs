//! Lists the merges of tables on disk that are running.

use std::sync::Arc;

use basalt_analyzer::TableEntry;
use basalt_error::Result;
use basalt_storage::merge_tree::Progress;

use super::rows::Rows;
use crate::environment::QueryEnvironment;

const STRUCTURE: &str = "database String, table String, elapsed Float64, progress Float64, \
    num_parts UInt64, source_part_names Array(String), result_part_name String, \
    source_part_paths Array(String), result_part_path String, partition_id String, \
    partition String, is_mutation UInt8, total_size_bytes_compressed UInt64, \
    total_size_bytes_uncompressed UInt64, total_size_marks UInt64, \
    bytes_read_uncompressed UInt64, rows_read UInt64, bytes_written_uncompressed UInt64, \
    rows_written UInt64, columns_written UInt64, memory_usage UInt64, thread_id UInt64, \
    merge_type String, merge_algorithm String";

/// A merge with its table.
struct Listed {
    database: String,
    table: String,
    merge: Arc<Progress>,
}

impl Listed {
    fn names(&self, f: fn(&basalt_storage::Part) -> String) -> String {
        let names = self.merge.sources.iter().map(|p| format!("'{}'", f(p)));
        format!("[{}]", names.collect::<Vec<_>>().join(","))
    }

    fn progress(&self) -> f64 {
        self.merge.rows().0 as f64 / self.merge.total_rows().max(1) as f64
    }

    fn first(&self, f: fn(&basalt_storage::Part) -> String) -> String {
        self.merge.sources.first().map(|p| f(p)).unwrap_or_default()
    }
}

/// `system.merges`
pub(crate) fn merges(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let catalog = &environment.database.catalog;
    let mut all = Vec::new();
    for database in catalog.databases() {
        for (table, definition) in catalog.tables(&database)? {
            let merges = definition.merge_tree().map(|m| m.storage.running_merges());
            let listed = merges.into_iter().flatten().map(|merge| Listed {
                database: database.clone(),
                table: table.clone(),
                merge,
            });
            all.extend(listed);
        }
    }
    let text = |f: fn(&Listed) -> String| all.iter().map(f);
    let number = |f: fn(&Listed) -> u64| all.iter().map(f);
    let bytes = |l: &Listed| l.merge.sources.iter().map(|p| p.bytes_on_disk()).sum();
    let marks = |l: &Listed| {
        let sources = l.merge.sources.iter();
        sources.map(|p| p.metadata().group_rows.len() as u64).sum()
    };
    Rows::default()
        .text("database", all.iter().map(|l| &l.database))
        .text("table", all.iter().map(|l| &l.table))
        .read(
            "elapsed",
            STRUCTURE,
            text(|l| l.merge.elapsed().as_secs_f64().to_string()),
        )?
        .read("progress", STRUCTURE, text(|l| l.progress().to_string()))?
        .number("num_parts", number(|l| l.merge.sources.len() as u64))
        .read(
            "source_part_names",
            STRUCTURE,
            text(|l| l.names(|p| p.name())),
        )?
        .text("result_part_name", all.iter().map(|l| &l.merge.result))
        .read(
            "source_part_paths",
            STRUCTURE,
            text(|l| l.names(|p| format!("{}/", p.folder().display()))),
        )?
        .text(
            "result_part_path",
            text(|l| format!("{}/", l.merge.folder.display())),
        )
        .text(
            "partition_id",
            text(|l| l.first(|p| p.partition_id().to_owned())),
        )
        .text(
            "partition",
            text(|l| l.first(|p| p.metadata().partition.clone())),
        )
        .flag("is_mutation", all.iter().map(|l| l.merge.is_mutation))
        .number("total_size_bytes_compressed", number(bytes))
        .number("total_size_marks", number(marks))
        .number("rows_read", number(|l| l.merge.rows().0))
        .number("rows_written", number(|l| l.merge.rows().1))
        .text("merge_type", text(|_| "Regular".to_owned()))
        .text("merge_algorithm", text(|_| "Horizontal".to_owned()))
        .filled(STRUCTURE)?
        .table()
}
