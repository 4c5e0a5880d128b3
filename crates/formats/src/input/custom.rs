//! Reads CustomSeparated: fields by an escaping rule, with what the settings put around and between.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::Cursor;

use super::Target;
use super::fields::{FieldMap, are_types, at_column, is_header};
use super::rows::RowParser;
use super::rule::RuleReader;
use crate::FormatSettings;
use crate::output::rule::Rule;
use crate::registry::Header;

/// What stands around fields, rows and all rows.
pub(crate) struct Delimiters {
    field: Vec<u8>,
    row_before: Vec<u8>,
    row_after: Vec<u8>,
    row_between: Vec<u8>,
    result_before: Vec<u8>,
    result_after: Vec<u8>,
}

impl Delimiters {
    pub(crate) fn new(settings: &FormatSettings) -> Self {
        let bytes = |text: &String| text.clone().into_bytes();
        Self {
            field: bytes(&settings.format_custom_field_delimiter),
            row_before: bytes(&settings.format_custom_row_before_delimiter),
            row_after: bytes(&settings.format_custom_row_after_delimiter),
            row_between: bytes(&settings.format_custom_row_between_delimiter),
            result_before: bytes(&settings.format_custom_result_before_delimiter),
            result_after: bytes(&settings.format_custom_result_after_delimiter),
        }
    }

    /// Goes over what stands before the first row.
    ///
    /// # Errors
    /// If something else stands there.
    pub(crate) fn begin(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        expect(cursor, &self.result_before)
    }

    /// Takes the fields of a row and all that belongs to it.
    ///
    /// # Errors
    /// If the row is not as the delimiters say.
    pub(crate) fn take_row<'a>(
        &self,
        reader: &RuleReader,
        cursor: &mut Cursor<'a>,
    ) -> Result<Vec<&'a [u8]>> {
        expect(cursor, &self.row_before)?;
        let mut fields = vec![reader.take(cursor)?];
        while !self.ends_row(cursor) {
            expect(cursor, &self.field)?;
            fields.push(reader.take(cursor)?);
        }
        expect(cursor, &self.row_after)?;
        Ok(fields)
    }

    /// Whether the row ends here, and no field follows.
    fn ends_row(&self, cursor: &Cursor<'_>) -> bool {
        let text = cursor.rest();
        let is_end = match self.row_after.as_slice() {
            [] => !text.starts_with(&self.field),
            after => text.starts_with(after),
        };
        is_end && !(text.starts_with(&self.field) && self.field.len() > self.row_after.len())
    }

    /// Length of what stands before the next row; `None` if none follows.
    ///
    /// # Errors
    /// If neither a row nor the end follows.
    pub(crate) fn gap(&self, text: &[u8], is_first: bool) -> Result<Option<usize>> {
        let end = text.strip_prefix(self.result_after.as_slice());
        if !text.is_empty() && end.is_some_and(|rest| rest.iter().all(u8::is_ascii_whitespace)) {
            return Ok(None);
        }
        if is_first || text.is_empty() {
            return Ok(Some(0));
        }
        let mut cursor = Cursor::new(text);
        expect(&mut cursor, &self.row_between)?;
        Ok(Some(self.row_between.len()))
    }
}

/// Goes over a delimiter.
fn expect(cursor: &mut Cursor<'_>, delimiter: &[u8]) -> Result<()> {
    if cursor.eat_text(delimiter) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
        format!(
            "Cannot parse input: expected '{}' before: '{}'",
            delimiter.escape_ascii(),
            cursor.excerpt()
        ),
    ))
}

/// Reads rows.
pub(super) struct CustomRows {
    reader: RuleReader,
    delimiters: Delimiters,
    map: FieldMap,
    header: Header,
    columns: Vec<(String, DataType)>,
    detect_header: bool,
    is_first: bool,
    /// Whether fields of text go on past the delimiter, as the rule ends them elsewhere.
    runs_on: bool,
}

impl CustomRows {
    pub(super) fn new(target: &Target, header: Header) -> Result<Self> {
        let settings = &target.settings;
        let (rule, delimiter) = (
            &settings.format_custom_escaping_rule,
            &settings.format_custom_field_delimiter,
        );
        Ok(Self {
            reader: RuleReader::new(rule, delimiter, settings)?,
            delimiters: Delimiters::new(settings),
            map: FieldMap::by_position(target),
            header,
            columns: target.columns.clone(),
            detect_header: settings.input_format_custom_detect_header,
            is_first: true,
            runs_on: Rule::parse(rule)? == Rule::Escaped
                && !delimiter.is_empty()
                && !delimiter.starts_with(['\t', '\n']),
        })
    }

    /// Refuses texts that would take the fields behind them in.
    fn check_ends(&self) -> Result<()> {
        let mut columns = self.columns.iter();
        if !self.runs_on || !columns.any(|(_, t)| t.base().is_string()) {
            return Ok(());
        }
        let delimiter = String::from_utf8_lossy(&self.delimiters.field);
        Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Set format_custom_escaping_rule = 'CSV': texts of the rule Escaped end at tabs and line ends, not at {delimiter:?}"
            ),
        ))
    }

    fn names(&self, cursor: &mut Cursor<'_>) -> Result<Vec<Vec<u8>>> {
        let fields = self.delimiters.take_row(&self.reader, cursor)?;
        fields.into_iter().map(|f| self.reader.text(f)).collect()
    }

    /// Goes over a row of types behind one of names, if there is one.
    fn skip_types(&self, cursor: &mut Cursor<'_>, target: &Target) -> Result<()> {
        let mut behind = *cursor;
        let types = self.names(&mut behind).ok();
        if let Some(types) = types.filter(|types| are_types(types)) {
            self.map.check_types(&types, target)?;
            self.skip_gap(&mut behind)?;
            *cursor = behind;
        }
        Ok(())
    }

    /// Goes to the row behind a row of the header.
    fn skip_gap(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        let gap = self.delimiters.gap(cursor.rest(), false)?;
        cursor.advance(gap.unwrap_or(0));
        Ok(())
    }
}

impl RowParser for CustomRows {
    fn header(&mut self, text: &[u8], target: &Target) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        self.delimiters.begin(&mut cursor)?;
        let start = cursor;
        if self.header == Header::None {
            let is_empty =
                self.delimiters.gap(cursor.rest(), true)?.is_none() || cursor.is_at_end();
            if self.detect_header && !is_empty {
                let first = self.names(&mut cursor)?;
                if is_header(&first, target) {
                    self.map = FieldMap::by_names(&first, target)?;
                    self.skip_gap(&mut cursor)?;
                    self.skip_types(&mut cursor, target)?;
                } else {
                    cursor = start;
                }
            }
            if !is_empty {
                self.check_ends()?;
            }
            return Ok(text.len() - cursor.rest().len());
        }
        self.map = FieldMap::by_names(&self.names(&mut cursor)?, target)?;
        self.skip_gap(&mut cursor)?;
        if self.header == Header::NamesAndTypes {
            let types = self.names(&mut cursor)?;
            self.map.check_types(&types, target)?;
            self.skip_gap(&mut cursor)?;
        }
        self.check_ends()?;
        Ok(text.len() - cursor.rest().len())
    }

    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        self.delimiters.gap(text, self.is_first)
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        expect(&mut cursor, &self.delimiters.row_before)?;
        for i in 0..self.map.len() {
            if i > 0 {
                expect(&mut cursor, &self.delimiters.field)?;
            }
            let before = cursor;
            match self.map.column(i) {
                None => {
                    self.reader.take(&mut cursor)?;
                }
                Some(column) => {
                    let read = self.reader.read(&mut columns[column], &mut cursor);
                    read.map_err(|e| {
                        let field = self.reader.take(&mut { before }).unwrap_or_default();
                        at_column(&e, &self.columns[column], field)
                    })?;
                }
            }
        }
        expect(&mut cursor, &self.delimiters.row_after)?;
        self.map.fill_missing(columns);
        self.is_first = false;
        Ok(text.len() - cursor.rest().len())
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        let mut cursor = Cursor::new(text);
        let fields = self.delimiters.take_row(&self.reader, &mut cursor);
        fields.ok().map(|_| text.len() - cursor.rest().len())
    }
}
