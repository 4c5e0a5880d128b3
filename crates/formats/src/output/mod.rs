//! Writes batches as bytes of a format.
//!
//! | module | formats |
//! |---|---|
//! | [`pieces`] | large batches, piece by piece |
//! | [`rows`] | the loop over rows that all text formats share |
//! | [`separated`] | TabSeparated, CSV, LineAsString |
//! | [`line`] | TSKV, Values, SQLInsert |
//! | [`json`] | JSON, JSONCompact, their Strings variants |
//! | [`json_rows`] | JSONEachRow, JSONCompactEachRow and their kin |
//! | [`json_columns`] | JSONColumns and its kin |
//! | [`vertical`], [`pretty`], [`markdown`] | for reading on a terminal |
//! | [`xml`] | XML |
//! | [`row_binary`], [`native`] | RowBinary, RawBLOB, Native |
//! | [`arrow`], [`parquet`] | Arrow, ArrowStream, Parquet |
//! | [`custom`] | CustomSeparated |
//! | [`template`] | Template |
//! | [`rule`] | single values by an escaping rule |
//! | [`dictionary`] | LowCardinality as dictionaries of Arrow |
//! | [`number_tip`] | large numbers in words: `-- 1.23 million` |

mod arrow;
mod custom;
mod dictionary;
mod json;
mod json_columns;
mod json_rows;
mod line;
mod markdown;
mod native;
mod number_tip;
mod parquet;
mod pieces;
mod pretty;
mod row_binary;
mod rows;
pub(crate) mod rule;
mod separated;
mod template;
mod vertical;
mod xml;

use ::arrow::record_batch::RecordBatch;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

pub use pieces::write_in_pieces;

use crate::FormatSettings;
use crate::registry::{Kind, lookup};

/// What the query did, for the formats that tell it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Seconds since the query began.
    pub elapsed: f64,
    /// Rows that scans read.
    pub rows_read: u64,
    /// Bytes that scans read.
    pub bytes_read: u64,
    /// Rows there would have been without LIMIT, if the query has one.
    pub rows_before_limit_at_least: Option<u64>,
}

/// Writes a result: batches, then totals and extremes if there are any, then `finish`.
pub trait RowSink: Send {
    /// Writes rows.
    ///
    /// # Errors
    /// If the batch is not of the columns that the sink was made for, or cannot be written.
    fn write_batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()>;

    /// Writes the row of `WITH TOTALS`; formats that have no place for it leave it out.
    ///
    /// # Errors
    /// As [`RowSink::write_batch`].
    fn totals(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()>;

    /// Writes the two rows of least and greatest values.
    ///
    /// # Errors
    /// As [`RowSink::write_batch`].
    fn extremes(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()>;

    /// Ends the output.
    ///
    /// # Errors
    /// If the format's end cannot be written.
    fn finish(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()>;

    /// Bytes of rows that were written and are not in any `out` yet.
    fn kept_bytes(&self) -> usize;

    /// Whether the same rows become the same bytes, however they are cut into batches.
    fn is_by_rows(&self) -> bool;
}

/// What a format's writer implements; [`Begun`] makes a [`RowSink`] of it.
trait Writer: Send {
    /// Writes what stands before the first row.
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()>;
    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()>;
    fn totals(&mut self, _batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
    fn extremes(&mut self, _batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
    fn end(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()>;
    fn kept_bytes(&self) -> usize {
        0
    }
    fn is_by_rows(&self) -> bool {
        false
    }
}

/// Calls the writer's `begin` before anything else.
struct Begun<W> {
    writer: W,
    has_begun: bool,
}

impl<W: Writer> Begun<W> {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.writer.begin(out)?;
        }
        Ok(())
    }
}

impl<W: Writer> RowSink for Begun<W> {
    fn write_batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.begin(out)?;
        self.writer.batch(batch, out)
    }

    fn totals(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.begin(out)?;
        self.writer.totals(batch, out)
    }

    fn extremes(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.begin(out)?;
        self.writer.extremes(batch, out)
    }

    fn finish(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        self.begin(out)?;
        self.writer.end(statistics, out)
    }

    fn kept_bytes(&self) -> usize {
        self.writer.kept_bytes()
    }

    fn is_by_rows(&self) -> bool {
        self.writer.is_by_rows()
    }
}

fn sink<W: Writer + 'static>(writer: W) -> Result<Box<dyn RowSink>> {
    let has_begun = false;
    Ok(Box::new(Begun { writer, has_begun }))
}

/// Makes the sink of the format `name` for columns of these names and types.
///
/// # Errors
/// `UNKNOWN_FORMAT`, or `FORMAT_IS_NOT_SUITABLE_FOR_OUTPUT` for one that is only read.
pub fn output(
    name: &str,
    header: &[(String, DataType)],
    settings: &FormatSettings,
) -> Result<Box<dyn RowSink>> {
    let format = lookup(name)?;
    match format.kind {
        Kind::TabSeparated(_) | Kind::TabSeparatedRaw(_) | Kind::Csv(_) | Kind::LineAsString => {
            sink(separated::writer(format.kind, header, settings))
        }
        Kind::RawBlob => sink(row_binary::RowBinaryWriter::raw(header)),
        Kind::Tskv => sink(line::tskv(header, settings)),
        Kind::Values => sink(line::values(header, settings)),
        Kind::SqlInsert => sink(line::sql_insert(header, settings)),
        Kind::Json { compact, strings } => {
            sink(json::JsonWriter::new(header, settings, compact, strings))
        }
        Kind::JsonColumns { compact, metadata } => sink(json_columns::JsonColumnsWriter::new(
            header, settings, compact, metadata,
        )),
        Kind::JsonEachRow { strings, pretty } => {
            sink(json_rows::each_row(header, settings, strings, pretty))
        }
        Kind::JsonEachRowWithProgress { compact, strings } => sink(json_rows::WithProgress::new(
            header, settings, compact, strings,
        )),
        Kind::CustomSeparated(lines) => sink(custom::writer(header, settings, lines)?),
        Kind::Template => sink(template::TemplateWriter::new(header, settings)?),
        Kind::JsonCompactEachRow {
            strings,
            header: lines,
        } => sink(json_rows::compact_each_row(
            header, settings, strings, lines,
        )),
        Kind::JsonObjectEachRow => sink(json_rows::object_each_row(header, settings)),
        Kind::Vertical => sink(vertical::VerticalWriter::new(header, settings)),
        Kind::Pretty { grid, escapes } => {
            sink(pretty::PrettyWriter::new(header, settings, grid, escapes))
        }
        Kind::Markdown => sink(markdown::writer(header, settings)),
        Kind::Xml => sink(xml::XmlWriter::new(header, settings)),
        Kind::Native => sink(native::NativeWriter::new(header, settings)),
        Kind::RowBinary(lines) => sink(row_binary::RowBinaryWriter::new(header, lines, settings)),
        Kind::Arrow => sink(arrow::ArrowWriter::file(header, settings)?),
        Kind::ArrowStream => sink(arrow::ArrowWriter::stream(header, settings)?),
        Kind::Parquet => sink(parquet::ParquetWriter::new(header, settings)?),
        Kind::Null => sink(NullWriter),
        Kind::One | Kind::JsonAsString | Kind::Regexp => Err(Error::new(
            ErrorCode::FORMAT_IS_NOT_SUITABLE_FOR_OUTPUT,
            format!("Format {} is not suitable for output", format.name),
        )),
    }
}

/// Writes nothing.
struct NullWriter;

impl Writer for NullWriter {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, _batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _statistics: &Statistics, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
}
