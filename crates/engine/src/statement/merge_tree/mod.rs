//! Makes the tables of the engine MergeTree and its kin.
//!
//! | module | owns |
//! |---|---|
//! | [`kind`] | ReplacingMergeTree and the others, with their arguments |
//! | [`keys`] | PARTITION BY, ORDER BY, PRIMARY KEY |
//! | [`purity`] | what has not one value for a row |
//! | [`codec`] | CODEC |
//! | [`indexes`] | INDEX |
//! | [`options`] | SETTINGS |
//! | [`ttl`] | TTL |
//! | [`partition`] | partitions as statements name them |
//! | [`alter`] | steps of ALTER TABLE |
//! | [`alter_columns`] | tables that get other columns |
//! | [`mutation`] | UPDATE and DELETE |
//! | [`made`] | what must be evaluated for new columns |
//! | [`group_rows`] | expressions over the rows of a part |
//! | [`matching`] | which groups of rows a condition may hold for |
//! | [`optimize`] | OPTIMIZE, SYSTEM STOP MERGES |

mod alter;
mod alter_columns;
mod codec;
mod group_rows;
mod indexes;
mod keys;
mod kind;
mod made;
mod matching;
mod mutation;
mod optimize;
mod options;
mod partition;
mod purity;
mod ttl;

use std::sync::Arc;
use std::time::Duration;

use basalt_error::{Error, Result};
use basalt_parser::ast::{self, CreateTable, Expr, ExprKind, Literal, Span};
use basalt_storage::{ColumnCodec, Layout, MergeTree, Options, StoredColumn};

pub(super) use alter::{alter, check_alter, checked};
pub(super) use codec::{full_codec, shown_codec};
pub(super) use mutation::{Deletion, delete};
pub(super) use optimize::{merges, optimize};

use super::columns::stored;
use super::table_folder::TableFolder;
use crate::catalog::{ColumnDefinition, Engine};
use crate::merge_tree::{MergeTreeTable, Mutations};
use crate::session::{RunningQuery, Session};
use kind::Kind;

/// Names of the engines of tables on disk.
pub(super) fn engine_names() -> impl Iterator<Item = &'static str> {
    Kind::ALL.into_iter().map(Kind::name)
}

/// Whether a statement asks for a MergeTree table; without an engine it does if it names a key, or rows can outlive the
/// process.
pub(super) fn is_wanted(session: &Session, create: &CreateTable) -> bool {
    let storage = &create.storage;
    let is_kept = session.database.store.is_some() && !create.temporary;
    match &storage.engine {
        Some(engine) => Kind::parse(&engine.name).is_some(),
        None => is_kept || storage.order_by.is_some() || storage.primary_key.is_some(),
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
    let places = Places::of(create);
    purity::check(session, create).map_err(|e| query.placed(e, places.sorting_key))?;
    let options = options::options(query, &create.storage.settings)?;
    let kind = Kind::of(create);
    let keys = keys::keys(create).map_err(|e| query.placed(e, places.primary_key))?;
    let mut layout = Layout::default();
    for column in stored(columns) {
        let data_type = column.column.data_type.clone();
        Layout::check_type(&data_type)?;
        layout.columns.push(StoredColumn {
            name: column.column.name.clone(),
            codec: codec::codec(column)?,
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
        let column = keys::computed_column(session, query, columns, expr)?;
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
    let ttl = ttl::exprs(&create.storage.ttl)?;
    let ttl = ttl.iter().map(&mut place).collect::<Result<Vec<_>>>()?;
    (layout.sorting_key, layout.partition_key) = (sorting_key, partition_key);
    ttl::check(&layout, &ttl).map_err(|e| query.placed(e, places.ttl))?;
    layout.ttl = ttl;
    let declared = create.schema.as_ref().map(|s| s.indexes.as_slice());
    layout.indexes = indexes::indexes(query, declared.unwrap_or_default(), &layout)?;
    keys::check_key_types(create, &layout).map_err(|e| query.placed(e, places.sorting_key))?;
    layout.combine = kind::combine(kind, create, columns, &layout)?;
    let (uuid, storage) = storage(session, create, layout, options)?;
    Ok(Engine::MergeTree(Arc::new(MergeTreeTable {
        storage,
        uuid,
        kind: kind.name(),
        computed,
        keys,
        mutations: Mutations::default(),
        queue: Arc::default(),
    })))
}

/// Where the clauses of a table stand in the text.
#[derive(Default)]
struct Places {
    sorting_key: Span,
    primary_key: Span,
    ttl: Span,
}

impl Places {
    fn of(create: &CreateTable) -> Self {
        let storage = &create.storage;
        let sorting_key = storage.order_by.iter().flatten().next();
        let sorting_key = sorting_key.map_or_else(Span::default, |item| item.expr.span);
        let primary_key = storage.primary_key.as_ref().map(|e| e.span);
        let ttl = storage.ttl.first().map(|item| item.expr.span);
        Self {
            sorting_key,
            primary_key: primary_key.unwrap_or(sorting_key),
            ttl: ttl.unwrap_or_default(),
        }
    }
}

/// The place of the table's parts.
fn storage(
    session: &Session,
    create: &CreateTable,
    layout: Layout,
    options: Options,
) -> Result<(String, Arc<MergeTree>)> {
    let database = &session.database;
    let folder = TableFolder::of(session, create)?;
    let new = |options: Options| {
        let table = MergeTree::new(folder.path, layout).with_options(options);
        table.with_cache(&database.blocks)
    };
    let table = match folder.temporary {
        None => new(options),
        Some(temporary) => {
            // No other process reads it.
            let options = Options {
                old_parts_lifetime: Duration::ZERO,
                ..options
            };
            new(options).keeping(temporary)
        }
    };
    let table = Arc::new(table);
    table.merged_by(&database.merges);
    if folder.is_owned {
        table.own();
    }
    // Its folder goes with it, unless the table gets into the catalog.
    table.set_removed(!session.loads_definitions);
    Ok((folder.uuid, table))
}

fn check_clauses(create: &CreateTable) -> Result<()> {
    let storage = &create.storage;
    let schema = create.schema.as_ref();
    let columns = || schema.into_iter().flat_map(|s| &s.columns);
    let unknown = [
        ("UNIQUE KEY", storage.unique_key.is_some()),
        ("SAMPLE BY", storage.sample_by.is_some()),
        ("TTL of a column", columns().any(|c| c.ttl.is_some())),
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

/// Writes out what the statement leaves to the engine.
pub(super) fn complete(create: &mut CreateTable) {
    let storage = &mut create.storage;
    if storage.order_by.is_none() {
        let nothing = Expr::new(ExprKind::Tuple(Vec::new()), Span::default());
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
        storage.settings.push(ast::Setting {
            is_flag: false,
            name: "index_granularity".to_owned(),
            value: Some(Expr::literal(Literal::UInt(8192))),
            span: Span::default(),
        });
    }
}
