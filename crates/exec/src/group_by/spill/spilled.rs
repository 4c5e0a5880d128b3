//! Merges partitions from files, one after the other.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use datafusion::error::Result;

use super::Share;
use super::block::Block;
use super::spiller::{Level, Spiller};
use crate::group_by::group_set::GroupSet;
use crate::group_by::key_form::KeyForm;
use crate::group_by::merged::{Emit, GroupsOf, Merged};

/// A partition that no thread has taken.
struct Waiting {
    blocks: Vec<Block>,
    /// How to split it if it is too big.
    next_level: Option<Level>,
}

/// Groups in files, still to be merged: nothing of one partition is in another.
pub(in crate::group_by) struct Spilled<F: KeyForm> {
    /// Its form and grouping; nothing is written to it.
    pattern: Spiller<F>,
    share: Share,
    waiting: Mutex<Vec<Waiting>>,
}

impl<F: KeyForm> Spilled<F> {
    /// Merges what `spillers` have written, if there are any; `share` is one of theirs.
    pub(in crate::group_by) fn new(spillers: Vec<Spiller<F>>, share: Share) -> Option<Self> {
        let pattern = spillers.first()?;
        let level = pattern.level;
        let merged = Self {
            pattern: pattern.at_level(level),
            share,
            waiting: Mutex::default(),
        };
        merged.wait(level, spillers);
        Some(merged)
    }

    /// Lets the partitions of spillers of a level wait for threads.
    fn wait(&self, level: Level, spillers: Vec<Spiller<F>>) {
        let mut partitions: Vec<Vec<Block>> = Vec::new();
        for spiller in spillers {
            for (i, blocks) in spiller.into_partitions().into_iter().enumerate() {
                match partitions.get_mut(i) {
                    Some(partition) => partition.extend(blocks),
                    None => partitions.push(blocks),
                }
            }
        }
        let next_level = level.next();
        let partitions = partitions.into_iter().filter(|blocks| !blocks.is_empty());
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(partitions.map(|blocks| Waiting { blocks, next_level }));
    }

    /// Merges a partition; none if it is too big and waits in smaller ones now.
    fn merge(&self, partition: Waiting) -> Result<Option<Box<dyn Emit>>> {
        let Spiller { grouping, form, .. } = &self.pattern;
        let mut groups = GroupSet::<F>::new(form.table(), grouping);
        let mut share = self.share.new_empty();
        let mut spiller = partition.next_level.map(|l| self.pattern.at_level(l));
        for block in partition.blocks {
            block.add_to::<F>(grouping, form, &mut groups)?;
            drop(block);
            if share.hold(groups.size_bytes())? {
                // To split by key would not help where one group has most of the values.
                if !groups.spill_sets(share.budget())?
                    && let Some(spiller) = &mut spiller
                {
                    spiller.spill_groups(&mut groups)?;
                }
                share.keep(groups.size_bytes())?;
            }
        }
        if let Some(mut spiller) = spiller.filter(|spiller| !spiller.is_empty()) {
            spiller.spill_groups(&mut groups)?;
            self.wait(spiller.level, vec![spiller]);
            return Ok(None);
        }
        let groups = GroupsOf::new(Arc::clone(grouping), Arc::clone(form), groups);
        Ok(Some(Box::new(Held {
            groups,
            _share: share,
        })))
    }
}

impl<F: KeyForm> Merged for Spilled<F> {
    fn next_groups(&self) -> Result<Option<Box<dyn Emit>>> {
        loop {
            let next = {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.pop()
            };
            let Some(next) = next else {
                return Ok(None);
            };
            if let Some(groups) = self.merge(next)? {
                return Ok(Some(groups));
            }
        }
    }
}

/// Groups with the memory that they hold.
struct Held<F: KeyForm> {
    groups: GroupsOf<F>,
    _share: Share,
}

impl<F: KeyForm> Emit for Held<F> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<RecordBatch>> {
        self.groups.next_batch(max_rows)
    }
}
