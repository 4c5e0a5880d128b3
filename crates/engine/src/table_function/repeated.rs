//! Gives the rows of a table again and again: `loop`.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use basalt_analyzer::{Analyzer, TableColumn, TableEntry};
use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::scan::{RepeatedTable, SourceTable};

use super::arguments::Arguments;
use super::merge::identifier;
use crate::statement::query::parse_query;

/// `loop(table)`, `loop(database, table)`, `loop(function(…))`.
///
/// The rows are read once, and repeated from memory.
pub(super) fn call(args: &Arguments<'_>) -> Result<TableEntry> {
    let from = match args.all() {
        [] => {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                "Give loop a table: loop(table), loop(database, table)",
            ));
        }
        [one] if one.name.as_deref() == Some("FUNCTION") => args.text(0)?,
        [_] => {
            let text = args.text(0)?;
            match text.split_once('.') {
                Some((database, name)) => qualified(database, name),
                None => identifier(&text),
            }
        }
        [_, _] => qualified(&args.text(0)?, &args.text(1)?),
        _ => return Err(args.wrong_number("1 or 2")),
    };
    let query = parse_query(&format!("SELECT * FROM {from}"))?;
    let planned = Analyzer::new(args.environment, b"").plan(&query)?;
    let columns = planned.columns.iter();
    let columns: Vec<TableColumn> = columns
        .map(|c| TableColumn::new(c.name.clone(), c.data_type.clone()))
        .collect();
    let fields: Vec<_> = columns.iter().map(|c| c.data_type.field(&c.name)).collect();
    let schema = Arc::new(Schema::new(fields));
    let mut batches = Vec::new();
    for batch in args.environment.execution.collect(&planned.plan)? {
        let named = RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec());
        batches.push(named.map_err(|e| Error::bug(e.to_string()))?);
    }
    Ok(TableEntry::Table {
        provider: Arc::new(SourceTable(RepeatedTable {
            schema,
            batches: Arc::new(batches),
        })),
        columns,
    })
}

fn qualified(database: &str, name: &str) -> String {
    format!("{}.{}", identifier(database), identifier(name))
}
