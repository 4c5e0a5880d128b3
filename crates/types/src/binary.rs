//! Writes values in ClickHouse's binary form, which RowBinary and Native share.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, UInt32Array};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use basalt_error::{Error, Result};

use crate::DataType;
use crate::states::{StateForm, StateForms};
use crate::variant::VariantArray;

/// The values of one column in binary.
#[derive(Debug)]
pub struct BinaryColumn {
    values: Values,
    nulls: Option<NullBuffer>,
    is_nullable: bool,
    len: usize,
    /// The type's default, if that is not all zeros.
    default: Option<Vec<u8>>,
}

/// The values, by the form that their type has.
#[derive(Debug)]
pub enum Values {
    /// All of the same size.
    Fixed(Fixed),
    /// Two halves of eight bytes, each little-endian.
    Uuid(Fixed),
    /// Each behind its length.
    String(BinaryViewArray),
    /// Bytes that tell where they end.
    State(BinaryViewArray),
    /// Each its number of elements and these.
    Array(OffsetBuffer<i32>, Box<BinaryColumn>),
    /// The elements one after the other.
    Tuple(Vec<BinaryColumn>),
    /// Each its number of entries, and key and value of each.
    Map(OffsetBuffer<i32>, Box<[BinaryColumn; 2]>),
    /// Each the number of its alternative and the value.
    Variant(Alternatives),
    /// There are none.
    Nothing,
}

/// The values of a Variant, each alternative's in a column without the rows of others.
#[derive(Debug)]
pub struct Alternatives {
    discriminators: Vec<u8>,
    /// Rows of each row's value in its alternative's column; for NULL nothing.
    places: Vec<usize>,
    columns: Vec<BinaryColumn>,
}

/// Values of the same size; of each, the first `width` of `stride` bytes are written.
#[derive(Debug)]
pub struct Fixed {
    bytes: Buffer,
    stride: usize,
    width: usize,
}

impl Fixed {
    fn new(array: &ArrayRef, width: usize) -> Result<Self> {
        let data = array.to_data();
        let stride = array
            .data_type()
            .primitive_width()
            .or(match array.data_type() {
                arrow::datatypes::DataType::FixedSizeBinary(n) => usize::try_from(*n).ok(),
                _ => None,
            })
            .filter(|stride| *stride >= width);
        let (Some(stride), Some(buffer)) = (stride, data.buffers().first()) else {
            return Err(Error::bug(format!(
                "Arrow {} has no {width} bytes",
                array.data_type()
            )));
        };
        let start = data.offset() * stride;
        let bytes = buffer.slice_with_length(start, data.len() * stride);
        Ok(Self {
            bytes,
            stride,
            width,
        })
    }

    fn value(&self, row: usize) -> &[u8] {
        let start = row * self.stride;
        &self.bytes[start..start + self.width]
    }
}

fn misfit(data_type: &DataType, array: &ArrayRef) -> Error {
    Error::bug(format!(
        "{data_type} column holds Arrow {}",
        array.data_type()
    ))
}

/// Writes a length as bytes of seven bits each, the lowest first.
pub fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a text with its length in front.
pub fn write_string(text: &[u8], out: &mut Vec<u8>) {
    write_varint(text.len() as u64, out);
    out.extend_from_slice(text);
}

/// Rows of the elements of row `row`.
pub fn elements(offsets: &OffsetBuffer<i32>, row: usize) -> Range<usize> {
    // Arrow's offsets are never negative.
    offsets[row] as usize..offsets[row + 1] as usize
}

impl BinaryColumn {
    /// A view of a column; `forms` knows the bytes of states of aggregate functions.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the array is not of the type.
    pub fn new(data_type: &DataType, array: &ArrayRef, forms: StateForms) -> Result<Self> {
        Ok(Self {
            values: Values::new(data_type.base(), array, forms)?,
            nulls: array.logical_nulls().filter(|n| n.null_count() > 0),
            is_nullable: data_type.is_nullable(),
            len: array.len(),
            default: enum_default(data_type.base()),
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The values; those of NULLs may be anything.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Whether a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|n| n.is_null(row))
    }

    /// A row's value as in RowBinary: with a byte in front that says NULL, if the type is nullable.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) {
        if self.is_nullable {
            let is_null = self.is_null(row);
            out.push(u8::from(is_null));
            if is_null {
                return;
            }
        }
        self.write_value(row, out);
    }

    /// A row's value; the type's default where it is NULL.
    pub fn write_or_default(&self, row: usize, out: &mut Vec<u8>) {
        if self.is_null(row) {
            if let Some(default) = &self.default {
                return out.extend_from_slice(default);
            }
            match &self.values {
                Values::Fixed(fixed) | Values::Uuid(fixed) => {
                    out.resize(out.len() + fixed.width, 0)
                }
                _ => out.push(0),
            }
        } else {
            self.write_value(row, out);
        }
    }

    fn write_value(&self, row: usize, out: &mut Vec<u8>) {
        match &self.values {
            Values::Fixed(fixed) => out.extend_from_slice(fixed.value(row)),
            Values::Uuid(fixed) => {
                let (high, low) = fixed.value(row).split_at(8);
                out.extend(high.iter().rev().chain(low.iter().rev()));
            }
            Values::String(array) => write_string(array.value(row), out),
            Values::State(array) => out.extend_from_slice(array.value(row)),
            Values::Array(offsets, items) => {
                let rows = elements(offsets, row);
                write_varint(rows.len() as u64, out);
                rows.for_each(|row| items.write(row, out));
            }
            Values::Map(offsets, entries) => {
                let rows = elements(offsets, row);
                write_varint(rows.len() as u64, out);
                for row in rows {
                    entries.iter().for_each(|part| part.write(row, out));
                }
            }
            Values::Tuple(columns) => columns.iter().for_each(|column| column.write(row, out)),
            Values::Variant(alternatives) => alternatives.write(row, out),
            Values::Nothing => {}
        }
    }

    /// The bytes of a value alone, without lengths or marks.
    pub fn write_bytes(&self, row: usize, out: &mut Vec<u8>) {
        match &self.values {
            _ if self.is_null(row) => {}
            Values::String(array) => out.extend_from_slice(array.value(row)),
            Values::Array(offsets, items) => {
                elements(offsets, row).for_each(|row| items.write_bytes(row, out));
            }
            _ => self.write_value(row, out),
        }
    }
}

impl Alternatives {
    fn new(types: &[DataType], array: &ArrayRef, forms: StateForms) -> Result<Self> {
        let variant = VariantArray::of(array)?;
        let discriminators: Vec<u8> = (0..array.len())
            .map(|row| variant.discriminator(row))
            .collect();
        let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); types.len()];
        let mut places = Vec::with_capacity(array.len());
        for (row, number) in (0_u32..).zip(&discriminators) {
            let rows = rows_of.get_mut(usize::from(*number));
            places.push(rows.as_ref().map_or(0, |rows| rows.len()));
            rows.into_iter().for_each(|rows| rows.push(row));
        }
        let columns = types.iter().zip(variant.alternatives).zip(rows_of);
        let columns = columns.map(|((t, values), rows)| {
            let values = arrow::compute::take(values, &UInt32Array::from(rows), None);
            BinaryColumn::new(t, &values.map_err(|e| Error::bug(e.to_string()))?, forms)
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            discriminators,
            places,
        })
    }

    /// A row's value behind the number of its type.
    fn write(&self, row: usize, out: &mut Vec<u8>) {
        let number = self.discriminators[row];
        out.push(number);
        if let Some(column) = self.columns.get(usize::from(number)) {
            column.write(self.places[row], out);
        }
    }

    /// The numbers of the types of these rows.
    pub fn discriminators(&self, rows: Range<usize>) -> &[u8] {
        &self.discriminators[rows]
    }

    /// Each alternative's column with the rows that these rows have in it.
    pub fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (&BinaryColumn, Range<usize>)> {
        self.columns
            .iter()
            .zip(0_u8..)
            .map(move |(column, number)| {
                let mut own = rows.clone().filter(|r| self.discriminators[*r] == number);
                let first = own.next().map_or(0, |row| self.places[row]);
                let len = rows
                    .clone()
                    .filter(|r| self.discriminators[*r] == number)
                    .count();
                (column, first..first + len)
            })
    }
}

/// An enum's default is the least of its numbers.
fn enum_default(data_type: &DataType) -> Option<Vec<u8>> {
    let (DataType::Enum8(values) | DataType::Enum16(values)) = data_type else {
        return None;
    };
    let (_, least) = values.values().first()?;
    let width = data_type.fixed_size_bytes()?;
    Some(least.to_le_bytes()[..width].to_vec())
}

/// The states written out: the default of their type, the state of no rows, has no bytes.
fn with_empty_states(states: &BinaryViewArray, form: &dyn StateForm) -> Result<BinaryViewArray> {
    if states.iter().all(|s| s.is_none_or(|s| !s.is_empty())) {
        return Ok(states.clone());
    }
    let empty = form.empty()?;
    let written_out = |s: &'_ [u8]| {
        if s.is_empty() {
            empty.clone()
        } else {
            s.to_vec()
        }
    };
    Ok(states.iter().map(|s| s.map(written_out)).collect())
}

impl Values {
    fn new(data_type: &DataType, array: &ArrayRef, forms: StateForms) -> Result<Self> {
        let bug = || misfit(data_type, array);
        Ok(match data_type {
            DataType::AggregateFunction(function) => {
                let states = array.as_binary_view_opt().ok_or_else(bug)?;
                match forms(function) {
                    Some(form) => Values::State(with_empty_states(states, form.as_ref())?),
                    None => Values::String(states.clone()),
                }
            }
            DataType::String => Values::String(array.as_binary_view_opt().ok_or_else(bug)?.clone()),
            DataType::Uuid => Values::Uuid(Fixed::new(array, 16)?),
            DataType::Array(t) => {
                let list = array.as_list_opt::<i32>().ok_or_else(bug)?;
                let items = BinaryColumn::new(t, list.values(), forms)?;
                Values::Array(list.offsets().clone(), Box::new(items))
            }
            DataType::Map(k, v) => {
                let list = array.as_list_opt::<i32>().ok_or_else(bug)?;
                let [keys, values] = list.values().as_struct_opt().ok_or_else(bug)?.columns()
                else {
                    return Err(bug());
                };
                let entries = [
                    BinaryColumn::new(k, keys, forms)?,
                    BinaryColumn::new(v, values, forms)?,
                ];
                Values::Map(list.offsets().clone(), Box::new(entries))
            }
            DataType::Tuple(tuple) => {
                let columns = array.as_struct_opt().ok_or_else(bug)?.columns();
                let columns = tuple.types.iter().zip(columns);
                Values::Tuple(
                    columns
                        .map(|(t, a)| BinaryColumn::new(t, a, forms))
                        .collect::<Result<_>>()?,
                )
            }
            DataType::Variant(types) => Values::Variant(Alternatives::new(types, array, forms)?),
            DataType::Nothing => Values::Nothing,
            fixed => {
                let width = fixed.fixed_size_bytes().ok_or_else(bug)?;
                Values::Fixed(Fixed::new(array, width)?)
            }
        })
    }
}
