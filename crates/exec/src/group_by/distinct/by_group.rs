//! Values in the order of their groups.

use datafusion::error::Result;

use super::entry::{Entry, Value};
use super::parts::Part;

/// Values up to which each is compared with all before it, which takes no jump that nobody can foretell.
const FEW: usize = 8;

/// Values in the order of their groups, some more than once.
#[derive(Debug)]
pub(super) struct ByGroup<V> {
    values: Vec<V>,
    /// Where each group starts, and the end.
    offsets: Vec<usize>,
}

impl<V: Value> ByGroup<V> {
    /// The values of all entries of some parts: a counting sort by group.
    pub(super) fn of<E: Entry<Value = V>>(parts: &[Part<E>], num_groups: usize) -> Result<Self> {
        // First the ends of groups, which go down to where these start.
        let mut offsets = vec![0usize; num_groups + 1];
        for part in parts {
            part.for_each(|entry| offsets[entry.group() as usize] += 1)?;
        }
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        let mut values = vec![V::default(); offsets[num_groups]];
        for part in parts {
            part.for_each(|entry| {
                let place = &mut offsets[entry.group() as usize];
                *place -= 1;
                values[*place] = entry.value();
            })?;
        }
        Ok(Self { values, offsets })
    }

    /// The values of a group.
    pub(super) fn values_of(&self, group: u32) -> &[V] {
        let group = group as usize;
        &self.values[self.offsets[group]..self.offsets[group + 1]]
    }

    /// Calls `f` with each group and the number of its different values.
    pub(super) fn count(mut self, mut f: impl FnMut(usize, u64)) {
        for (group, ends) in self.offsets.windows(2).enumerate() {
            let values = &mut self.values[ends[0]..ends[1]];
            f(group, num_different(values) as u64);
        }
    }
}

/// How many different values there are; leaves them in any order.
fn num_different<V: Value>(values: &mut [V]) -> usize {
    if values.len() <= FEW {
        let mut num_different = 0;
        for (i, value) in values.iter().enumerate() {
            let is_known = values[..i].iter().fold(false, |is, v| is | (v == value));
            num_different += usize::from(!is_known);
        }
        return num_different;
    }
    values.sort_unstable();
    let changes = values.windows(2).filter(|pair| pair[0] != pair[1]);
    changes.count() + 1
}
