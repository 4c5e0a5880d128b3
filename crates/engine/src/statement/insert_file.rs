//! Writes the rows of `INSERT INTO FUNCTION file(…)` and `null(…)`.
//!
//! Rows go into a file beside the target, which takes its place when all of them are there: an
//! INSERT that fails leaves nothing.

use std::io::Write;
use std::path::Path;

use arrow::array::RecordBatch;
use basalt_analyzer::TableColumn;
use basalt_error::{Error, ErrorCode, Result};
use basalt_formats::registry::Kind;
use basalt_formats::{FormatEntry, RowSink, Statistics, write_in_pieces};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::parse::parse_structure;

use super::result::Header;
use super::whole_file::{Mode, WholeFile};
use crate::catalog::{ColumnDefinition, Engine, Table};
use crate::session::RunningQuery;
use crate::table_function::compression::{Encoder, encoder};

/// Where a function's rows go.
pub(super) enum Target {
    /// A file.
    File(FileTarget),
    /// Nowhere.
    Null,
}

/// A file that rows go to.
#[derive(Clone)]
pub(super) struct FileTarget {
    pub path: String,
    pub format: &'static FormatEntry,
    pub method: Option<String>,
}

/// The target of a table function, and its columns if the call tells them.
pub(super) fn target(function: &ast::TableFunction) -> Result<(Target, Option<Table>)> {
    let arg =
        |idx: usize| -> Result<Option<String>> { function.args.get(idx).map(text).transpose() };
    let needed = |idx: usize| {
        arg(idx)?.ok_or_else(|| {
            Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                format!("Table function {} takes more arguments", function.name),
            )
        })
    };
    match function.name.as_str() {
        "null" => Ok((Target::Null, Some(table(&needed(0)?)?))),
        "file" => {
            let path = needed(0)?;
            let format = match arg(1)?.filter(|f| f != "auto") {
                Some(name) => basalt_formats::lookup(&name)?,
                None => basalt_formats::from_file_extension(&path).ok_or_else(|| {
                    Error::new(
                        ErrorCode::CANNOT_DETECT_FORMAT,
                        format!("Name the format as second argument: {path} has no ending of one"),
                    )
                })?,
            };
            let structure = arg(2)?.filter(|s| s != "auto");
            let method = arg(3)?;
            let target = Target::File(FileTarget {
                path,
                format,
                method,
            });
            Ok((target, structure.map(|s| table(&s)).transpose()?))
        }
        name if !crate::table_function::is_known(name) => Err(crate::table_function::unknown(name)),
        name => Err(Error::not_implemented(format!(
            "INSERT INTO FUNCTION {name}"
        ))),
    }
}

/// A string, or a format's bare name.
fn text(arg: &ast::Expr) -> Result<String> {
    let plain = match &arg.kind {
        ExprKind::Identifier(parts) => Some(parts.join(".")),
        _ => arg
            .as_string()
            .map(|s| String::from_utf8_lossy(s).into_owned()),
    };
    plain.ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "INSERT INTO FUNCTION takes strings as arguments",
        )
    })
}

fn table(structure: &str) -> Result<Table> {
    Ok(table_of(&parse_structure(structure)?))
}

/// A table without rows, of these columns.
pub(super) fn table_of(header: &Header) -> Table {
    let column = |(name, data_type): &(String, basalt_types::DataType)| {
        ColumnDefinition::new(TableColumn::new(name, data_type.clone()))
    };
    Table {
        columns: header.iter().map(column).collect(),
        engine: Engine::Null,
        create_sql: String::new(),
        comment: String::new(),
        is_temporary: true,
    }
}

/// A file being written.
pub(super) struct FileWriter {
    sink: Box<dyn RowSink>,
    /// Taken by the end.
    file: Option<(WholeFile, Box<dyn Encoder>)>,
}

/// Formats whose rows may stand behind others.
fn can_be_appended(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Json { .. }
            | Kind::JsonColumns { .. }
            | Kind::JsonObjectEachRow
            | Kind::Xml
            | Kind::Arrow
            | Kind::Parquet
    )
}

impl FileWriter {
    pub(super) fn new(
        query: &RunningQuery<'_>,
        header: &Header,
        target: &FileTarget,
    ) -> Result<Self> {
        let (path, format) = (Path::new(&target.path), target.format);
        let has_rows = std::fs::metadata(path).is_ok_and(|m| m.len() > 0);
        let is_appended = has_rows && !query.settings.flag("engine_file_truncate_on_insert");
        if is_appended && !can_be_appended(format.kind) {
            return Err(Error::new(
                ErrorCode::CANNOT_APPEND_TO_FILE,
                format!(
                    "Set engine_file_truncate_on_insert = 1 to replace it: {} exists, and rows in {} cannot be appended",
                    path.display(),
                    format.name
                ),
            ));
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let name = if is_appended {
            without_header(format)
        } else {
            format.name
        };
        let sink = basalt_formats::output(name, header, &query.settings.formats()?)?;
        let mode = if is_appended {
            Mode::Append
        } else {
            Mode::Replace
        };
        let (whole, file) = WholeFile::create(path, mode)?;
        let file: Box<dyn Write> = match whole.reopened() {
            Some(reopened) => Box::new(reopened),
            None => Box::new(file),
        };
        let file = encoder(file, &target.path, target.method.as_deref())?;
        let file = Some((whole, file));
        Ok(Self { sink, file })
    }

    /// Writes rows, through a buffer that may serve several writers.
    pub(super) fn write(&mut self, batch: &RecordBatch, buffer: &mut Vec<u8>) -> Result<()> {
        let file = &mut self.file;
        write_in_pieces(self.sink.as_mut(), batch, buffer, |bytes| send(bytes, file))
    }

    /// Bytes of rows that wait for the end of the file, or of a part of it.
    pub(super) fn kept_bytes(&self) -> usize {
        self.sink.kept_bytes()
    }

    /// Writes the rest; the file is there when it is committed.
    pub(super) fn finish(mut self) -> Result<Option<WholeFile>> {
        let mut buffer = Vec::new();
        self.sink.finish(&Statistics::default(), &mut buffer)?;
        send(&mut buffer, &mut self.file)?;
        let Some((whole, file)) = self.file.take() else {
            return Ok(None);
        };
        file.finish()?;
        Ok(Some(whole))
    }
}

/// Writes bytes to a file, unless it has ended.
fn send(bytes: &mut Vec<u8>, file: &mut Option<(WholeFile, Box<dyn Encoder>)>) -> Result<()> {
    if let Some((_, file)) = file {
        file.write_all(bytes)?;
    }
    bytes.clear();
    Ok(())
}

/// The format of the same rows without names and types before them.
fn without_header(format: &'static FormatEntry) -> &'static str {
    let name = format.name;
    let plain = name
        .strip_suffix("WithNamesAndTypes")
        .or_else(|| name.strip_suffix("WithNames"));
    plain.unwrap_or(name)
}
