//! Reads values in ClickHouse's binary form, and turns columns of one type into another.

use ::arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::arrow_edge::without_nulls;
use basalt_types::builder::{ColumnBuilder, NestedMut};
use basalt_types::states::StateForms;
use basalt_types::text::{ColumnText, Cursor, Style};
use basalt_types::variant::NO_VALUE;

use super::Target;

/// Arrays and strings are not longer than this.
const MAX_LEN: u64 = 1 << 30;

/// The widest fixed value: a decimal of 256 bits.
const MAX_WIDTH: usize = 32;

pub(super) fn too_short() -> Error {
    Error::new(
        ErrorCode::CANNOT_READ_ALL_DATA,
        "Cannot read all data: the text ends within a value",
    )
}

/// The data ends where a length or mark of single bytes should stand.
pub(super) fn after_eof() -> Error {
    Error::new(
        ErrorCode::ATTEMPT_TO_READ_AFTER_EOF,
        "Attempt to read after eof",
    )
}

/// Reads a length of bytes with seven bits each.
pub(super) fn read_varint(cursor: &mut Cursor<'_>) -> Result<u64> {
    let mut value = 0;
    for i in 0..10 {
        let byte = cursor.peek().ok_or_else(after_eof)?;
        cursor.advance(1);
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            break;
        }
    }
    Ok(value)
}

/// Checks a length before anything is made of it.
pub(super) fn check_len(len: u64) -> Result<usize> {
    if len > MAX_LEN {
        return Err(Error::new(
            ErrorCode::TOO_LARGE_ARRAY_SIZE,
            format!("Too large array or string size: {len} (maximum: {MAX_LEN})"),
        ));
    }
    Ok(len as usize)
}

/// Checks the length of a string before it is read.
pub(super) fn check_string_len(len: u64) -> Result<usize> {
    if len > MAX_LEN {
        return Err(Error::new(
            ErrorCode::TOO_LARGE_STRING_SIZE,
            format!("Too large string size: {len} (maximum: {MAX_LEN})"),
        ));
    }
    Ok(len as usize)
}

/// Checks that a number of a file is one of an Enum's; other types have nothing to check.
pub(super) fn check_enum(data_type: &DataType, bytes: &[u8]) -> Result<()> {
    let (values, number) = match (data_type, bytes) {
        (DataType::Enum8(values), [byte]) => (values, i16::from(byte.cast_signed())),
        (DataType::Enum16(values), [low, high]) => (values, i16::from_le_bytes([*low, *high])),
        _ => return Ok(()),
    };
    match values.name_of(number) {
        Some(_) => Ok(()),
        None => Err(Error::new(
            ErrorCode::UNKNOWN_ELEMENT_OF_ENUM,
            format!("Unexpected value {number} in enum"),
        )),
    }
}

/// Reads a text with its length in front.
pub(super) fn read_string<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let len = check_string_len(read_varint(cursor)?)?;
    take(cursor, len)
}

fn take<'a>(cursor: &mut Cursor<'a>, len: usize) -> Result<&'a [u8]> {
    let bytes = cursor.take(len);
    if bytes.len() < len {
        Err(too_short())
    } else {
        Ok(bytes)
    }
}

/// Bytes of a fixed value as the physical array has them.
pub(super) fn to_physical_bytes<'b>(
    data_type: &DataType,
    bytes: &[u8],
    buffer: &'b mut [u8; MAX_WIDTH],
) -> &'b [u8] {
    let len = bytes.len();
    buffer[..len].copy_from_slice(bytes);
    match data_type {
        DataType::Uuid => {
            buffer[..8].reverse();
            buffer[8..16].reverse();
            &buffer[..16]
        }
        DataType::Decimal { precision, .. } => {
            let width = if *precision <= 38 { 16 } else { 32 };
            let is_negative = bytes.last().is_some_and(|b| *b >= 0x80);
            buffer[len..width].fill(if is_negative { 0xff } else { 0 });
            &buffer[..width]
        }
        _ => &buffer[..len],
    }
}

/// Reads a value as in RowBinary; the column has strings in place of states.
pub(super) fn read_value(
    data_type: &DataType,
    column: &mut ColumnBuilder,
    cursor: &mut Cursor<'_>,
    forms: StateForms,
) -> Result<()> {
    if data_type.is_nullable() && take(cursor, 1)?[0] != 0 {
        column.append_null();
        return Ok(());
    }
    match data_type.base() {
        DataType::AggregateFunction(function) => match forms(function) {
            Some(form) => {
                let len = form.len_of(cursor.rest()).ok_or_else(too_short)?;
                column.append_raw(take(cursor, len)?)
            }
            None => column.append_raw(read_string(cursor)?),
        },
        DataType::String => column.append_raw(read_string(cursor)?),
        DataType::FixedString(n) => column.append_raw(take(cursor, *n as usize)?),
        DataType::Array(t) => {
            let len = check_len(read_varint(cursor)?)?;
            if let Some(NestedMut::Array(items)) = column.nested() {
                (0..len).try_for_each(|_| read_value(t, items, cursor, forms))?;
            }
            column.finish_nested()
        }
        DataType::Map(k, v) => {
            let len = check_len(read_varint(cursor)?)?;
            if let Some(NestedMut::Map([keys, values])) = column.nested() {
                for _ in 0..len {
                    read_value(k, keys, cursor, forms)?;
                    read_value(v, values, cursor, forms)?;
                }
            }
            column.finish_nested()
        }
        DataType::Tuple(tuple) => {
            if let Some(NestedMut::Tuple(elements)) = column.nested() {
                for (t, element) in tuple.types.iter().zip(elements) {
                    read_value(t, element, cursor, forms)?;
                }
            }
            column.finish_nested()
        }
        DataType::Nothing => {
            column.append_default();
            Ok(())
        }
        DataType::Variant(types) => match take(cursor, 1)?[0] {
            NO_VALUE => {
                column.append_null();
                Ok(())
            }
            number => column.append_alternative(number, |column| {
                let data_type = types.get(usize::from(number)).unwrap_or(&DataType::Nothing);
                read_value(data_type, column, cursor, forms)
            }),
        },
        fixed => {
            let width = fixed.fixed_size_bytes().unwrap_or(0).min(MAX_WIDTH);
            let bytes = take(cursor, width)?;
            check_enum(fixed, bytes)?;
            column.append_raw(to_physical_bytes(fixed, bytes, &mut [0; MAX_WIDTH]))
        }
    }
}

/// Turns a column that a file has as `from` into one of the type that the reader wants.
pub(super) fn convert(
    array: &ArrayRef,
    from: &DataType,
    to: &DataType,
    target: &Target,
) -> Result<ArrayRef> {
    let has_nulls = array.logical_null_count() > 0;
    let same_moments = match (from.base(), to.base()) {
        (DataType::DateTime(_), DataType::DateTime(_)) => true,
        (DataType::DateTime64(p, _), DataType::DateTime64(q, _)) => p == q,
        (from, to) => from == to,
    };
    let same_values = same_moments && from.physical() == to.physical();
    if same_values && (!has_nulls || to.is_nullable()) {
        return Ok(std::sync::Arc::clone(array));
    }
    if let Some(converter) = &target.converter {
        // A NULL is kept, and becomes the default afterwards where the column has none.
        let between = match has_nulls {
            true => to.clone().to_nullable(),
            false => to.clone(),
        };
        return without_nulls(converter(from, &between)?(array)?, to);
    }
    through_text(array, from, to, target)
}

/// Converts each value by writing and reading it.
fn through_text(
    array: &ArrayRef,
    from: &DataType,
    to: &DataType,
    target: &Target,
) -> Result<ArrayRef> {
    let mut options = target.settings.read_options();
    options.is_cast = true;
    let mut column = ColumnBuilder::with_options(to, array.len(), &options)?;
    let text = ColumnText::new(from, array, target.settings.text_options())?;
    let mut value = Vec::new();
    for row in 0..array.len() {
        if text.is_null(row) {
            column.append_null();
            continue;
        }
        value.clear();
        text.write(row, Style::Plain, &mut value);
        column.append_text(&value).map_err(|e| {
            Error::new(
                e.code(),
                format!("{}: cannot convert {from} to {to}", e.message()),
            )
        })?;
    }
    column.finish()
}
