//! Merges the sets of several tasks, part by part, and counts what is in them.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::runtime::JoinSet;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::block::moved;
use super::by_group::ByGroup;
use super::entry::Entry;
use super::entry_set::EntrySet;
use super::parts::{Part, Parts};
use super::{DistinctCounts, Settle};
use crate::group_by::merged::join_in_order;

/// Values of a group, on average, that are counted by sorting them: fewer would not pay for a look at all
/// groups, and more are faster counted by a set.
const SORTED_PER_GROUP: RangeInclusive<usize> = 1..=32;

/// Does what `counts` has left to do, on `num_tasks` threads; `memory` tells the pool.
pub(in crate::group_by) async fn settle(
    counts: &mut dyn DistinctCounts,
    num_groups: usize,
    num_tasks: usize,
    memory: &MemoryReservation,
) -> Result<()> {
    let Some(work) = counts.settle(num_groups)? else {
        return Ok(());
    };
    let mut tasks = JoinSet::new();
    for i in 0..num_tasks.max(1) {
        let (work, memory) = (Arc::clone(&work), memory.new_empty());
        tasks.spawn(async move { Ok((i, work.run(memory)?)) });
    }
    let mut all = vec![0; num_groups];
    for counted in join_in_order(tasks, num_tasks.max(1)).await? {
        all.iter_mut()
            .zip(counted)
            .for_each(|(all, one)| *all += one);
    }
    counts.settled(all);
    Ok(())
}

/// Sets of one task.
struct Input<E> {
    parts: Vec<Mutex<Part<E>>>,
    /// The group that each group goes to; none if groups stay.
    map: Option<Vec<u32>>,
}

/// Sets of several tasks, of which threads take part after part.
pub(super) struct Settling<E> {
    inputs: Vec<Input<E>>,
    num_groups: usize,
    /// The first part that no thread has taken.
    next: AtomicUsize,
}

impl<E: Entry> Settling<E> {
    /// Merges sets with the groups that their entries go to, if these are others.
    pub(super) fn new(mut all: Vec<(Parts<E>, Option<Vec<u32>>)>, num_groups: usize) -> Self {
        all.retain(|(parts, _)| !parts.is_empty());
        // All in parts, or each in one set.
        if all.iter().any(|(parts, _)| parts.is_split()) {
            all.iter_mut().for_each(|(parts, _)| parts.split());
        }
        let input = |(parts, map): (Parts<E>, _)| Input {
            parts: parts.parts.into_iter().map(Mutex::new).collect(),
            map,
        };
        Self {
            inputs: all.into_iter().map(input).collect(),
            num_groups,
            next: AtomicUsize::new(0),
        }
    }

    /// Counts the values of each group in all parts that are left.
    pub(super) fn count(&self, mut memory: Option<MemoryReservation>) -> Result<Vec<u64>> {
        let mut counts = vec![0; self.num_groups];
        let num_parts = self.inputs.first().map_or(0, |input| input.parts.len());
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= num_parts {
                return Ok(counts);
            }
            self.count_part(part, &mut counts, memory.as_mut())?;
        }
    }

    fn count_part(
        &self,
        part: usize,
        counts: &mut [u64],
        mut memory: Option<&mut MemoryReservation>,
    ) -> Result<()> {
        let mut inputs: Vec<(Part<E>, Option<&[u32]>)> = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            let mut part = input.parts[part]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let part = std::mem::take(&mut *part);
            if !part.is_empty() {
                inputs.push((part, input.map.as_deref().filter(|_| E::HAS_GROUP)));
            }
        }
        if let [(part, map)] = inputs.as_mut_slice()
            && part.blocks.is_empty()
        {
            let can_sort = E::HAS_GROUP && part.set.len() == 0 && map.is_none();
            let per_group = part.waiting.len() / counts.len().max(1);
            if can_sort && SORTED_PER_GROUP.contains(&per_group) {
                let by_group = ByGroup::of(std::slice::from_ref(part), counts.len())?;
                by_group.count(|group, num_values| counts[group] += num_values);
                return Ok(());
            }
            part.flush();
            count_all(&part.set, *map, counts);
            return Ok(());
        }
        let mut set = start(&mut inputs);
        if let Some(memory) = &mut memory {
            memory.try_resize(set.size_bytes())?;
        }
        for (mut part, map) in inputs {
            // What still waits goes straight into the set of all tasks.
            part.set
                .for_each_slice(|entries| insert_moved(&mut set, entries, map));
            insert_moved(&mut set, &mut part.waiting, map);
            for block in part.blocks {
                block.for_each(|entry| {
                    if let Some(entry) = stay_or_move(entry, map) {
                        set.insert(entry);
                    }
                })?;
                if let Some(memory) = &mut memory {
                    memory.try_resize(set.size_bytes())?;
                }
            }
        }
        count_all(&set, None, counts);
        if let Some(memory) = memory {
            memory.free();
        }
        Ok(())
    }
}

/// The set that all others go into: the largest whose groups stay, else an empty one.
fn start<E: Entry>(inputs: &mut [(Part<E>, Option<&[u32]>)]) -> EntrySet<E> {
    let largest = inputs.iter().map(|(part, _)| part.most_entries()).max();
    let staying = inputs.iter_mut().filter(|(_, map)| map.is_none());
    let staying = staying.max_by_key(|(part, _)| part.set.len());
    let mut set = staying.map_or_else(EntrySet::default, |(part, _)| std::mem::take(&mut part.set));
    set.reserve(largest.unwrap_or(0));
    set
}

#[inline]
fn stay_or_move<E: Entry>(entry: E, map: Option<&[u32]>) -> Option<E> {
    match map {
        Some(map) => moved(entry, map),
        None => Some(entry),
    }
}

/// Adds entries, moved to where their groups go; what is left in `entries` is of no use.
fn insert_moved<E: Entry>(set: &mut EntrySet<E>, entries: &mut [E], map: Option<&[u32]>) {
    let mut num_left = entries.len();
    if let Some(map) = map {
        num_left = 0;
        for i in 0..entries.len() {
            if let Some(entry) = moved(entries[i], map) {
                entries[num_left] = entry;
                num_left += 1;
            }
        }
    }
    set.insert_all(&mut entries[..num_left]);
}

/// Adds the number of entries of each group.
fn count_all<E: Entry>(set: &EntrySet<E>, map: Option<&[u32]>, counts: &mut [u64]) {
    if !E::HAS_GROUP {
        counts
            .iter_mut()
            .take(1)
            .for_each(|count| *count += set.len() as u64);
        return;
    }
    set.for_each(|entry| {
        if let Some(entry) = stay_or_move(entry, map) {
            counts[entry.group() as usize] += 1;
        }
    });
}

impl<E: Entry> Settle for Settling<E> {
    fn run(&self, memory: MemoryReservation) -> Result<Vec<u64>> {
        self.count(Some(memory))
    }
}
