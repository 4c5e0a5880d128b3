//! Counts and keeps the distinct keys of all groups in one hash table.
//!
//! One table for all groups costs nothing for a group with a single key, where a table per group
//! would cost an allocation.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{ArrowPrimitiveType, DataType as ArrowType};
use basalt_error::Result;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::Groups;
use super::combinators::used_values;
use super::groups::check_num_groups;
use super::row_keys::{SetKey, mix};
use super::row_log::{list_of, list_type, sort_by_group};
use super::values::{column, primitive, wrong_array};

/// The distinct keys of all groups.
#[derive(Debug)]
pub(crate) struct DistinctSet<K> {
    table: Table<K>,
    /// Number of distinct keys of each group.
    counts: Vec<u64>,
    /// Keys by group, while nothing was added since they were asked for.
    by_group: Option<ByGroup<K>>,
}

#[derive(Debug)]
enum Table<K> {
    /// All keys are of group 0.
    One(HashTable<K>),
    Many(HashTable<(u32, K)>),
}

#[derive(Debug)]
struct ByGroup<K> {
    keys: Vec<K>,
    offsets: Vec<usize>,
}

#[inline]
fn pair_hash<K: SetKey>(pair: &(u32, K)) -> u64 {
    mix(pair.1.hash().wrapping_add(u64::from(pair.0)))
}

impl<K: SetKey> DistinctSet<K> {
    pub(crate) fn new() -> Self {
        Self {
            table: Table::One(HashTable::new()),
            counts: Vec::new(),
            by_group: None,
        }
    }

    /// Makes room for that many groups.
    pub(crate) fn resize(&mut self, num_groups: usize) -> Result<()> {
        if num_groups <= self.counts.len() {
            return Ok(());
        }
        check_num_groups(num_groups)?;
        self.counts.resize(num_groups, 0);
        self.by_group = None;
        if let (Table::One(keys), true) = (&mut self.table, num_groups > 1) {
            let keys = std::mem::take(keys);
            let mut pairs = HashTable::with_capacity(keys.len());
            for key in keys {
                let pair = (0, key);
                pairs.insert_unique(pair_hash(&pair), pair, pair_hash);
            }
            self.table = Table::Many(pairs);
        }
        Ok(())
    }

    /// Adds a key to group 0, which must be the only one; gives whether it is new.
    #[inline]
    fn insert_one(table: &mut HashTable<K>, key: K) -> bool {
        match table.entry(key.hash(), |k| *k == key, |k| k.hash()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(key);
                true
            }
        }
    }

    /// Adds a key to a group below the size that [`DistinctSet::resize`] was last given; gives
    /// whether it is new there.
    #[inline]
    pub(crate) fn insert(&mut self, group: usize, key: K) -> bool {
        let is_new = match &mut self.table {
            Table::One(table) => Self::insert_one(table, key),
            Table::Many(table) => {
                let pair = (group as u32, key);
                match table.entry(pair_hash(&pair), |p| *p == pair, pair_hash) {
                    Entry::Occupied(_) => false,
                    Entry::Vacant(vacant) => {
                        vacant.insert(pair);
                        true
                    }
                }
            }
        };
        if is_new {
            self.counts[group] += 1;
            self.by_group = None;
        }
        is_new
    }

    /// Number of distinct keys of each group in `range`.
    pub(crate) fn counts(&self, range: Range<usize>) -> &[u64] {
        &self.counts[range]
    }

    /// Arrow type of the one state column.
    pub(crate) fn state_type() -> ArrowType {
        list_type(&K::Arrow::DATA_TYPE)
    }

    /// The keys of each group in `range`, a list each.
    pub(crate) fn states(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let by_group = self.by_group.take().unwrap_or_else(|| self.sort());
        let offsets = &by_group.offsets[range.start..=range.end];
        let keys = &by_group.keys[offsets[0]..offsets[offsets.len() - 1]];
        let values: ArrayRef = Arc::new(PrimitiveArray::<K::Arrow>::from_iter_values(
            keys.iter().map(|k| k.to_native()),
        ));
        let relative: Vec<usize> = offsets.iter().map(|o| o - offsets[0]).collect();
        let ArrowType::List(item) = Self::state_type() else {
            return Err(wrong_array(&values));
        };
        let lists = list_of(&values, &relative, item)?;
        self.by_group = Some(by_group);
        Ok(lists)
    }

    fn sort(&self) -> ByGroup<K> {
        match &self.table {
            Table::One(table) => ByGroup {
                keys: table.iter().copied().collect(),
                offsets: vec![0, table.len()],
            },
            Table::Many(table) => {
                let pairs: Vec<(u32, K)> = table.iter().copied().collect();
                let groups: Vec<u32> = pairs.iter().map(|p| p.0).collect();
                let (order, offsets) = sort_by_group(&groups, self.counts.len());
                ByGroup {
                    keys: order.iter().map(|i| pairs[*i as usize].1).collect(),
                    offsets,
                }
            }
        }
    }

    /// Adds the keys of states that [`DistinctSet::states`] gave.
    pub(crate) fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups)?;
        let state = column(states, 0)?;
        let lists = state
            .as_list_opt::<i32>()
            .ok_or_else(|| wrong_array(state))?;
        let values = used_values(lists);
        let mut natives = primitive::<K::Arrow>(&values)?.values().iter();
        for (row, len) in lists.offsets().lengths().enumerate() {
            let group = groups.of_row(row);
            for native in natives.by_ref().take(len) {
                self.insert(group, K::from_native(*native));
            }
        }
        Ok(())
    }

    pub(crate) fn size_bytes(&self) -> usize {
        let table = match &self.table {
            Table::One(table) => table.allocation_size(),
            Table::Many(table) => table.allocation_size(),
        };
        let sorted = self.by_group.as_ref();
        table
            + self.counts.capacity() * size_of::<u64>()
            + sorted.map_or(0, |s| s.keys.len() * size_of::<K>() + s.offsets.len() * 8)
    }
}
