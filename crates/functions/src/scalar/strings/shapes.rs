//! Builds the loops that many functions over bytes share: a row's strings in, one value out.
//!
//! A function that fits one of these shapes is a table entry and a function of `&[u8]`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryViewBuilder, Int64Array, PrimitiveArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Int16Type, Int64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::output::{Slicer, StringWriter, offset_of};
use crate::{Call, Column, Resolved};

/// Whether functions of texts take the type: strings, and enums by their names.
pub fn is_text(data_type: &DataType) -> bool {
    data_type.is_string() || data_type.is_enum()
}

/// Refuses a FixedString where only a String will do.
///
/// # Errors
/// `ILLEGAL_COLUMN`
pub fn refuse_fixed(call: &Call<'_>, idx: usize) -> Result<()> {
    if !matches!(call.data_type(idx), DataType::FixedString(_)) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::ILLEGAL_COLUMN,
        format!("Function {} takes a String, not a FixedString", call.name),
    ))
}

/// An error about an argument's value.
pub fn bad_arguments(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::BAD_ARGUMENTS, message)
}

/// The column as strings: enums become their names, strings stay.
///
/// # Errors
/// `LOGICAL_ERROR` if the array is none of its type.
pub fn text_column<'a>(column: &'a Column, data_type: &DataType) -> Result<Cow<'a, Column>> {
    let (DataType::Enum8(names) | DataType::Enum16(names)) = data_type.base() else {
        return Ok(Cow::Borrowed(column));
    };
    let numbers = arrow::compute::cast(&column.array, &ArrowType::Int16);
    let numbers = numbers.map_err(|e| Error::bug(e.to_string()))?;
    let mut builder = BinaryViewBuilder::with_capacity(numbers.len());
    for number in numbers.as_primitive::<Int16Type>() {
        builder.append_option(number.map(|n| names.name_of(n).unwrap_or("")));
    }
    Ok(Cow::Owned(Column {
        array: Arc::new(builder.finish()),
        is_const: column.is_const,
    }))
}

/// Integers of any width as 64-bit ones, one for each row.
#[derive(Debug)]
pub struct Ints {
    values: Int64Array,
    mask: usize,
}

impl Ints {
    /// The column's numbers; what an `i64` cannot hold becomes its largest value.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the column holds no numbers.
    pub fn new(column: &Column) -> Result<Self> {
        let values = arrow::compute::cast(&column.array, &ArrowType::Int64);
        let values = values.map_err(|e| Error::bug(e.to_string()))?;
        let values = values.as_primitive::<Int64Type>();
        let values = if values.null_count() > 0 {
            let numbers = values.iter().map(|v| v.unwrap_or(i64::MAX));
            Int64Array::from_iter_values(numbers)
        } else {
            values.clone()
        };
        Ok(Self {
            values,
            mask: if column.is_const { 0 } else { usize::MAX },
        })
    }

    /// The number of a row.
    #[inline]
    pub fn value(&self, row: usize) -> i64 {
        self.values.value(row & self.mask)
    }
}

/// Rows where some argument is NULL: their values mean nothing and must not fail.
pub fn validity_of(columns: &[Column], num_rows: usize) -> Option<NullBuffer> {
    let validities = columns.iter().map(|c| c.validity(num_rows));
    validities.fold(None, |all, v| NullBuffer::union(all.as_ref(), v.as_ref()))
}

/// A column of strings, each written by `write`; rows of NULL stay empty.
///
/// # Errors
/// What `write` reports, or a string being too large.
pub fn write_rows(
    columns: &[Column],
    num_rows: usize,
    mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
) -> Result<ArrayRef> {
    let validity = validity_of(columns, num_rows);
    let mut writer = StringWriter::with_capacity(num_rows, num_rows * 16);
    for row in 0..num_rows {
        if validity.as_ref().is_none_or(|v| v.is_valid(row)) {
            write(row, writer.bytes())?;
        }
        writer.finish_row()?;
    }
    writer.finish()
}

/// A column of numbers, each given by `value`; rows of NULL are zero.
///
/// # Errors
/// What `value` reports.
pub fn number_rows<T: ArrowPrimitiveType>(
    columns: &[Column],
    num_rows: usize,
    mut value: impl FnMut(usize) -> Result<T::Native>,
) -> Result<ArrayRef> {
    let validity = validity_of(columns, num_rows);
    let mut values = Vec::with_capacity(num_rows);
    for row in 0..num_rows {
        let valid = validity.as_ref().is_none_or(|v| v.is_valid(row));
        values.push(if valid {
            value(row)?
        } else {
            T::default_value()
        });
    }
    Ok(Arc::new(PrimitiveArray::<T>::new(values.into(), None)))
}

/// Checks that a function of one text gets one: the zeros of a FixedString are no part of a text.
fn expect_text(call: &Call<'_>) -> Result<()> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_string)?;
    match call.data_type(0) {
        DataType::String => Ok(()),
        fixed => Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("Function {} takes a String, not a {fixed}", call.name),
        )),
    }
}

/// `f(String) -> String`, by appending to a buffer.
pub fn string_to_string(
    call: &Call<'_>,
    f: impl Fn(&[u8], &mut Vec<u8>) + Send + Sync + 'static,
) -> Result<Resolved> {
    expect_text(call)?;
    bytes_to_string(call, f)
}

/// `f(String) -> String` that may fail.
pub fn try_string_to_string(
    call: &Call<'_>,
    f: impl Fn(&[u8], &mut Vec<u8>) -> Result<()> + Send + Sync + 'static,
) -> Result<Resolved> {
    expect_text(call)?;
    try_bytes_to_string(call, f)
}

/// As [`string_to_string`], for functions whose types already say that they take no FixedString.
pub fn only_string_to_string(
    call: &Call<'_>,
    f: impl Fn(&[u8], &mut Vec<u8>) + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    bytes_to_string(call, f)
}

/// `f(String or FixedString) -> String`, by appending to a buffer.
pub fn bytes_to_string(
    call: &Call<'_>,
    f: impl Fn(&[u8], &mut Vec<u8>) + Send + Sync + 'static,
) -> Result<Resolved> {
    try_bytes_to_string(call, move |value, out| {
        f(value, out);
        Ok(())
    })
}

/// `f(String or FixedString) -> String` that may fail.
pub fn try_bytes_to_string(
    call: &Call<'_>,
    f: impl Fn(&[u8], &mut Vec<u8>) -> Result<()> + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_string)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        write_rows(columns, num_rows, |row, out| f(strings.value(row), out))
    })
}

/// `f(string, string) -> String`, by appending to a buffer.
pub fn two_strings_to_string(
    call: &Call<'_>,
    f: impl Fn(&[u8], &[u8], &mut Vec<u8>) -> Result<()> + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    call.expect_type(1, DataType::is_string)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let (a, b) = (columns[0].strings()?, columns[1].strings()?);
        write_rows(columns, num_rows, |row, out| {
            f(a.value(row), b.value(row), out)
        })
    })
}

/// `f(string) -> number`.
pub fn string_to_number<T: ArrowPrimitiveType>(
    call: &Call<'_>,
    return_type: DataType,
    f: impl Fn(&[u8]) -> T::Native + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_string)?;
    Resolved::new(return_type, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let values = (0..num_rows).map(|row| f(strings.value(row)));
        Ok(Arc::new(PrimitiveArray::<T>::from_iter_values(values)))
    })
}

/// As [`string_to_number`], not of a FixedString.
pub fn text_to_number<T: ArrowPrimitiveType>(
    call: &Call<'_>,
    return_type: DataType,
    f: impl Fn(&[u8]) -> T::Native + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    string_to_number::<T>(call, return_type, f)
}

/// `f(string, string) -> number`.
pub fn two_strings_to_number<T: ArrowPrimitiveType>(
    call: &Call<'_>,
    return_type: DataType,
    f: impl Fn(&[u8], &[u8]) -> Result<T::Native> + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    call.expect_type(1, DataType::is_string)?;
    Resolved::new(return_type, move |columns, num_rows| {
        let (a, b) = (columns[0].strings()?, columns[1].strings()?);
        number_rows::<T>(columns, num_rows, |row| f(a.value(row), b.value(row)))
    })
}

/// `f(String) -> String` where the result is a piece of the argument, which is not copied.
pub fn string_to_piece(
    call: &Call<'_>,
    f: impl Fn(&[u8]) -> Range<usize> + Send + Sync + 'static,
) -> Result<Resolved> {
    expect_text(call)?;
    bytes_to_piece(call, f)
}

/// As [`string_to_piece`], also of a FixedString.
pub fn bytes_to_piece(
    call: &Call<'_>,
    f: impl Fn(&[u8]) -> Range<usize> + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_string)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        piece_rows(&columns[0], num_rows, |_, value| f(value))
    })
}

/// A column of pieces of `column`'s strings.
///
/// # Errors
/// `LOGICAL_ERROR` if the column is not binary.
pub fn piece_rows(
    column: &Column,
    num_rows: usize,
    mut f: impl FnMut(usize, &[u8]) -> Range<usize>,
) -> Result<ArrayRef> {
    let mut slicer = Slicer::new(column, num_rows)?;
    for row in 0..num_rows {
        let value = slicer.value(row);
        let range = f(row, value);
        slicer.push_of(row, value, range);
    }
    slicer.finish()
}

/// The same for functions that look at up to `N` strings at a time.
///
/// # Errors
/// `LOGICAL_ERROR` if the column is not binary.
pub fn piece_blocks<const N: usize>(
    column: &Column,
    num_rows: usize,
    mut f: impl FnMut(&[&[u8]], &mut [Range<usize>]),
) -> Result<ArrayRef> {
    let mut slicer = Slicer::new(column, num_rows)?;
    let mut values: [&[u8]; N] = [&[]; N];
    let mut pieces = [const { 0..0 }; N];
    for start in (0..num_rows).step_by(N) {
        let len = N.min(num_rows - start);
        for (row, value) in (start..).zip(&mut values[..len]) {
            *value = slicer.value(row);
        }
        f(&values[..len], &mut pieces[..len]);
        for ((row, value), piece) in (start..).zip(values).zip(&pieces[..len]) {
            slicer.push_of(row, value, piece.clone());
        }
    }
    slicer.finish()
}

/// A column of lists of pieces of `column`'s strings; `f` appends a row's pieces.
///
/// # Errors
/// `TOO_LARGE_ARRAY_SIZE`.
pub fn piece_list_rows(
    column: &Column,
    num_rows: usize,
    mut f: impl FnMut(usize, &[u8], &mut Vec<Range<usize>>) -> Result<()>,
) -> Result<ArrayRef> {
    let mut slicer = Slicer::new(column, num_rows)?;
    let mut offsets = vec![0i32];
    let mut pieces = Vec::new();
    for row in 0..num_rows {
        pieces.clear();
        f(row, slicer.value(row), &mut pieces)?;
        for piece in pieces.drain(..) {
            slicer.push(row, piece);
        }
        offsets.push(offset_of(slicer.len())?);
        basalt_profile::check_limit()?;
    }
    slicer.finish_lists(offsets)
}

/// `f(String) -> Array(String)` of pieces of the argument.
pub fn string_to_pieces(
    call: &Call<'_>,
    f: impl Fn(&[u8], &mut Vec<Range<usize>>) + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let return_type = DataType::array(DataType::String);
    Resolved::new(return_type, move |columns, num_rows| {
        piece_list_rows(&columns[0], num_rows, |_, value, pieces| {
            f(value, pieces);
            Ok(())
        })
    })
}
