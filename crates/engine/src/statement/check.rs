//! Runs CHECK TABLE: reads all values of a table on disk.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::Check;
use basalt_types::DataType;

use super::merge_tree;
use super::result::{one_number, strings, write_rows};
use crate::catalog::{Engine, Table};
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
    let checked = checked(session, query, &table, check)?;
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
            strings(checked.iter().map(|c| &c.file)),
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

/// What was found of something that has a row of its own.
struct Checked {
    file: String,
    error: Option<String>,
}

/// Reads the parts of a table, or its files.
fn checked(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    check: &Check,
) -> Result<Vec<Checked>> {
    let partition = check.partition.as_ref();
    match &table.engine {
        Engine::MergeTree(on_disk) => {
            let parts = merge_tree::checked(session, query, on_disk, partition)?;
            let parts = parts.into_iter().map(|part| Checked {
                file: part.part,
                error: part.error,
            });
            Ok(parts.collect())
        }
        Engine::Mmap(on_disk) if partition.is_none() => {
            let files = on_disk.storage.checked(&|| query.control.check())?;
            let files = files.into_iter().map(|file| Checked {
                file: file.file,
                error: file.error,
            });
            Ok(files.collect())
        }
        Engine::Mmap(_) => Err(Error::not_implemented(
            "CHECK of a partition of an Mmap table",
        )),
        engine => Err(Error::new(
            ErrorCode::NOT_IMPLEMENTED,
            format!(
                "Check a MergeTree or Mmap table: engine {} has no files",
                engine.name()
            ),
        )),
    }
}
