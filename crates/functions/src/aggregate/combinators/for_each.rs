//! `-ForEach`: aggregates the first, second, … elements of arrays apart.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::datatypes::FieldRef;
use basalt_error::Result;
use basalt_profile::check_room;
use basalt_types::DataType;
use basalt_types::physical::item_field;

use super::array::{element_types, elements, used_values};
use crate::aggregate::defaults::bug;
use crate::aggregate::groups::check_num_groups;
use crate::aggregate::of_inner::of_inner;
use crate::aggregate::row_log::{list_of, list_type};
use crate::aggregate::rows::Rows;
use crate::aggregate::values::wrong_array;
use crate::aggregate::{AggregateCall, Aggregator, BoundAggregate, Groups, binding};

/// Binds `-ForEach`.
pub(super) fn bind(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let inner_types = element_types(call, "ForEach")?;
    let bound = binding::bind(&AggregateCall {
        types: &inner_types,
        ..*call
    })?;
    let item = item_field(&bound.return_type);
    let factory = Arc::clone(&bound.factory);
    Ok(BoundAggregate {
        return_type: DataType::array(bound.return_type.clone()),
        state_types: bound.state_types.iter().map(list_type).collect(),
        shortcut: None,
        skips_nulls: true,
        factory: Arc::new(move || {
            Box::new(ForEach {
                inner: factory(),
                inner_ids: Vec::new(),
                num_inner: 0,
                item: Arc::clone(&item),
            })
        }),
        ..bound
    })
}

/// Bytes of an element's place, and of the state of an inner group with its places, at least.
const ID_BYTES: usize = 2 * size_of::<u32>();
const STATE_BYTES: usize = 16;

/// Bytes of an inner group's result: as it is made, its place in the order, and in that order.
const RESULT_BYTES: usize = 24;

#[derive(Debug)]
struct ForEach {
    inner: Box<dyn Aggregator>,
    /// For each group the inner group of each position.
    inner_ids: Vec<Vec<u32>>,
    num_inner: usize,
    item: FieldRef,
}

impl ForEach {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.inner_ids.len() {
            self.inner_ids.resize_with(num_groups, Vec::new);
        }
    }

    fn assign(&mut self, group: usize, len: usize, ids: &mut Vec<u32>) {
        let known = &mut self.inner_ids[group];
        while known.len() < len {
            known.push(self.num_inner as u32);
            self.num_inner += 1;
        }
        ids.extend_from_slice(&known[..len]);
    }

    /// The inner groups of the groups in `range`, and where each group's start.
    fn positions(&self, range: Range<usize>) -> (UInt64Array, Vec<usize>) {
        let mut order = Vec::new();
        let mut offsets = vec![0];
        for ids in &self.inner_ids[range] {
            order.extend(ids.iter().map(|id| u64::from(*id)));
            offsets.push(order.len());
        }
        (order.into(), offsets)
    }
}

impl Aggregator for ForEach {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let elements = elements(args, groups)?;
        let num_elements = elements.lengths.iter().sum::<usize>();
        check_room(num_elements * ID_BYTES)?;
        let mut ids = Vec::with_capacity(num_elements);
        let num_before = self.num_inner;
        for (row, len) in elements.lengths.iter().enumerate() {
            let group = elements.ids.as_ref().map_or(0, |ids| ids[row] as usize);
            self.assign(group, *len, &mut ids);
        }
        check_num_groups(self.num_inner)?;
        check_room((self.num_inner - num_before) * STATE_BYTES)?;
        let inner = Groups {
            ids: Some(&ids),
            num_groups: self.num_inner,
            num_rows: ids.len(),
        };
        self.inner.update(&elements.values, inner)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let mut ids = Vec::new();
        let mut columns = Vec::with_capacity(states.len());
        for (idx, state) in states.iter().enumerate() {
            let list = state
                .as_list_opt::<i32>()
                .ok_or_else(|| wrong_array(state))?;
            columns.push(used_values(list));
            if idx == 0 {
                let lengths: Vec<usize> = list.offsets().lengths().collect();
                let rows = Rows::all(&[], groups)?;
                rows.for_each(|row, group| self.assign(group, lengths[row], &mut ids));
            }
        }
        check_num_groups(self.num_inner)?;
        let inner = Groups {
            ids: Some(&ids),
            num_groups: self.num_inner,
            num_rows: ids.len(),
        };
        self.inner.merge(&columns, inner)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        check_room(self.num_inner * RESULT_BYTES)?;
        let values = self.inner.finish(0..self.num_inner)?;
        let (order, offsets) = self.positions(range);
        let values = arrow::compute::take(&values, &order, None).map_err(bug)?;
        list_of(&values, &offsets, Arc::clone(&self.item))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        check_room(self.num_inner * RESULT_BYTES)?;
        let states = self.inner.states(0..self.num_inner)?;
        let (order, offsets) = self.positions(range);
        let lists = states.iter().map(|state| {
            let values = arrow::compute::take(state, &order, None).map_err(bug)?;
            let list = list_type(state.data_type());
            let arrow::datatypes::DataType::List(item) = list else {
                return Err(wrong_array(&values));
            };
            list_of(&values, &offsets, item)
        });
        lists.collect()
    }

    fn exports_parts(&self) -> bool {
        false
    }

    of_inner!(ordering_bytes);

    fn size_bytes(&self) -> usize {
        self.inner.size_bytes()
            + self.inner_ids.capacity() * size_of::<Vec<u32>>()
            + self.num_inner * size_of::<u32>()
    }
}
