//! Runs `INSERT INTO FUNCTION`: rows into a file, into files by their values, or nowhere.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, InsertSource};
use basalt_types::DataType;

use super::insert::{for_each_row, given_columns, source, written};
use super::insert_file::{self, FileWriter, Target};
use super::partitioned_file::{PartitionedWriter, partition_id};
use super::query;
use crate::catalog::Table;
use crate::session::{Io, RunningQuery, Session, Summary};

/// The target of the function; an unknown format is told with its place.
fn target(
    query: &RunningQuery<'_>,
    function: &ast::TableFunction,
) -> Result<(Target, Option<Table>)> {
    insert_file::target(function).map_err(|e| {
        let format = ast::format_argument(&function.name, &function.args);
        match format.filter(|_| e.code() == ErrorCode::UNKNOWN_FORMAT) {
            Some(f) => e.at(query.position(f.span.start as usize)),
            None => query.placed(e, function.span),
        }
    })
}

/// Runs an INSERT into a table function, or into the table that is one.
pub(super) fn into_function(
    session: &Session,
    query: &RunningQuery<'_>,
    insert: &ast::Insert,
    (function, table): (&ast::TableFunction, Option<&Table>),
    io: Io<'_>,
) -> Result<Summary> {
    let (target, told) = target(query, function)?;
    if insert.partition_by.is_some() && matches!(target, Target::Null) {
        return Err(Error::not_implemented(format!(
            "INSERT INTO FUNCTION {} … PARTITION BY",
            function.name
        )));
    }
    let table = table.cloned().or(told);
    let (table, (planned, given)) = match (table, &insert.source) {
        (Some(table), _) => {
            let planned = source(session, query, insert, &table, io)?;
            (table, planned)
        }
        (None, InsertSource::Query(select)) => {
            let planned = query::plan(session, query, select)?;
            let columns = planned.columns.iter();
            let header = columns.map(|c| (c.name.clone(), c.data_type.clone()));
            let table = insert_file::table_of(&header.collect());
            let given = given_columns(query, &table, insert.columns.as_deref())?;
            (table, (planned, given))
        }
        (None, InsertSource::Format { .. }) => {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Give the structure as third argument of file",
            ));
        }
    };
    let header: Vec<(String, DataType)> = table
        .columns
        .iter()
        .map(|c| (c.column.name.clone(), c.column.data_type.clone()))
        .collect();
    let rows = (planned, given.as_slice());
    let written_rows = match (&target, &insert.partition_by) {
        (Target::Null, _) => for_each_row(session, query, (&table, None), rows, &mut |_| Ok(()))?,
        (Target::File(target), None) => {
            let (mut file, mut buffer) = (FileWriter::new(query, &header, target)?, Vec::new());
            let num_rows = for_each_row(session, query, (&table, None), rows, &mut |batch| {
                file.write(&batch, &mut buffer)
            })?;
            if let Some(file) = file.finish()? {
                file.commit()?;
            }
            num_rows
        }
        (Target::File(target), Some(partition_by)) => {
            let mut files = PartitionedWriter::new(query, &header, target)?;
            let id = partition_id(partition_by);
            let num_rows = for_each_row(session, query, (&table, Some(&id)), rows, &mut |batch| {
                files.write(&batch)
            })?;
            files.finish()?;
            num_rows
        }
    };
    Ok(written(written_rows))
}
