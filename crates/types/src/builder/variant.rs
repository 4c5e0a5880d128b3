//! The alternatives of a `Variant` under construction, and which of them a text is.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};

use super::ColumnBuilder;
use crate::DataType;
use crate::text::Cursor;
use crate::text::cursor::excerpt;
use crate::variant::{NO_VALUE, assemble};

/// One column for each alternative; all are as long as the Variant.
#[derive(Debug)]
pub(super) struct Alternatives {
    discriminators: Vec<u8>,
    columns: Vec<ColumnBuilder>,
    /// Positions of the columns in the order in which a text is tried.
    order: Vec<usize>,
}

impl Alternatives {
    pub(super) fn new(types: &[DataType], columns: Vec<ColumnBuilder>) -> Self {
        let mut order: Vec<usize> = (0..types.len()).collect();
        order.sort_by_key(|idx| rank(&types[*idx]));
        Self {
            discriminators: Vec::new(),
            columns,
            order,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.discriminators.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.discriminators.truncate(len);
        self.columns.iter_mut().for_each(|c| c.truncate(len));
    }

    pub(super) fn push_null(&mut self) {
        self.finish_row(NO_VALUE);
    }

    /// Appends what `read` appends to the column of an alternative.
    pub(super) fn read_as(
        &mut self,
        number: u8,
        read: impl FnOnce(&mut ColumnBuilder) -> Result<()>,
    ) -> Result<()> {
        let column = self.columns.get_mut(usize::from(number)).ok_or_else(|| {
            Error::new(
                ErrorCode::INCORRECT_DATA,
                format!("A Variant has no alternative of number {number}"),
            )
        })?;
        read(column)?;
        self.finish_row(number);
        Ok(())
    }

    /// Appends the first alternative that the whole of `text` is a value of.
    pub(super) fn read_whole(&mut self, text: &[u8]) -> Result<()> {
        let found = self.first_that(|column| {
            // An empty field is a number in the formats, but no sign of one here.
            if text.is_empty() && !column.data_type().is_string() || !in_range(column, text) {
                return Err(no_alternative(text));
            }
            column.append_text(text)
        });
        found.ok_or_else(|| no_alternative(text))
    }

    /// Appends the first alternative that a literal is a value of.
    pub(super) fn read_quoted(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let start = *cursor;
        let mut end = start;
        let found = self.first_that(|column| {
            end = start;
            let mut digits = start;
            let digits = digits.take_while(|b| b.is_ascii_digit() || b == b'-' || b == b'+');
            if !in_range(column, digits) {
                return Err(no_alternative(digits));
            }
            column.append_quoted(&mut end)?;
            end.skip_space();
            match end.peek() {
                None | Some(b',' | b')' | b']' | b'}' | b':') => Ok(()),
                Some(_) => Err(no_alternative(end.rest())),
            }
        });
        *cursor = end;
        found.ok_or_else(|| no_alternative(start.rest()))
    }

    fn first_that(
        &mut self,
        mut append: impl FnMut(&mut ColumnBuilder) -> Result<()>,
    ) -> Option<()> {
        let len = self.len();
        for i in 0..self.order.len() {
            let idx = self.order[i];
            match append(&mut self.columns[idx]) {
                Ok(()) => {
                    self.finish_row(u8::try_from(idx).ok()?);
                    return Some(());
                }
                Err(_) => self.columns[idx].truncate(len),
            }
        }
        None
    }

    /// Ends a row whose value is in the column of that number already.
    fn finish_row(&mut self, discriminator: u8) {
        self.discriminators.push(discriminator);
        let len = self.len();
        for column in &mut self.columns {
            if column.len() < len {
                column.append_default();
            }
        }
    }

    pub(super) fn finish(self, types: &[DataType]) -> Result<ArrayRef> {
        let columns = self.columns.into_iter().map(ColumnBuilder::finish);
        assemble(types, self.discriminators, columns.collect::<Result<_>>()?)
    }
}

/// Integers before the types that hold them, too; strings, which every text is, last.
fn rank(data_type: &DataType) -> usize {
    use DataType as T;
    match data_type.base() {
        T::Bool => 0,
        t if t.is_integer() => 2 * t.fixed_size_bytes().unwrap_or(0) + usize::from(t.is_unsigned()),
        T::Float32 => 30,
        T::Float64 => 31,
        T::Decimal { .. } => 32,
        T::Date => 40,
        T::Date32 => 41,
        T::DateTime(_) => 42,
        T::DateTime64(..) => 43,
        T::FixedString(_) => 90,
        T::String => 91,
        _ => 50,
    }
}

/// Whether an integer's column holds the number that a text is; readers of integers wrap.
fn in_range(column: &ColumnBuilder, text: &[u8]) -> bool {
    let data_type = column.data_type();
    if !data_type.is_integer() || *data_type == DataType::Bool {
        return true;
    }
    let number = std::str::from_utf8(text)
        .ok()
        .and_then(|t| t.parse::<i128>().ok());
    let bits = 8 * data_type.fixed_size_bytes().unwrap_or(8);
    let range = if data_type.is_unsigned() {
        0..1_i128 << bits
    } else {
        -(1_i128 << (bits - 1))..1_i128 << (bits - 1)
    };
    number.is_some_and(|n| range.contains(&n))
}

fn no_alternative(text: &[u8]) -> Error {
    Error::new(
        ErrorCode::INCORRECT_DATA,
        format!(
            "Cannot parse text as any type of the Variant: '{}'",
            excerpt(text)
        ),
    )
}
