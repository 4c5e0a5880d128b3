//! Reads the first bytes of a source, and goes over their rows.

use std::io::Read;

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::Cursor;

use crate::FormatSettings;
use crate::input::Source;

/// The first bytes of a source.
pub(super) struct Sample {
    pub(super) bytes: Vec<u8>,
    is_whole: bool,
    max_rows: u64,
}

impl Sample {
    pub(super) fn read(mut source: Source, settings: &FormatSettings) -> Result<Self> {
        let max = settings
            .input_format_max_bytes_to_read_for_schema_inference
            .max(1);
        let mut bytes = Vec::new();
        source.by_ref().take(max).read_to_end(&mut bytes)?;
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        if bytes.is_empty() {
            return Err(Error::new(
                ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
                "The table structure cannot be extracted: the file is empty; specify the structure",
            ));
        }
        let is_whole = (bytes.len() as u64) < max;
        let max_rows = settings
            .input_format_max_rows_to_read_for_schema_inference
            .max(1);
        Ok(Self {
            bytes,
            is_whole,
            max_rows,
        })
    }

    /// Calls `row` for each row, until it has taken the text or the rows are enough; a row that
    /// the sample cuts off counts only if it is the first.
    pub(super) fn rows(
        &self,
        cursor: &mut Cursor<'_>,
        mut row: impl FnMut(&mut Cursor<'_>) -> Result<()>,
    ) -> Result<()> {
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
        Ok(())
    }
}
