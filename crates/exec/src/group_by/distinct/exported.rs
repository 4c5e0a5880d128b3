//! A task's sets on their way to others, who take all of them or those of some groups.

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, ListArray, PrimitiveArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Field;
use datafusion::error::Result;

use super::by_group::ByGroup;
use super::entry::{Entry, Value};
use super::parts::Parts;

/// Sets of distinct values of some groups.
pub(crate) trait ExportedSets: Debug + Send + Sync {
    /// The values of the groups `rows` as lists, one a group, for a file.
    fn lists(&self, rows: &[u32]) -> Result<ArrayRef>;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// All sets of a task.
#[derive(Debug)]
pub(super) struct Exported<E: Entry> {
    parts: Parts<E>,
    num_groups: usize,
    /// Values in the order of their groups, once someone asks for those of some groups.
    by_group: OnceLock<ByGroup<E::Value>>,
}

impl<E: Entry> Exported<E> {
    /// Sets of so many groups.
    pub(super) fn new(parts: Parts<E>, num_groups: usize) -> Self {
        Self {
            parts,
            num_groups,
            by_group: OnceLock::new(),
        }
    }

    pub(super) fn num_groups(&self) -> usize {
        self.num_groups
    }

    /// The sets as they are.
    pub(super) fn into_parts(self) -> Parts<E> {
        self.parts
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.parts.size_bytes()
    }

    /// Whether entries are in a file.
    pub(super) fn has_blocks(&self) -> bool {
        self.parts.has_blocks()
    }

    /// The values in the order of their groups.
    pub(super) fn by_group(&self) -> Result<&ByGroup<E::Value>> {
        if let Some(by_group) = self.by_group.get() {
            return Ok(by_group);
        }
        let by_group = ByGroup::of(&self.parts.parts, self.num_groups)?;
        Ok(self.by_group.get_or_init(|| by_group))
    }
}

impl<E: Entry> ExportedSets for Exported<E> {
    fn lists(&self, rows: &[u32]) -> Result<ArrayRef> {
        let mut lens = Vec::with_capacity(rows.len());
        let mut values = Vec::new();
        let by_group = self.by_group()?;
        for row in rows {
            let of_group = by_group.values_of(*row);
            lens.push(of_group.len());
            values.extend(of_group.iter().map(|value| value.to_native()));
        }
        let values = PrimitiveArray::<<E::Value as Value>::Arrow>::from_iter_values(values);
        let item: Arc<Field> = Arc::new(Field::new("item", values.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths(lens);
        Ok(Arc::new(ListArray::try_new(
            item,
            offsets,
            Arc::new(values),
            None,
        )?))
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
