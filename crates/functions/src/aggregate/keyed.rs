//! Aggregates values apart for each key inside a group: `sumMap`, `-Map`.
//!
//! Each pair of group and key has a number; the inner aggregates use the numbers as group ids.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, ListArray, StructArray,
    UInt64Array, new_empty_array,
};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use basalt_error::Result;
use basalt_types::DataType;

use super::combinators::used_values;
use super::defaults::{bug, default_array};
use super::grouped::damaged;
use super::groups::check_num_groups;
use super::row_keys::row_keys;
use super::row_log::{list_of, list_type};
use super::rows::Rows;
use super::values::{column, wrong_array};
use super::{Aggregator, BoundAggregate, Groups};

/// What the result looks like.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// A map of keys to results.
    Map,
    /// A tuple of an array of keys and one array for each inner aggregate; keys whose results
    /// all are the type's default are left out if `drops_defaults`.
    Arrays { drops_defaults: bool },
    /// As `Arrays`, of the keys with these hashes only.
    Filtered { only: Vec<u128> },
}

/// Binds inner aggregates to keys of type `key`.
pub(crate) fn bind_keyed(
    key: DataType,
    inner: Vec<BoundAggregate>,
    layout: Layout,
) -> BoundAggregate {
    let key_arrow = key.physical();
    let mut state_types = vec![list_type(&key_arrow)];
    for bound in &inner {
        state_types.extend(bound.state_types.iter().map(list_type));
    }
    let return_type = match (&layout, inner.as_slice()) {
        (Layout::Map, [only]) => DataType::map(key, only.return_type.clone()),
        _ => {
            let keys = std::iter::once(key);
            let types = keys.chain(inner.iter().map(|b| b.return_type.clone()));
            DataType::tuple(types.map(DataType::array).collect())
        }
    };
    let result = return_type.clone();
    BoundAggregate::new(return_type, state_types, move || Keyed {
        inner: inner.iter().map(|b| (b.factory)()).collect(),
        state_columns: inner.iter().map(|b| b.state_types.len()).collect(),
        result_types: inner.iter().map(|b| b.return_type.clone()).collect(),
        numbers: HashMap::default(),
        of_group: Vec::new(),
        num_numbers: 0,
        keys: Vec::new(),
        key_arrow: key_arrow.clone(),
        return_type: result.clone(),
        layout: layout.clone(),
    })
}

#[derive(Debug)]
struct Keyed {
    inner: Vec<Box<dyn Aggregator>>,
    /// Number of state columns of each inner aggregate.
    state_columns: Vec<usize>,
    result_types: Vec<DataType>,
    numbers: HashMap<(usize, u128), usize, ahash::RandomState>,
    /// Numbers of each group.
    of_group: Vec<Vec<usize>>,
    num_numbers: usize,
    /// The keys by number, in pieces.
    keys: Vec<ArrayRef>,
    key_arrow: ArrowType,
    return_type: DataType,
    layout: Layout,
}

/// Elements of one batch: the keys and what belongs to each.
struct Elements {
    keys: ArrayRef,
    columns: Vec<ArrayRef>,
    lengths: Vec<usize>,
}

impl Keyed {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.of_group.len() {
            self.of_group.resize_with(num_groups, Vec::new);
        }
    }

    /// The number of each key, new ones for keys that their group has not seen.
    fn number(&mut self, elements: &Elements, rows: &Rows<'_>) -> Result<Vec<u32>> {
        let hashes = row_keys(std::slice::from_ref(&elements.keys))?;
        let mut fresh = BooleanBufferBuilder::new(hashes.len());
        let mut ids = Vec::with_capacity(hashes.len());
        let mut next = 0;
        rows.for_each(|row, group| {
            for hash in &hashes[next..next + elements.lengths[row]] {
                let new_number = self.num_numbers;
                let number = *self.numbers.entry((group, *hash)).or_insert(new_number);
                fresh.append(number == new_number);
                if number == new_number {
                    self.of_group[group].push(number);
                    self.num_numbers += 1;
                }
                ids.push(number as u32);
            }
            next += elements.lengths[row];
        });
        check_num_groups(self.num_numbers)?;
        let fresh = BooleanArray::new(fresh.finish(), None);
        let keys = arrow::compute::filter(&elements.keys, &fresh).map_err(bug)?;
        if !keys.is_empty() {
            self.keys.push(keys);
        }
        Ok(ids)
    }

    fn all_keys(&mut self) -> Result<ArrayRef> {
        if self.keys.len() != 1 {
            let parts: Vec<&dyn Array> = self.keys.iter().map(AsRef::as_ref).collect();
            let all = if parts.is_empty() {
                new_empty_array(&self.key_arrow)
            } else {
                arrow::compute::concat(&parts).map_err(bug)?
            };
            self.keys = vec![all];
        }
        column(&self.keys, 0).cloned()
    }

    /// Numbers of the groups in `range` in ascending order of keys, and where each group starts.
    fn ordered(
        &mut self,
        range: Range<usize>,
        keeps: impl Fn(usize) -> bool,
    ) -> Result<(UInt64Array, Vec<usize>)> {
        let keys = self.all_keys()?;
        let sorted = arrow::compute::sort_to_indices(&keys, Some(SortOptions::default()), None);
        let mut ranks = vec![0u32; keys.len()];
        for (rank, number) in sorted.map_err(bug)?.values().iter().enumerate() {
            ranks[*number as usize] = rank as u32;
        }
        let mut order: Vec<u64> = Vec::new();
        let mut offsets = vec![0];
        for numbers in &self.of_group[range] {
            let start = order.len();
            order.extend(numbers.iter().filter(|n| keeps(**n)).map(|n| *n as u64));
            order[start..].sort_unstable_by_key(|n| ranks[*n as usize]);
            offsets.push(order.len());
        }
        Ok((order.into(), offsets))
    }

    fn add(&mut self, elements: &Elements, rows: &Rows<'_>, merges: bool) -> Result<()> {
        let ids = self.number(elements, rows)?;
        let groups = Groups {
            ids: Some(&ids),
            num_groups: self.num_numbers,
            num_rows: ids.len(),
        };
        let mut columns = elements.columns.as_slice();
        for (inner, num_states) in self.inner.iter_mut().zip(&self.state_columns) {
            let taken = if merges { *num_states } else { 1 };
            let (now, rest) = columns.split_at_checked(taken).ok_or_else(damaged)?;
            columns = rest;
            if merges {
                inner.merge(now, groups)?;
            } else {
                inner.update(now, groups)?;
            }
        }
        Ok(())
    }

    /// Numbers whose results are not all defaults.
    fn not_default(&self, results: &[ArrayRef]) -> Result<Vec<bool>> {
        let mut kept = vec![false; self.num_numbers];
        for (result, data_type) in results.iter().zip(&self.result_types) {
            let default = row_keys(&[default_array(data_type, 1)?])?;
            for (kept, key) in kept.iter_mut().zip(row_keys(std::slice::from_ref(result))?) {
                *kept |= key != default[0];
            }
        }
        Ok(kept)
    }

    fn assemble(&self, columns: &[ArrayRef], offsets: &[usize]) -> Result<ArrayRef> {
        match (self.return_type.physical(), &self.layout) {
            (ArrowType::List(item), Layout::Map) => {
                let ArrowType::Struct(fields) = item.data_type().clone() else {
                    return Err(wrong_array(&columns[0]));
                };
                let entries = StructArray::try_new(fields, columns.to_vec(), None).map_err(bug)?;
                let entries: ArrayRef = Arc::new(entries);
                list_of(&entries, offsets, item)
            }
            (ArrowType::Struct(fields), _) => {
                let arrays = columns.iter().zip(&fields);
                let arrays =
                    arrays.map(|(values, field)| list_of(values, offsets, item_of(field)?));
                let arrays = arrays.collect::<Result<Vec<_>>>()?;
                Ok(Arc::new(
                    StructArray::try_new(fields.clone(), arrays, None).map_err(bug)?,
                ))
            }
            _ => Err(wrong_array(&columns[0])),
        }
    }
}

fn item_of(field: &FieldRef) -> Result<FieldRef> {
    match field.data_type() {
        ArrowType::List(item) => Ok(Arc::clone(item)),
        other => Err(wrong_array(&new_empty_array(other))),
    }
}

fn as_list(array: &ArrayRef) -> Result<&ListArray> {
    array.as_list_opt::<i32>().ok_or_else(|| wrong_array(array))
}

/// The elements of lists that have equal lengths in each row.
fn elements_of(lists: &[ArrayRef]) -> Result<Elements> {
    let keys = as_list(column(lists, 0)?)?;
    let lengths: Vec<usize> = keys.offsets().lengths().collect();
    let mut columns = Vec::with_capacity(lists.len() - 1);
    for list in &lists[1..] {
        let list = as_list(list)?;
        if !list.offsets().lengths().eq(lengths.iter().copied()) {
            return Err(basalt_error::Error::new(
                basalt_error::ErrorCode::BAD_ARGUMENTS,
                "Sizes of keys and values arrays do not match",
            ));
        }
        columns.push(used_values(list));
    }
    Ok(Elements {
        keys: used_values(keys),
        columns,
        lengths,
    })
}

/// The keys and values of the arguments: a map, a tuple of arrays, or arrays.
fn elements_of_args(args: &[ArrayRef]) -> Result<Elements> {
    match args {
        [only] => match only.as_list_opt::<i32>() {
            Some(map) => {
                let entries = used_values(map);
                let entries = entries
                    .as_struct_opt()
                    .ok_or_else(|| wrong_array(&entries))?;
                Ok(Elements {
                    keys: Arc::clone(entries.column(0)),
                    columns: vec![Arc::clone(entries.column(1))],
                    lengths: map.offsets().lengths().collect(),
                })
            }
            None => {
                let tuple = only.as_struct_opt().ok_or_else(|| wrong_array(only))?;
                elements_of(tuple.columns())
            }
        },
        arrays => elements_of(arrays),
    }
}

impl Aggregator for Keyed {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let rows = Rows::new(args, groups)?;
        let Some(valid) = &rows.valid else {
            return self.add(&elements_of_args(args)?, &rows, false);
        };
        // Rows taken out by `-If` may still have elements: leave them out first.
        let args = args
            .iter()
            .map(|a| super::defaults::filter_rows(a, valid.inner()))
            .collect::<Result<Vec<_>>>()?;
        let ids: Option<Vec<u32>> = rows
            .ids
            .map(|ids| valid.valid_indices().map(|row| ids[row]).collect());
        let groups = Groups {
            ids: ids.as_deref(),
            num_groups: groups.num_groups,
            num_rows: rows.num_valid(),
        };
        self.add(&elements_of_args(&args)?, &Rows::all(&[], groups)?, false)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        self.add(&elements_of(states)?, &Rows::all(states, groups)?, true)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        let numbers = 0..self.num_numbers;
        let results = self
            .inner
            .iter_mut()
            .map(|inner| inner.finish(numbers.clone()))
            .collect::<Result<Vec<_>>>()?;
        let kept = match self.layout.clone() {
            Layout::Arrays {
                drops_defaults: true,
            } => self.not_default(&results)?,
            Layout::Filtered { only } => {
                let keys = self.all_keys()?;
                let keys = row_keys(std::slice::from_ref(&keys))?;
                keys.iter().map(|key| only.contains(key)).collect()
            }
            _ => vec![true; self.num_numbers],
        };
        let (order, offsets) = self.ordered(range, |number| kept[number])?;
        let mut columns = vec![arrow::compute::take(&self.all_keys()?, &order, None).map_err(bug)?];
        for result in &results {
            columns.push(arrow::compute::take(result, &order, None).map_err(bug)?);
        }
        self.assemble(&columns, &offsets)
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        let mut columns = vec![self.all_keys()?];
        let numbers = 0..self.num_numbers;
        for inner in &mut self.inner {
            columns.extend(inner.states(numbers.clone())?);
        }
        let (order, offsets) = self.ordered(range, |_| true)?;
        let lists = columns.iter().map(|values| {
            let taken = arrow::compute::take(values, &order, None).map_err(bug)?;
            match list_type(values.data_type()) {
                ArrowType::List(item) => list_of(&taken, &offsets, item),
                _ => Err(wrong_array(values)),
            }
        });
        lists.collect()
    }

    fn exports_parts(&self) -> bool {
        false
    }

    fn size_bytes(&self) -> usize {
        let inner: usize = self.inner.iter().map(|i| i.size_bytes()).sum();
        let entry = size_of::<((usize, u128), usize)>() + size_of::<usize>() + 16;
        inner + self.numbers.capacity() * entry + self.of_group.capacity() * 24
    }
}
