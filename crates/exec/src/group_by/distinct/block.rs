//! Entries in a file, whose groups may have got other numbers since.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, RecordBatch, UInt32Array};
use arrow::datatypes::{Field, Schema, UInt32Type};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

use super::entry::{Entry, Value};
use crate::group_by::spill::{Budget, SpillFile};

/// The group of entries that go nowhere.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The group that each group goes to.
pub(super) type GroupMap = Arc<[u32]>;

/// The entry in the group that its own goes to.
#[inline]
pub(super) fn moved<E: Entry>(entry: E, map: &[u32]) -> Option<E> {
    let to = map[entry.group() as usize];
    (to != NOWHERE).then(|| E::new(to, entry.value()))
}

/// Some entries in a file.
#[derive(Debug)]
pub(super) struct Block {
    file: Arc<SpillFile>,
    place: Range<u64>,
    /// The groups that those of the file are now; none if they are still the same.
    map: Option<GroupMap>,
}

impl Block {
    /// Appends entries to `file`.
    pub(super) fn write<E: Entry>(
        file: &Arc<SpillFile>,
        entries: &[E],
        budget: &Budget,
    ) -> Result<Self> {
        let values = entries.iter().map(|entry| entry.value().to_native());
        let values = PrimitiveArray::<<E::Value as Value>::Arrow>::from_iter_values(values);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(values)];
        if E::HAS_GROUP {
            let groups = entries.iter().map(|entry| entry.group());
            columns.push(Arc::new(UInt32Array::from_iter_values(groups)));
        }
        let field = |c: &ArrayRef| Field::new("", c.data_type().clone(), false);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let place = file.append(&RecordBatch::try_new(Arc::new(schema), columns)?)?;
        budget.count_block(&place)?;
        Ok(Self {
            place,
            file: Arc::clone(file),
            map: None,
        })
    }

    /// The same entries in the groups that `map` gives theirs; nothing is read.
    pub(super) fn moved(self, map: &[u32], known: &mut MovedMaps) -> Self {
        let map = Some(known.of(self.map.as_ref(), map));
        Self { map, ..self }
    }

    /// Calls `f` with all entries.
    pub(super) fn for_each<E: Entry>(&self, mut f: impl FnMut(E)) -> Result<()> {
        let batch = self.file.read(&self.place)?;
        let damaged = || internal_datafusion_err!("no entries in a block");
        let mut columns = batch.columns().iter();
        let values = columns.next();
        let values = values.and_then(|c| c.as_primitive_opt::<<E::Value as Value>::Arrow>());
        let values = values.ok_or_else(damaged)?.values().iter();
        let values = values.map(|native| E::Value::from_native(*native));
        if !E::HAS_GROUP {
            values.for_each(|value| f(E::new(0, value)));
            return Ok(());
        }
        let groups = columns
            .next()
            .and_then(|c| c.as_primitive_opt::<UInt32Type>());
        let groups = groups.ok_or_else(damaged)?.values().iter();
        let entries = groups
            .zip(values)
            .map(|(group, value)| E::new(*group, value));
        match &self.map {
            None => entries.for_each(f),
            Some(map) => entries.filter_map(|entry| moved(entry, map)).for_each(f),
        }
        Ok(())
    }
}

/// What maps of blocks have become behind another one: most blocks share theirs.
#[derive(Debug, Default)]
pub(super) struct MovedMaps(Vec<(Option<GroupMap>, GroupMap)>);

impl MovedMaps {
    /// The map that does what `first` does, if there is one, and then what `then` does.
    fn of(&mut self, first: Option<&GroupMap>, then: &[u32]) -> GroupMap {
        let is_known = |(known, _): &&(Option<GroupMap>, GroupMap)| match (known, first) {
            (None, None) => true,
            (Some(known), Some(first)) => Arc::ptr_eq(known, first),
            _ => false,
        };
        if let Some((_, both)) = self.0.iter().find(is_known) {
            return Arc::clone(both);
        }
        let both: GroupMap = match first {
            None => then.into(),
            Some(first) => {
                let to = |group: &u32| then.get(*group as usize).copied().unwrap_or(NOWHERE);
                first.iter().map(to).collect()
            }
        };
        self.0.push((first.cloned(), Arc::clone(&both)));
        both
    }
}
