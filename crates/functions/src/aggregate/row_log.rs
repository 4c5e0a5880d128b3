//! Keeps the rows of all groups in the order of arrival, and gives them group by group.
//!
//! For functions that need all their rows at the end (`groupArray`, `quantileExact`, …). Adding a
//! batch keeps its arrays without copying them; [`RowLog::sealed`] sorts by group once.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, UInt64Array, new_empty_array};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use basalt_error::{Error, ErrorCode, Result};

use super::Groups;
use super::combinators::used_values;
use super::defaults::{bug, filter_rows};
use super::rows::Rows;
use super::values::wrong_array;

/// The rows of all groups.
#[derive(Debug)]
pub(crate) struct RowLog {
    types: Vec<ArrowType>,
    chunks: Vec<Vec<ArrayRef>>,
    /// Group of each row; empty while all rows are of group 0.
    groups: Vec<u32>,
    num_rows: usize,
    num_groups: usize,
    chunk_bytes: usize,
    sealed: Option<Sealed>,
}

/// The rows sorted by group, in the order of arrival within each.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// The arguments.
    pub(crate) columns: Vec<ArrayRef>,
    /// First row of each group, and the number of rows at the end.
    pub(crate) offsets: Vec<usize>,
}

impl Sealed {
    /// The rows of a group.
    pub(crate) fn rows(&self, group: usize) -> Range<usize> {
        self.offsets[group]..self.offsets[group + 1]
    }
}

/// The type of the state column of rows of type `arrow`.
pub(crate) fn list_type(arrow: &ArrowType) -> ArrowType {
    ArrowType::List(list_item(arrow))
}

fn list_item(arrow: &ArrowType) -> FieldRef {
    Arc::new(Field::new("item", arrow.clone(), true))
}

impl RowLog {
    pub(crate) fn new(types: Vec<ArrowType>) -> Self {
        Self {
            types,
            chunks: Vec::new(),
            groups: Vec::new(),
            num_rows: 0,
            num_groups: 0,
            chunk_bytes: 0,
            sealed: None,
        }
    }

    /// Arrow types of the columns.
    pub(crate) fn types(&self) -> &[ArrowType] {
        &self.types
    }

    /// Adds the rows of a batch that `rows` takes.
    pub(crate) fn push(&mut self, args: &[ArrayRef], rows: &Rows<'_>) -> Result<()> {
        let mut taken = Vec::with_capacity(args.len());
        for arg in args {
            taken.push(match &rows.valid {
                None => Arc::clone(arg),
                Some(valid) => without_garbage(filter_rows(arg, valid.inner())?),
            });
        }
        let added = rows.num_valid();
        match rows.ids {
            None => self.push_ids(added, std::iter::repeat_n(0, added)),
            Some(ids) => self.push_ids(added, rows.valid_rows().map(|row| ids[row])),
        }
        self.push_chunk(taken, added);
        Ok(())
    }

    /// Adds rows with the group of each; `columns` are kept as they are.
    pub(crate) fn push_chunk_of(&mut self, columns: Vec<ArrayRef>, ids: &[u32]) {
        self.push_ids(ids.len(), ids.iter().copied());
        self.push_chunk(columns, ids.len());
    }

    fn push_chunk(&mut self, columns: Vec<ArrayRef>, added: usize) {
        self.unseal();
        if added > 0 {
            self.chunk_bytes += columns.iter().map(array_bytes).sum::<usize>();
            self.chunks.push(columns);
            self.num_rows += added;
        }
    }

    fn push_ids(&mut self, added: usize, ids: impl Iterator<Item = u32>) {
        self.unseal();
        let mut ids = ids.peekable();
        if self.groups.is_empty() {
            while ids.next_if_eq(&0).is_some() {}
            if ids.peek().is_none() {
                return;
            }
            let rest: Vec<u32> = ids.collect();
            let zeros = self.num_rows + added - rest.len();
            self.groups.resize(zeros, 0);
            self.note_groups(&rest);
            self.groups.extend(rest);
            return;
        }
        let before = self.groups.len();
        self.groups.reserve(added);
        self.groups.extend(ids);
        let groups = std::mem::take(&mut self.groups);
        self.note_groups(&groups[before..]);
        self.groups = groups;
    }

    fn note_groups(&mut self, groups: &[u32]) {
        let last = groups.iter().copied().max().unwrap_or(0);
        self.num_groups = self.num_groups.max(last as usize + 1);
    }

    /// Adds the rows in state columns that [`RowLog::states`] gave.
    pub(crate) fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let mut columns = Vec::with_capacity(states.len());
        let mut ids: Option<Vec<u32>> = None;
        for (state, arrow) in states.iter().zip(&self.types) {
            let list = state
                .as_list_opt::<i32>()
                .ok_or_else(|| wrong_array(state))?;
            let values = used_values(list);
            if values.data_type() != arrow {
                return Err(wrong_array(&values));
            }
            columns.push(values);
            ids.get_or_insert_with(|| {
                let lengths = list.offsets().lengths().enumerate();
                lengths
                    .flat_map(|(row, len)| {
                        std::iter::repeat_n(groups.ids.map_or(0, |ids| ids[row]), len)
                    })
                    .collect()
            });
        }
        let ids = ids.unwrap_or_default();
        if columns.iter().any(|c| c.len() != ids.len()) {
            return Err(super::grouped::damaged());
        }
        self.push_chunk_of(columns, &ids);
        Ok(())
    }

    fn unseal(&mut self) {
        let Some(sealed) = self.sealed.take() else {
            return;
        };
        if self.num_groups > 1 {
            let groups = (0..self.num_groups as u32)
                .flat_map(|g| std::iter::repeat_n(g, sealed.rows(g as usize).len()));
            self.groups = groups.collect();
        }
        self.chunks = vec![sealed.columns];
    }

    /// The rows by group, for at least `num_groups` groups.
    ///
    /// # Errors
    /// `TOO_LARGE_ARRAY_SIZE` if Arrow cannot hold them in one array.
    pub(crate) fn sealed(&mut self, num_groups: usize) -> Result<&Sealed> {
        self.num_groups = num_groups.max(self.num_groups).max(1);
        if self.sealed.is_none() {
            basalt_profile::check_room(self.ordering_bytes())?;
            self.sealed = Some(self.seal()?);
        }
        if let Some(sealed) = &mut self.sealed {
            // New groups have no rows.
            sealed.offsets.resize(self.num_groups + 1, self.num_rows);
        }
        self.sealed
            .as_ref()
            .ok_or_else(|| Error::bug("row log is not sealed"))
    }

    fn seal(&mut self) -> Result<Sealed> {
        let chunks = std::mem::take(&mut self.chunks);
        let mut columns = Vec::with_capacity(self.types.len());
        for (idx, arrow) in self.types.iter().enumerate() {
            let parts: Vec<&dyn Array> = chunks.iter().map(|c| c[idx].as_ref()).collect();
            columns.push(match parts.as_slice() {
                [] => new_empty_array(arrow),
                [only] => only.slice(0, only.len()),
                parts => arrow::compute::concat(parts).map_err(too_large)?,
            });
        }
        drop(chunks);
        if self.groups.is_empty() {
            let mut offsets = vec![self.num_rows; self.num_groups + 1];
            offsets[0] = 0;
            return Ok(Sealed { columns, offsets });
        }
        let groups = std::mem::take(&mut self.groups);
        let (order, offsets) = sort_by_group(&groups, self.num_groups);
        drop(groups);
        let order = UInt64Array::from(order);
        for column in &mut columns {
            *column = arrow::compute::take(column, &order, None).map_err(too_large)?;
        }
        Ok(Sealed { columns, offsets })
    }

    /// The rows of the groups as one list column for each argument.
    pub(crate) fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let sealed = self.sealed(range.end)?;
        let offsets = &sealed.offsets[range.start..=range.end];
        sealed
            .columns
            .iter()
            .map(|column| list_of(column, offsets, list_item(column.data_type())))
            .collect()
    }

    /// Memory that [`RowLog::sealed`] takes for a while: the rows a second time, and their order.
    pub(crate) fn ordering_bytes(&self) -> usize {
        let is_ordered = self.groups.is_empty();
        if self.sealed.is_some() || (is_ordered && self.chunks.len() <= 1) {
            return 0;
        }
        let width = |arrow: &ArrowType| match arrow {
            // Where the bytes lie does not change.
            ArrowType::BinaryView => Some(size_of::<u128>()),
            other => other.primitive_width(),
        };
        let row_bytes: Option<usize> = self.types.iter().map(width).sum();
        let rows = row_bytes.map_or(self.chunk_bytes, |bytes| bytes * self.num_rows);
        let order_bytes = if is_ordered { 0 } else { size_of::<u64>() };
        rows + order_bytes * self.num_rows
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.chunk_bytes + self.groups.capacity() * size_of::<u32>() + self.num_groups * 8
    }
}

/// A list array over `values`, one list for each pair of neighbours in `offsets`.
pub(crate) fn list_of(values: &ArrayRef, offsets: &[usize], item: FieldRef) -> Result<ArrayRef> {
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    let values = values.slice(first, last - first);
    let relative = offsets
        .iter()
        .map(|o| i32::try_from(o - first).map_err(|_| too_many_elements()))
        .collect::<Result<Vec<i32>>>()?;
    let offsets = OffsetBuffer::new(relative.into());
    Ok(Arc::new(
        ListArray::try_new(item, offsets, values, None).map_err(bug)?,
    ))
}

/// A stable counting sort: rows by group, and where each group starts.
pub(crate) fn sort_by_group(groups: &[u32], num_groups: usize) -> (Vec<u64>, Vec<usize>) {
    let mut offsets = vec![0usize; num_groups + 1];
    for group in groups {
        offsets[*group as usize + 1] += 1;
    }
    for group in 0..num_groups {
        offsets[group + 1] += offsets[group];
    }
    let mut next = offsets.clone();
    let mut order = vec![0u64; groups.len()];
    for (row, group) in groups.iter().enumerate() {
        let place = &mut next[*group as usize];
        order[*place] = row as u64;
        *place += 1;
    }
    (order, offsets)
}

fn too_large(e: arrow::error::ArrowError) -> Error {
    Error::new(
        ErrorCode::TOO_LARGE_ARRAY_SIZE,
        format!("Too many values in an aggregate function: {e}"),
    )
}

fn too_many_elements() -> Error {
    Error::new(
        ErrorCode::TOO_LARGE_ARRAY_SIZE,
        "Arrays of one batch have more than 2147483647 elements together",
    )
}

fn array_bytes(array: &ArrayRef) -> usize {
    if let Some(views) = array.as_binary_view_opt() {
        return views.len() * size_of::<u128>()
            + views.lengths().map(|l| l as usize).sum::<usize>();
    }
    array
        .to_data()
        .get_slice_memory_size()
        .unwrap_or_else(|_| array.get_buffer_memory_size())
}

/// Filtered strings still hold the buffers of all rows: copies what is left.
fn without_garbage(array: ArrayRef) -> ArrayRef {
    match array.as_binary_view_opt() {
        Some(views) => Arc::new(views.gc()),
        None => array,
    }
}
