//! Maps the fields of a row to columns, by a header of names or by position.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::builder::ColumnBuilder;

use super::Target;
use basalt_types::DataType;

/// Which column each field is for, and which columns no field is for.
pub(super) struct FieldMap {
    fields: Vec<Option<usize>>,
    missing: Vec<usize>,
}

impl FieldMap {
    /// Each column has a field, in order.
    pub(super) fn by_position(target: &Target) -> Self {
        Self {
            fields: (0..target.columns.len()).map(Some).collect(),
            missing: Vec::new(),
        }
    }

    /// Fields are those of a header.
    ///
    /// # Errors
    /// `INCORRECT_DATA` for a name that stands there twice or, if the settings want it, is unknown.
    pub(super) fn by_names(names: &[Vec<u8>], target: &Target) -> Result<Self> {
        if !target.settings.input_format_with_names_use_header {
            return Ok(Self::by_position(target));
        }
        let mut fields = Vec::with_capacity(names.len());
        for name in names {
            let column = target.position(name);
            if column.is_none() && !target.settings.input_format_skip_unknown_fields {
                return Err(bad_header(name, "Unknown field found in the header"));
            }
            if column.is_some() && fields.contains(&column) {
                return Err(bad_header(name, "Duplicate field found in the header"));
            }
            fields.push(column);
        }
        let missing = (0..target.columns.len())
            .filter(|i| !fields.contains(&Some(*i)))
            .collect();
        Ok(Self { fields, missing })
    }

    /// Compares the types of a header with those of the columns.
    ///
    /// # Errors
    /// `INCORRECT_DATA` if one differs or there are more or fewer than names.
    pub(super) fn check_types(&self, types: &[Vec<u8>], target: &Target) -> Result<()> {
        if !target.settings.input_format_with_types_use_header {
            return Ok(());
        }
        same_number(self.fields.len(), types.len())?;
        for (column, found) in self.fields.iter().zip(types) {
            let Some((name, wanted)) = column.and_then(|i| target.columns.get(i)) else {
                continue;
            };
            let found = String::from_utf8_lossy(found);
            let is_same =
                basalt_types::parse_data_type(&found).is_ok_and(|t: DataType| t == *wanted);
            if !is_same {
                return Err(Error::new(
                    ErrorCode::INCORRECT_DATA,
                    format!("Type of '{name}' must be {wanted}, not {found}"),
                ));
            }
        }
        Ok(())
    }

    /// Number of fields in a row.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The column of field `idx`; `None` for one that is to be skipped.
    #[inline]
    pub(super) fn column(&self, idx: usize) -> Option<usize> {
        self.fields.get(idx).copied().flatten()
    }

    /// Fills the columns that have no field.
    #[inline]
    pub(super) fn fill_missing(&self, columns: &mut [ColumnBuilder]) {
        for i in &self.missing {
            columns[*i].append_default();
        }
    }

    /// Fills the columns of the fields from `idx` on.
    pub(super) fn fill_from(&self, idx: usize, columns: &mut [ColumnBuilder]) {
        for column in self.fields[idx.min(self.fields.len())..].iter().flatten() {
            columns[*column].append_default();
        }
    }
}

/// Checks that a header has a type for each name.
///
/// # Errors
/// `INCORRECT_DATA`.
pub(crate) fn same_number(names: usize, types: usize) -> Result<()> {
    if names == types {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::INCORRECT_DATA,
        format!("The number of column names {names} differs with the number of types {types}"),
    ))
}

fn bad_header(name: &[u8], what: &str) -> Error {
    let name = String::from_utf8_lossy(name);
    Error::new(ErrorCode::INCORRECT_DATA, format!("{what}: '{name}'"))
}

/// Whether a first row is a header although the format has none: all its fields are names of
/// columns.
pub(super) fn is_header(fields: &[Vec<u8>], target: &Target) -> bool {
    let is_name = |field: &Vec<u8>| target.columns.iter().any(|(n, _)| n.as_bytes() == field);
    fields.iter().all(is_name)
}

/// Whether a row behind one of names belongs to the header, too: all its fields are names of types.
pub(crate) fn are_types(fields: &[Vec<u8>]) -> bool {
    let is_type = |field: &Vec<u8>| {
        std::str::from_utf8(field).is_ok_and(|text| basalt_types::parse_data_type(text).is_ok())
    };
    fields.iter().all(is_type)
}

/// Says which column a field was for.
pub(super) fn at_column(e: &Error, target: &(String, DataType), field: &[u8]) -> Error {
    let (name, data_type) = target;
    let shown = basalt_types::text::cursor::excerpt(field);
    Error::new(
        e.code(),
        format!(
            "{}: column `{name}` of type {data_type}, field '{shown}'",
            e.message()
        ),
    )
}
