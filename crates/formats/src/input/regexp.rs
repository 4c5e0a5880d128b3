//! Reads Regexp: each line matches a regular expression, whose groups are the fields.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::{Cursor, cursor::excerpt};
use regex::bytes::Regex;

use super::Target;
use super::fields::at_column;
use super::rows::RowParser;
use super::rule::RuleReader;
use super::tsv::line_len;
use crate::FormatSettings;

/// The regular expression and how its groups are read.
pub(crate) struct Groups {
    regexp: Regex,
    pub(crate) reader: RuleReader,
    skip_unmatched: bool,
}

impl Groups {
    /// What the settings say.
    ///
    /// # Errors
    /// `BAD_ARGUMENTS` without a regular expression, or with a wrong one.
    pub(crate) fn new(settings: &FormatSettings) -> Result<Self> {
        let text = &settings.format_regexp;
        if text.is_empty() {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Set format_regexp: the format Regexp has no regular expression",
            ));
        }
        let regexp = Regex::new(&format!("(?s)^(?:{text})$")).map_err(|e| {
            let text = format!("Correct the setting format_regexp: {e}");
            Error::new(ErrorCode::BAD_ARGUMENTS, text)
        })?;
        Ok(Self {
            regexp,
            reader: RuleReader::new(&settings.format_regexp_escaping_rule, "", settings)?,
            skip_unmatched: settings.format_regexp_skip_unmatched,
        })
    }

    /// The fields of a line; `None` for a line to skip.
    ///
    /// # Errors
    /// `INCORRECT_DATA` for a line that does not match.
    pub(crate) fn of_line<'a>(&self, line: &'a [u8]) -> Result<Option<Vec<&'a [u8]>>> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match self.regexp.captures(line) {
            Some(groups) => {
                let groups = groups.iter().skip(1);
                Ok(Some(
                    groups
                        .map(|g| g.map_or(&b""[..], |g| g.as_bytes()))
                        .collect(),
                ))
            }
            None if self.skip_unmatched => Ok(None),
            None => Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!(
                    "Set format_regexp_skip_unmatched = 1 to leave such lines out: line '{}' does \
                     not match the regular expression",
                    excerpt(line)
                ),
            )),
        }
    }
}

/// Reads lines.
pub(super) struct RegexpRows {
    groups: Groups,
    columns: Vec<(String, DataType)>,
}

impl RegexpRows {
    pub(super) fn new(target: &Target) -> Result<Self> {
        Ok(Self {
            groups: Groups::new(&target.settings)?,
            columns: target.columns.clone(),
        })
    }
}

impl RowParser for RegexpRows {
    /// Goes over lines that do not match, where these are left out.
    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        let mut start = 0;
        while self.groups.skip_unmatched && start < text.len() {
            let len = line_len(&text[start..]).unwrap_or(text.len() - start);
            let line = &text[start..start + len];
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if self.groups.of_line(line)?.is_some() {
                break;
            }
            start += len;
        }
        Ok(Some(start))
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let len = line_len(text).unwrap_or(text.len());
        let line = text[..len].strip_suffix(b"\n").unwrap_or(&text[..len]);
        let fields = self.groups.of_line(line)?.unwrap_or_default();
        if fields.len() != columns.len() {
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!(
                    "The regular expression has {} groups for {} columns",
                    fields.len(),
                    columns.len()
                ),
            ));
        }
        for ((field, column), target) in fields.iter().zip(columns).zip(&self.columns) {
            let mut cursor = Cursor::new(field);
            let read = self.groups.reader.read(column, &mut cursor);
            read.map_err(|e| at_column(&e, target, field))?;
        }
        Ok(len)
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        line_len(text)
    }

    fn has_lines(&self) -> bool {
        true
    }
}
