//! Runs INSERT: rows from a query, from inline data or from outside.
//!
//! Nobody sees a row before all of them are complete: a failed INSERT leaves none.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Cursor};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use basalt_analyzer::{OutputColumn, Planned, TargetColumn, plan_error};
use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::scan::{BatchesTable, SourceTable};
use basalt_functions::scalar::search::regexp;
use basalt_parser::ast::{self, DefaultKind, ExprKind, InsertSource, InsertTarget, MatcherPattern};
use basalt_types::DataType;
use datafusion::common::TableReference;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::LogicalPlanBuilder;

use super::async_insert;
use super::columns::stored;
use super::insert_function::into_function;
use super::nested::NestedColumns;
use super::query;
use crate::catalog::{ColumnDefinition, Engine, Table};
use crate::on_disk::TableWriter;
use crate::session::{Io, RunningQuery, Session, Summary};

/// Runs an INSERT.
pub(crate) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    insert: &ast::Insert,
    io: Io<'_>,
) -> Result<Summary> {
    let name = match &insert.target {
        InsertTarget::Table(name) => name,
        InsertTarget::Function(function) => {
            return into_function(session, query, insert, (function, None), io);
        }
    };
    let table = session.find_table(name)?;
    if let Engine::Function(of) = &table.engine
        && matches!(of.function.name.as_str(), "file" | "null")
    {
        let target = (&of.function, Some(table.as_ref()));
        return into_function(session, query, insert, target, io);
    }
    let (planned, given) = source(session, query, insert, &table, io)?;
    let written_rows = match async_insert::pace(query, insert, &table) {
        Some(pace) => {
            let rows = (planned, given.as_slice());
            async_insert::run(session, query, (insert, &table), rows, pace)?
        }
        None => insert_planned(session, query, &table, planned, &given)?,
    };
    Ok(written(written_rows))
}

pub(super) fn written(written_rows: u64) -> Summary {
    Summary {
        written_rows,
        ..Summary::default()
    }
}

/// The rows of an INSERT, and the names of their columns.
pub(super) fn source(
    session: &Session,
    query: &RunningQuery<'_>,
    insert: &ast::Insert,
    table: &Table,
    io: Io<'_>,
) -> Result<(Planned, Vec<String>)> {
    let mut given = given_columns(query, table, insert.columns.as_deref())?;
    match &insert.source {
        InsertSource::Query(select) => Ok((query::plan(session, query, select)?, given)),
        InsertSource::Format { name: format, span } => {
            let data = data(query, insert, io)?;
            let mut header: Vec<(String, DataType)> = Vec::with_capacity(given.len());
            let mut tracked = Vec::new();
            let by_name = columns_by_name(table);
            for (i, name) in given.iter().enumerate() {
                let column = match by_name.get(name.as_str()) {
                    Some(column) => *column,
                    None => column_of(table, name)?,
                };
                header.push((name.clone(), column.column.data_type.clone()));
                if column.default.as_ref().is_some_and(|d| d.expr.is_some()) {
                    tracked.push(i);
                }
            }
            let columns = (header.as_slice(), tracked.clone());
            let batches = super::inline_data::read(session, query, format, columns, data);
            let place = query.position(span.start as usize);
            let batches = batches.map_err(|e| match e.code() {
                ErrorCode::UNKNOWN_FORMAT => e.at(place),
                _ => e,
            })?;
            for i in tracked {
                let name = basalt_formats::omitted_name(&given[i]);
                header.push((name.clone(), DataType::UInt8));
                given.push(name);
            }
            Ok((planned_batches(batches, &header)?, given))
        }
    }
}

/// Names of the columns that the INSERT gives, in its order.
pub(super) fn given_columns(
    query: &RunningQuery<'_>,
    table: &Table,
    columns: Option<&[ast::Expr]>,
) -> Result<Vec<String>> {
    let insertable = |c: &&ColumnDefinition| {
        let kind = c.default.as_ref().map(|d| d.kind);
        !matches!(kind, Some(DefaultKind::Materialized | DefaultKind::Alias))
    };
    let Some(columns) = columns else {
        let plain = table.columns.iter().filter(|c| !c.column.hidden);
        return Ok(plain.map(|c| c.column.name.clone()).collect());
    };
    let mut names: Vec<(String, ast::Span)> = Vec::new();
    for column in columns {
        let span = column.span;
        match &column.kind {
            ExprKind::Identifier(parts) => names.push((parts.join("."), span)),
            ExprKind::Matcher(matcher) => {
                let all = table.columns.iter().filter(insertable);
                let all = all.filter(|c| !is_ephemeral(c)).map(|c| &c.column.name);
                let matched = matched(matcher, all).map_err(|e| query.placed(e, span))?;
                names.extend(matched.into_iter().map(|name| (name, span)));
            }
            _ => {
                let e = Error::new(ErrorCode::BAD_ARGUMENTS, "INSERT takes names of columns");
                return Err(query.placed(e, span));
            }
        }
    }
    let by_name = columns_by_name(table);
    let mut taken = HashSet::with_capacity(names.len());
    for (name, span) in &names {
        let at = |e: Error| query.placed(e, *span);
        let column = match by_name.get(name.as_str()) {
            Some(column) => *column,
            None => column_of(table, name).map_err(at)?,
        };
        if !insertable(&column) {
            let code = if column.column.alias.is_some() {
                ErrorCode::NO_SUCH_COLUMN_IN_TABLE
            } else {
                ErrorCode::ILLEGAL_COLUMN
            };
            return Err(at(Error::new(
                code,
                format!("Leave it out: cannot insert column `{name}`, it is computed"),
            )));
        }
        if !taken.insert(name) {
            return Err(at(Error::new(
                ErrorCode::DUPLICATE_COLUMN,
                format!("Leave it out: column `{name}` stands twice in the INSERT"),
            )));
        }
    }
    Ok(names.into_iter().map(|(name, _)| name).collect())
}

/// Those of all columns that a matcher in the place of names means.
fn matched<'c>(
    matcher: &ast::ColumnMatcher,
    all: impl Iterator<Item = &'c String>,
) -> Result<Vec<String>> {
    let mut matched: Vec<String> = match &matcher.pattern {
        MatcherPattern::All => all.cloned().collect(),
        MatcherPattern::List(names) => names.iter().map(|n| n.join(".")).collect(),
        MatcherPattern::Regexp(pattern) => {
            let regexp = regexp::compile(pattern.as_bytes())?;
            let matching = all.filter(|name| regexp.is_match(name.as_bytes()));
            matching.cloned().collect()
        }
    };
    for transformer in &matcher.transformers {
        let ast::ColumnTransformer::Except { columns, .. } = transformer else {
            return Err(Error::not_implemented("This matcher in INSERT"));
        };
        matched.retain(|n| !columns.iter().any(|c| c.last() == Some(n)));
    }
    if matched.is_empty() {
        return Err(Error::new(
            ErrorCode::EMPTY_LIST_OF_COLUMNS_PASSED,
            "Name a column: the matcher finds none",
        ));
    }
    Ok(matched)
}

fn columns_by_name(table: &Table) -> HashMap<&str, &ColumnDefinition> {
    let columns = table.columns.iter();
    columns.map(|c| (c.column.name.as_str(), c)).collect()
}

pub(super) fn column_of<'t>(table: &'t Table, name: &str) -> Result<&'t ColumnDefinition> {
    table
        .columns
        .iter()
        .find(|c| c.column.name == name)
        .ok_or_else(|| {
            let names = table.columns.iter().map(|c| c.column.name.as_str());
            let near = basalt_functions::registry::nearest(name, names);
            let hint = near
                .first()
                .map(|n| format!("Maybe you meant `{n}`: "))
                .unwrap_or_default();
            Error::new(
                ErrorCode::NO_SUCH_COLUMN_IN_TABLE,
                format!("{hint}no such column `{name}` in the table"),
            )
        })
}

/// Where the rows' bytes come from.
fn data(
    query: &RunningQuery<'_>,
    insert: &ast::Insert,
    io: Io<'_>,
) -> Result<Box<dyn BufRead + Send>> {
    if let Some(file) = &insert.infile {
        let text = |expr: &ast::Expr, what: &str| {
            let text = expr.as_string().map(String::from_utf8_lossy);
            let text = text.map(std::borrow::Cow::into_owned);
            text.ok_or_else(|| {
                Error::new(ErrorCode::BAD_ARGUMENTS, format!("{what} takes a string"))
            })
        };
        let path = text(&file.path, "FROM INFILE")?;
        let method = file.compression.as_ref();
        let method = method.map(|m| text(m, "COMPRESSION")).transpose()?;
        let path = std::path::Path::new(&path);
        return crate::table_function::compression::open(path, method.as_deref());
    }
    let inline = query
        .parsed
        .data
        .clone()
        .and_then(|range| query.text.get(range));
    match (inline, io.input) {
        (Some(inline), None) => Ok(Box::new(Cursor::new(inline.to_vec()))),
        (Some(inline), Some(input)) if inline.iter().all(u8::is_ascii_whitespace) => Ok(input),
        (Some(inline), Some(_)) => Ok(Box::new(Cursor::new(inline.to_vec()))),
        (None, Some(input)) => Ok(input),
        (None, None) => Err(Error::new(
            ErrorCode::NO_DATA_TO_INSERT,
            "No data to insert",
        )),
    }
}

/// Batches as a planned query of these columns.
fn planned_batches(batches: Vec<RecordBatch>, header: &[(String, DataType)]) -> Result<Planned> {
    let fields: Vec<_> = header.iter().map(|(n, t)| t.field(n)).collect();
    let schema = Arc::new(Schema::new(fields));
    let provider = Arc::new(SourceTable(BatchesTable {
        schema,
        batches: Arc::new(batches),
        extremes: None,
    }));
    let name = TableReference::bare("data");
    let plan = LogicalPlanBuilder::scan(name, provider_as_source(provider), None);
    let plan = plan.and_then(|b| {
        let columns = header.iter().enumerate().map(|(i, (n, _))| {
            let column = datafusion::common::Column::new(Some("data"), n);
            datafusion::logical_expr::Expr::Column(column).alias(format!("data_{i}"))
        });
        b.project(columns.collect::<Vec<_>>())?.build()
    });
    let column = |(i, (name, data_type)): (usize, &(String, DataType))| OutputColumn {
        name: name.clone(),
        internal: format!("data_{i}"),
        data_type: data_type.clone(),
    };
    let columns = header.iter().enumerate().map(column).collect();
    Ok(Planned {
        plan: plan.map_err(plan_error)?,
        columns,
        totals: None,
    })
}

/// A column as INSERT fills it.
fn target(column: &ColumnDefinition) -> TargetColumn<'_> {
    TargetColumn {
        name: &column.column.name,
        data_type: &column.column.data_type,
        default: column.default.as_ref().and_then(|d| d.expr.as_ref()),
    }
}

fn is_ephemeral(column: &ColumnDefinition) -> bool {
    let kind = column.default.as_ref().map(|d| d.kind);
    kind == Some(DefaultKind::Ephemeral)
}

/// Runs a planned source of these columns for a table, and calls `f` with its rows, all columns in
/// place, behind them the text of another expression if there is one; gives their number.
pub(super) fn for_each_row(
    session: &Session,
    query: &RunningQuery<'_>,
    (table, behind): (&Table, Option<&ast::Expr>),
    (planned, given): (Planned, &[String]),
    f: &mut dyn FnMut(RecordBatch) -> Result<()>,
) -> Result<u64> {
    let computed = table.merge_tree().map_or(&[][..], |m| &m.computed);
    let computed = computed.iter().map(|c| TargetColumn {
        name: &c.name,
        data_type: &c.data_type,
        default: Some(&c.expr),
    });
    let text_type = DataType::String.to_nullable();
    let behind = behind.map(|expr| TargetColumn {
        name: "expression behind the columns",
        data_type: &text_type,
        default: Some(expr),
    });
    let targets: Vec<TargetColumn<'_>> = stored(&table.columns)
        .map(target)
        .chain(computed)
        .chain(behind)
        .collect();
    let environment = session.environment(query);
    let passing = table.columns.iter().filter(|c| is_ephemeral(c));
    let passing: Vec<TargetColumn<'_>> = passing.map(target).collect();
    let analyzer = query.analyzer(&environment);
    let plan = analyzer.for_insert(planned, given, (&targets, &passing))?;
    let nested = NestedColumns::of(&targets[..stored(&table.columns).count()]);
    let mut num_rows = 0;
    query
        .execution
        .for_each(&plan, true, &mut |batch: RecordBatch| {
            nested.check(&batch)?;
            num_rows += batch.num_rows() as u64;
            f(batch).map(|()| true)
        })?;
    Ok(num_rows)
}

/// The rows of a planned source as a table stores them, and their number.
pub(super) fn planned_rows(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    planned: Planned,
    given: &[String],
) -> Result<(Vec<RecordBatch>, u64)> {
    let mut batches = Vec::new();
    let kept = query.execution.kept_rows();
    let num_rows = for_each_row(
        session,
        query,
        (table, None),
        (planned, given),
        &mut |batch| {
            kept.add(&batch)?;
            batches.push(batch);
            Ok(())
        },
    )?;
    Ok((batches, num_rows))
}

/// Partitions that the statement may make parts of.
pub(super) fn max_partitions(query: &RunningQuery<'_>) -> usize {
    let limit = query.settings.number("max_partitions_per_insert_block");
    usize::try_from(limit).unwrap_or(0)
}

/// Runs a planned source into a table; gives the number of rows.
pub(crate) fn insert_planned(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    mut planned: Planned,
    given: &[String],
) -> Result<u64> {
    planned.plan = query::limited(planned.plan, query)?;
    if let Some(on_disk) = table.on_disk() {
        let check = || query.control.check_end();
        let mut writer = TableWriter::new(on_disk, max_partitions(query), &check)?;
        let rows = (planned, given);
        let num_rows = for_each_row(session, query, (table, None), rows, &mut |batch| {
            writer.push(batch)
        })?;
        writer.finish()?;
        return Ok(num_rows);
    }
    let (batches, num_rows) = planned_rows(session, query, table, planned, given)?;
    match &table.engine {
        Engine::Memory(memory) => memory.insert(batches)?,
        Engine::MergeTree(_) | Engine::Mmap(_) | Engine::Null => {}
        engine @ (Engine::View(_) | Engine::Function(_)) => {
            return Err(Error::new(
                ErrorCode::NOT_IMPLEMENTED,
                format!(
                    "Insert into another table: one with engine {} keeps no rows",
                    engine.name()
                ),
            ));
        }
    }
    Ok(num_rows)
}
