//! Tells the types of JSON values.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::Cursor;
use basalt_types::{DataType, TupleType};

use super::found::Found;
use super::merge::{finish, is_known, merge_value};
use super::text::{infer_number, infer_time, is_integer};
use crate::input::json_text::{expect_colon, read_string};
use crate::{Columns, FormatSettings};

/// The columns that rows of objects have had, in the order of their first appearance.
#[derive(Default)]
pub(super) struct Objects {
    columns: Vec<(Vec<u8>, DataType)>,
    conflict: Option<Error>,
    last_found: usize,
}

/// Goes over the `[` around all rows.
pub(super) fn skip_start(cursor: &mut Cursor<'_>) {
    cursor.skip_space();
    let mut copy = *cursor;
    if copy.eat(b'[') {
        copy.skip_space();
        if copy.peek() == Some(b'{') {
            *cursor = copy;
        }
    }
}

/// Goes over what stands behind a row; at the end of all rows, over the rest.
fn skip_gap(cursor: &mut Cursor<'_>) {
    cursor.take_while(|b| b.is_ascii_whitespace() || b == b',' || b == b';');
    if cursor.peek() == Some(b']') {
        cursor.advance(cursor.rest().len());
    }
}

impl Objects {
    /// Merges a value's type into its column's.
    pub(super) fn add(
        &mut self,
        name: &[u8],
        data_type: &DataType,
        mut merge: impl FnMut(&DataType, &DataType) -> DataType,
    ) {
        let next = self.last_found + 1;
        let is_next = self.columns.get(next).is_some_and(|(n, _)| n == name);
        let position = if is_next {
            Some(next)
        } else {
            self.columns.iter().position(|(n, _)| n == name)
        };
        match position {
            Some(i) => {
                self.columns[i].1 = merge(&self.columns[i].1, data_type);
                self.last_found = i;
            }
            None => {
                self.columns.push((name.to_vec(), data_type.clone()));
                self.last_found = self.columns.len() - 1;
            }
        }
    }

    /// Takes a row.
    pub(super) fn row(&mut self, cursor: &mut Cursor<'_>, settings: &FormatSettings) -> Result<()> {
        cursor.skip_space();
        for (name, data_type) in infer_members(cursor, settings, 0)? {
            let mut conflict = None;
            self.add(&name, &data_type, |a, b| {
                merge_value(a, b).unwrap_or_else(|| {
                    conflict = Some(conflict_of(&name, a, b));
                    a.clone()
                })
            });
            self.conflict = self.conflict.take().or(conflict);
        }
        skip_gap(cursor);
        Ok(())
    }

    pub(super) fn finish(self, settings: &FormatSettings) -> Result<Columns> {
        if let Some(e) = self.conflict {
            return Err(e);
        }
        check_known(self.columns.iter().map(|(_, t)| t), settings)?;
        if self.columns.is_empty() {
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                "there are no columns in the file",
            ));
        }
        let column = |(name, data_type): (Vec<u8>, DataType)| {
            (
                String::from_utf8_lossy(&name).into_owned(),
                finish(data_type),
            )
        };
        Ok(self.columns.into_iter().map(column).collect())
    }
}

/// The error where a row has two values of one name.
pub(super) fn duplicate_of(name: &[u8]) -> Error {
    let name = String::from_utf8_lossy(name);
    Error::new(
        ErrorCode::INCORRECT_DATA,
        format!("Duplicate name found: '{name}'"),
    )
}

/// The error for values that do not tell their column's type, if a setting says that they have to.
fn check_known<'t>(
    mut types: impl Iterator<Item = &'t DataType>,
    settings: &FormatSettings,
) -> Result<()> {
    if settings.input_format_json_infer_incomplete_types_as_strings || types.all(is_known) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::INCORRECT_DATA,
        "a column has no value that tells its type",
    ))
}

fn conflict_of(name: &[u8], a: &DataType, b: &DataType) -> Error {
    let name = String::from_utf8_lossy(name);
    Error::new(
        ErrorCode::TYPE_MISMATCH,
        format!(
            "Automatically defined type {b} for column '{name}' differs from the type {a} of earlier rows"
        ),
    )
}

/// Names and types of the columns of an object of arrays, or of an array of arrays.
pub(super) fn infer_columns(cursor: &mut Cursor<'_>, settings: &FormatSettings) -> Result<Columns> {
    cursor.skip_space();
    let members = if cursor.peek() == Some(b'{') {
        infer_members(cursor, settings, 0)?
    } else {
        let elements = infer_elements(cursor, settings, 0)?.into_iter();
        let name = |i: usize| format!("c{}", i + 1).into_bytes();
        elements.enumerate().map(|(i, t)| (name(i), t)).collect()
    };
    if members.is_empty() {
        return Err(expected("columns", cursor));
    }
    let column = |(name, data_type): (Vec<u8>, DataType)| match data_type {
        DataType::Array(t) => {
            let name = String::from_utf8_lossy(&name).into_owned();
            Ok((name, finish(t.as_ref().clone())))
        }
        _ => Err(expected("an array of values", cursor)),
    };
    members.into_iter().map(column).collect()
}

/// Rows of arrays.
pub(super) struct Arrays {
    names: Option<Vec<Vec<u8>>>,
    types: Vec<DataType>,
}

impl Arrays {
    pub(super) fn new(names: Option<Vec<Vec<u8>>>) -> Self {
        Self {
            names,
            types: Vec::new(),
        }
    }

    /// Takes a row.
    pub(super) fn row(&mut self, cursor: &mut Cursor<'_>, settings: &FormatSettings) -> Result<()> {
        cursor.skip_space();
        let row = infer_elements(cursor, settings, 0)?;
        if self.types.is_empty() {
            self.types = row;
        } else if self.types.len() == row.len()
            || settings.input_format_json_compact_allow_variable_number_of_columns
        {
            for (i, (known, new)) in self.types.iter_mut().zip(&row).enumerate() {
                let merged = merge_value(known, new);
                let name = || format!("c{}", i + 1);
                *known = merged.ok_or_else(|| conflict_of(name().as_bytes(), known, new))?;
            }
            self.types.extend(row.into_iter().skip(self.types.len()));
        } else {
            let (rows, columns) = (row.len(), self.types.len());
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!("Rows have different amount of values: {rows} after {columns}"),
            ));
        }
        skip_gap(cursor);
        Ok(())
    }

    pub(super) fn finish(self, settings: &FormatSettings) -> Result<Columns> {
        check_known(self.types.iter(), settings)?;
        let any_number = settings.input_format_json_compact_allow_variable_number_of_columns;
        let mut found = Found::new(self.names).of_any_number(any_number);
        found.types = self.types;
        found.finish()
    }
}

fn expected(what: &str, cursor: &Cursor<'_>) -> Error {
    Error::new(
        ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
        format!(
            "Cannot parse JSON: expected {what} before: '{}'",
            cursor.excerpt()
        ),
    )
}

/// The type of a value; `Nothing` for null and for objects without members.
pub(super) fn infer_value(
    cursor: &mut Cursor<'_>,
    settings: &FormatSettings,
    depth: u64,
) -> Result<DataType> {
    if depth > settings.input_format_json_max_depth {
        return Err(Error::new(
            ErrorCode::TOO_DEEP_RECURSION,
            "JSON is nested too deeply",
        ));
    }
    match cursor.peek() {
        Some(b'"') => {
            let mut text = Vec::new();
            read_string(cursor, &mut text)?;
            let from_strings = settings.input_format_json_try_infer_numbers_from_strings;
            let number = if from_strings {
                infer_number(&text, true, settings)
            } else {
                None
            };
            Ok(number
                .or_else(|| infer_time(&text, settings))
                .unwrap_or(DataType::String))
        }
        Some(b'{') => {
            let members = infer_members(cursor, settings, depth)?;
            if members.is_empty() {
                return Ok(DataType::Nothing);
            }
            if !settings.input_format_json_try_infer_named_tuples_from_objects {
                return Ok(DataType::String);
            }
            let mut members = members;
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            let (names, types): (Vec<_>, Vec<_>) = members.into_iter().unzip();
            let names = names
                .iter()
                .map(|n| String::from_utf8_lossy(n).into_owned())
                .collect();
            Ok(DataType::Tuple(Arc::new(TupleType { types, names })))
        }
        Some(b'[') => {
            let mut merged = Some(DataType::Nothing);
            each_element(cursor, settings, depth, |element| {
                merged = merged.take().and_then(|m| merge_value(&m, &element));
            })?;
            Ok(DataType::array(merged.unwrap_or(DataType::String)))
        }
        _ => {
            let word =
                cursor.take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
            match word {
                b"null" => Ok(DataType::Nothing),
                b"true" | b"false" => Ok(DataType::Bool),
                _ if is_integer(word) && infer_number(word, true, settings).is_none() => {
                    Ok(DataType::String)
                }
                _ => infer_number(word, true, settings).ok_or_else(|| expected("a value", cursor)),
            }
        }
    }
}

fn infer_elements(
    cursor: &mut Cursor<'_>,
    settings: &FormatSettings,
    depth: u64,
) -> Result<Vec<DataType>> {
    let mut elements = Vec::new();
    each_element(cursor, settings, depth, |element| elements.push(element))?;
    Ok(elements)
}

/// Calls `f` with the type of each element of an array, which may be as many as the sample has bytes.
fn each_element(
    cursor: &mut Cursor<'_>,
    settings: &FormatSettings,
    depth: u64,
    mut f: impl FnMut(DataType),
) -> Result<()> {
    cursor.expect(b'[')?;
    cursor.skip_space();
    while !cursor.eat(b']') {
        f(infer_value(cursor, settings, depth + 1)?);
        cursor.skip_space();
        if !cursor.eat(b',') && cursor.peek() != Some(b']') {
            return Err(expected("',' or ']'", cursor));
        }
        cursor.skip_space();
    }
    Ok(())
}

/// Names and types of an object's members. Two of the same name are an error in a row; inside it the first
/// counts.
fn infer_members(
    cursor: &mut Cursor<'_>,
    settings: &FormatSettings,
    depth: u64,
) -> Result<Vec<(Vec<u8>, DataType)>> {
    let mut members: Vec<(Vec<u8>, DataType)> = Vec::new();
    cursor.expect(b'{')?;
    cursor.skip_space();
    while !cursor.eat(b'}') {
        let mut name = Vec::new();
        read_string(cursor, &mut name)?;
        expect_colon(cursor)?;
        let data_type = infer_value(cursor, settings, depth + 1)?;
        if !members.iter().any(|(n, _)| *n == name) {
            members.push((name, data_type));
        } else if depth == 0 {
            return Err(duplicate_of(&name));
        }
        cursor.skip_space();
        let goes_on = cursor.eat(b',');
        cursor.skip_space();
        if goes_on == (cursor.peek() == Some(b'}')) {
            let what = if goes_on { "a name" } else { "',' or '}'" };
            return Err(expected(what, cursor));
        }
    }
    Ok(members)
}
