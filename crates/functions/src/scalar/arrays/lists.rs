//! Reads arrays row by row through their offsets, and builds new ones from picked elements.
//!
//! Nothing here slices an array per row: a row is a range of the elements, and a new array is a
//! list of element numbers that one `take` gathers at the end.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray, UInt32Array};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::scalar::core::defaults::default_array;
use crate::{Column, memory};

pub(crate) use crate::function::bug;

/// The arrays (or maps) of a column: for each row a range of elements.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    offsets: &'a [i32],
    values: &'a ArrayRef,
    /// All ones, or zero for a constant: `row & mask` is the row.
    mask: usize,
}

impl<'a> Lists<'a> {
    /// The arrays of a column.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the column holds no lists.
    pub fn of(column: &'a Column) -> Result<Self> {
        let lists = Self::of_array(&column.array)?;
        Ok(Self {
            mask: if column.is_const { 0 } else { usize::MAX },
            ..lists
        })
    }

    /// The arrays of an Arrow array with one list for each row.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if it holds no lists.
    pub fn of_array(array: &'a ArrayRef) -> Result<Self> {
        let list = as_list(array)?;
        Ok(Self {
            offsets: list.value_offsets(),
            values: list.values(),
            mask: usize::MAX,
        })
    }

    /// Elements of row `row`, as positions in [`Self::values`].
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        let row = row & self.mask;
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// Number of elements of row `row`.
    #[inline]
    pub fn len(&self, row: usize) -> usize {
        self.range(row).len()
    }

    /// The elements of all rows; some before the first or behind the last row may be no row's.
    pub fn values(&self) -> &'a ArrayRef {
        self.values
    }

    /// Whether one array stands for every row.
    pub fn is_const(&self) -> bool {
        self.mask == 0
    }
}

/// The array as a list.
///
/// # Errors
/// `LOGICAL_ERROR` if it is none.
pub fn as_list(array: &ArrayRef) -> Result<&ListArray> {
    array
        .as_list_opt::<i32>()
        .ok_or_else(|| Error::bug(format!("expected a list, found {}", array.data_type())))
}

/// The offsets, from 0 on, and exactly the elements that they cover.
///
/// # Errors
/// `LOGICAL_ERROR` if the array is no list.
pub fn flat_list(array: &ArrayRef) -> Result<(OffsetBuffer<i32>, ArrayRef)> {
    let list = as_list(array)?;
    let offsets = list.offsets();
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    let values = list.values();
    if first == 0 && last as usize == values.len() {
        return Ok((offsets.clone(), Arc::clone(values)));
    }
    let values = values.slice(first as usize, (last - first) as usize);
    let moved: Vec<i32> = offsets.iter().map(|o| o - first).collect();
    Ok((OffsetBuffer::new(moved.into()), values))
}

/// An array of type `list` (an Array or a Map) from offsets and elements.
///
/// # Errors
/// `LOGICAL_ERROR` if they do not fit.
pub fn list_of(list: &DataType, offsets: OffsetBuffer<i32>, values: ArrayRef) -> Result<ArrayRef> {
    let ArrowType::List(field) = list.physical() else {
        return Err(Error::bug(format!("{list} is no list")));
    };
    let array = ListArray::try_new(field, offsets, values, None);
    Ok(Arc::new(array.map_err(bug)?))
}

/// The struct of type `tuple` from its elements' columns.
///
/// # Errors
/// `LOGICAL_ERROR` if they do not fit.
pub fn struct_of(tuple: &ArrowType, columns: Vec<ArrayRef>, len: usize) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = tuple else {
        return Err(Error::bug(format!("{tuple} is no struct")));
    };
    let array = StructArray::try_new_with_length(fields.clone(), columns, None, len);
    Ok(Arc::new(array.map_err(bug)?))
}

/// The keys and the values of all entries of a column of maps.
///
/// # Errors
/// `LOGICAL_ERROR` if the elements are no entries.
pub fn entries<'a>(lists: &Lists<'a>) -> Result<(&'a ArrayRef, &'a ArrayRef)> {
    let entries = lists.values().as_struct_opt();
    let entries = entries.ok_or_else(|| Error::bug("a map holds structs"))?;
    Ok((entries.column(0), entries.column(1)))
}

/// A column of maps of type `map` from offsets, keys and values.
///
/// # Errors
/// `LOGICAL_ERROR` if they do not fit.
pub fn map_of(
    map: &DataType,
    offsets: OffsetBuffer<i32>,
    keys: ArrayRef,
    values: ArrayRef,
) -> Result<ArrayRef> {
    let ArrowType::List(field) = map.physical() else {
        return Err(Error::bug(format!("{map} is no map")));
    };
    let len = keys.len();
    let entries = struct_of(field.data_type(), vec![keys, values], len)?;
    list_of(map, offsets, entries)
}

/// The error for more elements than 32 bits count, or for a single array beyond its limit.
pub fn too_large(len: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::TOO_LARGE_ARRAY_SIZE,
        format!("Too large array size: {len}"),
    )
}

/// The error for arrays of different lengths in one row.
pub fn different_lengths(function: &str) -> Error {
    Error::new(
        ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
        format!("The arrays passed to function {function} must have equal lengths"),
    )
}

/// An error about an argument's value.
pub fn bad_arguments(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::BAD_ARGUMENTS, message)
}

/// Offsets that grow row by row.
#[derive(Debug)]
pub struct OffsetsBuilder {
    offsets: Vec<i32>,
    len: usize,
}

impl OffsetsBuilder {
    /// No rows yet.
    pub fn with_capacity(num_rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(num_rows + 1);
        offsets.push(0);
        Self { offsets, len: 0 }
    }

    /// Ends a row with `len` elements.
    ///
    /// # Errors
    /// `TOO_LARGE_ARRAY_SIZE` if all rows together have more elements than 31 bits count.
    #[inline]
    pub fn push(&mut self, len: usize) -> Result<()> {
        self.len += len;
        let end = i32::try_from(self.len).map_err(|_| too_large(self.len))?;
        self.offsets.push(end);
        basalt_profile::check_limit()
    }

    /// The offsets of all rows.
    pub fn finish(self) -> OffsetBuffer<i32> {
        OffsetBuffer::new(self.offsets.into())
    }
}

/// New arrays of elements that are picked by number from one array.
#[derive(Debug)]
pub struct Picks {
    indices: Vec<u32>,
    offsets: Vec<i32>,
}

impl Picks {
    /// No rows yet; room for `num_elements` elements.
    pub fn with_capacity(num_rows: usize, num_elements: usize) -> Self {
        let mut offsets = Vec::with_capacity(num_rows + 1);
        offsets.push(0);
        Self {
            indices: Vec::with_capacity(num_elements),
            offsets,
        }
    }

    /// Room for as many elements as `lists` has.
    pub fn for_lists(lists: &Lists<'_>, num_rows: usize) -> Self {
        let num_elements = if lists.is_const() {
            lists.len(0).saturating_mul(num_rows).min(1 << 20)
        } else {
            lists.values().len()
        };
        Self::with_capacity(num_rows, num_elements)
    }

    /// Adds the element at `index`; arrays have at most `i32::MAX` elements.
    #[inline]
    pub fn push(&mut self, index: usize) {
        self.indices.push(index as u32);
    }

    /// Adds the elements of `range`.
    #[inline]
    pub fn extend(&mut self, range: impl IntoIterator<Item = usize>) {
        self.indices.extend(range.into_iter().map(|i| i as u32));
    }

    /// Adds the element at `index` several times.
    ///
    /// # Errors
    /// `TOO_LARGE_ARRAY_SIZE` if all rows together have more elements than 31 bits count; nothing
    /// is added then.
    pub fn repeat(&mut self, index: usize, times: usize) -> Result<()> {
        let len = self.indices.len().saturating_add(times);
        i32::try_from(len).map_err(|_| too_large(len))?;
        memory::check(len.saturating_mul(size_of::<u32>()))?;
        self.extend(std::iter::repeat_n(index, times));
        Ok(())
    }

    /// The elements of the row that is not yet ended.
    pub fn row_mut(&mut self) -> &mut [u32] {
        let start = self.offsets[self.offsets.len() - 1] as usize;
        &mut self.indices[start..]
    }

    /// Ends a row.
    ///
    /// # Errors
    /// `TOO_LARGE_ARRAY_SIZE` if all rows together have more elements than 31 bits count.
    #[inline]
    pub fn end_row(&mut self) -> Result<()> {
        let len = self.indices.len();
        let end = i32::try_from(len).map_err(|_| too_large(len))?;
        self.offsets.push(end);
        basalt_profile::check_limit()
    }

    /// The offsets, and the picked elements of `values`.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if an element does not exist, `MEMORY_LIMIT_EXCEEDED` if they take too much.
    pub fn gather(self, values: &ArrayRef) -> Result<(OffsetBuffer<i32>, ArrayRef)> {
        let value_bytes = values.to_data().get_slice_memory_size().unwrap_or(0);
        let average = value_bytes.div_ceil(values.len().max(1));
        memory::check(self.indices.len().saturating_mul(average))?;
        let taken = take(values, self.indices)?;
        Ok((OffsetBuffer::new(self.offsets.into()), taken))
    }

    /// The arrays, of type `list`, of the picked elements of `values`.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if an element does not exist or the type is another one.
    pub fn finish(self, list: &DataType, values: &ArrayRef) -> Result<ArrayRef> {
        let (offsets, values) = self.gather(values)?;
        list_of(list, offsets, values)
    }
}

/// The elements of `values` at `indices`.
///
/// # Errors
/// `LOGICAL_ERROR` if one does not exist.
pub fn take(values: &ArrayRef, indices: Vec<u32>) -> Result<ArrayRef> {
    arrow::compute::take(values, &UInt32Array::from(indices), None).map_err(bug)
}

/// `first` with `second` behind it.
///
/// # Errors
/// `TOO_LARGE_ARRAY_SIZE` if element numbers would leave 31 bits.
pub fn concat(first: &ArrayRef, second: &ArrayRef) -> Result<ArrayRef> {
    if first.is_empty() {
        return Ok(Arc::clone(second));
    }
    let len = first.len() + second.len();
    i32::try_from(len).map_err(|_| too_large(len))?;
    arrow::compute::concat(&[first.as_ref(), second.as_ref()]).map_err(bug)
}

/// `values` with one default value of their type behind them, for misses.
///
/// # Errors
/// As [`concat`].
pub fn with_default(values: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    concat(values, &default_array(data_type, 1)?)
}

/// For each element of rows with these offsets its row.
pub fn rows_of_elements(offsets: &[i32]) -> Vec<u32> {
    let len = offsets.last().map_or(0, |o| *o as usize);
    let mut rows = Vec::with_capacity(len);
    for (row, window) in offsets.windows(2).enumerate() {
        let len = (window[1] - window[0]) as usize;
        rows.extend(std::iter::repeat_n(row as u32, len));
    }
    rows
}
