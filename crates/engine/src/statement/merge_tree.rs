//! Makes the tables of the engine MergeTree, and runs OPTIMIZE.

use std::path::PathBuf;
use std::sync::Arc;

use basalt_analyzer::{Analyzer, DeclaredColumn, column_names};
use basalt_codec::Chain;
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, CreateTable, Expr, ExprKind, Literal, Optimize};
use basalt_storage::{ColumnCodec, Layout, MergeTree, StoredColumn};

use super::columns::stored;
use super::query;
use crate::catalog::{ColumnDefinition, Engine};
use crate::definitions;
use crate::merge_tree::{Computed, Keys, MergeTreeTable};
use crate::session::{RunningQuery, Session, Summary};

/// Settings of the engine that have no use here, as parts have one layout.
const TUNING: [&str; 6] = [
    "index_granularity",
    "index_granularity_bytes",
    "min_bytes_for_wide_part",
    "min_rows_for_wide_part",
    "allow_nullable_key",
    "storage_policy",
];

/// Whether a statement asks for a MergeTree table.
pub(super) fn is_wanted(create: &CreateTable) -> bool {
    let storage = &create.storage;
    match &storage.engine {
        Some(engine) => engine.name == "MergeTree",
        None => storage.order_by.is_some() || storage.primary_key.is_some(),
    }
}

/// The table's storage; nothing is on disk before the first row is.
pub(super) fn engine(
    session: &Session,
    query: &RunningQuery<'_>,
    create: &CreateTable,
    columns: &[ColumnDefinition],
) -> Result<Engine> {
    check_clauses(create)?;
    check_settings(create)?;
    let keys = keys(create)?;
    let mut layout = Layout::default();
    for column in stored(columns) {
        let data_type = column.column.data_type.clone();
        Layout::check_type(&data_type)?;
        layout.columns.push(StoredColumn {
            name: column.column.name.clone(),
            codec: codec(column)?,
            data_type,
        });
    }
    layout.num_visible = layout.columns.len();
    let mut computed = Vec::new();
    let mut place = |expr: &Expr| -> Result<usize> {
        if let ExprKind::Identifier(parts) = &expr.kind {
            let name = parts.join(".");
            if let Some(at) = layout.columns.iter().position(|c| c.name == name) {
                return Ok(at);
            }
        }
        let column = computed_column(session, query, columns, expr)?;
        if let Some(at) = layout.columns.iter().position(|c| c.name == column.name) {
            return Ok(at);
        }
        layout.columns.push(StoredColumn {
            name: column.name.clone(),
            data_type: column.data_type.clone(),
            codec: ColumnCodec::Auto,
        });
        computed.push(column);
        Ok(layout.columns.len() - 1)
    };
    let sorting_key = keys.sorting.iter().map(&mut place).collect::<Result<_>>()?;
    let partition_key = keys
        .partition
        .iter()
        .map(&mut place)
        .collect::<Result<_>>()?;
    (layout.sorting_key, layout.partition_key) = (sorting_key, partition_key);
    check_key_types(create, &layout)?;
    let (uuid, storage) = storage(session, create, layout)?;
    Ok(Engine::MergeTree(Arc::new(MergeTreeTable {
        storage,
        uuid,
        computed,
        keys,
    })))
}

/// The place of the table's parts.
fn storage(session: &Session, create: &CreateTable, layout: Layout) -> Result<(String, MergeTree)> {
    let database = &session.database;
    let uuid = match &create.uuid {
        None => uuid::Uuid::new_v4(),
        Some(text) => uuid::Uuid::parse_str(text).map_err(|_| {
            let message = format!("Cannot parse UUID of the table: {text}");
            Error::new(ErrorCode::CANNOT_PARSE_UUID, message)
        })?,
    };
    let uuid = uuid.hyphenated().to_string();
    if database
        .catalog
        .merge_trees()
        .iter()
        .any(|t| t.uuid == uuid)
    {
        return Err(Error::new(
            ErrorCode::TABLE_ALREADY_EXISTS,
            format!("Leave the UUID out: {uuid} is that of another table"),
        ));
    }
    let store: Option<PathBuf> = database.store.clone().filter(|_| !create.temporary);
    let table = match store {
        Some(store) => MergeTree::new(store.join(&uuid), layout),
        None => {
            let folder = database.temporary_files.create_folder()?;
            MergeTree::new(folder.path().to_owned(), layout).keeping(folder)
        }
    };
    if create.temporary || definitions::is_claimed(database) {
        table.own();
    }
    // Its folder goes with it, unless the table gets into the catalog.
    table.set_removed(create.uuid.is_none());
    Ok((uuid, table))
}

fn check_clauses(create: &CreateTable) -> Result<()> {
    let storage = &create.storage;
    let args = storage.engine.as_ref().and_then(|e| e.args.as_ref());
    if args.is_some_and(|args| !args.is_empty()) {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            "Write ENGINE = MergeTree and ORDER BY behind it: it takes no arguments",
        ));
    }
    let schema = create.schema.as_ref();
    let columns = || schema.into_iter().flat_map(|s| &s.columns);
    let unknown = [
        ("SAMPLE BY", storage.sample_by.is_some()),
        (
            "TTL",
            !storage.ttl.is_empty() || columns().any(|c| c.ttl.is_some()),
        ),
        ("INDEX", schema.is_some_and(|s| !s.indexes.is_empty())),
        (
            "PROJECTION",
            schema.is_some_and(|s| !s.projections.is_empty()),
        ),
        ("STATISTICS", columns().any(|c| c.statistics.is_some())),
        (
            "SETTINGS of a column",
            columns().any(|c| !c.settings.is_empty()),
        ),
    ];
    match unknown.into_iter().find(|(_, is_there)| *is_there) {
        None => Ok(()),
        Some((clause, _)) => Err(Error::not_implemented(format!(
            "{clause} of a MergeTree table"
        ))),
    }
}

fn check_settings(create: &CreateTable) -> Result<()> {
    for setting in &create.storage.settings {
        let name = setting.name.as_str();
        if !TUNING.contains(&name) {
            return Err(Error::new(
                ErrorCode::UNKNOWN_SETTING,
                format!("Leave it out: unknown setting '{name}' of storage MergeTree"),
            ));
        }
        if name == "index_granularity" && number(setting) == Some(0) {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "index_granularity: value 0 makes no sense",
            ));
        }
    }
    Ok(())
}

fn number(setting: &ast::Setting) -> Option<u64> {
    match setting.value.as_ref().map(|v| &v.kind) {
        Some(ExprKind::Literal(Literal::UInt(number))) => Some(*number),
        Some(ExprKind::Literal(Literal::Bool(flag))) => Some(u64::from(*flag)),
        _ => None,
    }
}

/// The keys; without ORDER BY rows are sorted by the primary key.
fn keys(create: &CreateTable) -> Result<Keys> {
    let storage = &create.storage;
    let items = storage.order_by.as_deref().unwrap_or_default();
    if items.iter().any(|i| i.descending) {
        return Err(Error::not_implemented(
            "ORDER BY … DESC of a MergeTree table",
        ));
    }
    let mut sorting: Vec<Expr> = items.iter().flat_map(|i| elements(&i.expr)).collect();
    let primary = storage.primary_key.as_ref().map(elements);
    if let (None, Some(primary)) = (&storage.order_by, &primary) {
        sorting.clone_from(primary);
    }
    let primary = primary.unwrap_or_else(|| sorting.clone());
    let texts: Vec<String> = sorting.iter().map(basalt_parser::format_expr).collect();
    for (i, key) in primary.iter().enumerate() {
        let text = basalt_parser::format_expr(key);
        if texts.get(i) != Some(&text) {
            let found = texts.get(i).map_or("missing", String::as_str);
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Primary key must be a prefix of the sorting key, but the column in the \
                     position {i} is {found}, not {text}"
                ),
            ));
        }
    }
    for (i, text) in texts.iter().enumerate() {
        if texts[..i].contains(text) {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Remove one of them: the key has {text} twice"),
            ));
        }
        if column_names(&sorting[i]).is_empty() {
            return Err(Error::new(
                ErrorCode::ILLEGAL_COLUMN,
                format!("Sorting key cannot contain constants: {text}"),
            ));
        }
    }
    Ok(Keys {
        partition: storage.partition_by.iter().flat_map(elements).collect(),
        partition_by: storage.partition_by.clone(),
        sorting,
        primary,
    })
}

/// The elements of a tuple, or the expression alone.
fn elements(expr: &Expr) -> Vec<Expr> {
    match &expr.kind {
        ExprKind::Tuple(items) => items.clone(),
        ExprKind::Function(f) if f.name == "tuple" => f.args.clone(),
        _ => vec![expr.clone()],
    }
}

fn computed_column(
    session: &Session,
    query: &RunningQuery<'_>,
    columns: &[ColumnDefinition],
    expr: &Expr,
) -> Result<Computed> {
    let environment = session.environment(query);
    let text = String::from_utf8_lossy(query.text);
    let name = format!("key {}", basalt_parser::format_expr(expr));
    let known = columns.iter().map(|c| DeclaredColumn {
        name: &c.column.name,
        data_type: Some(&c.column.data_type),
        default: c.default.as_ref().and_then(|d| d.expr.as_ref()),
        is_new: false,
    });
    let new = DeclaredColumn {
        name: &name,
        data_type: None,
        default: Some(expr),
        is_new: true,
    };
    let declared: Vec<_> = known.chain([new]).collect();
    let types = Analyzer::new(&environment, &text).types_of_columns(&declared)?;
    let data_type = types.last().cloned();
    let data_type = data_type.ok_or_else(|| Error::bug("a key without type"))?;
    Layout::check_type(&data_type)?;
    Ok(Computed {
        name,
        data_type,
        expr: expr.clone(),
    })
}

fn check_key_types(create: &CreateTable, layout: &Layout) -> Result<()> {
    let settings = &create.storage.settings;
    let allows_null = settings
        .iter()
        .any(|s| s.name == "allow_nullable_key" && number(s) == Some(1));
    let column = |c: &usize| &layout.columns[*c];
    let mut keys = layout.sorting_key.iter().chain(&layout.partition_key);
    if !allows_null && keys.any(|c| column(c).data_type.is_nullable()) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            "Add SETTINGS allow_nullable_key = 1: the key contains nullable columns",
        ));
    }
    let mut partition = layout.partition_key.iter().map(column);
    match partition.find(|c| c.data_type.is_float()) {
        None => Ok(()),
        Some(c) => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Floating point partition key is not supported: {}", c.name),
        )),
    }
}

/// The codec that a column's CODEC names.
fn codec(column: &ColumnDefinition) -> Result<ColumnCodec> {
    let steps = steps(&column.codec);
    if steps.is_empty() || steps == ["Default"] {
        return Ok(ColumnCodec::Auto);
    }
    let named = steps.iter().map(|step| match step.as_str() {
        "Default" => "LZ4",
        step => step,
    });
    let chain = Chain::parse(&named.collect::<Vec<_>>().join(", "));
    let chain = chain.map_err(|e| Error::not_implemented(format!("{}: {e}", column.codec)))?;
    let data_type = &column.column.data_type;
    if chain.transform.is_some() && data_type.fixed_size_bytes().is_none() {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Codec {} is not applicable for {data_type} because the data type is not of fixed \
                 size",
                steps[0]
            ),
        ));
    }
    Ok(ColumnCodec::Fixed(chain))
}

/// The steps of `CODEC(…)`.
fn steps(codec: &str) -> Vec<String> {
    let list = codec
        .strip_prefix("CODEC(")
        .and_then(|c| c.strip_suffix(')'));
    let steps = list.into_iter().flat_map(|l| l.split(','));
    steps.map(|s| s.trim().to_owned()).collect()
}

/// `CODEC(…)` with the arguments that ClickHouse adds.
pub(super) fn full_codec(column: &ColumnDefinition) -> String {
    let width = column.column.data_type.fixed_size_bytes();
    let full = |step: String| match (step.as_str(), width) {
        ("Delta", Some(width)) => format!("{step}({width})"),
        ("ZSTD", _) => "ZSTD(1)".to_owned(),
        ("LZ4HC", _) => "LZ4HC(9)".to_owned(),
        _ => step,
    };
    let steps: Vec<String> = steps(&column.codec).into_iter().map(full).collect();
    match steps.is_empty() {
        true => String::new(),
        false => format!("CODEC({})", steps.join(", ")),
    }
}

/// `CODEC(…)` as SHOW CREATE has it.
pub(super) fn shown_codec(column: &ColumnDefinition) -> Option<Vec<Expr>> {
    let steps = steps(&column.codec);
    let parsed = query::parse_query(&format!("SELECT {}", steps.join(", "))).ok()?;
    match parsed.body {
        ast::SetExpr::Select(select) if !steps.is_empty() => Some(select.columns),
        _ => None,
    }
}

/// Writes out what the statement leaves to the engine.
pub(super) fn complete(create: &mut CreateTable) {
    let storage = &mut create.storage;
    create.uuid = None;
    if storage.order_by.is_none() {
        let nothing = Expr::new(ExprKind::Tuple(Vec::new()), ast::Span::default());
        let expr = storage.primary_key.clone().unwrap_or(nothing);
        storage.order_by = Some(vec![ast::OrderItem {
            expr,
            descending: false,
            nulls_first: None,
            collate: None,
            with_fill: None,
        }]);
    }
    if !storage
        .settings
        .iter()
        .any(|s| s.name == "index_granularity")
    {
        let value = ExprKind::Literal(Literal::UInt(8192));
        storage.settings.push(ast::Setting {
            name: "index_granularity".to_owned(),
            value: Some(Expr::new(value, ast::Span::default())),
            span: ast::Span::default(),
        });
    }
}

/// `OPTIMIZE TABLE`
pub(super) fn optimize(session: &Session, optimize: &Optimize) -> Result<Summary> {
    let table = session.find_table(&optimize.table)?;
    let Some(on_disk) = table.merge_tree() else {
        return Err(Error::not_implemented(format!(
            "OPTIMIZE of a table with engine {}",
            table.engine.name()
        )));
    };
    let unknown = [
        ("ON CLUSTER", optimize.cluster.is_some()),
        ("PARTITION", optimize.partition.is_some()),
        ("DEDUPLICATE", optimize.deduplicate),
        ("CLEANUP", optimize.cleanup),
    ];
    if let Some((clause, _)) = unknown.into_iter().find(|(_, is_there)| *is_there) {
        return Err(Error::not_implemented(format!("OPTIMIZE with {clause}")));
    }
    on_disk.storage.merge(optimize.final_)?;
    Ok(Summary::default())
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn steps_are_read_from_a_codec() {
        assert_eq!(steps("CODEC(Delta, ZSTD(3))"), ["Delta", "ZSTD(3)"]);
        assert!(steps("").is_empty());
    }
}
