//! Runs UPDATE and DELETE of tables on disk: parts are written anew, columns that stay are shared.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray};
use arrow::datatypes::UInt8Type;
use basalt_analyzer::{TargetColumn, column_names};
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, DefaultKind, Expr, ObjectName};
use basalt_storage::merge_tree::{ColumnSource, PartChange};
use basalt_types::DataType;

use super::group_rows::{Changed, Wanted, evaluated, may_name};
use super::partition::partition_id;
use crate::catalog::Table;
use crate::merge_tree::{Computed, MergeTreeTable};
use crate::session::{RunningQuery, Session};
use crate::statement::alter;
use crate::statement::alter::rows::planned_over;
use crate::statement::columns::stored;
use crate::statement::insert::column_of;

/// Takes away the rows that fulfil a condition.
pub(in crate::statement) fn delete(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    (partition, where_): (Option<&ast::Partition>, &Expr),
) -> Result<()> {
    check_delete(session, query, (name, table), (partition, where_))?;
    let on_disk = on_disk(table)?;
    let partition = meant(session, query, on_disk, partition)?;
    let changed = Changed { name, on_disk };
    let keep = [kept(where_)];
    let given = ["keep".to_owned()];
    let target = TargetColumn {
        name: "keep",
        data_type: &DataType::UInt8,
        default: None,
    };
    let targets = [target];
    let wanted = Wanted::new(table, (&given, &keep), &targets);
    let num_columns = on_disk.storage.layout().columns.len();
    on_disk.logged(
        command_text("DELETE", partition.as_deref(), where_),
        |on_disk| {
            on_disk.storage.mutate(partition.as_deref(), &mut |part| {
                let mut masks = HashMap::new();
                for group in 0..part.metadata().group_rows.len() {
                    let place = (part.as_ref(), group);
                    let values = evaluated(session, query, &changed, place, &wanted)?;
                    let flags = values[0].as_primitive::<UInt8Type>();
                    let mask: BooleanArray = flags.values().iter().map(|f| Some(*f != 0)).collect();
                    if mask.has_false() {
                        masks.insert(group, mask);
                    }
                }
                if masks.is_empty() {
                    let same = (0..num_columns).map(ColumnSource::Same).collect();
                    return Ok(PartChange::Columns(same, Box::new(|_| Ok(Vec::new()))));
                }
                let part = Arc::clone(part);
                Ok(PartChange::Filter(Box::new(move |group| {
                    let all = || vec![true; part.metadata().group_rows[group] as usize].into();
                    Ok(masks.get(&group).cloned().unwrap_or_else(all))
                })))
            })
        },
    )
}

/// Finds what is wrong with a [`delete`] of a table with such a definition.
pub(super) fn check_delete(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    (partition, where_): (Option<&ast::Partition>, &Expr),
) -> Result<()> {
    meant(session, query, on_disk(table)?, partition)?;
    planned_over(session, query, (name, &table.columns), vec![kept(where_)])
}

/// Whether a row stays.
fn kept(where_: &Expr) -> Expr {
    Expr::call("not", vec![where_.clone().or_false()]).at(where_.span)
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
    let (all, is_new) = (
        targets(table, on_disk),
        is_changed(table, on_disk, assignments),
    );
    let given: Vec<(String, Expr)> = stored.zip(values).collect();
    let is_needed = needed(&all, &is_new, &given);
    let targets = all.into_iter().zip(is_new.iter().copied()).zip(is_needed);
    let targets = targets.filter(|(_, is_needed)| *is_needed);
    let (targets, is_target_new): (Vec<_>, Vec<bool>) = targets.map(|(target, _)| target).unzip();
    let is_target = |name: &str| targets.iter().any(|t| t.name == name);
    let given = given.into_iter().filter(|(name, _)| is_target(name));
    let (given, exprs): (Vec<String>, Vec<Expr>) = given.unzip();
    let wanted = Wanted::new(table, (&given, &exprs), &targets);
    let changed = Changed { name, on_disk };
    let text = update_text(assignments, partition.as_deref(), where_);
    let session = RefCell::new(session);
    let (session, changed, wanted, is_new) = (&session, &changed, &wanted, &is_new);
    let is_target_new = &is_target_new;
    on_disk.logged(text, |on_disk| {
        on_disk.storage.mutate(partition.as_deref(), &mut |part| {
            let source = |(i, is_new): (usize, &bool)| match is_new {
                true => ColumnSource::New,
                false => ColumnSource::Same(i),
            };
            let sources = is_new.iter().enumerate().map(source).collect();
            let part = Arc::clone(part);
            let values = move |group| {
                let place = (part.as_ref(), group);
                let values = evaluated(&mut session.borrow_mut(), query, changed, place, wanted)?;
                let values = values.into_iter().zip(is_target_new);
                Ok(values
                    .filter(|(_, is_new)| **is_new)
                    .map(|(v, _)| v)
                    .collect())
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

/// Which columns must be known to make the new ones: those that they are computed from, if they are not `given`, and the
/// arrays of the same Nested, which are equally long.
fn needed(targets: &[TargetColumn<'_>], is_new: &[bool], given: &[(String, Expr)]) -> Vec<bool> {
    let is_given = |name: &str| given.iter().any(|(given, _)| given == name);
    let nested = |name: &str| name.split_once('.').map(|(nested, _)| nested.to_owned());
    let mut is_needed = is_new.to_vec();
    let mut open: Vec<usize> = (0..targets.len()).filter(|i| is_new[*i]).collect();
    while let Some(i) = open.pop() {
        let target = &targets[i];
        let default = target.default.filter(|_| !is_given(target.name));
        let names = default.map(column_names).unwrap_or_default();
        for (j, other) in targets.iter().enumerate() {
            let is_beside = nested(target.name).is_some_and(|n| nested(other.name) == Some(n));
            let is_used = is_beside || names.iter().any(|name| may_name(name, other.name));
            if is_used && !std::mem::replace(&mut is_needed[j], true) {
                open.push(j);
            }
        }
    }
    is_needed
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
