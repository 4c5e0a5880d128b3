//! Reads single fields by an escaping rule, which CustomSeparated and Regexp are made of.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::Cursor;
use basalt_types::text::escape::unescape;

use super::csv::Dialect;
use super::json::JsonReader;
use super::json_skip::skip_value;
use super::json_text::read_string;
use super::tsv::{take_field, with_format_code};
use crate::FormatSettings;
use crate::output::rule::Rule;

/// Reads fields by one rule.
pub(crate) struct RuleReader {
    rule: Rule,
    /// What ends a bare field of CSV.
    delimiter: Vec<u8>,
    dialect: Dialect,
    json: JsonReader,
    tsv_null: Vec<u8>,
    csv_null: Vec<u8>,
}

impl RuleReader {
    /// Reads by the rule of that name; bare fields of CSV end at `delimiter`.
    ///
    /// # Errors
    /// `BAD_ARGUMENTS` for a name that is no rule to read by.
    pub(crate) fn new(rule: &str, delimiter: &str, settings: &FormatSettings) -> Result<Self> {
        let rule = Rule::parse(rule)?;
        if rule == Rule::Xml {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Use Escaped, Quoted, CSV, JSON or Raw: fields cannot be read by escaping rule XML",
            ));
        }
        let mut dialect = Dialect::new(settings);
        if let Some(first) = delimiter.bytes().next() {
            dialect.delimiter = first;
        }
        Ok(Self {
            rule,
            delimiter: delimiter.as_bytes().to_vec(),
            dialect,
            json: JsonReader::new(settings),
            tsv_null: settings.format_tsv_null_representation.clone().into_bytes(),
            csv_null: settings.format_csv_null_representation.clone().into_bytes(),
        })
    }

    /// The field as it stands in the text; what follows it is left.
    ///
    /// # Errors
    /// If quotes or brackets are not closed.
    pub(crate) fn take<'a>(&self, cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
        let text = cursor.rest();
        match self.rule {
            Rule::Escaped => return Ok(take_field(cursor, false)),
            Rule::Raw | Rule::Xml => return Ok(take_field(cursor, true)),
            Rule::Json => {
                skip_value(cursor, self.json.max_depth())?;
            }
            Rule::Quoted => skip_literal(cursor),
            Rule::Csv if matches!(cursor.peek(), Some(b'"' | b'\'')) => {
                self.dialect.take_field(cursor);
            }
            Rule::Csv if self.delimiter.len() > 1 => {
                let end = memchr::memmem::find(text, &self.delimiter);
                let line = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len());
                cursor.advance(end.map_or(line, |end| end.min(line)));
            }
            Rule::Csv => {
                self.dialect.take_field(cursor);
            }
        }
        Ok(&text[..text.len() - cursor.rest().len()])
    }

    /// Reads a field into a column.
    ///
    /// # Errors
    /// If its text is no value of the column's type.
    pub(crate) fn read(
        &mut self,
        column: &mut ColumnBuilder,
        cursor: &mut Cursor<'_>,
    ) -> Result<()> {
        match self.rule {
            Rule::Json => return self.json.read(column, cursor),
            Rule::Quoted => return column.append_quoted(cursor),
            _ => {}
        }
        let field = self.take(cursor)?;
        if self.is_null(field) {
            column.append_null();
            return Ok(());
        }
        let is_nested = column.nested().is_some();
        let text = match self.rule {
            Rule::Escaped if is_nested => field.to_vec(),
            _ => self.text(field)?,
        };
        column.append_text(&text).map_err(|e| with_format_code(&e))
    }

    /// The text that a field stands for.
    ///
    /// # Errors
    /// If its escapes are wrong.
    pub(crate) fn text(&self, field: &[u8]) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        match self.rule {
            Rule::Escaped => unescape(field, &mut text)?,
            Rule::Csv => {
                let field = self.dialect.take_field(&mut Cursor::new(field));
                text.extend_from_slice(field.value(&mut Vec::new()));
            }
            Rule::Quoted if field.first() == Some(&b'\'') => {
                let mut column = ColumnBuilder::new(&DataType::String, 1)?;
                column.append_quoted(&mut Cursor::new(field))?;
                let array = column.finish()?;
                let texts = ::arrow::array::AsArray::as_binary_view(&array);
                text.extend_from_slice(texts.value(0));
            }
            Rule::Json if field.first() == Some(&b'"') => {
                read_string(&mut Cursor::new(field), &mut text)?;
            }
            _ => text.extend_from_slice(field),
        }
        Ok(text)
    }

    /// Whether a field stands for NULL.
    pub(crate) fn is_null(&self, field: &[u8]) -> bool {
        match self.rule {
            Rule::Csv => field == self.csv_null,
            _ => field == self.tsv_null,
        }
    }

    /// Whether a field stands in quotes.
    pub(crate) fn is_quoted(&self, field: &[u8]) -> bool {
        matches!(self.rule, Rule::Csv) && matches!(field.first(), Some(b'"' | b'\''))
    }

    /// The rule.
    pub(crate) fn rule(&self) -> Rule {
        self.rule
    }
}

/// Goes over a literal: a string in quotes, brackets with what is in them, or a word.
fn skip_literal(cursor: &mut Cursor<'_>) {
    let mut depth = 0_usize;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\'' => {
                cursor.advance(1);
                while let Some(byte) = cursor.peek() {
                    cursor.advance(if byte == b'\\' { 2 } else { 1 });
                    if byte == b'\'' {
                        break;
                    }
                }
            }
            b'[' | b'(' | b'{' => {
                depth += 1;
                cursor.advance(1);
            }
            b']' | b')' | b'}' => {
                depth = depth.saturating_sub(1);
                cursor.advance(1);
            }
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'-' | b'+' | b'_' => {
                cursor.take_while(|b| b.is_ascii_alphanumeric() || b".-+_".contains(&b));
            }
            _ if depth > 0 => cursor.advance(1),
            _ => return,
        }
        if depth == 0 {
            return;
        }
    }
}
