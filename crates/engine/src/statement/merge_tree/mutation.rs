//! Runs UPDATE and DELETE of tables on disk: parts are written anew, columns that stay are shared; or parts get a mask.

use std::cell::RefCell;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::UInt8Type;
use basalt_analyzer::{TargetColumn, column_names};
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, DefaultKind, Expr, Literal, ObjectName};
use basalt_storage::Part;
use basalt_storage::merge_tree::{ColumnSource, PartChange};
use basalt_types::DataType;

use super::group_rows::{Changed, ValuesAhead, Wanted};
use super::made::Made;
use super::matching::Matching;
use super::partition::partition_id;
use crate::catalog::Table;
use crate::merge_tree::{Computed, MergeTreeTable};
use crate::session::{RunningQuery, Session};
use crate::statement::alter;
use crate::statement::alter::rows::planned_over;
use crate::statement::columns::stored;
use crate::statement::insert::column_of;

/// What becomes of a part that loses rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::statement) enum Deletion {
    /// It is written anew without them.
    Rewrite,
    /// It keeps its files, and a mask tells which rows are left.
    Mask,
}

/// Takes away the rows that fulfil a condition.
pub(in crate::statement) fn delete(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    (partition, where_): (Option<&ast::Partition>, &Expr),
    deletion: Deletion,
) -> Result<()> {
    let which = (partition, where_);
    check_delete(session, query, (name, table), which, deletion)?;
    let on_disk = on_disk(table)?;
    let partition = meant(session, query, on_disk, partition)?;
    let changed = Changed { name, on_disk };
    let keep = [kept(where_, deletion)];
    let given = ["keep".to_owned()];
    let target = TargetColumn {
        name: "keep",
        data_type: &DataType::UInt8,
        default: None,
    };
    let targets = [target];
    let wanted = Wanted::new(session, table, (&given, &keep), &targets);
    let matching = Matching::of(session, query, (name, table), where_);
    on_disk.logged(
        command_text("DELETE", partition.as_deref(), where_),
        |on_disk| {
            on_disk.storage.mutate(partition.as_deref(), &mut |part| {
                let place = (part.as_ref(), matching.groups(on_disk, part));
                let masks = kept_rows(session, query, (&changed, &wanted), place)?;
                // A part that loses nothing gets another name alone.
                if deletion == Deletion::Mask || masks.iter().all(Option::is_none) {
                    return Ok(PartChange::Mask(masks));
                }
                let part = Arc::clone(part);
                Ok(PartChange::Filter(Box::new(move |group| {
                    let all = || BooleanBuffer::new_set(part.metadata().group_rows[group] as usize);
                    Ok(masks[group].clone().unwrap_or_else(all).into())
                })))
            })
        },
    )
}

/// Which rows of each group of a part stay; all of a group if none, as of those that are not among `groups`.
fn kept_rows(
    session: &mut Session,
    query: &RunningQuery<'_>,
    changed_and_wanted: (&Changed<'_>, &Wanted<'_>),
    (part, groups): (&Part, Vec<usize>),
) -> Result<Vec<Option<BooleanBuffer>>> {
    let mut masks = vec![None; part.metadata().group_rows.len()];
    let mut ahead = ValuesAhead::of(groups.iter().copied());
    for group in groups {
        let values = ahead.next(session, query, changed_and_wanted, part)?;
        let flags = values[0].as_primitive::<UInt8Type>().values();
        let mask = BooleanBuffer::collect_bool(flags.len(), |row| flags[row] != 0);
        masks[group] = Some(mask).filter(|mask| mask.count_set_bits() < mask.len());
    }
    Ok(masks)
}

/// Finds what is wrong with a [`delete`] of a table with such a definition.
pub(super) fn check_delete(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    (partition, where_): (Option<&ast::Partition>, &Expr),
    deletion: Deletion,
) -> Result<()> {
    meant(session, query, on_disk(table)?, partition)?;
    let keep = kept(where_, deletion);
    planned_over(session, query, (name, &table.columns), vec![keep])
}

/// `APPLY DELETED MASK`: writes the parts anew of which rows were deleted; `REWRITE PARTS`: all.
pub(super) fn rewrite(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    (words, partition): (&str, Option<&ast::Partition>),
) -> Result<()> {
    let on_disk = on_disk(table)?;
    let partition = meant(session, query, on_disk, partition)?;
    let is_meant = |part: &Part| match words {
        "APPLY DELETED MASK" => !part.metadata().kept.is_all(),
        // UPDATE leaves no patches.
        "APPLY PATCHES" => false,
        _ => true,
    };
    let within = partition
        .as_deref()
        .map(|p| format!(" IN PARTITION ID '{p}'"));
    on_disk.logged(
        format!("({words}{})", within.unwrap_or_default()),
        |on_disk| {
            on_disk.storage.mutate(partition.as_deref(), &mut |part| {
                if !is_meant(part) {
                    return Ok(PartChange::Keep);
                }
                let part = Arc::clone(part);
                Ok(PartChange::Filter(Box::new(move |group| {
                    let num_rows = part.metadata().group_rows[group] as usize;
                    Ok(BooleanBuffer::new_set(num_rows).into())
                })))
            })
        },
    )
}

/// Finds what is wrong with a [`rewrite`].
pub(super) fn check_rewrite(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    partition: Option<&ast::Partition>,
) -> Result<()> {
    meant(session, query, on_disk(table)?, partition).map(|_| ())
}

/// Whether a row stays. As in ClickHouse, any number is a condition of ALTER TABLE, and for DELETE FROM it must be a
/// truth value: `WHERE id` is more likely to be unfinished.
fn kept(where_: &Expr, deletion: Deletion) -> Expr {
    let condition = where_.clone().or_false();
    let [no, yes] = [0, 1].map(|flag| Expr::literal(Literal::UInt(flag)));
    let keep = match deletion {
        Deletion::Rewrite => Expr::call("not", vec![condition]),
        Deletion::Mask => Expr::call("if", vec![condition, no, yes]),
    };
    keep.at(where_.span)
}

/// Finds what is wrong with an [`update`] of a table with such a definition.
pub(super) fn check_update(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    assignments: &[(String, Expr)],
    (partition, where_): (Option<&ast::Partition>, &Expr),
) -> Result<()> {
    let on_disk = on_disk(table)?;
    check_assignments(table, on_disk, assignments)?;
    meant(session, query, on_disk, partition)?;
    let exprs = alter::updated(table, assignments, where_)?;
    planned_over(session, query, (name, &table.columns), exprs)
}

/// Gives columns other values in the rows that fulfil a condition.
pub(in crate::statement) fn update(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    assignments: &[(String, Expr)],
    (partition, where_): (Option<&ast::Partition>, &Expr),
) -> Result<()> {
    check_update(
        session,
        query,
        (name, table),
        assignments,
        (partition, where_),
    )?;
    let on_disk = on_disk(table)?;
    let partition = meant(session, query, on_disk, partition)?;
    let values = alter::updated(table, assignments, where_)?;
    let stored = alter::columns_of(table).map(|c| c.column.name.clone());
    let is_new = is_changed(table, on_disk, assignments);
    let made = Made::new(
        targets(table, on_disk),
        &is_new,
        stored.zip(values).collect(),
    );
    let wanted = made.wanted(session, table);
    let changed = Changed { name, on_disk };
    let text = update_text(assignments, partition.as_deref(), where_);
    let session = RefCell::new(session);
    let (session, changed, wanted, is_new) = (&session, &changed, &wanted, &is_new);
    let made = &made;
    on_disk.logged(text, |on_disk| {
        on_disk.storage.mutate(partition.as_deref(), &mut |part| {
            let source = |(i, is_new): (usize, &bool)| match is_new {
                true => ColumnSource::New,
                false => ColumnSource::Same(i),
            };
            let sources = is_new.iter().enumerate().map(source).collect();
            let part = Arc::clone(part);
            let mut ahead = ValuesAhead::of_all(&part);
            let values = move |_| {
                let mut session = session.borrow_mut();
                let values = ahead.next(&mut session, query, (changed, wanted), &part)?;
                Ok(made.new_ones(values))
            };
            Ok(PartChange::Columns(sources, Box::new(values)))
        })
    })
}

pub(super) fn on_disk(table: &Table) -> Result<&MergeTreeTable> {
    let on_disk = table.merge_tree().map(AsRef::as_ref);
    on_disk.ok_or_else(|| Error::bug("a mutation of a table that has no parts"))
}

fn meant(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &MergeTreeTable,
    partition: Option<&ast::Partition>,
) -> Result<Option<String>> {
    match partition {
        Some(partition) => partition_id(session, query, table, partition),
        None => Ok(None),
    }
}

/// All columns that a part has, as an insert makes them.
pub(super) fn targets<'t>(table: &'t Table, on_disk: &'t MergeTreeTable) -> Vec<TargetColumn<'t>> {
    let computed = on_disk.computed.iter().map(|c| TargetColumn {
        name: &c.name,
        data_type: &c.data_type,
        default: Some(&c.expr),
    });
    let stored = stored(&table.columns).map(|c| TargetColumn {
        name: &c.column.name,
        data_type: &c.column.data_type,
        default: c.default.as_ref().and_then(|d| d.expr.as_ref()),
    });
    stored.chain(computed).collect()
}

/// The columns that get other values: those that are assigned, and what is computed from them.
fn changed_names(table: &Table, assignments: &[(String, Expr)]) -> Vec<String> {
    let mut names: Vec<String> = assignments.iter().map(|(name, _)| name.clone()).collect();
    // Columns that are computed from columns that are computed come behind them or before.
    for _ in 0..table.columns.len() {
        for column in &table.columns {
            let default = column.default.as_ref();
            let computed = default.filter(|d| d.kind != DefaultKind::Default);
            let expr = computed.and_then(|d| d.expr.as_ref());
            if expr.is_some_and(|e| uses(e, &names)) && !names.contains(&column.column.name) {
                names.push(column.column.name.clone());
            }
        }
    }
    names
}

fn uses(expr: &Expr, names: &[String]) -> bool {
    let used = column_names(expr);
    used.iter().any(|used| names.contains(used))
}

/// Which columns of a part get other values.
fn is_changed(
    table: &Table,
    on_disk: &MergeTreeTable,
    assignments: &[(String, Expr)],
) -> Vec<bool> {
    let names = changed_names(table, assignments);
    let stored = stored(&table.columns).map(|c| names.contains(&c.column.name));
    let computed = on_disk.computed.iter();
    stored
        .chain(computed.map(|c: &Computed| uses(&c.expr, &names)))
        .collect()
}

fn check_assignments(
    table: &Table,
    on_disk: &MergeTreeTable,
    assignments: &[(String, Expr)],
) -> Result<()> {
    let cannot = |what: &str, name: &str| {
        let message = format!("Leave it out: cannot UPDATE {what} column `{name}`");
        Err(Error::new(ErrorCode::CANNOT_UPDATE_COLUMN, message))
    };
    for (i, (name, _)) in assignments.iter().enumerate() {
        let column = column_of(table, name)?;
        if on_disk.is_key(name) {
            return cannot("key", name);
        }
        match column.default.as_ref().map(|d| d.kind) {
            Some(DefaultKind::Materialized) => return cannot("materialized", name),
            Some(DefaultKind::Alias) => return cannot("alias", name),
            _ => {}
        }
        if assignments[..i].iter().any(|(other, _)| other == name) {
            return Err(Error::new(
                ErrorCode::MULTIPLE_ASSIGNMENTS_TO_COLUMN,
                format!("Remove one of them: column `{name}` is assigned twice"),
            ));
        }
    }
    let mut computed = changed_names(table, assignments).into_iter();
    match computed.find(|name| on_disk.is_key(name)) {
        Some(name) => cannot("what is computed into key", &name),
        None => Ok(()),
    }
}

fn command_text(what: &str, partition: Option<&str>, where_: &Expr) -> String {
    let partition = partition.map(|p| format!(" IN PARTITION ID '{p}'"));
    format!(
        "({what}{} WHERE {})",
        partition.unwrap_or_default(),
        basalt_parser::format_expr(where_)
    )
}

fn update_text(assignments: &[(String, Expr)], partition: Option<&str>, where_: &Expr) -> String {
    let assigned = assignments.iter();
    let assigned = assigned.map(|(n, e)| format!("{n} = {}", basalt_parser::format_expr(e)));
    let what = format!("UPDATE {}", assigned.collect::<Vec<_>>().join(", "));
    command_text(&what, partition, where_)
}
