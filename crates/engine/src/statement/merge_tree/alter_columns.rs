//! Gives a table on disk other columns.
//!
//! The parts go into a new folder, in which columns that stay are links to the files of the old one. The
//! definition with the new folder is what makes the change: a crash leaves the old table or the new one.

use std::cell::RefCell;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{AlterStep, ColumnDef, DefaultKind, Expr, ObjectName};
use basalt_storage::merge_tree::{ColumnSource, NewValues};
use basalt_storage::{Layout, Options};

use super::codec::{full_codec, shown_codec};
use super::group_rows::{Changed, ValuesAhead};
use super::made::Made;
use super::mutation::{on_disk, targets};
use crate::catalog::{ColumnDefinition, Engine, Table};
use crate::definitions;
use crate::merge_tree::MergeTreeTable;
use crate::session::{RunningQuery, Session};
use crate::statement::alter::clauses::changed_statement;
use crate::statement::alter::columns::{Altered, altered_columns};
use crate::statement::alter::{self, comment_of, statement_text};
use crate::statement::columns::check_columns;
use crate::statement::create::shown_column;
use crate::store;

/// A table with the definition that a step makes.
pub(super) struct Prepared {
    pub(super) table: Table,
    on_disk: Arc<MergeTreeTable>,
    columns: Vec<Altered>,
    /// Whether parts stay what they are, and so the folder.
    keeps_parts: bool,
    options: Options,
}

/// Makes the table that is to come into the place of the old one; it has no rows, and nobody knows it.
pub(super) fn prepared(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    step: &[AlterStep],
) -> Result<Prepared> {
    let old = on_disk(table)?;
    let check = |columns: &[Altered]| check_keys(old, table, columns);
    let altered = altered_columns(session, query, table, step, &check)?;
    let mut columns: Vec<ColumnDefinition> = altered.iter().map(|a| a.definition.clone()).collect();
    check_columns(query, &columns, &[])?;
    for column in &mut columns {
        column.codec = full_codec(column);
    }
    let shown = |definition: &ColumnDefinition| ColumnDef {
        codec: shown_codec(definition),
        ..shown_column(definition)
    };
    let create = changed_statement(table, Some(columns.iter().map(shown).collect()), step)?;
    let Engine::MergeTree(new) = super::engine(session, &query.of_other_text(), &create, &columns)?
    else {
        return Err(Error::bug("an ALTER that changed the engine"));
    };
    let keeps_parts = is_same(old.storage.layout(), new.storage.layout(), &altered);
    let (storage, uuid) = match keeps_parts {
        true => (&old.storage, &old.uuid),
        false => (&new.storage, &new.uuid),
    };
    let on_disk = Arc::new(MergeTreeTable {
        storage: Arc::clone(storage),
        uuid: uuid.clone(),
        kind: new.kind,
        computed: new.computed.clone(),
        keys: new.keys.clone(),
        mutations: old.mutations.copied(),
        queue: Arc::clone(&old.queue),
    });
    Ok(Prepared {
        table: Table {
            comment: comment_of(&create),
            create_sql: statement_text(create),
            columns,
            engine: Engine::MergeTree(Arc::clone(&on_disk)),
            is_temporary: table.is_temporary,
        },
        on_disk,
        columns: altered,
        keeps_parts,
        options: new.storage.options(),
    })
}

/// Puts a table with another definition in the place of the old one.
pub(super) fn replace(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    step: &[AlterStep],
) -> Result<()> {
    let new = prepared(session, query, table, step)?;
    let old = on_disk(table)?;
    if new.keeps_parts {
        old.storage.set_options(new.options);
        return alter::put(session, name, new.table);
    }
    take_over(session, query, (name, table, old), &new)?;
    alter::put(session, name, new.table)?;
    new.on_disk.storage.set_removed(false);
    // The old folder goes when no definition names it any more, and no query reads it.
    definitions::save(&session.database)?;
    let is_shared = session.database.store.is_some();
    let lifetime = old.storage.options().old_parts_lifetime;
    match is_shared && !lifetime.is_zero() {
        true => store::retire(old.storage.folder(), lifetime),
        false => old.storage.set_removed(true),
    }
    Ok(())
}

/// Fills the new table's folder.
fn take_over(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table, old): (&ObjectName, &Table, &MergeTreeTable),
    prepared: &Prepared,
) -> Result<()> {
    let (new, altered) = (&prepared.on_disk, &prepared.columns);
    let sources = sources(old.storage.layout(), new.storage.layout(), altered);
    // What is stored keeps its values, also if it becomes MATERIALIZED.
    let was_stored = |from: &str| {
        let layout = old.storage.layout();
        let mut visible = layout.columns[..layout.num_visible].iter();
        visible.any(|column| column.name == from)
    };
    let given = altered.iter().filter(|a| {
        let kind = a.definition.default.as_ref().map(|d| d.kind);
        a.from.as_deref().is_some_and(|from| match kind {
            Some(DefaultKind::Materialized) => was_stored(from),
            Some(DefaultKind::Alias | DefaultKind::Ephemeral) => false,
            _ => true,
        })
    });
    let given = given.map(|a| {
        let column = &a.definition.column;
        let from = Expr::column(a.from.as_deref().unwrap_or_default());
        (column.name.clone(), from.cast(&column.data_type))
    });
    let is_new: Vec<bool> = sources.iter().map(|s| *s == ColumnSource::New).collect();
    let made = Made::new(targets(&prepared.table, new), &is_new, given.collect());
    let wanted = made.wanted(session, table);
    let changed = Changed { name, on_disk: old };
    let session = RefCell::new(session);
    let (session, changed, wanted, made) = (&session, &changed, &wanted, &made);
    new.storage.take_over(&old.storage, &sources, &mut |part| {
        let part = Arc::clone(part);
        let mut ahead = ValuesAhead::of_all(&part);
        let values: NewValues<'_> = Box::new(move |_| {
            let mut session = session.borrow_mut();
            let values = ahead.next(&mut session, query, (changed, wanted), &part)?;
            Ok(made.new_ones(values))
        });
        values
    })
}

/// Where the new table's columns come from.
fn sources(old: &Layout, new: &Layout, altered: &[Altered]) -> Vec<ColumnSource> {
    let place = |name: &str, data_type: &basalt_types::DataType| {
        let mut columns = old.columns.iter();
        columns.position(|c| c.name == name && c.data_type == *data_type)
    };
    let source = |(i, column): (usize, &basalt_storage::StoredColumn)| {
        let from = match i < new.num_visible {
            true => {
                let mut all = altered.iter();
                let found = all.find(|a| a.definition.column.name == column.name);
                found.and_then(|a| a.from.as_deref())
            }
            false => Some(column.name.as_str()),
        };
        match from.and_then(|from| place(from, &column.data_type)) {
            Some(place) => ColumnSource::Same(place),
            None => ColumnSource::New,
        }
    };
    new.columns.iter().enumerate().map(source).collect()
}

/// Whether parts of the one table are parts of the other.
fn is_same(old: &Layout, new: &Layout, altered: &[Altered]) -> bool {
    let in_place = sources(old, new, altered)
        .into_iter()
        .enumerate()
        .all(|(i, source)| source == ColumnSource::Same(i));
    let described = |layout: &Layout| {
        let columns = layout.columns.iter();
        columns
            .map(|c| (c.name.clone(), c.codec))
            .collect::<Vec<_>>()
    };
    in_place && described(old) == described(new) && old.ttl == new.ttl && old.indexes == new.indexes
}

/// Refuses changes of columns that keys use.
fn check_keys(old: &MergeTreeTable, table: &Table, altered: &[Altered]) -> Result<()> {
    for column in &table.columns {
        let name = &column.column.name;
        let stays = altered.iter().any(|a| {
            a.from.as_ref() == Some(name)
                && a.definition.column.name == *name
                && a.definition.column.data_type == column.column.data_type
        });
        if !stays && old.is_key(name) {
            return Err(Error::new(
                ErrorCode::ALTER_OF_COLUMN_IS_FORBIDDEN,
                format!("Leave it as it is: column `{name}` is part of a key expression"),
            ));
        }
    }
    Ok(())
}
