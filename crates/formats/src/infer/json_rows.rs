//! Finds names and types of the columns of rows of JSON.

use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::Cursor;

use super::sample::Sample;
use super::{json, typed};
use crate::input::json_document::{find_data, no_document};
use crate::input::json_rows as rows;
use crate::input::json_text::{expect_colon, read_string};
use crate::registry::Header;
use crate::{Columns, FormatSettings};

/// Objects, one after another.
pub(super) fn objects(sample: &Sample, settings: &FormatSettings) -> Result<Columns> {
    let mut cursor = Cursor::new(&sample.bytes);
    let mut objects = json::Objects::default();
    json::skip_start(&mut cursor);
    sample.rows(&mut cursor, |cursor| objects.row(cursor, settings))?;
    objects.finish(settings)
}

/// Arrays, one after another, behind a header or not.
pub(super) fn arrays(
    sample: &Sample,
    header: Header,
    settings: &FormatSettings,
) -> Result<Columns> {
    let mut cursor = Cursor::new(&sample.bytes);
    let mut names = None;
    if header != Header::None {
        let found = rows::read_strings(&mut cursor)?;
        if header == Header::NamesAndTypes {
            return typed(&found, &rows::read_strings(&mut cursor)?);
        }
        names = Some(found);
    }
    let mut arrays = json::Arrays::new(names);
    sample.rows(&mut cursor, |cursor| arrays.row(cursor, settings))?;
    arrays.finish(settings)
}

/// A document, which tells its types, or rows alone where the format may have them.
pub(super) fn document(
    sample: &Sample,
    may_be_rows: bool,
    settings: &FormatSettings,
) -> Result<Columns> {
    let mut cursor = Cursor::new(&sample.bytes);
    match find_data(&mut cursor)? {
        Some(meta) => {
            let (names, types): (Vec<_>, Vec<_>) = meta.into_iter().unzip();
            typed(&names, &types)
        }
        None if may_be_rows => objects(sample, settings),
        None => Err(no_document(&sample.bytes)),
    }
}

/// Objects that are the members of one.
pub(super) fn members(sample: &Sample, settings: &FormatSettings) -> Result<Columns> {
    let mut objects = json::Objects::default();
    let mut cursor = Cursor::new(&sample.bytes);
    cursor.skip_space();
    cursor.expect(b'{')?;
    cursor.skip_space();
    sample.rows(&mut cursor, |cursor| {
        read_string(cursor, &mut Vec::new())?;
        expect_colon(cursor)?;
        objects.row(cursor, settings)?;
        cursor.skip_space();
        if cursor.eat(b'}') {
            cursor.advance(cursor.rest().len());
        }
        Ok(())
    })?;
    let column = &settings.format_json_object_each_row_column_for_object_name;
    let mut columns = objects.finish(settings)?;
    if !column.is_empty() {
        columns.insert(0, (column.clone(), DataType::String));
    }
    Ok(columns)
}
