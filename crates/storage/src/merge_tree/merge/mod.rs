//! Makes one part of several: a merge of sorted rows, group by group.
//!
//! | module | owns |
//! |---|---|
//! | [`rows`] | the rows of several parts in one order |
//! | [`cursor`] | a place in a part |
//! | [`ranges`] | ranges of keys, each to be merged by itself |
//! | [`select`] | which parts a background merge takes |
//! | [`progress`] | the merges that are running |

mod cursor;
mod progress;
mod ranges;
mod rows;
mod select;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use basalt_error::{Error, ErrorCode, Result};

pub(super) use progress::Merges;
pub use progress::Progress;
pub use ranges::{KeyPlace, key_places};
pub(super) use rows::filtered;
pub use rows::{MergedRows, WantedGroups};

use super::combine::Purpose;
use super::expiry::Expiry;
use super::layout::Effort;
use super::order::Partition;
use super::part::{Part, PartName};
use super::table::MergeTree;
use super::write::{PartWriter, num_threads};
use super::written::Written;

/// Memory that the groups of merged parts may take, about.
const MERGE_BYTES: u64 = 256 << 20;

/// Parts of one merge at most: each has a file open and a place in the heap.
const MAX_SOURCES: usize = 100;

/// Whose merge it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Haste {
    /// Somebody waits: all threads.
    Foreground,
    /// One thread.
    Background,
}

impl MergeTree {
    /// Merges the parts of each partition, or of one, into one part; `rewrites` also those that are alone
    /// and were never merged.
    ///
    /// # Errors
    /// If a part is damaged or the new one cannot be written; then the old ones stay.
    pub fn merge(&self, partition: Option<&str>, rewrites: bool) -> Result<()> {
        let mut by_partition: BTreeMap<String, Vec<Arc<Part>>> = BTreeMap::new();
        // Background merges of the table end first, so that none has the parts that are taken here.
        let merging = self.merging();
        for part in self.parts()?.iter() {
            let id = part.partition_id();
            if partition.is_none_or(|partition| partition == id) {
                let parts = by_partition.entry(id.to_owned()).or_default();
                parts.push(Arc::clone(part));
            }
        }
        for mut parts in by_partition.into_values() {
            parts.sort_by_key(|part| part.block_numbers());
            if parts.len() == 1 && !rewrites {
                continue;
            }
            self.merge_all(parts)?;
        }
        drop(merging);
        Ok(())
    }

    /// Merges parts of one partition into one, in as many rounds as the memory for groups makes necessary.
    fn merge_all(&self, mut parts: Vec<Arc<Part>>) -> Result<()> {
        loop {
            let num_sources = num_sources(&parts);
            let mut merged = Vec::new();
            let is_last = parts.len() <= num_sources;
            for sources in parts.chunks(num_sources) {
                match sources {
                    [alone] if !is_last => merged.push(Arc::clone(alone)),
                    _ => merged.extend(self.merge_parts(sources, Haste::Foreground)?),
                }
            }
            if is_last || merged.is_empty() {
                return Ok(());
            }
            parts = merged;
        }
    }

    /// Does the most useful merge in the background; false if none is worth it.
    ///
    /// # Errors
    /// As [`MergeTree::merge`].
    pub(super) fn merge_some(&self) -> Result<bool> {
        let Some(_merging) = self.try_merging() else {
            return Ok(false);
        };
        let mut by_partition: BTreeMap<&str, Vec<Arc<Part>>> = BTreeMap::new();
        let parts = self.parts()?;
        for part in parts.iter() {
            let parts = by_partition.entry(part.partition_id()).or_default();
            parts.push(Arc::clone(part));
        }
        let now = SystemTime::now();
        let expiry = Expiry::of(self.layout());
        let mut best: Option<(f64, Vec<Arc<Part>>)> = None;
        for mut parts in by_partition.into_values() {
            parts.sort_by_key(|part| part.block_numbers());
            let choice = select::choose(&parts, &self.options(), now, num_sources(&parts));
            if let Some((score, range)) = choice
                && best.as_ref().is_none_or(|(least, _)| score < *least)
            {
                best = Some((score, parts[range].to_vec()));
            }
            let is_old = |part: &&Arc<Part>| {
                let age = now.duration_since(part.modified()).unwrap_or_default();
                age >= self.options().ttl_timeout
                    && expiry.as_ref().is_some_and(|e| e.concerns(part))
            };
            if best.is_none()
                && let Some(part) = parts
                    .iter()
                    .find(|part| is_old(part) || is_mostly_deleted(part))
            {
                best = Some((f64::INFINITY, vec![Arc::clone(part)]));
            }
        }
        match best {
            Some((_, parts)) => self.merge_parts(&parts, Haste::Background).map(|_| true),
            None => Ok(false),
        }
    }

    /// Puts one part in the place of some; none if no row is left.
    fn merge_parts(&self, parts: &[Arc<Part>], haste: Haste) -> Result<Option<Arc<Part>>> {
        let name = merged_name(parts);
        let progress = self.merges().start(parts, &name.to_string(), self.folder());
        let layout = self.layout();
        let ids = (0..layout.columns.len()).collect();
        let all: &WantedGroups<'_> = &|_, _| true;
        let how = (Purpose::Write, Expiry::of(layout));
        let mut rows = MergedRows::try_new(layout, (parts, all), ids, how)?;
        let mut written = Written::new(self);
        let folder = self.new_folder();
        let partition = Partition {
            text: parts[0].metadata().partition.clone(),
            id: name.partition_id.clone(),
        };
        written.add(folder.clone(), partition.clone());
        let num_threads = match haste {
            Haste::Foreground => num_threads(),
            Haste::Background => 1,
        };
        let mut writer = PartWriter::create(self, &folder, (num_threads, Effort::Thorough))?;
        while let Some(columns) = rows.next_rows()? {
            self.check_merges()?;
            writer.push(&columns)?;
            progress.count(rows.num_read(), writer.num_rows());
        }
        let is_empty = writer.num_rows() == 0;
        writer.finish(partition.text)?.sync()?;
        let text = name.to_string();
        self.change(|_| {
            let removed = parts.iter().map(|p| p.name_parts().clone()).collect();
            if is_empty {
                return Ok((Vec::new(), removed));
            }
            written.take();
            Ok((vec![(folder, name)], removed))
        })?;
        let merged = self.parts()?;
        Ok(merged.iter().find(|p| p.name() == text).map(Arc::clone))
    }

    /// Ends a merge whose table is to be left alone.
    fn check_merges(&self) -> Result<()> {
        if self.merges().are_stopped() {
            return Err(Error::new(
                ErrorCode::ABORTED,
                "Write SYSTEM START MERGES: cancelled merging parts",
            ));
        }
        Ok(())
    }
}

/// Whether most rows of a part's files were deleted, so that to write it anew is soon paid for by reading less.
fn is_mostly_deleted(part: &Part) -> bool {
    let metadata = part.metadata();
    metadata.num_stored_rows() > 2 * metadata.num_rows()
}

/// What the part is called that some become.
fn merged_name(parts: &[Arc<Part>]) -> PartName {
    let names: Vec<&PartName> = parts.iter().map(|p| p.name_parts()).collect();
    let max = |f: fn(&PartName) -> u64| names.iter().map(|n| f(n)).max().unwrap_or(0);
    PartName {
        partition_id: names[0].partition_id.clone(),
        min_block: names.iter().map(|n| n.min_block).min().unwrap_or(0),
        max_block: max(|n| n.max_block),
        level: names.iter().map(|n| n.level).max().unwrap_or(0) + 1,
        mutation: names.iter().filter_map(|n| n.mutation).max(),
    }
}

/// How many of the parts are merged at once, so that their groups fit into memory.
fn num_sources(parts: &[Arc<Part>]) -> usize {
    let group_bytes = |part: &Arc<Part>| {
        let metadata = part.metadata();
        let bytes: u64 = metadata.columns.iter().map(|c| c.decoded_bytes).sum();
        bytes / (metadata.group_rows.len() as u64).max(1)
    };
    let group_bytes = parts.iter().map(group_bytes).max().unwrap_or(0).max(1);
    let num = usize::try_from(MERGE_BYTES / group_bytes).unwrap_or(MAX_SOURCES);
    num.clamp(2, MAX_SOURCES)
}
