//! Finds where a large text can be cut between rows, so that its parts are read in parallel.

use std::ops::Range;

use basalt_error::{Error, Result};

use basalt_types::DataType;

use super::csv::{CsvRows, Dialect};
use super::json_rows::{ArrayRows, value_len};
use super::rows::RowParser;
use super::tsv::{TsvRows, count_escaped_lines, escaped_line_len, line_len};
use super::{BYTE_ORDER_MARK, Target};
use crate::FormatSettings;
use crate::registry::{Kind, lookup};

/// Finds the end of the rows that are at least a number of bytes, and counts them.
type RowEnd = Box<dyn Fn(&[u8], usize) -> Option<(usize, u64)>>;

/// Whole rows of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where they stand.
    pub range: Range<usize>,
    /// How many there are, lines of a header among them; a row that does not end is not counted.
    pub num_rows: u64,
}

/// Cuts `text` into parts of about `part_bytes`, each of whole rows. What stands before the first
/// row (a header of names) is in the first part.
///
/// The last part may end within a row if `text` does: `is_last` says that it does not go on.
/// Returns the parts; what is left behind them belongs to the next text.
///
/// # Errors
/// `NOT_IMPLEMENTED` for formats whose rows are not lines: see `FormatEntry::splits`.
pub fn split_rows(
    format: &str,
    text: &[u8],
    settings: &FormatSettings,
    part_bytes: usize,
    is_last: bool,
) -> Result<Vec<Part>> {
    let next = row_end(format, settings)?;
    let mut parts: Vec<Part> = Vec::new();
    let mut start = 0;
    while start < text.len() {
        match next(&text[start..], part_bytes) {
            Some((len, num_rows)) if len > 0 => parts.push(Part {
                range: start..start + len.min(text.len() - start),
                num_rows,
            }),
            _ if is_last => parts.push(Part {
                range: start..text.len(),
                num_rows: 0,
            }),
            _ => break,
        }
        start = parts.last().map_or(text.len(), |part| part.range.end);
    }
    Ok(parts)
}

/// Number of whole rows at the start of `text`, lines of a header among them.
///
/// # Errors
/// As [`split_rows`].
pub fn count_rows(format: &str, text: &[u8], settings: &FormatSettings) -> Result<u64> {
    let parts = split_rows(format, text, settings, 1, false)?;
    Ok(parts.iter().map(|part| part.num_rows).sum())
}

fn row_end(format: &str, settings: &FormatSettings) -> Result<RowEnd> {
    let entry = lookup(format)?;
    let dialect = Dialect::new(settings);
    Ok(match entry.kind {
        Kind::TabSeparated(_) | Kind::Tskv => Box::new(|text, at| {
            let end = escaped_line_len(text, at)?;
            Some((end, count_escaped_lines(&text[..end])))
        }),
        // No line end is inside a row: any of them will do.
        Kind::TabSeparatedRaw(_) | Kind::LineAsString => Box::new(|text, at| {
            let end = at + line_len(&text[at.min(text.len())..])?;
            Some((end, memchr::memchr_iter(b'\n', &text[..end]).count() as u64))
        }),
        Kind::Csv(_) => Box::new(move |text, at| whole_rows(text, at, &|t| dialect.row_len(t))),
        _ if entry.splits => Box::new(|text, at| whole_rows(text, at, &value_len)),
        _ => {
            return Err(Error::not_implemented(format!(
                "Parallel reading of {format}"
            )));
        }
    })
}

/// Length of what stands before the first row of `text`: skipped lines and a header.
///
/// A reader of any later part must see it too: chain it before the part.
///
/// # Errors
/// `INCORRECT_DATA` if the header is wrong, `NOT_IMPLEMENTED` as [`split_rows`].
pub fn header_len(
    format: &str,
    columns: &[(String, DataType)],
    settings: &FormatSettings,
    text: &[u8],
) -> Result<usize> {
    let target = Target::new(columns, settings);
    let behind_mark = text.strip_prefix(BYTE_ORDER_MARK);
    let mark_len = behind_mark.map_or(0, |_| BYTE_ORDER_MARK.len());
    let text = behind_mark.unwrap_or(text);
    let len = match lookup(format)?.kind {
        Kind::TabSeparated(header) => TsvRows::new(&target, header, false).header(text, &target),
        Kind::TabSeparatedRaw(header) => TsvRows::new(&target, header, true).header(text, &target),
        Kind::Csv(header) => CsvRows::new(&target, header).header(text, &target),
        Kind::JsonCompactEachRow { header, .. } => {
            ArrayRows::new(&target, header, false).header(text, &target)
        }
        Kind::JsonEachRow { .. } | Kind::Tskv | Kind::LineAsString => Ok(0),
        _ => Err(Error::not_implemented(format!(
            "Parallel reading of {format}"
        ))),
    }?;
    Ok(if len == 0 { 0 } else { mark_len + len })
}

/// Length and number of as many whole rows as are at least `at` bytes.
fn whole_rows(
    text: &[u8],
    at: usize,
    row_len: &dyn Fn(&[u8]) -> Option<usize>,
) -> Option<(usize, u64)> {
    let (mut len, mut num_rows) = (0, 0);
    while len < at {
        match row_len(&text[len..]) {
            Some(row) if row > 0 => {
                len += row;
                num_rows += 1;
            }
            _ => return None,
        }
    }
    Some((len, num_rows))
}

#[cfg(test)]
mod tests {
    use super::{header_len, split_rows};
    use crate::FormatSettings;
    use basalt_types::DataType;

    fn parts(format: &str, text: &str, bytes: usize, is_last: bool) -> Vec<String> {
        let ranges = split_rows(
            format,
            text.as_bytes(),
            &FormatSettings::default(),
            bytes,
            is_last,
        );
        ranges
            .expect("a line format")
            .into_iter()
            .map(|part| text[part.range].to_string())
            .collect()
    }

    #[test]
    fn headers_are_found() {
        let columns = [
            ("x".to_string(), DataType::UInt8),
            ("y".to_string(), DataType::UInt8),
        ];
        let len = |format, text: &str| {
            header_len(
                format,
                &columns,
                &FormatSettings::default(),
                text.as_bytes(),
            )
        };
        assert_eq!(len("CSVWithNames", "y,x\n1,2\n"), Ok(4));
        assert_eq!(len("CSV", "y,x\n1,2\n"), Ok(4));
        assert_eq!(len("CSV", "1,2\n"), Ok(0));
        assert_eq!(
            len("TSVWithNamesAndTypes", "y\tx\nUInt8\tUInt8\n1\t2\n"),
            Ok(16)
        );
    }

    #[test]
    fn parts_are_whole_rows() {
        assert_eq!(
            parts("TSV", "1\n22\n333\n4", 3, true),
            ["1\n22\n", "333\n", "4"]
        );
        assert_eq!(
            parts("TSV", "1\n22\n333\n4", 3, false),
            ["1\n22\n", "333\n"]
        );
        assert_eq!(
            parts("TSV", "a\\\nb\nc\\\\\nd\n", 1, false),
            ["a\\\nb\n", "c\\\\\n", "d\n"]
        );
        assert_eq!(parts("TSVRaw", "a\\\nb\n", 1, false), ["a\\\n", "b\n"]);
        assert_eq!(
            parts("CSV", "\"a\nb\",1\nc,2\n", 2, true),
            ["\"a\nb\",1\n", "c,2\n"]
        );
        assert_eq!(
            parts("JSONEachRow", "{\"a\":\n1}{\"a\":2}\n{", 3, false),
            ["{\"a\":\n1}", "{\"a\":2}"]
        );
        assert!(split_rows("Native", b"", &FormatSettings::default(), 1, true).is_err());
    }
}
