//! Finds the partition that a statement means.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, Expr};
use basalt_storage::merge_tree::partition_of;

use super::keys::elements;
use crate::merge_tree::MergeTreeTable;
use crate::session::{RunningQuery, Session};
use crate::statement::query;

/// What a partition is called in names of parts; none for all partitions.
pub(in crate::statement) fn partition_id(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &MergeTreeTable,
    partition: &ast::Partition,
) -> Result<Option<String>> {
    match partition {
        ast::Partition::All => Ok(None),
        ast::Partition::Id(id) => Ok(Some(String::from_utf8_lossy(id).into_owned())),
        ast::Partition::Part(_) => Err(Error::not_implemented("PART in this statement")),
        ast::Partition::Value(value) => id_of_value(session, query, table, value).map(Some),
    }
}

/// The error of a value that does not convert to the type of the key.
fn refused(error: Error, value: &Expr) -> Error {
    let code = match error.code() {
        ErrorCode::CANNOT_CONVERT_TYPE => ErrorCode::ARGUMENT_OUT_OF_BOUND,
        ErrorCode::CANNOT_PARSE_TEXT | ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT => {
            ErrorCode::TYPE_MISMATCH
        }
        _ => return error,
    };
    let value = basalt_parser::format_expr(value);
    let message = format!("Write a value of the partition key's type: {value} is none");
    Error::new(code, message)
}

fn id_of_value(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &MergeTreeTable,
    value: &Expr,
) -> Result<String> {
    let layout = table.storage.layout();
    let values = elements(value);
    if values.len() != layout.partition_key.len() {
        return Err(Error::new(
            ErrorCode::INVALID_PARTITION_VALUE,
            format!(
                "Wrong number of fields in the partition expression: {}, must be: {}",
                values.len(),
                layout.partition_key.len()
            ),
        ));
    }
    if values.is_empty() {
        return Ok("all".to_owned());
    }
    let types = layout
        .partition_key
        .iter()
        .map(|c| &layout.columns[*c].data_type);
    // A value that the type does not have is no partition: wrapped around, it would be another one.
    let columns = values.into_iter().zip(types.clone());
    let columns = columns.map(|(value, t)| {
        let name = Expr::string(&t.to_string());
        let span = value.span;
        Expr::call("accurateCast", vec![value, name]).at(span)
    });
    let select = ast::Select {
        columns: columns.collect(),
        ..ast::Select::default()
    };
    let select = ast::Query::new(ast::SetExpr::Select(Box::new(select)));
    let planned = query::plan(session, query, &select);
    let batches = planned.and_then(|planned| query.execution.collect(&planned.plan));
    let batches = batches.map_err(|e| refused(e, value))?;
    let batch = batches.iter().find(|b| b.num_rows() > 0);
    let batch = batch.ok_or_else(|| Error::bug("a partition without a value"))?;
    let columns: Vec<_> = batch.columns().iter().cloned().zip(types).collect();
    partition_of(&columns)
}
