//! Lists databases, tables and columns.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use basalt_analyzer::{TableEntry, column_names};
use basalt_error::Result;
use basalt_parser::ast::{Expr, Statement};
use basalt_types::DataType;

use super::rows::Rows;
use super::{information_schema, table_names};
use crate::catalog::{ColumnDefinition, Engine, SYSTEM_DATABASES, Table};
use crate::environment::QueryEnvironment;
use crate::merge_tree::{Keys, MergeTreeTable, list_text};
use crate::statement::show::default_kind;

/// `system.databases`
pub(crate) fn databases(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    const STRUCTURE: &str = "name String, engine String, data_path String, metadata_path String, \
        uuid UUID, engine_full String, comment String, is_external UInt8";
    let names = environment.database.catalog.databases();
    let rows = Rows::default()
        .text("name", &names)
        .text("engine", names.iter().map(|_| "Memory"))
        .text("engine_full", names.iter().map(|_| "Memory"))
        .text(
            "comment",
            names
                .iter()
                .map(|n| environment.database.catalog.comment(n)),
        );
    rows.filled(STRUCTURE)?.alias("database", "name").table()
}

/// A table with its database and name.
pub(super) struct Listed {
    pub(super) database: String,
    pub(super) name: String,
    /// The table of the catalog; `None` for those of the system.
    pub(super) table: Option<Arc<Table>>,
}

pub(super) fn all_tables(environment: &QueryEnvironment<'_>) -> Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for database in environment.database.catalog.databases() {
        listed.extend(table_names(&database).into_iter().map(|name| Listed {
            database: database.clone(),
            name,
            table: None,
        }));
        if SYSTEM_DATABASES.contains(&database.as_str()) {
            continue;
        }
        for (name, table) in environment.database.catalog.tables(&database)? {
            listed.push(Listed {
                database: database.clone(),
                name,
                table: Some(table),
            });
        }
    }
    for (name, table) in environment.temporary {
        let (name, table) = (name.clone(), Some(Arc::clone(table)));
        listed.push(Listed {
            database: String::new(),
            name,
            table,
        });
    }
    Ok(listed)
}

impl Listed {
    fn of<T>(&self, f: impl Fn(&Table) -> T, system: T) -> T {
        self.table.as_deref().map_or(system, f)
    }

    fn engine(&self) -> String {
        match &self.table {
            Some(table) => table.engine.name().to_owned(),
            None if self.database == "system" => format!("System{}", camel_case(&self.name)),
            None => "View".to_owned(),
        }
    }

    fn is_view(&self) -> bool {
        self.engine() == "View"
    }

    fn create_sql(&self) -> String {
        match &self.table {
            // On one line, as ClickHouse has it here.
            Some(table) => basalt_parser::parse_statement(&table.create_sql)
                .map_or_else(|_| table.create_sql.clone(), |p| one_line(&p.statement)),
            None => information_schema::create_statement(&self.database, &self.name)
                .map(|s| one_line(&s))
                .unwrap_or_default(),
        }
    }

    fn view_query(&self) -> String {
        let query = match self.table.as_deref().map(|t| &t.engine) {
            Some(Engine::View(query)) => Some(Arc::clone(query)),
            Some(_) => None,
            None => information_schema::query(&self.database, &self.name).ok(),
        };
        query.map_or_else(String::new, |q| {
            one_line(&Statement::Query(Box::new(q.as_ref().clone())))
        })
    }

    fn num_parts(&self) -> Option<u64> {
        let parts = self.table.as_deref()?.merge_tree()?.storage.parts();
        parts.ok().map(|parts| parts.len() as u64)
    }

    fn size_bytes(&self) -> Option<u64> {
        match self.table.as_deref().map(|t| &t.engine) {
            Some(Engine::Memory(memory)) => Some(memory.size_bytes() as u64),
            Some(Engine::MergeTree(table)) => table.storage.size_bytes(),
            Some(Engine::Mmap(table)) => table.storage.size_bytes(),
            Some(Engine::Null) => Some(0),
            _ => None,
        }
    }
}

/// The engine with its clauses, as CREATE has them.
fn engine_clauses(table: &Table) -> String {
    let create = basalt_parser::parse_statement(&table.create_sql).map(|p| p.statement);
    let Ok(Statement::CreateTable(mut create)) = create else {
        return table.engine.name().to_owned();
    };
    (create.schema, create.comment) = (None, None);
    let text = one_line(&Statement::CreateTable(create));
    let clauses = text.split_once(" ENGINE = ").map(|(_, clauses)| clauses);
    clauses.unwrap_or_default().to_owned()
}

fn one_line(statement: &Statement) -> String {
    basalt_parser::format_one_line(statement)
}

/// `data_type_families` as `DataTypeFamilies`; `_mt` is a variant, not a word.
fn camel_case(name: &str) -> String {
    let words = name.trim_end_matches("_mt").split('_');
    let capital = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => first.to_uppercase() + rest,
        None => String::new(),
    };
    words.map(capital).collect()
}

/// `system.tables`
pub(crate) fn tables(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    const STRUCTURE: &str = "database String, name String, uuid UUID, engine String, \
        is_temporary UInt8, data_paths Array(String), metadata_path String, \
        metadata_modification_time DateTime, metadata_version Int32, \
        dependencies_database Array(String), dependencies_table Array(String), \
        create_table_query String, engine_full String, as_select String, \
        parameterized_view_parameters Array(Tuple(name String, type String)), \
        partition_key String, sorting_key String, primary_key String, sampling_key String, \
        unique_key String, skipping_indices_types Array(String), storage_policy String, \
        total_rows Nullable(UInt64), total_bytes Nullable(UInt64), \
        total_bytes_uncompressed Nullable(UInt64), parts Nullable(UInt64), \
        active_parts Nullable(UInt64), total_marks Nullable(UInt64), \
        active_on_fly_data_mutations UInt64, active_on_fly_alter_mutations UInt64, \
        active_on_fly_metadata_mutations UInt64, columns_descriptions_cache_size UInt64, \
        lifetime_rows Nullable(UInt64), lifetime_bytes Nullable(UInt64), comment String, \
        has_own_data UInt8, loading_dependencies_database Array(String), \
        loading_dependencies_table Array(String), loading_dependent_database Array(String), \
        loading_dependent_table Array(String), target_database String, target_table String, \
        definer String";
    let all = all_tables(environment)?;
    let engine_full = |l: &Listed| match &l.table {
        Some(table) if table.merge_tree().is_some() => engine_clauses(table),
        Some(_) if !l.is_view() => l.engine(),
        _ => String::new(),
    };
    let key = |f: fn(&Keys) -> String| {
        let keys = all.iter().map(|l| l.table.as_deref()?.merge_tree());
        keys.map(move |m| m.map(|m| f(&m.keys)).unwrap_or_default())
    };
    let rows = Rows::default()
        .text("database", all.iter().map(|l| &l.database))
        .text("name", all.iter().map(|l| &l.name))
        .text("engine", all.iter().map(Listed::engine))
        .flag(
            "is_temporary",
            all.iter().map(|l| l.of(|t| t.is_temporary, false)),
        )
        .text("create_table_query", all.iter().map(Listed::create_sql))
        .text("engine_full", all.iter().map(engine_full))
        .text("as_select", all.iter().map(Listed::view_query))
        .maybe(
            "total_rows",
            all.iter()
                .map(|l| l.of(Table::num_rows, None).map(|n| n as u64)),
        )
        .maybe("total_bytes", all.iter().map(Listed::size_bytes))
        .maybe("parts", all.iter().map(Listed::num_parts))
        .maybe("active_parts", all.iter().map(Listed::num_parts))
        .text("partition_key", key(Keys::partition_text))
        .text("sorting_key", key(|k| list_text(&k.sorting)))
        .text("primary_key", key(|k| list_text(&k.primary)))
        .read(
            "skipping_indices_types",
            STRUCTURE,
            all.iter().map(|l| index_types(l.table.as_deref())),
        )?
        .flag(
            "has_own_data",
            all.iter().map(|l| l.of(Table::has_own_data, false)),
        )
        .text("storage_policy", key(|_| "default".to_owned()))
        .text(
            "comment",
            all.iter()
                .map(|l| l.of(|t| t.comment.clone(), String::new())),
        );
    rows.filled(STRUCTURE)?.alias("table", "name").table()
}

/// The types of a table's skipping indexes, each once, as the text of an array.
fn index_types(table: Option<&Table>) -> String {
    let on_disk = table.and_then(Table::merge_tree);
    let indexes = on_disk.map(|m| m.storage.layout().indexes.as_slice());
    let types = indexes.unwrap_or_default().iter().map(|index| {
        let full = index.kind.to_string();
        let name = full.split('(').next().unwrap_or_default();
        format!("'{name}'")
    });
    let types: BTreeSet<String> = types.collect();
    format!("[{}]", Vec::from_iter(types).join(","))
}

/// A column with its place.
struct Placed {
    database: String,
    table: String,
    position: u64,
    on_disk: Option<Arc<MergeTreeTable>>,
    definition: ColumnDefinition,
    /// Bytes in the files of parts, and decoded.
    bytes: (u64, u64),
}

/// Bytes of the columns of a table's parts, in files and decoded, by their names; none of those whose list of parts is damaged.
fn column_bytes(on_disk: Option<&MergeTreeTable>) -> HashMap<String, (u64, u64)> {
    let parts = on_disk.and_then(|m| m.storage.parts().ok());
    let mut bytes = HashMap::new();
    for part in parts.iter().flat_map(|parts| parts.iter()) {
        for (place, column) in part.metadata().columns.iter().enumerate() {
            let (stored, decoded): &mut (u64, u64) = bytes.entry(column.name.clone()).or_default();
            *stored += part.column_bytes(place);
            *decoded += column.decoded_bytes;
        }
    }
    bytes
}

fn all_columns(environment: &QueryEnvironment<'_>) -> Result<Vec<Placed>> {
    let mut all = Vec::new();
    for listed in all_tables(environment)? {
        let on_disk = listed.table.as_deref().and_then(Table::merge_tree).cloned();
        let columns = match &listed.table {
            Some(table) => table.columns.clone(),
            None => super::columns_of(environment, &listed.database, &listed.name)?
                .into_iter()
                .map(ColumnDefinition::new)
                .collect(),
        };
        let bytes = column_bytes(on_disk.as_deref());
        for (i, definition) in columns.into_iter().enumerate() {
            let bytes = bytes.get(&definition.column.name);
            all.push(Placed {
                bytes: bytes.copied().unwrap_or_default(),
                on_disk: on_disk.clone(),
                database: listed.database.clone(),
                table: listed.name.clone(),
                position: i as u64 + 1,
                definition,
            });
        }
    }
    Ok(all)
}

const COLUMNS: &str = "database String, table String, name String, type String, position UInt64, \
    default_kind String, default_expression String, data_compressed_bytes UInt64, \
    data_uncompressed_bytes UInt64, marks_bytes UInt64, comment String, \
    is_in_partition_key UInt8, is_in_sorting_key UInt8, is_in_primary_key UInt8, \
    is_in_sampling_key UInt8, compression_codec String, character_octet_length Nullable(UInt64), \
    numeric_precision Nullable(UInt64), numeric_precision_radix Nullable(UInt64), \
    numeric_scale Nullable(UInt64), datetime_precision Nullable(UInt64), \
    serialization_hint Nullable(String), statistics String";

/// `system.columns` without rows: its columns.
pub(super) fn columns_of_columns() -> Result<TableEntry> {
    Rows::default()
        .filled(COLUMNS)?
        .alias("column", "name")
        .table()
}

fn type_name(column: &Placed) -> String {
    match column.definition.simple_aggregate {
        Some(_) => column.definition.declared_type(),
        None => column.definition.column.data_type.to_string(),
    }
}

/// `system.columns`
pub(crate) fn columns(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let all = all_columns(environment)?;
    let default = |c: &Placed| c.definition.default_expression();
    let in_key = |key: fn(&Keys) -> &Vec<Expr>| {
        let is_in = move |c: &Placed| {
            let exprs = c.on_disk.as_ref().map(|m| key(&m.keys));
            let mut names = exprs.into_iter().flatten().flat_map(column_names);
            names.any(|n| n == c.definition.column.name)
        };
        all.iter().map(is_in)
    };
    let data_type = |c: &Placed| c.definition.column.data_type.clone();
    let number = |f: fn(&DataType) -> Option<u64>| all.iter().map(move |c| f(&data_type(c)));
    let rows = Rows::default()
        .text("database", all.iter().map(|c| &c.database))
        .text("table", all.iter().map(|c| &c.table))
        .text("name", all.iter().map(|c| &c.definition.column.name))
        .text("type", all.iter().map(type_name))
        .number("position", all.iter().map(|c| c.position))
        .text(
            "default_kind",
            all.iter().map(|c| default_kind(&c.definition)),
        )
        .text("default_expression", all.iter().map(default))
        .number("data_compressed_bytes", all.iter().map(|c| c.bytes.0))
        .number("data_uncompressed_bytes", all.iter().map(|c| c.bytes.1))
        .text("comment", all.iter().map(|c| &c.definition.comment))
        .flag("is_in_partition_key", in_key(|k| &k.partition))
        .flag("is_in_sorting_key", in_key(|k| &k.sorting))
        .flag("is_in_primary_key", in_key(|k| &k.primary))
        .text("compression_codec", all.iter().map(|c| &c.definition.codec))
        .maybe("character_octet_length", number(octets))
        .maybe("numeric_precision", number(|t| numeric(t).map(|n| n.0)))
        .maybe(
            "numeric_precision_radix",
            number(|t| numeric(t).map(|n| n.1)),
        )
        .maybe("numeric_scale", number(|t| numeric(t).map(|n| n.2)))
        .maybe("datetime_precision", number(ticks));
    rows.filled(COLUMNS)?.alias("column", "name").table()
}

/// The type inside `Nullable`; what `LowCardinality` holds is not looked at, as in ClickHouse.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Nullable(inner) => inner,
        other => other,
    }
}

fn octets(data_type: &DataType) -> Option<u64> {
    match plain(data_type) {
        DataType::FixedString(len) => Some(u64::from(*len)),
        _ => None,
    }
}

/// Digits of a number, their base, and how many of them stand behind the point.
fn numeric(data_type: &DataType) -> Option<(u64, u64, u64)> {
    let bits = match plain(data_type) {
        DataType::Decimal { precision, scale } => {
            return Some((u64::from(*precision), 10, u64::from(*scale)));
        }
        DataType::UInt8 | DataType::Int8 | DataType::Bool => 8,
        DataType::UInt16 | DataType::Int16 => 16,
        DataType::UInt32 | DataType::Int32 => 32,
        DataType::UInt64 | DataType::Int64 => 64,
        _ => return None,
    };
    Some((bits, 2, 0))
}

/// Digits of the fraction of a second.
fn ticks(data_type: &DataType) -> Option<u64> {
    match plain(data_type) {
        DataType::Date | DataType::Date32 | DataType::DateTime(_) => Some(0),
        DataType::DateTime64(digits, _) => Some(u64::from(*digits)),
        _ => None,
    }
}
