//! Finds names and types of lines of fields, where the first line may be a header.

use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::Cursor;

use super::found::Found;
use super::merge::is_known;
use super::sample::Sample;
use super::typed;
use crate::Columns;
use crate::input::fields::are_types;
use crate::registry::Header;

/// Takes the next line's values and their types.
type TakeLine<'f> = &'f dyn Fn(&mut Cursor<'_>) -> Result<(Vec<Vec<u8>>, Vec<DataType>)>;

/// Reads lines of fields with or without a header.
pub(super) fn infer_lines(
    sample: &Sample,
    mut cursor: Cursor<'_>,
    header: Header,
    (detect, allows_any_number): (bool, bool),
    line: TakeLine<'_>,
) -> Result<Columns> {
    if header == Header::NamesAndTypes {
        let names = line(&mut cursor)?.0;
        return typed(&names, &line(&mut cursor)?.0);
    }
    let mut found = Found::new(None).of_any_number(allows_any_number);
    if header == Header::Names {
        found.names = Some(line(&mut cursor)?.0);
    } else if detect {
        let mut ahead = cursor;
        let (names, first) = line(&mut ahead)?;
        if first.iter().all(is_text) {
            let behind = behind_types(ahead, line);
            let like = found.like();
            if are_not_all_texts(
                sample,
                behind.as_ref().map_or(ahead, |(_, cursor)| *cursor),
                line,
                like,
                first.len(),
            )? {
                if let Some((types, _)) = behind {
                    return typed(&names, &types);
                }
                found.names = Some(names);
                cursor = ahead;
            }
        }
    }
    sample.rows(&mut cursor, |cursor| found.add(line(cursor)?.1))?;
    for data_type in found.types.iter_mut().filter(|t| !is_known(t)) {
        *data_type = DataType::String;
    }
    found.finish()
}

/// The line here if all its fields are names of types, and where the next one begins.
fn behind_types<'a>(
    mut cursor: Cursor<'a>,
    line: TakeLine<'_>,
) -> Option<(Vec<Vec<u8>>, Cursor<'a>)> {
    if cursor.is_at_end() {
        return None;
    }
    let (values, types) = line(&mut cursor).ok()?;
    (types.iter().all(is_text) && are_types(&values)).then_some((values, cursor))
}

fn is_text(data_type: &DataType) -> bool {
    *data_type == DataType::String
}

/// Whether lines have a column of something else than text, so that a line of texts in front of them is names.
///
/// Empty fields tell nothing: lines are read until one tells, or all columns are known to be text.
fn are_not_all_texts(
    sample: &Sample,
    mut cursor: Cursor<'_>,
    line: TakeLine<'_>,
    mut found: Found,
    columns: usize,
) -> Result<bool> {
    let mut is_other = false;
    sample.rows(&mut cursor, |cursor| {
        found.add(line(cursor)?.1)?;
        let is_other_type = |t: &DataType| !is_text(t) && *t != DataType::Nothing;
        is_other = found.has_columns(columns) && found.types.iter().any(is_other_type);
        if is_other || found.types.iter().all(is_text) {
            cursor.advance(cursor.rest().len());
        }
        Ok(())
    })?;
    Ok(is_other)
}
