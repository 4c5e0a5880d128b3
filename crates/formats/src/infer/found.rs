//! Collects names and types of columns row by row.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::merge::{finish, merge_text};
use crate::Columns;

/// What a table found has so far.
pub(super) struct Found {
    pub(super) names: Option<Vec<Vec<u8>>>,
    /// Per column; `Nothing` where only NULLs were seen.
    pub(super) types: Vec<DataType>,
    /// Whether rows may have more or fewer values than others.
    allows_any_number: bool,
}

impl Found {
    pub(super) fn new(names: Option<Vec<Vec<u8>>>) -> Self {
        Self {
            names,
            types: Vec::new(),
            allows_any_number: false,
        }
    }

    /// The same, of rows that may have more or fewer values than others, if that is allowed.
    pub(super) fn of_any_number(self, allows_any_number: bool) -> Self {
        Self {
            allows_any_number,
            ..self
        }
    }

    /// What has found nothing yet, of rows that are like these.
    pub(super) fn like(&self) -> Self {
        Self::new(None).of_any_number(self.allows_any_number)
    }

    /// Whether the rows so far may stand below a header of so many names.
    pub(super) fn has_columns(&self, num_names: usize) -> bool {
        self.types.len() == num_names || self.allows_any_number
    }

    /// Merges the types of a row of texts.
    pub(super) fn add(&mut self, row: Vec<DataType>) -> Result<()> {
        self.add_by(row, |a, b| Some(merge_text(a, b)))
    }

    /// Merges the types of a row by `merge`, which gives none for types that do not fit.
    pub(super) fn add_by(
        &mut self,
        row: Vec<DataType>,
        merge: impl Fn(&DataType, &DataType) -> Option<DataType>,
    ) -> Result<()> {
        if self.types.is_empty() {
            self.types = row;
            return Ok(());
        }
        if self.types.len() != row.len() && !self.allows_any_number {
            let (rows, columns) = (row.len(), self.types.len());
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!("Rows have different amount of values: {rows} after {columns}"),
            ));
        }
        let mut row = row.into_iter();
        for (known, new) in self.types.iter_mut().zip(row.by_ref()) {
            *known = merge(known, &new).ok_or_else(|| {
                Error::new(
                    ErrorCode::TYPE_MISMATCH,
                    format!("A column has values of types {known} and {new}"),
                )
            })?;
        }
        self.types.extend(row);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Columns> {
        let names = match self.names {
            Some(names) => names,
            None => (1..=self.types.len())
                .map(|i| format!("c{i}").into_bytes())
                .collect(),
        };
        if self.allows_any_number && !self.types.is_empty() {
            // Values behind the last name belong to no column.
            self.types.resize(names.len(), DataType::String);
        }
        let types = self.types;
        if types.is_empty() {
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                "there are no rows, which would tell the types of the columns",
            ));
        }
        if names.len() != types.len() {
            let (names, columns) = (names.len(), types.len());
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!(
                    "The number of column names {names} differs from the number of values {columns}"
                ),
            ));
        }
        let mut columns: Columns = Vec::new();
        for (name, data_type) in names.into_iter().zip(types) {
            let name = String::from_utf8_lossy(&name).into_owned();
            if columns.iter().any(|(known, _)| *known == name) {
                return Err(Error::new(
                    ErrorCode::INCORRECT_DATA,
                    format!("Duplicate column name found: '{name}'"),
                ));
            }
            columns.push((name, finish(data_type)));
        }
        Ok(columns)
    }
}
