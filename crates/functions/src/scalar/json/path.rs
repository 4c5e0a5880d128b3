//! Follows the path that a call's arguments give: keys and positions.

use arrow::array::Array;
use basalt_error::Result;
use basalt_types::DataType;

use super::value::Json;
use crate::scalar::arrays::integers::Integers;
use crate::{Call, Column, StringColumn};

/// A step of a path, one value a row.
enum Step<'a> {
    Key(StringColumn<'a>),
    Position(Integers),
}

/// The documents of a call's first argument and the path in those behind it.
pub(super) struct Documents<'a> {
    texts: StringColumn<'a>,
    nulls: Option<arrow::buffer::NullBuffer>,
    steps: Vec<Step<'a>>,
    ignore_case: bool,
}

/// Checks that the arguments `1..end` are keys and positions and the first one is a string.
pub(super) fn check_path(call: &Call<'_>, end: usize) -> Result<()> {
    call.expect_args(1..=usize::MAX)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    for idx in 1..end {
        call.expect_type(idx, |t| *t == DataType::String || t.is_integer())?;
    }
    Ok(())
}

/// What a path leads to.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    /// The key of the last step, if that is in an object.
    pub(super) key: Option<Json<'a>>,
    pub(super) value: Json<'a>,
}

impl<'a> Documents<'a> {
    /// The documents of column 0 with the path in the columns `1..end`.
    pub(super) fn of(columns: &'a [Column], end: usize, ignore_case: bool) -> Result<Self> {
        let steps = columns[1..end].iter().map(|column| {
            Ok(match column.strings() {
                Ok(keys) => Step::Key(keys),
                Err(_) => Step::Position(Integers::of(column)?),
            })
        });
        Ok(Self {
            texts: columns[0].strings()?,
            nulls: columns[0].array.logical_nulls(),
            steps: steps.collect::<Result<Vec<_>>>()?,
            ignore_case,
        })
    }

    /// The value that the path of `row` leads to.
    pub(super) fn find(&self, row: usize) -> Option<Found<'a>> {
        let text_row = if self.texts.is_const() { 0 } else { row };
        if self.nulls.as_ref().is_some_and(|n| n.is_null(text_row)) {
            return None;
        }
        let mut found = Found {
            key: None,
            value: Json::parse(self.texts.value(row))?,
        };
        for step in &self.steps {
            let (key, value) = match step {
                Step::Key(keys) => (None, found.value.member(keys.value(row), self.ignore_case)?),
                Step::Position(positions) => found.value.at(positions.value(row))?,
            };
            found = Found { key, value };
        }
        Some(found)
    }
}
