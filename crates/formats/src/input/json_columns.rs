//! Reads columns of JSON: JSONColumns, JSONCompactColumns, JSONColumnsWithMetadata.

use std::collections::VecDeque;

use ::arrow::record_batch::RecordBatch;
use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::{check_limit, read_behind};
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::Cursor;

use super::json::JsonReader;
use super::json_document::{close_document, find_data, no_document};
use super::json_rows::check_nothing_follows;
use super::json_skip::skip_value;
use super::{BYTE_ORDER_MARK, BlockReader, Source, Target};

/// Values of a column after which is looked whether the query holds too much.
const VALUES_BETWEEN_CHECKS: usize = 1 << 12;

/// Where the columns stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// `{"name": [value, …], …}`, one object after another.
    Named,
    /// `[[value, …], …]`, one array after another.
    ByPosition,
    /// The member `data` of a document is as [`Layout::Named`].
    Document,
}

/// Reads a whole source; each object or array in it gives its rows.
pub(super) struct ColumnsReader {
    target: Target,
    layout: Layout,
    reader: JsonReader,
    source: Option<Source>,
    /// Blocks that are read and not given away.
    blocks: VecDeque<RecordBatch>,
}

fn wrong(what: String) -> Error {
    Error::new(ErrorCode::INCORRECT_DATA, what)
}

impl ColumnsReader {
    pub(super) fn new(target: Target, source: Source, layout: Layout) -> Result<Self> {
        target.builders(0)?;
        Ok(Self {
            reader: JsonReader::new(&target.settings),
            target,
            layout,
            source: Some(source),
            blocks: VecDeque::new(),
        })
    }

    fn read_all(&mut self, mut source: Source) -> Result<()> {
        let mut bytes = Vec::new();
        read_behind(&mut source, &mut bytes, usize::MAX)?;
        let mut cursor = Cursor::new(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes));
        let is_document = self.layout == Layout::Document;
        if is_document && find_data(&mut cursor)?.is_none() {
            return Err(no_document(&bytes));
        }
        loop {
            cursor.skip_space();
            if cursor.is_at_end() {
                return Ok(());
            }
            self.read_table(&mut cursor)?;
            if is_document {
                close_document(&mut cursor)?;
            }
            if is_document {
                return check_nothing_follows(&cursor);
            }
        }
    }

    /// Reads the columns of one object or array.
    fn read_table(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let mut columns = self.target.builders(0)?;
        let mut num_rows = None;
        if self.layout == Layout::ByPosition {
            self.read_by_position(&mut columns, &mut num_rows, cursor)?;
        } else {
            self.read_named(&mut columns, &mut num_rows, cursor)?;
        }
        let num_rows = num_rows.unwrap_or(0);
        for column in &mut columns {
            while column.len() < num_rows {
                column.append_default();
            }
        }
        let batch = self.target.finish(columns, num_rows)?;
        self.push(&batch);
        Ok(())
    }

    fn read_named(
        &mut self,
        columns: &mut [ColumnBuilder],
        num_rows: &mut Option<usize>,
        cursor: &mut Cursor<'_>,
    ) -> Result<()> {
        let target = &self.target;
        let skip_unknown = target.settings.input_format_skip_unknown_fields;
        cursor.expect(b'{')?;
        self.reader.members(cursor, |reader, key, cursor| {
            let position = target.position(key);
            match position.and_then(|i| columns.get_mut(i)) {
                Some(column) => read_column(reader, column, num_rows, cursor),
                None if skip_unknown => skip_value(cursor, reader.max_depth()),
                None => Err(wrong(format!(
                    "Unknown column found in input data: {}",
                    String::from_utf8_lossy(key)
                ))),
            }
        })
    }

    fn read_by_position(
        &mut self,
        columns: &mut [ColumnBuilder],
        num_rows: &mut Option<usize>,
        cursor: &mut Cursor<'_>,
    ) -> Result<()> {
        let expected = columns.len();
        let mut columns = columns.iter_mut();
        cursor.expect(b'[')?;
        cursor.skip_space();
        while !cursor.eat(b']') {
            let column = columns.next().ok_or_else(|| {
                wrong(format!(
                    "Input data has too many columns, expected {expected} columns"
                ))
            })?;
            read_column(&mut self.reader, column, num_rows, cursor)?;
            next_element(cursor)?;
        }
        Ok(())
    }

    /// Keeps the rows as blocks that are not too long.
    fn push(&mut self, batch: &RecordBatch) {
        let num_rows = batch.num_rows();
        let max_rows = self.target.settings.block_rows();
        let starts = (0..num_rows).step_by(max_rows);
        let blocks = starts.map(|s| batch.slice(s, max_rows.min(num_rows - s)));
        self.blocks.extend(blocks);
    }
}

/// Goes over the comma behind an element, if it is not the last.
fn next_element(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.skip_space();
    if !cursor.eat(b',') && cursor.peek() != Some(b']') {
        cursor.expect(b']')?;
    }
    cursor.skip_space();
    Ok(())
}

/// Reads the values of a column, as many as the others have.
fn read_column(
    reader: &mut JsonReader,
    column: &mut ColumnBuilder,
    num_rows: &mut Option<usize>,
    cursor: &mut Cursor<'_>,
) -> Result<()> {
    cursor.expect(b'[')?;
    cursor.skip_space();
    while !cursor.eat(b']') {
        for _ in 0..VALUES_BETWEEN_CHECKS {
            reader.read(column, cursor)?;
            next_element(cursor)?;
            if cursor.peek() == Some(b']') {
                break;
            }
        }
        check_limit()?;
    }
    let expected = *num_rows.get_or_insert(column.len());
    if expected != column.len() {
        return Err(wrong(format!(
            "Number of rows differs in different columns: {expected} != {}",
            column.len()
        )));
    }
    Ok(())
}

impl BlockReader for ColumnsReader {
    fn next_block(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(source) = self.source.take() {
            self.read_all(source)?;
        }
        Ok(self.blocks.pop_front())
    }
}
