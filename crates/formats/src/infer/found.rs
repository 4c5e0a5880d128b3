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
}

impl Found {
    pub(super) fn new(names: Option<Vec<Vec<u8>>>) -> Self {
        Self {
            names,
            types: Vec::new(),
        }
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
        if self.types.len() != row.len() {
            let (rows, columns) = (row.len(), self.types.len());
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!("Rows have different amount of values: {rows} after {columns}"),
            ));
        }
        for (known, new) in self.types.iter_mut().zip(row) {
            *known = merge(known, &new).ok_or_else(|| {
                Error::new(
                    ErrorCode::TYPE_MISMATCH,
                    format!("A column has values of types {known} and {new}"),
                )
            })?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Columns> {
        let names = match self.names {
            Some(names) => names,
            None => (1..=self.types.len())
                .map(|i| format!("c{i}").into_bytes())
                .collect(),
        };
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
