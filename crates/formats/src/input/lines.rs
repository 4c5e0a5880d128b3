//! Reads TSKV, LineAsString, RawBLOB and One.

use std::sync::Arc;

use ::arrow::array::{ArrayRef, BinaryViewBuilder};
use ::arrow::buffer::Buffer;
use ::arrow::record_batch::RecordBatch;
use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::read_behind;
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::Cursor;
use basalt_types::text::escape::unescape;

use super::rows::RowParser;
use super::tsv::{escaped_line_len, line_len, take_field, with_format_code};
use super::{BlockReader, Source, Target};

/// Lines of `name=value`, separated by tabs.
pub(super) struct TskvRows {
    names: Vec<Vec<u8>>,
    seen: Vec<bool>,
    skip_unknown: bool,
    null: Vec<u8>,
}

impl TskvRows {
    pub(super) fn new(target: &Target) -> Self {
        Self {
            names: target
                .columns
                .iter()
                .map(|(n, _)| n.clone().into_bytes())
                .collect(),
            seen: vec![false; target.columns.len()],
            skip_unknown: target.settings.input_format_skip_unknown_fields,
            null: target
                .settings
                .format_tsv_null_representation
                .clone()
                .into_bytes(),
        }
    }

    fn value(&mut self, field: &[u8], columns: &mut [ColumnBuilder]) -> Result<()> {
        let equals =
            (0..field.len()).find(|i| field[*i] == b'=' && (*i == 0 || field[i - 1] != b'\\'));
        let Some(equals) = equals else {
            let shown = String::from_utf8_lossy(field);
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!("Found field without value while parsing TSKV format: '{shown}'"),
            ));
        };
        let (mut name, value) = (Vec::new(), &field[equals + 1..]);
        unescape(&field[..equals], &mut name)?;
        let Some(i) = self.names.iter().position(|n| *n == name) else {
            return if self.skip_unknown {
                Ok(())
            } else {
                let name = String::from_utf8_lossy(&name);
                let message = format!("Unknown field found while parsing TSKV format: '{name}'");
                Err(Error::new(ErrorCode::INCORRECT_DATA, message))
            };
        };
        if std::mem::replace(&mut self.seen[i], true) {
            let name = String::from_utf8_lossy(&name);
            let message = format!("Duplicate field found while parsing TSKV format: '{name}'");
            return Err(Error::new(ErrorCode::INCORRECT_DATA, message));
        }
        let column = &mut columns[i];
        if value == self.null {
            column.append_null();
            return Ok(());
        }
        if column.nested().is_some() {
            return column.append_text(value).map_err(|e| with_format_code(&e));
        }
        let mut text = Vec::new();
        unescape(value, &mut text)?;
        column.append_text(&text).map_err(|e| with_format_code(&e))
    }
}

impl RowParser for TskvRows {
    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        self.seen.fill(false);
        loop {
            let is_first = cursor.rest().len() == text.len();
            let field = take_field(&mut cursor, false);
            let is_empty_row = is_first && field.is_empty() && cursor.peek() == Some(b'\n');
            let has_value = field.contains(&b'=');
            // A row may say what it is.
            if field != b"tskv" && !is_empty_row && (has_value || !cursor.is_at_end()) {
                self.value(field, columns)?;
            }
            if cursor.is_at_end() {
                return Err(Error::new(
                    ErrorCode::CANNOT_READ_ALL_DATA,
                    "The text is cut off: unexpected end of stream after a field in TSKV format",
                ));
            }
            if !cursor.eat(b'\t') {
                break;
            }
        }
        cursor.eat(b'\n');
        for (column, seen) in columns.iter_mut().zip(&self.seen) {
            if !seen {
                column.append_default();
            }
        }
        Ok(text.len() - cursor.rest().len())
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        escaped_line_len(text, 0)
    }

    fn has_lines(&self) -> bool {
        true
    }
}

/// Each line is one string.
pub(super) struct LineRows;

impl LineRows {
    pub(super) fn new(target: &Target) -> Result<Self> {
        target.only_string("LineAsString")?;
        Ok(Self)
    }
}

impl RowParser for LineRows {
    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let end = memchr::memchr(b'\n', text);
        if let Some(column) = columns.first_mut() {
            column.append_raw(&text[..end.unwrap_or(text.len())])?;
        }
        Ok(end.map_or(text.len(), |end| end + 1))
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        line_len(text)
    }

    fn has_lines(&self) -> bool {
        true
    }
}

/// The whole source is one string.
pub(super) struct BlobReader {
    target: Target,
    source: Option<Source>,
}

impl BlobReader {
    pub(super) fn new(target: Target, source: Source) -> Result<Self> {
        target.only_string("RawBLOB")?;
        Ok(Self {
            target,
            source: Some(source),
        })
    }
}

impl BlockReader for BlobReader {
    fn next_block(&mut self) -> Result<Option<RecordBatch>> {
        let Some(mut source) = self.source.take() else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        read_behind(&mut source, &mut bytes, usize::MAX)?;
        let omitted = vec![Vec::new(); self.target.tracked.len()];
        let column = one_string(bytes)?;
        Ok(Some(self.target.with_flags(vec![column], &omitted, 1)?))
    }
}

/// A column of one string, which keeps the bytes where they are.
fn one_string(bytes: Vec<u8>) -> Result<ArrayRef> {
    let too_long = |_| {
        Error::new(
            ErrorCode::TOO_LARGE_STRING_SIZE,
            "Too large string size: a string has less than 4 GiB",
        )
    };
    let len = u32::try_from(bytes.len()).map_err(too_long)?;
    let mut column = BinaryViewBuilder::with_capacity(1);
    let block = column.append_block(Buffer::from_vec(bytes));
    let appended = column.try_append_view(block, 0, len);
    appended.map_err(|e| Error::bug(e.to_string()))?;
    Ok(Arc::new(column.finish()))
}

/// One row of defaults, whatever the source.
pub(super) struct OneReader {
    target: Target,
    is_done: bool,
}

impl OneReader {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            is_done: false,
        }
    }
}

impl BlockReader for OneReader {
    fn next_block(&mut self) -> Result<Option<RecordBatch>> {
        if std::mem::replace(&mut self.is_done, true) {
            return Ok(None);
        }
        let mut columns = self.target.builders(1)?;
        columns.iter_mut().for_each(ColumnBuilder::append_default);
        Ok(Some(self.target.finish(columns, 1)?))
    }
}
