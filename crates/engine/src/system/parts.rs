//! Lists the parts of tables on disk, and their columns.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use basalt_analyzer::TableEntry;
use basalt_error::Result;
use basalt_parser::ast::{IndexDef, Statement};
use basalt_storage::Part;

use super::rows::Rows;
use crate::catalog::Table;
use crate::environment::QueryEnvironment;
use crate::statement::show::default_kind;

/// A part with its table.
struct Listed {
    database: String,
    name: String,
    table: Arc<Table>,
    part: Arc<Part>,
}

impl Listed {
    fn decoded_bytes(&self) -> u64 {
        let columns = &self.part.metadata().columns;
        columns.iter().map(|c| c.decoded_bytes).sum()
    }

    fn stored_bytes(&self) -> u64 {
        let columns = 0..self.part.metadata().columns.len();
        columns.map(|c| self.part.column_bytes(c)).sum()
    }

    fn modified(&self) -> String {
        let since = self.part.modified().duration_since(UNIX_EPOCH);
        format!("{:010}", since.map_or(0, |s| s.as_secs()))
    }
}

/// The parts of all tables whose list of parts is not damaged.
fn all_parts(environment: &QueryEnvironment<'_>) -> Result<Vec<Listed>> {
    let catalog = &environment.database.catalog;
    let mut listed = Vec::new();
    for database in catalog.databases() {
        for (name, table) in catalog.tables(&database)? {
            let parts = table.merge_tree().map(|m| m.storage.parts());
            for part in parts.and_then(Result::ok).iter().flat_map(|p| p.iter()) {
                listed.push(Listed {
                    database: database.clone(),
                    name: name.clone(),
                    table: Arc::clone(&table),
                    part: Arc::clone(part),
                });
            }
        }
    }
    Ok(listed)
}

/// What `system.parts` and `system.parts_columns` tell of a part.
fn of_parts(listed: &[&Listed], structure: &str) -> Result<Rows> {
    let of = |f: fn(&Listed) -> u64| listed.iter().map(move |l| f(l));
    let text = |f: fn(&Listed) -> String| listed.iter().map(move |l| f(l));
    Rows::default()
        .text("partition", text(|l| l.part.metadata().partition.clone()))
        .text("name", text(|l| l.part.name()))
        .text("part_type", text(|_| "Wide".to_owned()))
        .flag("active", listed.iter().map(|_| true))
        .number("marks", of(|l| l.part.metadata().group_rows.len() as u64))
        .number("rows", of(|l| l.part.metadata().num_rows() as u64))
        .number("bytes_on_disk", of(|l| l.part.bytes_on_disk()))
        .number("data_compressed_bytes", of(Listed::stored_bytes))
        .number("data_uncompressed_bytes", of(Listed::decoded_bytes))
        .text("partition_id", text(|l| l.part.partition_id().to_owned()))
        .text("database", text(|l| l.database.clone()))
        .text("table", text(|l| l.name.clone()))
        .text("engine", text(|l| l.table.engine.name().to_owned()))
        .text("disk_name", text(|_| "default".to_owned()))
        .text("path", text(|l| format!("{}/", l.part.folder().display())))
        .read("modification_time", structure, text(Listed::modified))?
        .read("level", structure, text(|l| l.part.level().to_string()))
}

/// `system.parts`
pub(crate) fn parts(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    const STRUCTURE: &str = "partition String, name String, uuid UUID, part_type String, \
        active UInt8, marks UInt64, \
        rows UInt64, bytes_on_disk UInt64, data_compressed_bytes UInt64, \
        data_uncompressed_bytes UInt64, primary_key_size UInt64, marks_bytes UInt64, \
        secondary_indices_compressed_bytes UInt64, secondary_indices_uncompressed_bytes UInt64, \
        secondary_indices_marks_bytes UInt64, modification_time DateTime, remove_time DateTime, \
        refcount UInt32, min_date Date, max_date Date, min_time DateTime, max_time DateTime, \
        partition_id String, min_block_number Int64, max_block_number Int64, level UInt32, \
        data_version UInt64, primary_key_bytes_in_memory UInt64, \
        primary_key_bytes_in_memory_allocated UInt64, is_frozen UInt8, database String, \
        table String, engine String, disk_name String, path String, \
        has_lightweight_delete UInt8";
    let all = all_parts(environment)?;
    let all: Vec<&Listed> = all.iter().collect();
    let block = |f: fn((u64, u64)) -> u64| {
        let numbers = all.iter().map(move |l| f(l.part.block_numbers()));
        numbers.map(|n| n.to_string())
    };
    let index_bytes = || all.iter().map(|l| l.part.index_bytes());
    let has_mask = |l: &&Listed| !l.part.metadata().kept.is_all();
    of_parts(&all, STRUCTURE)?
        .flag("has_lightweight_delete", all.iter().map(has_mask))
        .number("secondary_indices_compressed_bytes", index_bytes())
        .number("secondary_indices_uncompressed_bytes", index_bytes())
        .read("min_block_number", STRUCTURE, block(|b| b.0))?
        .read("max_block_number", STRUCTURE, block(|b| b.1))?
        .filled(STRUCTURE)?
        .alias("bytes", "bytes_on_disk")
        .alias("marks_size", "marks_bytes")
        .alias("part_name", "name")
        .table()
}

/// `system.parts_columns`, with the codec of each column, how many times smaller it is than its values, and how
/// fast it was decoded, which ClickHouse does not tell.
pub(crate) fn parts_columns(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    const STRUCTURE: &str = "partition String, name String, uuid UUID, part_type String, \
        active UInt8, marks UInt64, \
        rows UInt64, bytes_on_disk UInt64, data_compressed_bytes UInt64, \
        data_uncompressed_bytes UInt64, marks_bytes UInt64, modification_time DateTime, \
        partition_id String, level UInt32, database String, table String, engine String, \
        disk_name String, path String, column String, type String, column_position UInt64, \
        default_kind String, default_expression String, column_bytes_on_disk UInt64, \
        column_data_compressed_bytes UInt64, column_data_uncompressed_bytes UInt64, \
        column_marks_bytes UInt64, compression_codec String, compression_ratio Nullable(Float64), \
        decode_bytes_per_second Nullable(Float64)";
    let parts = all_parts(environment)?;
    let columns = parts.iter().flat_map(|l| {
        let num_visible = l
            .table
            .merge_tree()
            .map_or(0, |m| m.storage.layout().num_visible);
        (0..num_visible).map(move |c| (l, c))
    });
    let columns: Vec<(&Listed, usize)> = columns.collect();
    let described = || columns.iter().map(|(l, c)| &l.part.metadata().columns[*c]);
    let bytes = || columns.iter().map(|(l, c)| l.part.column_bytes(*c));
    let all: Vec<&Listed> = columns.iter().map(|(l, _)| *l).collect();
    let definition = |l: &Listed, name: &str| {
        let found = l.table.columns.iter().find(|c| c.column.name == name);
        found.map(default_kind).unwrap_or_default()
    };
    let kinds = columns
        .iter()
        .map(|(l, c)| definition(l, &l.part.metadata().columns[*c].name));
    of_parts(&all, STRUCTURE)?
        .text("column", described().map(|c| &c.name))
        .text("type", described().map(|c| &c.data_type))
        .number(
            "column_position",
            columns.iter().map(|(_, c)| *c as u64 + 1),
        )
        .text("default_kind", kinds)
        .number("column_bytes_on_disk", bytes())
        .number("column_data_compressed_bytes", bytes())
        .number(
            "column_data_uncompressed_bytes",
            described().map(|c| c.decoded_bytes),
        )
        .text("compression_codec", described().map(|c| &c.codec))
        .measure(
            "compression_ratio",
            columns.iter().map(|(l, c)| {
                let bytes = l.part.column_bytes(*c);
                let decoded_bytes = l.part.metadata().columns[*c].decoded_bytes;
                (bytes > 0).then(|| decoded_bytes as f64 / bytes as f64)
            }),
        )
        .measure(
            "decode_bytes_per_second",
            columns
                .iter()
                .map(|(l, c)| l.part.decode_bytes_per_second(*c)),
        )
        .filled(STRUCTURE)?
        .alias("bytes", "bytes_on_disk")
        .alias("part_name", "name")
        .table()
}

/// `system.detached_parts`
pub(crate) fn detached_parts(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    const STRUCTURE: &str = "database String, table String, partition_id Nullable(String), \
        name String, bytes_on_disk UInt64, modification_time DateTime, disk String, path String, \
        reason Nullable(String), min_block_number Nullable(Int64), \
        max_block_number Nullable(Int64), level Nullable(UInt32)";
    let catalog = &environment.database.catalog;
    let mut all: Vec<(String, String, String, String)> = Vec::new();
    for database in catalog.databases() {
        for (table, definition) in catalog.tables(&database)? {
            let Some(on_disk) = definition.merge_tree() else {
                continue;
            };
            for name in on_disk.storage.detached_parts().unwrap_or_default() {
                let folder = on_disk.storage.folder().join("detached").join(&name);
                let path = folder.display().to_string();
                all.push((database.clone(), table.clone(), name, path));
            }
        }
    }
    let partitions = all
        .iter()
        .map(|(_, _, name, _)| name.split('_').next().unwrap_or_default());
    Rows::default()
        .text("database", all.iter().map(|(database, ..)| database))
        .text("table", all.iter().map(|(_, table, ..)| table))
        .read("partition_id", STRUCTURE, partitions)?
        .text("name", all.iter().map(|(_, _, name, _)| name))
        .text("disk", all.iter().map(|_| "default"))
        .text("path", all.iter().map(|(.., path)| path))
        .filled(STRUCTURE)?
        .table()
}

/// `system.data_skipping_indices`
pub(crate) fn data_skipping_indices(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    const STRUCTURE: &str = "database String, table String, name String, type String, \
        type_full String, expr String, creation Enum8('Explicit' = 0, 'Implicit' = 1), \
        granularity UInt64, data_compressed_bytes UInt64, data_uncompressed_bytes UInt64, \
        marks_bytes UInt64";
    let catalog = &environment.database.catalog;
    let mut all: Vec<(String, String, IndexDef)> = Vec::new();
    let mut index_bytes: Vec<u64> = Vec::new();
    for database in catalog.databases() {
        for (name, table) in catalog.tables(&database)? {
            let Some(on_disk) = table.merge_tree() else {
                continue;
            };
            let parts = on_disk.storage.parts()?;
            let parsed = basalt_parser::parse_statement(&table.create_sql)?;
            let Statement::CreateTable(create) = parsed.statement else {
                continue;
            };
            for index in create.schema.into_iter().flat_map(|s| s.indexes) {
                let of_parts = parts.iter().map(|part| part.bytes_of_index(&index.name));
                index_bytes.push(of_parts.sum());
                all.push((database.clone(), name.clone(), index));
            }
        }
    }
    let full = || {
        all.iter()
            .map(|(_, _, i)| basalt_parser::format_expr(&i.index_type))
    };
    let kind = full().map(|t| t.split('(').next().unwrap_or_default().to_owned());
    Rows::default()
        .text("database", all.iter().map(|(database, ..)| database))
        .text("table", all.iter().map(|(_, table, _)| table))
        .text("name", all.iter().map(|(_, _, i)| &i.name))
        .text("type", kind)
        .text("type_full", full())
        .text(
            "expr",
            all.iter()
                .map(|(_, _, i)| basalt_parser::format_expr(&i.expr)),
        )
        .number("granularity", all.iter().map(|(_, _, i)| i.granularity))
        .number("data_compressed_bytes", index_bytes.iter().copied())
        .number("data_uncompressed_bytes", index_bytes.iter().copied())
        .filled(STRUCTURE)?
        .table()
}
