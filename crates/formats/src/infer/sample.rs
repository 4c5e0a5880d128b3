//! Reads the first bytes of a source, and goes over their rows.

use std::cell::Cell;

use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::read_behind;
use basalt_types::text::Cursor;

use crate::FormatSettings;
use crate::input::{BYTE_ORDER_MARK, Source};

/// Bytes that are looked at first: a file of short rows shows in them as many as are wanted.
const FIRST_BYTES: usize = 1 << 20;

/// The first bytes of a source.
pub(super) struct Sample {
    pub(super) bytes: Vec<u8>,
    is_whole: bool,
    max_rows: u64,
    /// Whether the rows that were wanted last were all there, so that more bytes would tell no more.
    has_all_rows: Cell<bool>,
}

impl Sample {
    /// Gives what `find` finds in the first bytes: in so many of them that all rows are there which are
    /// wanted, or in as many as the settings allow.
    pub(super) fn find<T>(
        mut source: Source,
        settings: &FormatSettings,
        find: impl Fn(&Self) -> Result<T>,
    ) -> Result<T> {
        let max = settings.input_format_max_bytes_to_read_for_schema_inference;
        let max = usize::try_from(max).unwrap_or(usize::MAX).max(1);
        let mut sample = Self {
            bytes: Vec::new(),
            is_whole: false,
            max_rows: settings
                .input_format_max_rows_to_read_for_schema_inference
                .max(1),
            has_all_rows: Cell::new(false),
        };
        let mut bytes_read = 0;
        loop {
            let wanted = bytes_read.max(FIRST_BYTES).min(max - bytes_read);
            let len = read_behind(&mut source, &mut sample.bytes, wanted)?;
            sample.is_whole = len < wanted;
            if bytes_read == 0 && sample.bytes.starts_with(BYTE_ORDER_MARK) {
                sample.bytes.drain(..BYTE_ORDER_MARK.len());
            }
            bytes_read += len;
            if sample.bytes.is_empty() {
                return Err(Error::new(
                    ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
                    "The table structure cannot be extracted: the file is empty; specify the structure",
                ));
            }
            let found = find(&sample);
            if sample.is_whole || sample.has_all_rows.get() || bytes_read == max {
                return found;
            }
        }
    }

    /// Calls `row` for each row, until it has taken the text or the rows are enough; a row that
    /// the sample cuts off counts only if it is the first.
    pub(super) fn rows(
        &self,
        cursor: &mut Cursor<'_>,
        mut row: impl FnMut(&mut Cursor<'_>) -> Result<()>,
    ) -> Result<()> {
        self.has_all_rows.set(false);
        let mut rows = 0;
        while !cursor.is_at_end() && rows < self.max_rows {
            let result = row(cursor);
            let is_cut_off = cursor.is_at_end() && !self.is_whole && rows > 0;
            if is_cut_off {
                return Ok(());
            }
            result?;
            rows += 1;
        }
        self.has_all_rows.set(rows == self.max_rows);
        Ok(())
    }
}
