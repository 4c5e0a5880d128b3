//! The state of an aggregate that counts distinct values, for all groups of a task.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use basalt_analyzer::into_plan_error;
use basalt_functions::aggregate::{DistinctWords, Groups, rows_without_null};
use datafusion::common::internal_datafusion_err;
use datafusion::error::{DataFusionError, Result};

use super::block::NOWHERE;
use super::entry::{Entry, Value};
use super::exported::Exported;
use super::parts::{Part, Parts};
use super::settle::Settling;
use super::{DistinctCounts, ExportedSets, Held, SetsOfGroups, Settle, Tuning};
use crate::group_by::spill::Budget;

/// Sets of another task, or of this one when it numbered its groups differently.
#[derive(Debug)]
struct Source<E: Entry> {
    sets: Arc<Exported<E>>,
    /// Groups, and those that they go to.
    moves: Vec<(u32, u32)>,
}

impl<E: Entry> Source<E> {
    /// The sets, which nobody else has, and the group that each of their groups goes to.
    fn into_parts(self) -> Result<(Parts<E>, Vec<u32>)> {
        let mut map = vec![NOWHERE; self.sets.num_groups()];
        let moves = self.moves.into_iter();
        moves.for_each(|(from, to)| map[from as usize] = to);
        let sets = Arc::into_inner(self.sets).ok_or_else(unexpected)?;
        Ok((sets.into_parts(), map))
    }
}

/// Sets of all groups of one task.
#[derive(Debug)]
pub(super) struct Counts<E: Entry> {
    tuning: Tuning,
    own: Parts<E>,
    /// Sets that are still to be added.
    sources: Vec<Source<E>>,
    counts: Option<Vec<u64>>,
}

impl<E: Entry> Counts<E> {
    /// No values yet.
    pub(super) fn new(tuning: Tuning) -> Self {
        Self {
            tuning,
            own: Parts::new(tuning),
            sources: Vec::new(),
            counts: None,
        }
    }

    /// Adds the sets of all sources, in this thread.
    fn add_sources(&mut self) -> Result<()> {
        for source in std::mem::take(&mut self.sources) {
            if Arc::strong_count(&source.sets) == 1 {
                let (parts, map) = source.into_parts()?;
                self.add_all(parts, &map)?;
                continue;
            }
            // Others take some of the groups too: each looks only at its own.
            let by_group = source.sets.by_group()?;
            self.own.extend(source.moves.iter().flat_map(|(from, to)| {
                let values = by_group.values_of(*from).iter();
                values.map(|value| E::new(*to, *value))
            }));
        }
        Ok(())
    }

    fn add_all(&mut self, parts: Parts<E>, map: &[u32]) -> Result<()> {
        let stays = |(from, to): (u32, &u32)| *to == from;
        if self.own.is_empty() && (!E::HAS_GROUP || (0u32..).zip(map).all(stays)) {
            self.own = parts;
            return Ok(());
        }
        self.own.add_moved(parts, map)
    }
}

/// The error for words or states of another width.
fn unexpected() -> DataFusionError {
    internal_datafusion_err!("distinct values of another type")
}

impl<E: Entry> DistinctCounts for Counts<E> {
    fn expect(&mut self, num_values: usize) {
        self.own.expect(num_values);
    }

    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.add_sources()?;
        let words = DistinctWords::of(args).map_err(into_plan_error)?;
        let words = E::Value::words(&words).ok_or_else(unexpected)?;
        let own = &mut self.own;
        let entry = |word: &_, group: u32| E::new(group, E::Value::of_word(*word));
        match (groups.ids, rows_without_null(args)) {
            (None, None) => own.extend(words.iter().map(|word| entry(word, 0))),
            (None, Some(valid)) => {
                own.extend(valid.valid_indices().map(|row| entry(&words[row], 0)));
            }
            (Some(ids), None) => {
                own.extend(words.iter().zip(ids).map(|(word, id)| entry(word, *id)));
            }
            (Some(ids), Some(valid)) => {
                let rows = valid.valid_indices();
                own.extend(rows.map(|row| entry(&words[row], ids[row])));
            }
        }
        Ok(())
    }

    fn merge(
        &mut self,
        sets: &Arc<dyn ExportedSets>,
        rows: &[u32],
        groups: Groups<'_>,
    ) -> Result<()> {
        let sets = Arc::clone(sets).into_any().downcast::<Exported<E>>();
        let sets = sets.map_err(|_| unexpected())?;
        let known = self
            .sources
            .iter()
            .position(|s| Arc::ptr_eq(&s.sets, &sets));
        let ids = groups.ids.unwrap_or(&[0]);
        let moves = rows.iter().copied().zip(ids.iter().copied());
        match known {
            Some(source) => self.sources[source].moves.extend(moves),
            None => {
                let moves = moves.collect();
                self.sources.push(Source { sets, moves });
            }
        }
        Ok(())
    }

    fn merge_lists(&mut self, lists: &ArrayRef, groups: Groups<'_>) -> Result<()> {
        self.add_sources()?;
        let lists = lists.as_list_opt::<i32>().ok_or_else(unexpected)?;
        let values = lists.values();
        let values = values.as_primitive_opt::<<E::Value as Value>::Arrow>();
        let values = values.ok_or_else(unexpected)?.values();
        for (row, range) in lists.offsets().windows(2).enumerate() {
            let group = groups.ids.map_or(0, |ids| ids[row]);
            let values = values[range[0] as usize..range[1] as usize].iter();
            let entry = |native: &_| E::new(group, E::Value::from_native(*native));
            self.own.extend(values.map(entry));
        }
        Ok(())
    }

    fn export(&mut self, num_groups: usize) -> Result<Arc<dyn ExportedSets>> {
        self.add_sources()?;
        // What waits goes into the sets of those who take it: only once.
        let own = std::mem::replace(&mut self.own, Parts::new(self.tuning));
        Ok(Arc::new(Exported::new(own, num_groups)))
    }

    fn finish(&mut self, num_groups: usize) -> Result<&[u64]> {
        self.add_sources()?;
        let counts = match self.counts.take() {
            Some(counts) => counts,
            None => {
                let own = std::mem::replace(&mut self.own, Parts::new(self.tuning));
                Settling::new(vec![(own, None)], num_groups).count(None)?
            }
        };
        let counts = self.counts.insert(counts);
        counts.resize(counts.len().max(num_groups), 0);
        Ok(counts)
    }

    fn settle(&mut self, num_groups: usize) -> Result<Option<Arc<dyn Settle>>> {
        let is_shared = self.sources.iter().any(|s| Arc::strong_count(&s.sets) > 1);
        if self.counts.is_some() || is_shared {
            return Ok(None);
        }
        let own = std::mem::replace(&mut self.own, Parts::new(self.tuning));
        let mut all = vec![(own, None)];
        for source in std::mem::take(&mut self.sources) {
            let (parts, map) = source.into_parts()?;
            all.push((parts, Some(map)));
        }
        Ok(Some(Arc::new(Settling::new(all, num_groups))))
    }

    fn settled(&mut self, counts: Vec<u64>) {
        self.counts = Some(counts);
    }

    fn spill(&mut self, budget: &Budget) -> Result<()> {
        self.add_sources()?;
        self.own.spill(budget)
    }

    fn held(&self) -> Held {
        let parts = &self.own.parts;
        Held {
            num_values: parts.iter().map(Part::most_entries).sum(),
            num_parts: parts.len(),
        }
    }

    fn has_blocks(&self) -> bool {
        self.own.has_blocks() || self.sources.iter().any(|s| s.sets.has_blocks())
    }

    fn take_block(&mut self) -> Result<Option<SetsOfGroups>> {
        self.add_sources()?;
        let block = self.own.take_block()?;
        Ok(block.map(|(groups, parts)| {
            let sets = Exported::new(parts, groups.len());
            (groups, Arc::new(sets) as Arc<dyn ExportedSets>)
        }))
    }

    fn size_bytes(&self) -> usize {
        let sources = self.sources.iter();
        let sources =
            sources.map(|s| s.sets.size_bytes() + s.moves.capacity() * size_of::<(u32, u32)>());
        let counts = self.counts.as_ref().map_or(0, Vec::len) * size_of::<u64>();
        self.own.size_bytes() + sources.sum::<usize>() + counts
    }
}
