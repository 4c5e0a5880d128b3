//! The bytes of states that ClickHouse reads and writes, too: sums, counts, averages, extremes, lists.
//!
//! Numbers are little-endian in the width of their type, counts have seven bits a byte, strings stand
//! behind their length. Functions that are not here have states of another form.

use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, AsArray, BinaryViewBuilder, ListArray, make_array};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, UInt64Type};
use basalt_error::{Error, Result};
use basalt_types::{AggregateType, DataType};

use crate::aggregate::defaults::bug;
use crate::aggregate::grouped::damaged;
use crate::aggregate::values::wrong_array;
use crate::aggregate::{binding, combinators::state_layout};

/// One part of a state, in one state column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// A number, always there.
    Number(Value),
    /// A number of rows.
    Count,
    /// A value behind a byte that says whether there is one; no value is NULL.
    Optional(Value),
    /// As `Optional`; in another column stands whether there is a value.
    Flagged(Value),
    /// Values behind their number.
    List(Value),
    /// A byte: whether there was a row.
    Flag,
    /// A column that ClickHouse does without.
    Absent,
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// The lowest `width` bytes of a number.
    Fixed { width: usize, is_signed: bool },
    /// Two halves of eight bytes, each from its end.
    Uuid,
    /// The bytes behind their length.
    String,
}

/// The parts of a state in the order in which they are written, with their columns.
#[derive(Debug)]
pub(super) struct StateBytes {
    parts: Vec<(usize, Part)>,
    state_types: Vec<ArrowType>,
    /// Whether nothing follows a flag that says that there was no row.
    stops_without_rows: bool,
}

impl StateBytes {
    /// The form of a function's states; `None` if only Basalt reads them.
    pub(super) fn of(function: &AggregateType, state_types: &[ArrowType]) -> Option<Self> {
        let layout = state_layout::layout(&binding::canonical_name(&function.name), function)?;
        let num_columns = layout
            .parts
            .iter()
            .map(|(_, p)| p.num_columns())
            .sum::<usize>();
        (num_columns == state_types.len()).then(|| Self {
            parts: layout.parts,
            state_types: state_types.to_vec(),
            stops_without_rows: layout.stops_without_rows,
        })
    }

    /// Appends the state that the columns have in `row`.
    pub(super) fn write(&self, states: &[ArrayRef], row: usize, out: &mut Vec<u8>) -> Result<()> {
        for (column, part) in &self.parts {
            let array = states
                .get(*column)
                .ok_or_else(|| Error::bug("a state column"))?;
            match part {
                Part::Number(value) => value.write(array, row, out)?,
                Part::Count => write_varint(count_of(array, row)?, out),
                Part::Optional(value) => {
                    value.write_single(array, row, array.is_valid(row), out)?
                }
                Part::Flagged(value) => {
                    let flag = states
                        .get(column + 1)
                        .ok_or_else(|| Error::bug("a flag column"))?;
                    let is_there = flag_of(flag, row)? && array.is_valid(row);
                    value.write_single(array, row, is_there, out)?;
                }
                Part::List(value) => {
                    let list = array
                        .as_list_opt::<i32>()
                        .ok_or_else(|| wrong_array(array))?;
                    let items = list.value(row);
                    write_varint(items.len() as u64, out);
                    for row in 0..items.len() {
                        value.write(&items, row, out)?;
                    }
                }
                Part::Flag => {
                    let is_there = flag_of(array, row)?;
                    out.push(u8::from(is_there));
                    if self.stops_without_rows && !is_there {
                        return Ok(());
                    }
                }
                Part::Absent => {}
            }
        }
        Ok(())
    }

    /// The state columns of states in bytes.
    ///
    /// # Errors
    /// `INCORRECT_DATA` if bytes are no state.
    pub(super) fn read<'a>(&self, states: impl Iterator<Item = &'a [u8]>) -> Result<Vec<ArrayRef>> {
        let mut columns: Vec<Growing> = self.state_types.iter().map(Growing::new).collect();
        for mut bytes in states {
            self.read_one(&mut bytes, &mut columns)?;
            if !bytes.is_empty() {
                return Err(damaged());
            }
        }
        columns.into_iter().map(Growing::finish).collect()
    }

    fn read_one(&self, bytes: &mut &[u8], columns: &mut [Growing]) -> Result<()> {
        let mut is_over = false;
        for (column, part) in &self.parts {
            let (column, rest) = columns[*column..]
                .split_first_mut()
                .ok_or_else(|| Error::bug("a state column"))?;
            match part {
                _ if is_over => {
                    column.push_nothing(matches!(part, Part::Optional(_)));
                    if let (Part::Flagged(_), Some(flag)) = (part, rest.first_mut()) {
                        flag.push_number(0);
                    }
                }
                Part::Number(value) => column.push(value, bytes)?,
                Part::Count => column.push_number(read_varint(bytes)?),
                Part::Optional(value) => {
                    column.push_single(value, true, bytes)?;
                }
                Part::Flagged(value) => {
                    let is_there = column.push_single(value, false, bytes)?;
                    if let Some(flag) = rest.first_mut() {
                        flag.push_number(u64::from(is_there));
                    }
                }
                Part::List(value) => column.push_list(value, bytes)?,
                Part::Flag => {
                    let is_there = take(bytes, 1)?[0] != 0;
                    column.push_number(u64::from(is_there));
                    is_over = self.stops_without_rows && !is_there;
                }
                Part::Absent => column.push_nothing(false),
            }
        }
        Ok(())
    }
}

impl Part {
    fn num_columns(&self) -> usize {
        match self {
            Part::Flagged(_) => 2,
            _ => 1,
        }
    }
}

impl Value {
    fn write(&self, array: &ArrayRef, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Value::String => {
                let text = text_of(array, row)?;
                write_varint(text.len() as u64, out);
                out.extend_from_slice(text);
            }
            Value::Fixed { width, .. } => {
                let bytes = with_bytes(array, row, |bytes| {
                    bytes
                        .get(..*width)
                        .map(|bytes| out.extend_from_slice(bytes))
                });
                bytes.flatten().ok_or_else(|| wrong_array(array))?;
            }
            Value::Uuid => {
                let bytes = with_bytes(array, row, |bytes| {
                    let (high, low) = bytes.split_at_checked(8)?;
                    out.extend(high.iter().rev().chain(low.iter().rev()));
                    Some(())
                });
                bytes.flatten().ok_or_else(|| wrong_array(array))?;
            }
        }
        Ok(())
    }

    /// A value that may be missing. The length of a string counts a zero behind it.
    fn write_single(
        &self,
        array: &ArrayRef,
        row: usize,
        is_there: bool,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match (self, is_there) {
            (Value::String, false) => out.extend_from_slice(&(-1_i32).to_le_bytes()),
            (Value::String, true) => {
                let text = text_of(array, row)?;
                let len = i32::try_from(text.len() + 1).map_err(|_| Error::bug("a long string"))?;
                out.extend_from_slice(&len.to_le_bytes());
                out.extend_from_slice(text);
                out.push(0);
            }
            (_, false) => out.push(0),
            (_, true) => {
                out.push(1);
                self.write(array, row, out)?;
            }
        }
        Ok(())
    }
}

fn text_of(array: &ArrayRef, row: usize) -> Result<&[u8]> {
    let texts = array.as_binary_view_opt();
    Ok(texts.ok_or_else(|| wrong_array(array))?.value(row))
}

fn count_of(array: &ArrayRef, row: usize) -> Result<u64> {
    let counts = array.as_primitive_opt::<UInt64Type>();
    Ok(counts.ok_or_else(|| wrong_array(array))?.value(row))
}

fn flag_of(array: &ArrayRef, row: usize) -> Result<bool> {
    let flags = array.as_primitive_opt::<arrow::datatypes::UInt8Type>();
    Ok(flags.ok_or_else(|| wrong_array(array))?.value(row) != 0)
}

/// Calls `f` with the bytes of a value of fixed size.
fn with_bytes<T>(array: &ArrayRef, row: usize, f: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let stride = stride_of(array.data_type())?;
    let data = array.to_data();
    let start = (data.offset() + row) * stride;
    Some(f(data.buffers().first()?.get(start..start + stride)?))
}

fn stride_of(arrow: &ArrowType) -> Option<usize> {
    match arrow {
        ArrowType::FixedSizeBinary(n) => usize::try_from(*n).ok(),
        other => other.primitive_width(),
    }
}

/// A state column while states are read.
struct Growing {
    arrow: ArrowType,
    len: usize,
    valid: Vec<bool>,
    bytes: Vec<u8>,
    texts: BinaryViewBuilder,
    /// The ends and the elements of lists.
    lists: Option<(Vec<i32>, Box<Growing>)>,
}

impl Growing {
    fn new(arrow: &ArrowType) -> Self {
        let lists = match arrow {
            ArrowType::List(item) => Some((vec![0], Box::new(Self::new(item.data_type())))),
            _ => None,
        };
        Self {
            arrow: arrow.clone(),
            len: 0,
            valid: Vec::new(),
            bytes: Vec::new(),
            texts: BinaryViewBuilder::new(),
            lists,
        }
    }

    fn stride(&self) -> usize {
        stride_of(&self.arrow).unwrap_or(0)
    }

    fn end_row(&mut self, is_valid: bool) {
        self.len += 1;
        self.valid.push(is_valid);
    }

    /// A row without a value: NULL, or the default in columns that have no NULLs.
    fn push_nothing(&mut self, is_null: bool) {
        self.bytes.resize(self.bytes.len() + self.stride(), 0);
        match (&self.arrow, is_null) {
            (ArrowType::BinaryView, true) => self.texts.append_null(),
            (ArrowType::BinaryView, false) => self.texts.append_value(b""),
            _ => {}
        }
        if let Some((ends, elements)) = &mut self.lists {
            ends.push(i32::try_from(elements.len).unwrap_or(i32::MAX));
        }
        self.end_row(!is_null);
    }

    fn push_number(&mut self, number: u64) {
        let stride = self.stride().min(8);
        self.bytes
            .extend_from_slice(&number.to_le_bytes()[..stride]);
        self.end_row(true);
    }

    fn push(&mut self, value: &Value, bytes: &mut &[u8]) -> Result<()> {
        match value {
            Value::String => {
                let len = usize::try_from(read_varint(bytes)?).map_err(|_| damaged())?;
                self.texts.append_value(take(bytes, len)?);
            }
            Value::Fixed { width, is_signed } => {
                let number = take(bytes, *width)?;
                let is_negative = *is_signed && number.last().is_some_and(|b| b & 0x80 != 0);
                let end = self.bytes.len() + self.stride();
                self.bytes.extend_from_slice(number);
                self.bytes.resize(end, if is_negative { 0xff } else { 0 });
            }
            Value::Uuid => {
                let (high, low) = take(bytes, 16)?.split_at(8);
                let reversed = high.iter().rev().chain(low.iter().rev());
                self.bytes.extend(reversed.copied());
            }
        }
        self.end_row(true);
        Ok(())
    }

    /// Reads a value that may be missing; tells whether it is there.
    fn push_single(
        &mut self,
        value: &Value,
        null_without: bool,
        bytes: &mut &[u8],
    ) -> Result<bool> {
        if *value != Value::String {
            let is_there = take(bytes, 1)?[0] != 0;
            if is_there {
                self.push(value, bytes)?;
            } else {
                self.push_nothing(null_without);
            }
            return Ok(is_there);
        }
        let len = take(bytes, 4)?.try_into().map_err(|_| damaged())?;
        match i32::from_le_bytes(len) {
            -1 => {
                self.push_nothing(null_without);
                Ok(false)
            }
            len => {
                let text = take(bytes, usize::try_from(len).map_err(|_| damaged())?)?;
                let (_, text) = text.split_last().ok_or_else(damaged)?;
                self.texts.append_value(text);
                self.end_row(true);
                Ok(true)
            }
        }
    }

    fn push_list(&mut self, value: &Value, bytes: &mut &[u8]) -> Result<()> {
        let len = read_varint(bytes)?;
        // Each element has a byte at least: a wrong length ends here, not in the allocator.
        if len > bytes.len() as u64 {
            return Err(damaged());
        }
        let (ends, elements) = self.lists.as_mut().ok_or_else(|| Error::bug("no list"))?;
        for _ in 0..len {
            elements.push(value, bytes)?;
        }
        ends.push(i32::try_from(elements.len).map_err(|_| damaged())?);
        self.end_row(true);
        Ok(())
    }

    fn finish(mut self) -> Result<ArrayRef> {
        let nulls = Some(NullBuffer::from(self.valid)).filter(|n| n.null_count() > 0);
        if let (Some((ends, elements)), ArrowType::List(item)) = (self.lists, &self.arrow) {
            let elements = elements.finish()?;
            let ends = OffsetBuffer::new(ends.into());
            let list = ListArray::try_new(Arc::clone(item), ends, elements, None);
            return Ok(Arc::new(list.map_err(bug)?));
        }
        if self.arrow == ArrowType::BinaryView {
            return Ok(Arc::new(self.texts.finish()));
        }
        let data = ArrayData::builder(self.arrow)
            .len(self.len)
            .add_buffer(Buffer::from_vec(self.bytes))
            .nulls(nulls)
            .align_buffers(true)
            .build();
        Ok(make_array(data.map_err(bug)?))
    }
}

pub(super) fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len).ok_or_else(damaged)?;
    *bytes = rest;
    Ok(taken)
}

fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn read_varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(damaged())
}

/// How values of a type are written; `None` for nested ones.
pub(super) fn value_of(data_type: &DataType) -> Option<Value> {
    match data_type {
        DataType::String => Some(Value::String),
        DataType::Uuid => Some(Value::Uuid),
        DataType::Nullable(_) | DataType::LowCardinality(_) | DataType::Nothing => None,
        other => Some(Value::Fixed {
            width: other.fixed_size_bytes()?,
            is_signed: other.is_decimal(),
        }),
    }
}
