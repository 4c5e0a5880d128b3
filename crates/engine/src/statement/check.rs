//! Runs CHECK TABLE: reads all values of a table on disk.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::Check;
use basalt_types::DataType;

use super::merge_tree;
use super::result::{one_number, strings, write_rows};
use crate::session::{Io, RunningQuery, Session, Summary};

/// `CHECK TABLE`: a row for each part, or 1 if all of them are whole.
pub(crate) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    check: &Check,
    io: Io<'_>,
) -> Result<Summary> {
    let Some(name) = &check.table else {
        return Err(Error::not_implemented("CHECK ALL TABLES"));
    };
    let table = session.find_table(name)?;
    let Some(on_disk) = table.merge_tree() else {
        return Err(Error::new(
            ErrorCode::NOT_IMPLEMENTED,
            format!(
                "Check a MergeTree table: engine {} has no files",
                table.engine.name()
            ),
        ));
    };
    let checked = merge_tree::checked(session, query, on_disk, check.partition.as_ref())?;
    let is_whole = checked.iter().map(|c| c.error.is_none());
    if query.settings.flag("check_query_single_value_result") {
        let all = u8::from(is_whole.clone().all(|is_whole| is_whole));
        let column = ("result", DataType::UInt8, one_number(all));
        return write_rows(session, query, vec![column], &check.output, io);
    }
    let flags = is_whole.clone().map(u8::from);
    let flags = arrow::array::UInt8Array::from_iter_values(flags);
    let columns = vec![
        (
            "part_path",
            DataType::String,
            strings(checked.iter().map(|c| &c.part)),
        ),
        (
            "is_passed",
            DataType::UInt8,
            std::sync::Arc::new(flags) as _,
        ),
        (
            "message",
            DataType::String,
            strings(checked.iter().map(|c| c.error.clone().unwrap_or_default())),
        ),
    ];
    write_rows(session, query, columns, &check.output, io)
}
