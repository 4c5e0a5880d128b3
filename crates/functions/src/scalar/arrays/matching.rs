//! Compares elements for equality: one wanted value a row, or all elements by number.
//!
//! [`Ids`] gives equal elements the same small number, so that what follows (distinct elements,
//! intersections) needs no hashing and works alike for every type. NULL equals NULL.

use std::ops::Range;
use std::sync::Arc;

use ahash::RandomState;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Float32Type, Float64Type};
use arrow::row::{RowConverter, SortField};
use basalt_error::{Error, Result};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::lists::{bug, too_large};
use crate::scalar::core::numeric::{self, FromNum, Num, with_native};
use crate::{Column, StringColumn};

/// Finds in a range of elements the first that equals a row's wanted value.
type Find<'a> = Box<dyn Fn(Range<usize>, usize) -> Option<usize> + 'a>;

/// Elements of arrays on one side, one wanted value for each row on the other.
pub struct Equality<'a> {
    find: Find<'a>,
}

impl<'a> Equality<'a> {
    /// Both sides must be of the same physical type.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if they are not.
    pub fn new(values: &'a ArrayRef, wanted: &'a Column) -> Result<Self> {
        let find = equal_to(values, wanted)?;
        let nulls = values.logical_nulls().filter(|n| n.null_count() > 0);
        let wanted_nulls = wanted.array.logical_nulls();
        let wanted_nulls = wanted_nulls.filter(|n| n.null_count() > 0);
        if nulls.is_none() && wanted_nulls.is_none() {
            return Ok(Self { find });
        }
        let is_const = wanted.is_const;
        let find = move |range: Range<usize>, row: usize| {
            let wanted_row = if is_const { 0 } else { row };
            if wanted_nulls.as_ref().is_some_and(|n| n.is_null(wanted_row)) {
                return first_null(nulls.as_ref(), range);
            }
            let mut rest = range;
            while let Some(found) = find(rest.clone(), row) {
                if nulls.as_ref().is_none_or(|n| n.is_valid(found)) {
                    return Some(found);
                }
                rest.start = found + 1;
            }
            None
        };
        Ok(Self {
            find: Box::new(find),
        })
    }

    /// As [`Equality::new`], with no value equal to another: only a NULL is found.
    pub fn of_nulls(values: &'a ArrayRef, wanted: &'a Column) -> Self {
        let (nulls, wanted_nulls) = (values.logical_nulls(), wanted.array.logical_nulls());
        let is_const = wanted.is_const;
        let find = move |range: Range<usize>, row: usize| {
            let wanted_row = if is_const { 0 } else { row };
            let is_null = wanted_nulls.as_ref().is_some_and(|n| n.is_null(wanted_row));
            is_null.then(|| first_null(nulls.as_ref(), range)).flatten()
        };
        Self {
            find: Box::new(find),
        }
    }

    /// The first element of `range` that equals the value of `row`.
    #[inline]
    pub fn first(&self, range: Range<usize>, row: usize) -> Option<usize> {
        (self.find)(range, row)
    }

    /// Number of elements of `range` that equal the value of `row`.
    pub fn count(&self, mut range: Range<usize>, row: usize) -> usize {
        let mut count = 0;
        while let Some(found) = self.first(range.clone(), row) {
            count += 1;
            range.start = found + 1;
        }
        count
    }
}

fn first_null(nulls: Option<&NullBuffer>, mut range: Range<usize>) -> Option<usize> {
    let nulls = nulls?;
    range.find(|i| nulls.is_null(*i))
}

fn equal_to<'a>(values: &'a ArrayRef, wanted: &'a Column) -> Result<Find<'a>> {
    let mask = if wanted.is_const { 0 } else { usize::MAX };
    if let Some(num) = Num::of_arrow(values.data_type()) {
        return with_native!(num, T => {
            let values = numeric::values::<T>(values.as_ref())?;
            let wanted = numeric::values::<T>(wanted.array.as_ref())?;
            Ok(Box::new(move |range, row| {
                let value = wanted[row & mask];
                let start = range.start;
                values[range].iter().position(|v| *v == value).map(|i| start + i)
            }))
        });
    }
    if values.as_binary_view_opt().is_some() {
        let values = StringColumn::of_array(values, false)?;
        let wanted = wanted.strings()?;
        return Ok(Box::new(move |mut range, row| {
            let value = wanted.value(row);
            range.find(|i| values.value(*i) == value)
        }));
    }
    let ids = Ids::new(&[values, &wanted.array])?;
    Ok(Box::new(move |mut range, row| {
        let value = ids.of(1)[row & mask];
        range.find(|i| ids.of(0)[*i] == value)
    }))
}

/// Numbers of elements: equal elements of all arrays have the same one.
#[derive(Debug)]
pub struct Ids {
    ids: Vec<Vec<u32>>,
    num_ids: usize,
}

impl Ids {
    /// Numbers the elements of arrays of one physical type.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the types differ.
    pub fn new(arrays: &[&ArrayRef]) -> Result<Self> {
        let total: usize = arrays.iter().map(|a| a.len()).sum();
        u32::try_from(total).map_err(|_| too_large(total))?;
        let Some(first) = arrays.first() else {
            return Ok(Self {
                ids: Vec::new(),
                num_ids: 0,
            });
        };
        let mut numbering = Numbering::default();
        if let Some(num) = Num::of_arrow(first.data_type()) {
            return with_native!(num, T => {
                let keys = |a: &ArrayRef| -> Result<Vec<u64>> {
                    let values = numeric::values::<T>(a.as_ref())?;
                    Ok(values.iter().map(|v| bits_of(*v)).collect())
                };
                for array in arrays {
                    numbering.add(array, keys(array)?.into_iter())?;
                }
                numbering.finish()
            });
        }
        if first.as_binary_view_opt().is_some() || first.as_fixed_size_binary_opt().is_some() {
            let mut numbering = Numbering::default();
            for array in arrays {
                let strings = StringColumn::of_array(array, false)?;
                numbering.add(array, (0..array.len()).map(|i| strings.value(i)))?;
            }
            return numbering.finish();
        }
        by_rows(arrays)
    }

    /// Numbers as [`Ids::new`] gives them, except that floats compare as numbers: 0 equals -0, and
    /// NaN equals nothing.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the types differ.
    pub fn of_equal(arrays: &[&ArrayRef]) -> Result<Self> {
        let is_float = arrays.first().is_some_and(|a| a.data_type().is_floating());
        if !is_float {
            return Self::new(arrays);
        }
        let arrays = arrays
            .iter()
            .map(|a| positive_zeros(a))
            .collect::<Result<Vec<_>>>()?;
        let mut ids = Self::new(&arrays.iter().collect::<Vec<_>>())?;
        for (ids_of_array, array) in ids.ids.iter_mut().zip(&arrays) {
            let nulls = array.logical_nulls();
            let is_valid = |i| nulls.as_ref().is_none_or(|n| n.is_valid(i));
            for (i, is_nan) in nans(array)?.into_iter().enumerate() {
                if is_nan && is_valid(i) {
                    ids_of_array[i] = ids.num_ids as u32;
                    ids.num_ids += 1;
                }
            }
        }
        Ok(ids)
    }

    /// Numbers of the elements of array `idx`.
    #[inline]
    pub fn of(&self, idx: usize) -> &[u32] {
        &self.ids[idx]
    }

    /// All numbers are below this one.
    pub fn num_ids(&self) -> usize {
        self.num_ids
    }
}

/// The floats with every -0 turned into 0.
fn positive_zeros(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(match array.as_primitive_opt::<Float32Type>() {
        Some(floats) => Arc::new(floats.unary::<_, Float32Type>(|x| x + 0.0)),
        None => {
            let floats = array.as_primitive_opt::<Float64Type>();
            let floats = floats.ok_or_else(|| Error::bug("floats are of 32 or 64 bits"))?;
            Arc::new(floats.unary::<_, Float64Type>(|x| x + 0.0))
        }
    })
}

/// Which floats are NaN.
fn nans(array: &ArrayRef) -> Result<Vec<bool>> {
    let num = Num::of_arrow(array.data_type()).ok_or_else(|| Error::bug("floats are numbers"))?;
    with_native!(num, T => {
        let values = numeric::values::<T>(array.as_ref())?;
        Ok(values.iter().map(|v| f64::from_num(*v).is_nan()).collect())
    })
}

/// Numbers nested elements by their row format.
fn by_rows(arrays: &[&ArrayRef]) -> Result<Ids> {
    let field = SortField::new(arrays[0].data_type().clone());
    let converter = RowConverter::new(vec![field]).map_err(bug)?;
    let rows = arrays
        .iter()
        .map(|a| converter.convert_columns(&[Arc::clone(a)]).map_err(bug))
        .collect::<Result<Vec<_>>>()?;
    let mut numbering = Numbering::default();
    for (array, rows) in arrays.iter().zip(&rows) {
        numbering.add(array, (0..array.len()).map(|i| rows.row(i).data()))?;
    }
    numbering.finish()
}

/// The bits of a number, so that equal bits mean the same element.
#[inline]
fn bits_of<T: numeric::Native>(value: T) -> u64 {
    let mut bits = [0u8; 8];
    let bytes = arrow::datatypes::ToByteSlice::to_byte_slice(std::slice::from_ref(&value));
    bits[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(bits)
}

/// Gives numbers in the order in which keys first appear.
struct Numbering<K> {
    known: HashMap<K, u32, RandomState>,
    null: Option<u32>,
    ids: Vec<Vec<u32>>,
    next: u32,
}

impl<K> Default for Numbering<K> {
    fn default() -> Self {
        Self {
            known: HashMap::with_hasher(RandomState::new()),
            null: None,
            ids: Vec::new(),
            next: 0,
        }
    }
}

impl<K: std::hash::Hash + Eq> Numbering<K> {
    fn add(&mut self, array: &ArrayRef, keys: impl ExactSizeIterator<Item = K>) -> Result<()> {
        if keys.len() != array.len() {
            return Err(Error::bug("a key for each element"));
        }
        let nulls = array.logical_nulls().filter(|n| n.null_count() > 0);
        let mut ids = Vec::with_capacity(array.len());
        for (i, key) in keys.enumerate() {
            let id = if nulls.as_ref().is_some_and(|n| n.is_null(i)) {
                *self.null.get_or_insert_with(|| {
                    self.next += 1;
                    self.next - 1
                })
            } else {
                match self.known.entry(key) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(vacant) => {
                        self.next += 1;
                        *vacant.insert(self.next - 1)
                    }
                }
            };
            ids.push(id);
        }
        self.ids.push(ids);
        Ok(())
    }

    fn finish(self) -> Result<Ids> {
        Ok(Ids {
            ids: self.ids,
            num_ids: self.next as usize,
        })
    }
}

/// A set of ids that is emptied in no time: each row has a mark of its own.
#[derive(Debug)]
pub struct RowSet {
    marks: Vec<u32>,
    mark: u32,
}

impl RowSet {
    /// An empty set of ids below `num_ids`.
    pub fn new(num_ids: usize) -> Self {
        Self {
            marks: vec![0; num_ids],
            mark: 1,
        }
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        if self.mark == u32::MAX {
            self.marks.fill(0);
            self.mark = 0;
        }
        self.mark += 1;
    }

    /// Adds `id`; whether it is new.
    #[inline]
    pub fn insert(&mut self, id: u32) -> bool {
        let slot = &mut self.marks[id as usize];
        let is_new = *slot != self.mark;
        *slot = self.mark;
        is_new
    }

    /// Whether `id` is in the set.
    #[inline]
    pub fn contains(&self, id: u32) -> bool {
        self.marks[id as usize] == self.mark
    }
}
