//! Gives a table on disk other columns.
//!
//! The parts go into a new folder, in which columns that stay are links to the files of the old one. The
//! definition with the new folder is what makes the change: a crash leaves the old table or the new one.

use std::cell::RefCell;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, DefaultKind, Expr, ObjectName, Statement};
use basalt_storage::Layout;
use basalt_storage::merge_tree::{ColumnSource, NewValues};

use super::codec::{full_codec, shown_codec};
use super::group_rows::{Changed, Wanted, evaluated};
use super::mutation::targets;
use crate::catalog::{ColumnDefinition, Engine, Table};
use crate::definitions;
use crate::merge_tree::MergeTreeTable;
use crate::session::{RunningQuery, Session};
use crate::statement::alter;
use crate::statement::altered_columns::Altered;
use crate::statement::columns::check_columns;
use crate::statement::create::shown_column;
use crate::store;

/// Puts a table with other columns, and what `change` makes of its statement, in the place of the old one.
pub(in crate::statement) fn replace(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    altered: Vec<Altered>,
    change: &dyn Fn(&mut ast::CreateTable),
) -> Result<()> {
    let old = table.merge_tree().map(Arc::clone);
    let old = old.ok_or_else(|| Error::bug("an ALTER of a table that has no parts"))?;
    check_keys(&old, table, &altered)?;
    let mut columns: Vec<ColumnDefinition> = altered.iter().map(|a| a.definition.clone()).collect();
    check_columns(query, &columns, &[])?;
    for column in &mut columns {
        column.codec = full_codec(column);
    }
    let create = changed_statement(table, &columns, change)?;
    let Engine::MergeTree(new) = super::engine(session, &query.of_other_text(), &create, &columns)?
    else {
        return Err(Error::bug("an ALTER that changed the engine"));
    };
    let changed_table = Table {
        create_sql: basalt_parser::format_statement(&Statement::CreateTable(Box::new(create))),
        columns,
        ..table.clone()
    };
    if is_same(old.storage.layout(), new.storage.layout(), &altered) {
        // No part changes: the folder stays.
        let kept = MergeTreeTable {
            storage: Arc::clone(&old.storage),
            uuid: old.uuid.clone(),
            kind: new.kind,
            computed: new.computed.clone(),
            keys: new.keys.clone(),
            mutations: old.mutations.copied(),
            queue: Arc::clone(&old.queue),
        };
        old.storage.set_options(new.storage.options());
        let changed_table = Table {
            engine: Engine::MergeTree(Arc::new(kept)),
            ..changed_table
        };
        return alter::put(session, name, changed_table);
    }
    let new = Arc::new(MergeTreeTable {
        mutations: old.mutations.copied(),
        queue: Arc::clone(&old.queue),
        storage: Arc::clone(&new.storage),
        uuid: new.uuid.clone(),
        kind: new.kind,
        computed: new.computed.clone(),
        keys: new.keys.clone(),
    });
    let changed_table = Table {
        engine: Engine::MergeTree(Arc::clone(&new)),
        ..changed_table
    };
    let (from, to) = ((name, table, &*old), (&changed_table, &*new));
    take_over(session, query, from, to, &altered)?;
    alter::put(session, name, changed_table)?;
    new.storage.set_removed(false);
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
    (new_table, new): (&Table, &MergeTreeTable),
    altered: &[Altered],
) -> Result<()> {
    let sources = sources(old.storage.layout(), new.storage.layout(), altered);
    let given = altered.iter().filter(|a| {
        let kind = a.definition.default.as_ref().map(|d| d.kind);
        let is_base = !matches!(
            kind,
            Some(DefaultKind::Materialized | DefaultKind::Alias | DefaultKind::Ephemeral)
        );
        is_base && a.from.is_some()
    });
    let (given, exprs): (Vec<String>, Vec<_>) = given
        .map(|a| {
            let column = &a.definition.column;
            let from = Expr::column(a.from.as_deref().unwrap_or_default());
            (column.name.clone(), from.cast(&column.data_type))
        })
        .unzip();
    let targets = targets(new_table, new);
    let wanted = Wanted {
        exprs: &exprs,
        given: &given,
        targets: &targets,
    };
    let changed = Changed {
        name,
        table,
        on_disk: old,
    };
    let session = RefCell::new(session);
    let (session, changed, wanted, new_ones) = (&session, &changed, &wanted, &sources);
    new.storage.take_over(&old.storage, &sources, &mut |part| {
        let part = Arc::clone(part);
        let values: NewValues<'_> = Box::new(move |group| {
            let place = (part.as_ref(), group);
            let values = evaluated(&mut session.borrow_mut(), query, changed, place, wanted)?;
            let values = values.into_iter().zip(new_ones);
            let values = values.filter(|(_, source)| **source == ColumnSource::New);
            Ok(values.map(|(values, _)| values).collect())
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

/// The statement that makes the table with these columns.
fn changed_statement(
    table: &Table,
    columns: &[ColumnDefinition],
    change: &dyn Fn(&mut ast::CreateTable),
) -> Result<ast::CreateTable> {
    let statement = basalt_parser::parse_statement(&table.create_sql)?.statement;
    let Statement::CreateTable(mut create) = statement else {
        return Err(Error::bug("a table that no CREATE TABLE has made"));
    };
    let shown = |definition: &ColumnDefinition| ast::ColumnDef {
        codec: shown_codec(definition),
        ..shown_column(definition)
    };
    let mut schema = create.schema.take().unwrap_or_default();
    schema.columns = columns.iter().map(shown).collect();
    create.schema = Some(schema);
    change(&mut create);
    Ok(*create)
}
