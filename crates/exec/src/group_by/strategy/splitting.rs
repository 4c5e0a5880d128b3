//! Reads all rows first, then groups a range of hashes in each task: nothing is left to merge.

use std::sync::Arc;

use arrow::array::RecordBatch;
use basalt_hashtable::{fast_range, partition};
use datafusion::common::runtime::JoinSet;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::{Job, Work};
use crate::group_by::group_set::GroupSet;
use crate::group_by::key_form::KeyForm;
use crate::group_by::merged::{GroupsOf, Merged, Whole, consume_all, join_in_order, merge_spilled};
use crate::group_by::rows::Rows;
use crate::group_by::spill::{Share, Spiller};
use crate::report::figures;

/// How hashes are divided among tasks.
#[derive(Clone, Copy)]
pub(super) enum Ranges {
    /// Equal ranges between the least and the greatest hash that there is.
    BetweenExtremes,
    /// Equal ranges of all hashes there could be.
    Fast,
}

/// Most memory of the tables of all groups, over that of rows with their hashes: a table that has just grown has
/// four cells for each group, and for a while those from before besides.
const TABLES_OF_ROWS: usize = 6;

/// Rows of one input with their hashes.
struct Reader<F: KeyForm> {
    work: Work<F>,
    batches: Vec<Hashed<F>>,
    size_bytes: usize,
    spiller: Spiller<F>,
    spill_bits: u32,
    share: Share,
}

struct Hashed<F: KeyForm> {
    rows: Rows<F>,
    hashes: Vec<u64>,
}

impl<F: KeyForm> Reader<F> {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = self.work.rows(batch)?;
        let hashes = rows.hashes();
        self.size_bytes += rows.size_bytes() + hashes.len() * size_of::<u64>();
        self.batches.push(Hashed { rows, hashes });
        if self.share.hold(self.size_bytes)? || self.share.lacks_room_for_times(TABLES_OF_ROWS) {
            self.spill()?;
        }
        Ok(())
    }

    /// Moves all rows into a file.
    fn spill(&mut self) -> Result<()> {
        let bits = self.spill_bits;
        let batches = std::mem::take(&mut self.batches).into_iter();
        let split = batches.map(|b| b.rows.split(partition(&b.hashes, bits)));
        let split = split.collect::<Result<Vec<_>>>()?;
        self.spiller.spill_rows(&split, bits)?;
        self.size_bytes = 0;
        self.share.keep(0)
    }

    fn has_spilled(&self) -> bool {
        !self.spiller.is_empty()
    }

    fn into_spilled(mut self) -> Result<(Spiller<F>, Share)> {
        self.spill()?;
        Ok((self.spiller, self.share))
    }
}

/// The part of a hash among `num_parts`.
#[derive(Clone, Copy)]
struct Divider {
    /// Least hash and width of a range; none for [`Ranges::Fast`].
    between: Option<(u64, u64)>,
    num_parts: usize,
}

impl Divider {
    fn new<F: KeyForm>(ranges: Ranges, readers: &[Reader<F>]) -> Self {
        let num_parts = readers.len();
        let between = match ranges {
            Ranges::Fast => None,
            Ranges::BetweenExtremes => {
                let hashes = || {
                    let batches = readers.iter().flat_map(|reader| &reader.batches);
                    batches.flat_map(|batch| batch.hashes.iter().copied())
                };
                let (min, max) = (hashes().min().unwrap_or(0), hashes().max().unwrap_or(0));
                Some((min, (max - min) / num_parts as u64 + 1))
            }
        };
        Self { between, num_parts }
    }

    fn part(&self, hash: u64) -> usize {
        match self.between {
            Some((min, width)) => ((hash - min) / width) as usize,
            None => fast_range(hash, self.num_parts),
        }
    }
}

/// Groups all rows.
pub(super) async fn run<F: KeyForm>(job: Job<F>, ranges: Ranges) -> Result<Arc<dyn Merged>> {
    let (work, observed) = (job.work(), Arc::clone(&job.observed));
    let (budget, spill_bits) = (&job.budget, job.tuning.spill_bits);
    let reader = |memory| Reader {
        work: work.clone(),
        batches: Vec::new(),
        size_bytes: 0,
        spiller: Spiller::new(&work.grouping, &work.form, budget, spill_bits),
        spill_bits,
        share: budget.share(memory),
    };
    let readers: Vec<Reader<F>> = job.memory.into_iter().map(reader).collect();
    let readers = consume_all(job.inputs, readers, Reader::push).await?;
    if readers.iter().any(Reader::has_spilled) {
        return merge_spilled(&observed, readers, Reader::into_spilled).await;
    }
    let divider = Divider::new(ranges, &readers);
    let size_bytes: usize = readers.iter().map(|reader| reader.size_bytes).sum();
    let (size, ranges) = (figures::memory(size_bytes as u64), divider.num_parts);
    observed.merges(
        "partitions",
        format!("rows of {size}: {ranges} ranges of hashes"),
    );
    let readers = Arc::new(readers);
    let mut tasks = JoinSet::new();
    for part in 0..divider.num_parts {
        let (work, readers) = (work.clone(), Arc::clone(&readers));
        tasks.spawn(observed.timed(async move {
            let memory = readers[part].share.new_memory();
            let batches = readers.iter().flat_map(|reader| &reader.batches);
            let groups = group(&work, batches, &memory, |hash| divider.part(hash) == part)?;
            let groups = GroupsOf::new(work.grouping, work.form, groups);
            Ok((part, groups.hold(vec![memory])))
        }));
    }
    let groups = join_in_order(tasks, divider.num_parts).await?;
    Ok(Arc::new(Whole::new(
        groups.into_iter().map(|groups| Box::new(groups) as _),
    )))
}

/// Groups the rows whose hash is mine, in as much of `memory` as they take.
fn group<'a, F: KeyForm>(
    work: &Work<F>,
    batches: impl Iterator<Item = &'a Hashed<F>>,
    memory: &MemoryReservation,
    is_mine: impl Fn(u64) -> bool,
) -> Result<GroupSet<F>> {
    let mut groups = GroupSet::new(work.form.table(), &work.grouping);
    for Hashed { rows, hashes } in batches {
        // A batch has fewer than 2^32 rows.
        let mine = (0u32..).zip(hashes).filter(|(_, hash)| is_mine(**hash));
        let mine: Vec<u32> = mine.map(|(row, _)| row).collect();
        groups.push(&rows.take(&mine)?)?;
        memory.try_resize(groups.size_bytes())?;
    }
    Ok(groups)
}
