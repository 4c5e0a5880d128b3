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
    let columns = values.into_iter().zip(types.clone());
    let columns = columns.map(|(value, t)| value.cast(t)).collect();
    let select = ast::Select {
        columns,
        ..ast::Select::default()
    };
    let select = ast::Query::new(ast::SetExpr::Select(Box::new(select)));
    let planned = query::plan(session, query, &select)?;
    let batches = query.execution.collect(&planned.plan)?;
    let batch = batches.iter().find(|b| b.num_rows() > 0);
    let batch = batch.ok_or_else(|| Error::bug("a partition without a value"))?;
    let columns: Vec<_> = batch.columns().iter().cloned().zip(types).collect();
    partition_of(&columns)
}
