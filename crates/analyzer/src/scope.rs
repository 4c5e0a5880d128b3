//! Holds the columns in sight of an expression and finds them by name.

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::registry::nearest;
use basalt_types::DataType;

use crate::Typed;

/// A column that expressions can name.
#[derive(Clone, Debug)]
pub struct ScopeColumn {
    /// The table's alias or name, its database before it: `["db", "t"]`.
    pub qualifier: Vec<String>,
    /// Name of the column in its table.
    pub name: String,
    /// Name in the plan, unique in the query.
    pub internal: String,
    /// Type of the column.
    pub data_type: DataType,
    /// Whether `*` leaves it out.
    pub hidden: bool,
    /// Whether USING merged it with a column of the other side: only its table's name leads to it.
    pub merged: bool,
}

impl ScopeColumn {
    /// Whether `*` shows it.
    pub fn is_shown(&self) -> bool {
        !self.hidden && !self.merged
    }

    /// The column as an expression.
    pub fn typed(&self) -> Typed {
        Typed::column(&self.internal, self.data_type.clone())
    }
}

/// The columns in sight, in the order of `*`.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The columns.
    pub columns: Vec<ScopeColumn>,
}

impl Scope {
    /// The column that `parts` name, and how many of the parts it took: the rest are elements of
    /// a tuple.
    ///
    /// # Errors
    /// None today; callers treat a name that cannot be decided as an error.
    pub fn find(&self, parts: &[String]) -> Result<Option<(&ScopeColumn, usize)>> {
        for taken in (1..=parts.len()).rev() {
            let matching: Vec<&ScopeColumn> = self
                .columns
                .iter()
                .filter(|c| c.is_named(&parts[..taken]))
                .collect();
            match matching.as_slice() {
                [] => {}
                [column] => return Ok(Some((column, taken))),
                // Several tables may have it: the first that `*` shows is meant, as with the
                // merged columns of USING.
                [first, ..] => {
                    let shown = matching.iter().find(|c| !c.hidden);
                    return Ok(Some((shown.unwrap_or(first), taken)));
                }
            }
        }
        Ok(None)
    }

    /// Columns of the table that `qualifier` names; all for an empty one.
    pub fn of_table<'a>(
        &'a self,
        qualifier: &'a [String],
    ) -> impl Iterator<Item = &'a ScopeColumn> {
        self.columns
            .iter()
            .filter(move |c| c.qualifier.ends_with(qualifier))
    }

    /// The error for a name that is no column, with near names.
    pub fn unknown(&self, parts: &[String], more: &[&str]) -> Error {
        let name = parts.join(".");
        let wanted = parts.last().map_or("", String::as_str);
        let names = self
            .columns
            .iter()
            .map(|c| c.name.as_str())
            .chain(more.iter().copied());
        let near: Vec<String> = nearest(wanted, names)
            .into_iter()
            .map(|n| format!("'{n}'"))
            .collect();
        let hint = if near.is_empty() {
            String::new()
        } else {
            format!("Maybe you meant: [{}]. ", near.join(", "))
        };
        Error::new(
            ErrorCode::UNKNOWN_IDENTIFIER,
            format!("{hint}Unknown expression identifier `{name}`"),
        )
    }
}

impl ScopeColumn {
    /// Whether `parts` are the name, or a suffix of the qualifier and the name. Names may have
    /// dots themselves.
    fn is_named(&self, parts: &[String]) -> bool {
        let first = usize::from(self.merged);
        (first..parts.len()).any(|i| {
            self.qualifier.ends_with(&parts[..i])
                && if parts.len() - i == 1 {
                    self.name == parts[i]
                } else {
                    self.name.contains('.') && self.name == parts[i..].join(".")
                }
        })
    }
}
