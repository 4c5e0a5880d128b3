//! Writes results: batches in the wanted format, to the caller or into a file.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray, RecordBatch, UInt8Array};
use arrow::datatypes::Schema;
use basalt_analyzer::plan::batch_bytes;
use basalt_error::{Error, ErrorCode, Result};
use basalt_formats::{RowSink, Statistics, write_in_pieces};
use basalt_parser::ast::{IntoOutfile, OutputOptions};
use basalt_types::DataType;

use super::whole_file::{Mode, WholeFile};
use crate::session::{Io, RunningQuery, Session, Summary};
use crate::table_function::compression;

/// A result on its way out.
pub(crate) struct ResultWriter<'a, 'o> {
    sink: Box<dyn RowSink>,
    query: &'a RunningQuery<'a>,
    out: &'o mut dyn Write,
    file: Option<(WholeFile, Box<dyn compression::Encoder>)>,
    to_out: bool,
    buffer: Vec<u8>,
    /// Counted only under a limit.
    result_bytes: u64,
    pub(crate) summary: Summary,
    /// Rows that have left the buffers behind `out`.
    rows_shown: u64,
}

/// Name and type of each column of a result.
pub(crate) type Header = Vec<(String, DataType)>;

/// The format that a statement's result is wanted in.
pub(crate) fn format_name(
    session: &Session,
    query: &RunningQuery<'_>,
    output: &OutputOptions,
) -> String {
    if query.parsed.vertical {
        return "Vertical".to_owned();
    }
    match (&output.format, &output.into_outfile) {
        (Some(format), _) => format.clone(),
        (None, Some(file)) => {
            let path = file.path.as_string().map(String::from_utf8_lossy);
            let known = path.and_then(|p| basalt_formats::from_file_extension(&p));
            known.map_or_else(|| "TabSeparated".to_owned(), |f| f.name.to_owned())
        }
        (None, None) => session.default_format.clone(),
    }
}

impl<'a, 'o> ResultWriter<'a, 'o> {
    /// Opens the output of a result with these columns.
    pub(crate) fn new(
        session: &Session,
        query: &'a RunningQuery<'a>,
        header: &Header,
        output: &OutputOptions,
        out: &'o mut dyn Write,
    ) -> Result<Self> {
        let format = format_name(session, query, output);
        let sink = basalt_formats::output(&format, header, &query.settings.formats()?);
        let place = query.position(output.format_span.start as usize);
        let sink = sink.map_err(|e| match &output.format {
            Some(_) => e.at(place),
            None => e,
        })?;
        let file = output.into_outfile.as_ref().map(|f| {
            let place = f.path.span;
            open(f).map_err(|e| query.placed(e, place))
        });
        let file = file.transpose()?;
        let to_out = output.into_outfile.as_ref().is_none_or(|f| f.and_stdout);
        let (buffer, summary) = (Vec::new(), Summary::default());
        Ok(Self {
            sink,
            query,
            out,
            file,
            to_out,
            buffer,
            result_bytes: 0,
            summary,
            rows_shown: 0,
        })
    }

    /// Writes rows; false if the limit on results says that these are enough.
    pub(crate) fn batch(&mut self, batch: &RecordBatch) -> Result<bool> {
        let settings = self.query.settings;
        let (max_rows, max_bytes) = (
            settings.number("max_result_rows"),
            settings.number("max_result_bytes"),
        );
        let rows = self.summary.result_rows + batch.num_rows() as u64;
        let row_bytes = match max_bytes {
            0 => 0,
            _ => batch_bytes(batch).div_ceil(batch.num_rows().max(1) as u64),
        };
        self.result_bytes += row_bytes * batch.num_rows() as u64;
        let has_too_many = |limit: u64, size: u64| limit > 0 && size > limit;
        let too_many_rows = has_too_many(max_rows, rows);
        if !too_many_rows && !has_too_many(max_bytes, self.result_bytes) {
            self.write(batch)?;
            return Ok(true);
        }
        if settings.get("result_overflow_mode") == "throw" {
            let (name, limit, what) = match too_many_rows {
                true => ("max_result_rows", max_rows, "rows"),
                false => ("max_result_bytes", max_bytes, "bytes"),
            };
            return Err(Error::new(
                ErrorCode::TOO_MANY_ROWS_OR_BYTES,
                format!("Raise {name} or add LIMIT: the result has more than {limit} {what}"),
            ));
        }
        // A result ends behind the block that reaches the limit.
        let block = settings.number("max_block_size").max(1);
        let of_bytes = max_bytes.checked_div(row_bytes).unwrap_or(u64::MAX);
        let of_bytes = if max_bytes == 0 {
            u64::MAX
        } else {
            of_bytes.max(1)
        };
        let of_rows = if max_rows == 0 { u64::MAX } else { max_rows };
        let allowed = of_rows.min(of_bytes).div_ceil(block).saturating_mul(block);
        let left = allowed.saturating_sub(self.summary.result_rows);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        self.write(&batch.slice(0, left.min(batch.num_rows())))?;
        Ok(allowed > rows)
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.summary.result_rows += batch.num_rows() as u64;
        let Self {
            sink, buffer, file, ..
        } = self;
        let out = self.to_out.then_some(&mut *self.out);
        let mut output = (file.as_mut().map(|(_, file)| file), out);
        write_in_pieces(sink.as_mut(), batch, buffer, |bytes| {
            let (file, out) = &mut output;
            send(bytes, file.as_deref_mut(), out.as_deref_mut())
        })
    }

    /// Lets all that was written so far be seen, where that is no file: who looks at the rows of a slow query
    /// should not wait until there are many.
    pub(crate) fn show(&mut self) -> Result<()> {
        if self.to_out && self.summary.result_rows > self.rows_shown {
            self.rows_shown = self.summary.result_rows;
            self.out.flush().map_err(cannot_write)?;
        }
        Ok(())
    }

    /// Writes the row of WITH TOTALS.
    pub(crate) fn totals(&mut self, batch: &RecordBatch) -> Result<()> {
        self.sink.totals(batch, &mut self.buffer)?;
        self.flush()
    }

    /// Writes the rows of least and greatest values.
    pub(crate) fn extremes(&mut self, batch: &RecordBatch) -> Result<()> {
        self.sink.extremes(batch, &mut self.buffer)?;
        self.flush()
    }

    /// Ends the output.
    pub(crate) fn finish(mut self, rows_before_limit: Option<u64>) -> Result<Summary> {
        let control = self.query.control;
        let statistics = Statistics {
            elapsed: control.elapsed().as_secs_f64(),
            rows_read: control.rows_read(),
            bytes_read: control.bytes_read(),
            rows_before_limit_at_least: rows_before_limit.map(|n| n.max(self.summary.result_rows)),
        };
        self.sink.finish(&statistics, &mut self.buffer)?;
        self.flush()?;
        if let Some((whole, file)) = self.file.take() {
            file.finish()?;
            whole.commit().map_err(cannot_write)?;
        }
        self.out.flush().map_err(cannot_write)?;
        Ok(self.summary)
    }

    fn flush(&mut self) -> Result<()> {
        let file = self.file.as_mut().map(|(_, file)| file);
        let out = self.to_out.then_some(&mut *self.out);
        send(&mut self.buffer, file, out)
    }
}

/// Writes bytes to where a result goes.
fn send(
    bytes: &mut Vec<u8>,
    file: Option<&mut Box<dyn compression::Encoder>>,
    out: Option<&mut (dyn Write + '_)>,
) -> Result<()> {
    if let Some(file) = file {
        file.write_all(bytes).map_err(cannot_write)?;
    }
    if let Some(out) = out {
        out.write_all(bytes).map_err(cannot_write)?;
    }
    bytes.clear();
    Ok(())
}

fn cannot_write(e: std::io::Error) -> Error {
    Error::new(
        ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR,
        format!("Cannot write the result: {e}"),
    )
}

fn open(target: &IntoOutfile) -> Result<(WholeFile, Box<dyn compression::Encoder>)> {
    let text = |e: &basalt_parser::ast::Expr| {
        e.as_string()
            .map(|s| String::from_utf8_lossy(s).into_owned())
    };
    let path = text(&target.path)
        .ok_or_else(|| Error::new(ErrorCode::BAD_ARGUMENTS, "INTO OUTFILE takes a string"))?;
    let mode = match (target.truncate, target.append) {
        (true, _) => Mode::Replace,
        (_, true) => Mode::Append,
        _ => Mode::Create,
    };
    let (whole, file) = WholeFile::create(Path::new(&path), mode).map_err(|e| {
        let (code, hint) = match e.kind() {
            ErrorKind::AlreadyExists => {
                (ErrorCode::FILE_ALREADY_EXISTS, "Add TRUNCATE or APPEND: ")
            }
            ErrorKind::NotFound => (ErrorCode::FILE_DOESNT_EXIST, "Make its folder first: "),
            _ => (ErrorCode::CANNOT_OPEN_FILE, ""),
        };
        Error::new(code, format!("{hint}cannot open {path}: {e}"))
    })?;
    let method = target.compression.as_ref().and_then(text);
    let file = compression::encoder(file, &path, method.as_deref())?;
    Ok((whole, file))
}

/// Writes a result of a few rows that is made here.
pub(crate) fn write_rows(
    session: &Session,
    query: &RunningQuery<'_>,
    columns: Vec<(&str, DataType, ArrayRef)>,
    output: &OutputOptions,
    io: Io<'_>,
) -> Result<Summary> {
    let header: Header = columns
        .iter()
        .map(|(n, t, _)| ((*n).to_owned(), t.clone()))
        .collect();
    let fields: Vec<_> = header.iter().map(|(n, t)| t.field(n)).collect();
    let arrays = columns.into_iter().map(|(_, _, a)| a).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|e| Error::bug(e.to_string()))?;
    let mut writer = ResultWriter::new(session, query, &header, output, io.out)?;
    writer.batch(&batch)?;
    writer.finish(None)
}

/// A column of strings.
pub(crate) fn strings<S: AsRef<[u8]>>(values: impl IntoIterator<Item = S>) -> ArrayRef {
    Arc::new(BinaryViewArray::from_iter_values(values))
}

/// A column of one `UInt8`.
pub(crate) fn one_number(value: u8) -> ArrayRef {
    Arc::new(UInt8Array::from(vec![value]))
}
