//! Evaluates expressions over groups of rows of a part, in the order of its rows.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{Schema, UInt64Type};
use basalt_analyzer::{TableColumn, TargetColumn, column_names, may_use_others};
use basalt_error::{Error, Result};
use basalt_parser::ast::{DefaultKind, Expr, ObjectName};
use basalt_storage::{MemoryTable, Part};
use basalt_types::DataType;

use crate::catalog::{ColumnDefinition, Table};
use crate::merge_tree::MergeTreeTable;
use crate::session::{RunningQuery, Session};
use crate::statement::alter::rows::with_rows;
use crate::statement::nested::NestedColumns;
use crate::statement::{alter, query};

/// Bytes of the columns of groups that are evaluated at once, about, and the most of those groups.
const EVALUATED_BYTES: u64 = 64 << 20;
const MAX_EVALUATED: usize = 16;

/// The column that numbers them.
const NUMBER: &str = "number of a row";

/// A table whose parts are changed.
pub(super) struct Changed<'a> {
    pub(super) name: &'a ObjectName,
    pub(super) on_disk: &'a MergeTreeTable,
}

/// What is to be evaluated: expressions over the table's columns, whose values are those of the columns
/// `given`; from them follow the targets.
pub(super) struct Wanted<'a> {
    exprs: &'a [Expr],
    given: &'a [String],
    targets: &'a [TargetColumn<'a>],
    /// The table's columns that the expressions may use.
    used: Vec<ColumnDefinition>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(
        session: &Session,
        table: &Table,
        (given, exprs): (&'a [String], &'a [Expr]),
        targets: &'a [TargetColumn<'a>],
    ) -> Self {
        Self {
            exprs,
            given,
            targets,
            used: used_columns(session, table, exprs),
        }
    }
}

/// The columns of a table that some expressions may use.
fn used_columns(session: &Session, table: &Table, exprs: &[Expr]) -> Vec<ColumnDefinition> {
    let alias = |column: &ColumnDefinition| {
        let default = column.default.as_ref();
        let default = default.filter(|d| d.kind == DefaultKind::Alias);
        default.and_then(|d| d.expr.clone())
    };
    let mut open = exprs.to_vec();
    let mut used = vec![false; table.columns.len()];
    while let Some(expr) = open.pop() {
        if may_use_others(&expr, &|name| is_users(session, name)) {
            return table.columns.clone();
        }
        let names = column_names(&expr);
        for (column, used) in table.columns.iter().zip(&mut used) {
            let is_named = names.iter().any(|name| may_name(name, &column.column.name));
            if is_named && !std::mem::replace(used, true) {
                open.extend(alias(column));
            }
        }
    }
    let columns = table.columns.iter().zip(used);
    let columns = columns.filter(|(_, is_used)| *is_used);
    columns.map(|(column, _)| column.clone()).collect()
}

/// Whether a function is one that a user has made.
pub(super) fn is_users(session: &Session, function: &str) -> bool {
    session.database.sql_functions.read().contains_key(function)
}

/// Whether a name in an expression may mean a column, a part of it, or several columns with it.
pub(super) fn may_name(name: &str, column: &str) -> bool {
    let [name, column] = [name, column].map(|text| format!(".{text}."));
    name.contains(&column) || column.contains(&name)
}

/// Values for one group of a part after the other; some groups are evaluated ahead.
pub(super) struct ValuesAhead {
    /// Groups that are still to be evaluated.
    groups: VecDeque<usize>,
    values: VecDeque<Vec<ArrayRef>>,
}

impl ValuesAhead {
    /// Of these groups, in this order.
    pub(super) fn of(groups: impl IntoIterator<Item = usize>) -> Self {
        Self {
            groups: groups.into_iter().collect(),
            values: VecDeque::new(),
        }
    }

    /// Of all groups of a part.
    pub(super) fn of_all(part: &Part) -> Self {
        Self::of(0..part.metadata().group_rows.len())
    }

    /// The values of the targets for the rows of the next group.
    pub(super) fn next(
        &mut self,
        session: &mut Session,
        query: &RunningQuery<'_>,
        (changed, wanted): (&Changed<'_>, &Wanted<'_>),
        part: &Part,
    ) -> Result<Vec<ArrayRef>> {
        if self.values.is_empty() {
            let num = num_at_once(part, wanted).min(self.groups.len());
            let groups: Vec<usize> = self.groups.drain(..num).collect();
            self.values
                .extend(evaluated(session, query, changed, (part, &groups), wanted)?);
        }
        let next = self.values.pop_front();
        next.ok_or_else(|| Error::bug("a group without values"))
    }
}

/// The values of the targets for the rows of some groups, those of each group by themselves.
fn evaluated(
    session: &mut Session,
    query: &RunningQuery<'_>,
    changed: &Changed<'_>,
    (part, groups): (&Part, &[usize]),
    wanted: &Wanted<'_>,
) -> Result<Vec<Vec<ArrayRef>>> {
    let num_threads = query.settings.max_threads();
    let rows = rows_table(changed, (part, groups), &wanted.used, num_threads)?;
    let batches = with_rows(session, rows, |session, rows| {
        run(session, query, changed, rows, wanted)
    });
    let mut columns = in_order(batches?)?;
    columns.pop();
    let group_rows = groups
        .iter()
        .map(|g| part.metadata().group_rows[*g] as usize);
    let num_rows: usize = group_rows.clone().sum();
    if columns.iter().any(|c| c.len() != num_rows) {
        return Err(Error::bug("a change with another number of rows"));
    }
    let mut start = 0;
    let of_group = |rows: usize| {
        let place = (start, rows);
        start += rows;
        columns.iter().map(|c| c.slice(place.0, place.1)).collect()
    };
    Ok(group_rows.map(of_group).collect())
}

/// Number of groups that are evaluated at once: enough for all threads and to make little of planning, but few if their
/// values are large.
fn num_at_once(part: &Part, wanted: &Wanted<'_>) -> usize {
    let metadata = part.metadata();
    let is_used = |name: &str| wanted.used.iter().any(|u| u.column.name == name);
    let used = metadata.columns.iter().filter(|c| is_used(&c.name));
    let bytes: u64 = used.map(|c| c.decoded_bytes).sum();
    let num_groups = metadata.group_rows.len();
    let group_bytes = bytes / (num_groups as u64).max(1);
    let num = EVALUATED_BYTES / group_bytes.max(1);
    let num = usize::try_from(num).unwrap_or(MAX_EVALUATED);
    num.clamp(1, MAX_EVALUATED)
}

/// Some columns of the rows of groups as a table in memory.
fn rows_table(
    changed: &Changed<'_>,
    (part, groups): (&Part, &[usize]),
    used: &[ColumnDefinition],
    num_threads: usize,
) -> Result<(MemoryTable, Vec<ColumnDefinition>)> {
    let layout = changed.on_disk.storage.layout();
    let visible = layout.columns[..layout.num_visible].iter().enumerate();
    let visible = visible.filter(|(_, c)| used.iter().any(|u| u.column.name == c.name));
    let (ids, fields): (Vec<usize>, Vec<_>) = visible
        .map(|(i, column)| (i, column.data_type.field(&column.name)))
        .unzip();
    let number = DataType::UInt64.field(NUMBER);
    let schema = Arc::new(Schema::new([fields, vec![number]].concat()));
    let values = part.read_groups(&ids, groups, num_threads)?;
    let mut next = 0;
    let batch = |(group, mut values): (&usize, Vec<ArrayRef>)| {
        let numbers = next..next + u64::from(part.metadata().group_rows[*group]);
        next = numbers.end;
        values.push(Arc::new(UInt64Array::from_iter_values(numbers)));
        let batch = RecordBatch::try_new(Arc::clone(&schema), values);
        batch.map_err(|e| Error::bug(e.to_string()))
    };
    let batches = groups.iter().zip(values).map(batch);
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let memory = MemoryTable::new(Arc::clone(&schema));
    memory.insert(batches)?;
    let mut columns = used.to_vec();
    columns.push(ColumnDefinition::new(TableColumn::new(
        NUMBER,
        DataType::UInt64,
    )));
    Ok((memory, columns))
}

/// The values of the targets, and behind them the rows' numbers.
fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    changed: &Changed<'_>,
    rows: &ObjectName,
    wanted: &Wanted<'_>,
) -> Result<Vec<RecordBatch>> {
    let mut exprs = wanted.exprs.to_vec();
    exprs.push(Expr::column(NUMBER));
    let mut select = alter::select(rows, exprs, None);
    alter::set_alias(&mut select, &changed.name.name);
    let planned = query::plan(session, query, &select)?;
    let mut given = wanted.given.to_vec();
    given.push(NUMBER.to_owned());
    let number = TargetColumn {
        name: NUMBER,
        data_type: &DataType::UInt64,
        default: None,
    };
    let targets: Vec<_> = wanted.targets.iter().map(copied).chain([number]).collect();
    let nested = NestedColumns::of(&targets);
    let environment = session.environment(query);
    let plan = query
        .analyzer(&environment)
        .for_insert(planned, &given, (&targets, &[]))?;
    let mut batches = Vec::new();
    query
        .execution
        .for_each(&plan, true, &mut |batch: RecordBatch| {
            nested.check(&batch)?;
            batches.push(batch);
            Ok(true)
        })?;
    Ok(batches)
}

fn copied<'t>(target: &TargetColumn<'t>) -> TargetColumn<'t> {
    TargetColumn {
        name: target.name,
        data_type: target.data_type,
        default: target.default,
    }
}

/// The columns of the batches by the numbers in the last one.
fn in_order(mut batches: Vec<RecordBatch>) -> Result<Vec<ArrayRef>> {
    // Threads hand out theirs in any order.
    batches.sort_by_key(|batch| {
        let numbers = batch.columns().last();
        let numbers = numbers.map(|c| c.as_primitive::<UInt64Type>().values());
        numbers.and_then(|numbers| numbers.first().copied())
    });
    let num_columns = batches.first().map_or(0, RecordBatch::num_columns);
    let joined = (0..num_columns).map(|column| {
        let pieces = batches.iter().map(|b| b.column(column).as_ref());
        let pieces: Vec<&dyn Array> = pieces.collect();
        concat(&pieces).map_err(|e| Error::bug(e.to_string()))
    });
    let columns = joined.collect::<Result<Vec<_>>>()?;
    let Some(numbers) = columns.last().map(|c| c.as_primitive::<UInt64Type>()) else {
        return Ok(columns);
    };
    if numbers.values().is_sorted() {
        return Ok(columns);
    }
    let mut places: Vec<u32> = (0..).take(numbers.len()).collect();
    places.sort_unstable_by_key(|place| numbers.value(*place as usize));
    let places = UInt32Array::from(places);
    let sorted = columns.iter().map(|c| take(c, &places, None));
    let sorted = sorted.collect::<std::result::Result<_, _>>();
    sorted.map_err(|e| Error::bug(e.to_string()))
}
