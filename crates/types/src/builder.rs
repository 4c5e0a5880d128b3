//! Builds a column value by value, from text or from raw bytes.
//!
//! Nothing is allocated per value. After an error the column may hold part of the failed value:
//! [`ColumnBuilder::truncate`] to the length before takes it away.
//!
//! | module | owns |
//! |---|---|
//! | [`values`] | the buffers of each type |
//! | [`slots`] | what a growing buffer can do |
//! | [`strings`] | the growing views of strings |
//! | [`variant`] | the alternatives of a Variant, and which of them a text is |
//! | [`read`] | one value's text to a value at the end of the buffers |

mod read;
mod slots;
mod strings;
mod values;
mod variant;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, NullBufferBuilder};
use basalt_error::{Error, ErrorCode, Result};

use crate::text::best_effort::DateOrder;
use crate::text::parse_time::LocalClock;
use crate::text::{BoolWords, Cursor, cursor::excerpt};
use crate::{DataType, Tz};
use values::Values;

/// How text is read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Reads times of types without a time zone of their own.
    pub time_zone: Tz,
    /// Reads times of any layout, ambiguous dates in this order; `None`: the fixed layouts only.
    pub best_effort: Option<DateOrder>,
    /// Reads as `CAST` does: `NULL` and `\N` are NULL, a date may have a time behind it, decimals
    /// may have as many digits as their storage.
    pub is_cast: bool,
    /// What stands for true and false besides the usual words.
    pub bool_words: Option<Arc<BoolWords>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            time_zone: Tz::UTC,
            best_effort: Some(DateOrder::DayFirst),
            is_cast: false,
            bool_words: None,
        }
    }
}

/// A column under construction.
#[derive(Debug)]
pub struct ColumnBuilder {
    data_type: DataType,
    values: Values,
    /// Only for types that may be NULL.
    nulls: Option<NullBufferBuilder>,
    clock: LocalClock,
    options: ReadOptions,
    /// Unescaped text of the value being read.
    scratch: Vec<u8>,
    /// Rows without a value of their own, for who asked for them.
    omitted: Option<Vec<usize>>,
}

/// The parts of a nested column; [`ColumnBuilder::finish_nested`] ends a value.
#[derive(Debug)]
pub enum NestedMut<'a> {
    /// The elements of all arrays.
    Array(&'a mut ColumnBuilder),
    /// The elements of the tuples: one column each.
    Tuple(&'a mut [ColumnBuilder]),
    /// Keys and values of all maps.
    Map(&'a mut [ColumnBuilder; 2]),
}

impl ColumnBuilder {
    /// An empty column with room for `capacity` rows, read with the default options.
    ///
    /// # Errors
    /// `NOT_IMPLEMENTED` for types that have no text.
    pub fn new(data_type: &DataType, capacity: usize) -> Result<Self> {
        Self::with_options(data_type, capacity, &ReadOptions::default())
    }

    /// An empty column with room for `capacity` rows.
    ///
    /// # Errors
    /// `NOT_IMPLEMENTED` for types that have no text.
    pub fn with_options(
        data_type: &DataType,
        capacity: usize,
        options: &ReadOptions,
    ) -> Result<Self> {
        let base = data_type.base();
        let zone = match base {
            DataType::DateTime(zone) | DataType::DateTime64(_, zone) => *zone,
            _ => None,
        };
        let may_be_null = data_type.is_nullable() || *base == DataType::Nothing;
        Ok(Self {
            values: Values::new(base, capacity, options)?,
            nulls: may_be_null.then(|| NullBufferBuilder::new(capacity)),
            clock: LocalClock::new(zone.unwrap_or(options.time_zone)),
            options: options.clone(),
            data_type: data_type.clone(),
            scratch: Vec::new(),
            omitted: None,
        })
    }

    /// Has the column remember which rows have no value of their own.
    pub fn track_omitted(&mut self) {
        self.omitted = Some(Vec::new());
    }

    /// The rows without a value of their own: what was left out, and NULL where there is none.
    pub fn take_omitted(&mut self) -> Vec<usize> {
        self.omitted.take().unwrap_or_default()
    }

    /// The column's type.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.values.slots().len()
    }

    /// Whether there are no rows yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether NULL is a value of the column.
    #[inline]
    pub fn is_nullable(&self) -> bool {
        self.nulls.is_some()
    }

    /// Takes away the rows from `len` on, also half a row that an error left.
    pub fn truncate(&mut self, len: usize) {
        self.values.slots_mut().truncate(len);
        if let Some(nulls) = &mut self.nulls
            && nulls.len() > len
        {
            nulls.truncate(len);
        }
        if let Some(omitted) = &mut self.omitted {
            omitted.truncate(omitted.partition_point(|row| *row < len));
        }
    }

    /// Appends NULL, or the default of a type that is not nullable.
    pub fn append_null(&mut self) {
        let row = self.len();
        if let Some(omitted) = self.omitted.as_mut().filter(|_| self.nulls.is_none()) {
            omitted.push(row);
        }
        self.values.slots_mut().push_default();
        if let Some(nulls) = &mut self.nulls {
            nulls.append_null();
        }
    }

    /// Appends the type's default: NULL for a nullable one, else 0, the empty text, no elements.
    pub fn append_default(&mut self) {
        let row = self.len();
        if let Some(omitted) = self.omitted.as_mut().filter(|_| self.nulls.is_some()) {
            omitted.push(row);
        }
        self.append_null();
    }

    /// As [`Self::append_default`], but a `Date32` is the first day of its range, which is what
    /// ClickHouse gives to columns that an INSERT leaves out.
    pub fn append_type_default(&mut self) {
        if self.data_type == DataType::Date32 {
            // A day's bytes always fit.
            let _ = self.append_raw(&crate::calendar::DATE32_MIN.to_le_bytes());
            return;
        }
        self.append_null();
    }

    /// Appends the value that the whole of `text` is, as in a field of TSV or CSV whose escapes
    /// are gone (those inside arrays, tuples and maps still stand there).
    ///
    /// # Errors
    /// ClickHouse's code for text that is no value of the type.
    #[inline]
    pub fn append_text(&mut self, text: &[u8]) -> Result<()> {
        if self.options.is_cast && self.is_null_text(text) {
            self.append_null();
            return Ok(());
        }
        if let Err(e) = self.read_whole(text) {
            let may_be_empty = self.data_type.is_integer() || self.data_type.is_decimal();
            let is_bool = *self.data_type.base() == DataType::Bool;
            if !text.is_empty() || self.options.is_cast || !may_be_empty || is_bool {
                return Err(e);
            }
            // An empty field is the number 0 in the formats.
            self.values.slots_mut().push_default();
        }
        self.append_valid();
        Ok(())
    }

    /// What `CAST` takes for NULL.
    fn is_null_text(&self, text: &[u8]) -> bool {
        self.is_nullable()
            && !self.data_type.is_string()
            && (text.is_empty() || text == b"\\N" || text.eq_ignore_ascii_case(b"NULL"))
    }

    /// Reads one value as in `VALUES` and inside arrays: strings in quotes, `NULL`, `[…]`, `(…)`,
    /// `{…}`. What follows the value is left.
    ///
    /// # Errors
    /// ClickHouse's code for text that is no value of the type.
    #[inline]
    pub fn append_quoted(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        if let Some(b'N' | b'n') = cursor.peek()
            && read_null(cursor)
        {
            self.append_null();
            return Ok(());
        }
        self.read_quoted_value(cursor)?;
        self.append_valid();
        Ok(())
    }

    /// Appends a value from its bytes: integers and floats little-endian in the width of their
    /// physical type, strings as they are, UUIDs and addresses in the order of their text.
    ///
    /// # Errors
    /// `CANNOT_READ_ALL_DATA` if the number of bytes is wrong, `TYPE_MISMATCH` for nested types.
    pub fn append_raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.values.push_raw(bytes)?;
        self.append_valid();
        Ok(())
    }

    #[inline]
    fn append_valid(&mut self) {
        if let Some(nulls) = &mut self.nulls {
            nulls.append_non_null();
        }
    }

    /// Appends a value of a Variant: what `read` appends to the column of that alternative.
    ///
    /// # Errors
    /// `INCORRECT_DATA` if there is no such alternative, and what `read` reports.
    pub fn append_alternative(
        &mut self,
        number: u8,
        read: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        match &mut self.values {
            Values::Variant(alternatives) => alternatives.read_as(number, read),
            _ => Err(Error::bug("only a Variant has alternatives")),
        }
    }

    /// The parts of a column of arrays, tuples or maps, to append to.
    pub fn nested(&mut self) -> Option<NestedMut<'_>> {
        match &mut self.values {
            Values::Array(_, items) => Some(NestedMut::Array(items)),
            Values::Tuple(columns, _) => Some(NestedMut::Tuple(columns)),
            Values::Map(_, entries) => Some(NestedMut::Map(entries)),
            _ => None,
        }
    }

    /// Ends a nested value: its elements are what was appended to [`Self::nested`] since the last.
    ///
    /// # Errors
    /// `TOO_LARGE_ARRAY_SIZE` if all arrays together have more elements than 32 bits count.
    pub fn finish_nested(&mut self) -> Result<()> {
        self.values.finish_nested()?;
        self.append_valid();
        Ok(())
    }

    /// The column's physical array.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the parts of nested values do not fit together.
    pub fn finish(mut self) -> Result<ArrayRef> {
        let len = self.len();
        let nulls = self.nulls.as_mut().and_then(NullBufferBuilder::finish);
        let array = self.values.finish(&self.data_type, nulls)?;
        debug_assert_eq!(array.len(), len);
        Ok(array)
    }
}

/// Reads the word `NULL`.
fn read_null(cursor: &mut Cursor<'_>) -> bool {
    let mut copy = *cursor;
    let ends = |next: Option<u8>| !next.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    let found = copy.eat_text_ignoring_case(b"NULL") && ends(copy.peek());
    if found {
        *cursor = copy;
    }
    found
}

fn left_over(options: &ReadOptions, data_type: &DataType, cursor: &Cursor<'_>) -> Error {
    let code = if options.is_cast {
        ErrorCode::UNEXPECTED_DATA_AFTER_PARSED_VALUE
    } else {
        ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED
    };
    Error::new(
        code,
        format!(
            "Unexpected text '{}' after parsed value of type {data_type}",
            excerpt(cursor.rest())
        ),
    )
}

#[cfg(test)]
mod tests;
