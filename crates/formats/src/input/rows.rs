//! Loops over the rows of a source for every format whose rows stand one after another.
//!
//! The bytes lie in one buffer. A row that reaches the buffer's end may go on behind it: what was
//! read of it is taken back and it is read again with more bytes. So a parser sees plain slices
//! and never a row in two parts.

use std::sync::Arc;

use ::arrow::datatypes::Schema;
use ::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use basalt_error::{Error, Result};
use basalt_profile::{check_limit, check_room, read_behind, room_bytes};
use basalt_types::builder::ColumnBuilder;

use super::{BYTE_ORDER_MARK, BlockReader, Source, Target};

/// Bytes that are read at a time, at least.
const READ_BYTES: usize = 1 << 20;

/// Bytes of text after which a block ends, however few rows it has.
const BLOCK_BYTES: u64 = 10 << 20;

/// Bytes of text, and values of rows, after which is looked whether the query holds too much.
const CHECKED_BYTES: u64 = 256 << 10;
const CHECKED_VALUES: usize = 1 << 16;

/// Bytes that stand behind the last row at most: totals, extremes and statistics of a document.
const MAX_END_BYTES: usize = 64 << 20;

/// How one format's rows are read.
pub(super) trait RowParser: Send {
    /// Reads what stands before the first row; returns its length.
    fn header(&mut self, _text: &[u8], _target: &Target) -> Result<usize> {
        Ok(0)
    }

    /// Length of what stands between rows (all of `text` if a row may still come behind it), or
    /// `None` if no row follows.
    fn gap(&mut self, _text: &[u8]) -> Result<Option<usize>> {
        Ok(Some(0))
    }

    /// Checks what stands behind the last row, once all of it is there: a text that was cut off between
    /// two rows is no whole one.
    fn end(&self, _rest: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Reads the row at the start of `text` into a value of each column; returns its length.
    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize>;

    /// Length of the row at the start of `text`, if all of it is there.
    fn row_len(&self, text: &[u8]) -> Option<usize>;

    /// Whether the end of a text ends its last row, too: rows are lines.
    fn has_lines(&self) -> bool {
        false
    }
}

/// The bytes that have been read and not parsed.
struct Buffer {
    source: Source,
    bytes: Vec<u8>,
    start: usize,
    is_last: bool,
    /// Position in the source of the first byte.
    position: u64,
}

impl Buffer {
    fn text(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Position in the source of the first byte that is still to be read.
    fn first_byte(&self) -> u64 {
        self.position + self.start as u64
    }

    /// Reads more bytes behind those that are there.
    fn fill(&mut self) -> Result<()> {
        self.bytes.drain(..self.start);
        self.position += self.start as u64;
        self.start = 0;
        // A row longer than the buffer doubles it, where there is room.
        let wanted = self.bytes.len().min(room_bytes() / 4).max(READ_BYTES);
        let len = read_behind(&mut self.source, &mut self.bytes, wanted)?;
        self.is_last = len == 0;
        if self.bytes.len() > 2 * READ_BYTES {
            // Its values will take about as much.
            check_room(self.bytes.len())?;
        }
        Ok(())
    }
}

/// Reads blocks of rows.
pub(super) struct RowReader<P> {
    parser: P,
    target: Target,
    buffer: Buffer,
    has_begun: bool,
    has_ended: bool,
    /// Rows that stand before these ones, too.
    rows_read: u64,
    num_errors: u64,
}

impl<P: RowParser> RowReader<P> {
    pub(super) fn new(parser: P, target: Target, source: Source) -> Result<Self> {
        // Types without text are an error now, not at the first row.
        target.builders(0)?;
        Ok(Self {
            parser,
            target,
            buffer: Buffer {
                source,
                bytes: Vec::new(),
                start: 0,
                is_last: false,
                position: 0,
            },
            has_begun: false,
            has_ended: false,
            rows_read: 0,
            num_errors: 0,
        })
    }

    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        self.buffer.fill()?;
        if self.buffer.text().starts_with(BYTE_ORDER_MARK) {
            self.buffer.start = BYTE_ORDER_MARK.len();
            let behind_mark = |len: &mut usize| *len = len.saturating_sub(BYTE_ORDER_MARK.len());
            self.target.header_len.iter_mut().for_each(behind_mark);
        }
        loop {
            let text = self.buffer.text();
            match self.parser.header(text, &self.target) {
                Ok(len) if len < text.len() || self.buffer.is_last => {
                    self.buffer.start += len;
                    return Ok(());
                }
                Err(e) if self.buffer.is_last => return Err(e.within("While reading header")),
                Err(e) if text.len() > READ_BYTES => return Err(e.within("While reading header")),
                _ => self.buffer.fill()?,
            }
        }
    }

    /// Goes to the next row; `false` if there is none.
    fn find_row(&mut self) -> Result<bool> {
        loop {
            let text = self.buffer.text();
            // What the buffer cuts off may be more, and neither an end nor wrong.
            let may_go_on = !self.buffer.is_last && text.len() < READ_BYTES;
            match self.parser.gap(text) {
                Ok(Some(len)) if len < text.len() => {
                    self.buffer.start += len;
                    return Ok(true);
                }
                _ if may_go_on => self.buffer.fill()?,
                Ok(Some(_)) if !self.buffer.is_last => self.buffer.fill()?,
                found => return found.map(|_| false),
            }
        }
    }

    /// Checks what stands behind the last row.
    fn check_end(&mut self) -> Result<()> {
        loop {
            let text = self.buffer.text();
            let may_go_on = !self.buffer.is_last && text.len() < MAX_END_BYTES;
            match self.parser.end(text) {
                Err(_) if may_go_on => self.buffer.fill()?,
                checked => return checked,
            }
        }
    }

    /// Goes behind one row without looking at its values, where the format shows where it ends;
    /// `false` if it was wrong and left out.
    fn skip_row(&mut self, columns: &mut [ColumnBuilder], rows: usize) -> Result<bool> {
        loop {
            let text = self.buffer.text();
            let len = match self.parser.row_len(text) {
                None if self.buffer.is_last && self.parser.has_lines() => Some(text.len()),
                None if self.buffer.is_last => return self.read_row(columns, rows),
                len => len,
            };
            match len {
                Some(len) if len < text.len() || self.buffer.is_last => {
                    self.buffer.start += len;
                    return Ok(true);
                }
                _ => self.buffer.fill()?,
            }
        }
    }

    /// The next rows without their values.
    fn count_block(&mut self) -> Result<Option<RecordBatch>> {
        let mut columns = self.target.builders(0)?;
        let mut rows = 0;
        while rows < self.target.settings.block_rows() {
            if !self.find_row()? {
                self.check_end().map_err(|e| self.at_row(&e, rows))?;
                self.has_ended = true;
                break;
            }
            rows += usize::from(self.skip_row(&mut columns, rows)?);
            columns.iter_mut().for_each(|c| c.truncate(0));
        }
        self.rows_read += rows as u64;
        (rows > 0).then(|| without_columns(rows)).transpose()
    }

    /// Reads one row; `false` if it was wrong and left out.
    fn read_row(&mut self, columns: &mut [ColumnBuilder], rows: usize) -> Result<bool> {
        loop {
            let text = self.buffer.text();
            let needs_more = match self.parser.row(text, columns) {
                Ok(len) if len < text.len() || self.buffer.is_last => {
                    self.buffer.start += len;
                    return Ok(true);
                }
                Ok(_) => None,
                Err(e) => Some(e),
            };
            columns.iter_mut().for_each(|c| c.truncate(rows));
            let row_len = self.parser.row_len(text);
            match needs_more {
                Some(e) if row_len.is_some() || self.buffer.is_last => {
                    if !self.may_leave_out_one_more(rows) {
                        return Err(self.at_row(&e, rows).hinted(LEAVE_OUT));
                    }
                    let len = row_len.unwrap_or(text.len());
                    self.num_errors += 1;
                    self.buffer.start += len;
                    return Ok(false);
                }
                _ => self.buffer.fill()?,
            }
        }
    }

    /// Whether the settings allow another wrong row behind these.
    #[allow(clippy::cast_precision_loss, reason = "a share of rows")]
    fn may_leave_out_one_more(&self, rows: usize) -> bool {
        let settings = &self.target.settings;
        let num_errors = self.num_errors + 1;
        let num_rows = self.row_number(rows);
        num_errors <= settings.input_format_allow_errors_num
            || num_errors as f64 / num_rows as f64 <= settings.input_format_allow_errors_ratio
    }

    /// Number of the row that follows these, from 1, those left out included.
    fn row_number(&self, rows: usize) -> u64 {
        self.rows_read + self.num_errors + rows as u64 + 1
    }

    fn at_row(&self, e: &Error, rows: usize) -> Error {
        let number = self.row_number(rows);
        let byte = self.buffer.first_byte();
        let message = e.message();
        Error::new(
            e.code(),
            format!("{message} (at row {number}, from byte {byte} on)"),
        )
    }
}

/// What helps against a few rows that cannot be read.
const LEAVE_OUT: &str = "Leave such rows out by input_format_allow_errors_num";

/// Says when it is time to look whether the query holds too much: rows may be short and take much.
struct Pace {
    rows_between: usize,
    next_rows: usize,
    next_byte: u64,
}

impl Pace {
    fn new(num_columns: usize, first_byte: u64) -> Self {
        let rows_between = (CHECKED_VALUES / num_columns.max(1)).max(1);
        Self {
            rows_between,
            next_rows: rows_between,
            next_byte: first_byte + CHECKED_BYTES,
        }
    }

    #[inline]
    fn check(&mut self, rows: usize, byte: u64) -> Result<()> {
        if rows < self.next_rows && byte < self.next_byte {
            return Ok(());
        }
        self.next_rows = rows + self.rows_between;
        self.next_byte = byte + CHECKED_BYTES;
        check_limit()
    }
}

/// A batch of rows of no columns.
fn without_columns(num_rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)
        .map_err(|e| Error::bug(e.to_string()))
}

impl<P: RowParser> BlockReader for RowReader<P> {
    fn stands_behind(&mut self, num_rows: u64, num_bytes: u64) {
        self.rows_read = num_rows;
        self.buffer.position = num_bytes;
    }

    fn begins_with_header(&mut self, len: usize) {
        self.target.header_len = Some(len);
    }

    fn next_block(&mut self) -> Result<Option<RecordBatch>> {
        if self.has_ended {
            return Ok(None);
        }
        self.begin()?;
        if self.target.only_counts {
            return self.count_block();
        }
        let max_rows = self.target.settings.block_rows();
        let mut columns = self.target.builders(max_rows)?;
        let mut rows = 0;
        let first_byte = self.buffer.first_byte();
        let mut pace = Pace::new(columns.len(), first_byte);
        let is_short = |buffer: &Buffer| buffer.first_byte() - first_byte < BLOCK_BYTES;
        while rows < max_rows && (rows == 0 || is_short(&self.buffer)) {
            if !self.find_row()? {
                self.check_end().map_err(|e| self.at_row(&e, rows))?;
                self.has_ended = true;
                break;
            }
            rows += usize::from(self.read_row(&mut columns, rows)?);
            pace.check(rows, self.buffer.first_byte())?;
        }
        if rows == 0 {
            return Ok(None);
        }
        self.rows_read += rows as u64;
        Ok(Some(self.target.finish(columns, rows)?))
    }
}
