//! Splits the words of all rows into parts, each of which one task can sort in its cache.

use std::ops::Range;
use std::sync::Arc;

use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Time;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::Strategy;
use super::layout::Layout;
use super::pack::pack;
use super::radix::{Buckets, Splitter};
use super::rows::{Rows, joined};
use super::word::Word;
use crate::report::clock::timed;

/// Parts that one bucket must be worth to be split again.
const SKEWED_PARTS: usize = 8;

/// Rows that stand together in the result.
pub(super) enum Part<W> {
    /// A batch that is in order, or in the opposite one.
    Batch { batch: usize, is_reversed: bool },
    /// Some buckets of every task.
    Buckets {
        tasks: Arc<Vec<Buckets<W>>>,
        buckets: Range<usize>,
    },
}

impl<W: Word> Part<W> {
    /// How many rows it has.
    pub(super) fn num_rows(&self, rows: &Rows) -> usize {
        match self {
            Self::Batch { batch, .. } => rows.batches[*batch].num_rows(),
            Self::Buckets { tasks, buckets } => num_words(tasks, buckets.clone()),
        }
    }
}

fn num_words<W: Word>(tasks: &[Buckets<W>], buckets: Range<usize>) -> usize {
    tasks.iter().map(|t| t.words(buckets.clone()).len()).sum()
}

/// How to cut the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) strategy: Strategy,
    pub(super) num_tasks: usize,
}

/// What parts are like.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Words of a part, about.
    part_words: usize,
    /// Lowest bits of words that do not split them.
    kept_bits: u32,
}

/// The parts of the result in their order; `clock` gets the time of all tasks.
pub(super) async fn parts<W: Word>(
    rows: Arc<Rows>,
    layout: Arc<Layout>,
    cut: Cut,
    clock: &Time,
) -> Result<Vec<Part<W>>> {
    let num_rows = rows.num_rows();
    let tasks = batches_of_tasks(&rows, cut.num_tasks)
        .into_iter()
        .map(|batches| {
            let (rows, layout) = (Arc::clone(&rows), Arc::clone(&layout));
            let looks_for_runs = cut.strategy == Strategy::Auto;
            let pack = async move { Packed::<W>::new(&rows, &layout, batches, looks_for_runs) };
            SpawnedTask::spawn(timed(clock.clone(), pack))
        });
    let packed = joined(tasks.collect()).await?;
    if let Some(runs) = ordered(packed.iter().map(|p| p.runs.as_slice()), false)
        && (layout.is_exact || follow(&rows, &layout, &runs)?)
    {
        return Ok(in_order(&runs));
    }
    let words: Vec<Vec<W>> = packed.into_iter().map(|p| p.words).collect();
    let sizes = Sizes {
        part_words: cut.strategy.part_words(num_rows, cut.num_tasks),
        // Rows whose words have the same keys are told apart by the task that sorts them.
        kept_bits: if layout.is_exact {
            0
        } else {
            layout.place_bits()
        },
    };
    split(words, sizes, clock.clone()).await
}

/// Batches for each task, about the same number of rows.
pub(super) fn batches_of_tasks(rows: &Rows, num_tasks: usize) -> Vec<Range<usize>> {
    let num_rows = rows.num_rows();
    let mut ranges = Vec::new();
    let (mut first, mut num_before) = (0, 0);
    for (i, batch) in rows.batches.iter().enumerate() {
        num_before += batch.num_rows();
        let is_full = num_before * num_tasks >= (ranges.len() + 1) * num_rows;
        if is_full || i + 1 == rows.batches.len() {
            ranges.push(first..i + 1);
            first = i + 1;
        }
    }
    ranges
}

/// The words of some batches, and in what order those of each are.
struct Packed<W> {
    words: Vec<W>,
    /// The batches that are in order, if all are.
    runs: Vec<InOrder<W>>,
}

/// A batch that is in order.
pub(super) struct InOrder<W> {
    batch: usize,
    is_reversed: bool,
    min: W,
    max: W,
}

impl<W: Word> Packed<W> {
    fn new(
        rows: &Rows,
        layout: &Layout,
        batches: Range<usize>,
        looks_for_runs: bool,
    ) -> Result<Self> {
        let num_rows = rows.batches[batches.clone()].iter().map(|b| b.num_rows());
        let mut words = vec![W::default(); num_rows.sum()];
        let mut runs = Vec::new();
        let mut rest = words.as_mut_slice();
        let num_batches = batches.len();
        for batch in batches {
            let num_rows = rows.batches[batch].num_rows();
            let (words, after) = std::mem::take(&mut rest).split_at_mut(num_rows);
            rest = after;
            pack(layout, &rows.keys[batch], batch, words);
            if looks_for_runs
                && let Some(run) = InOrder::of(words, batch, layout)
                && (layout.is_exact || run.is_reversed || ties_rise(rows, layout, &run, words)?)
            {
                runs.push(run);
            }
        }
        if runs.len() < num_batches {
            runs.clear();
        }
        Ok(Self { words, runs })
    }
}

impl<W: Word> InOrder<W> {
    /// A batch whose words rise; none if it is empty.
    pub(super) fn rising(batch: usize, words: &[W]) -> Option<Self> {
        Some(Self {
            batch,
            is_reversed: false,
            min: *words.first()?,
            max: *words.last()?,
        })
    }

    fn of(words: &[W], batch: usize, layout: &Layout) -> Option<Self> {
        if words.is_sorted() {
            return Self::rising(batch, words);
        }
        let (first, last) = (*words.first()?, *words.last()?);
        // Rows with the same key must not change places, so keys have to fall with every row.
        let shift = layout.place_bits();
        let falls = |pair: &[W]| match pair {
            [a, b] if shift == 0 => a >= b,
            [a, b] => a.shifted(shift) > b.shifted(shift),
            _ => true,
        };
        words.windows(2).all(falls).then_some(Self {
            batch,
            is_reversed: true,
            min: last,
            max: first,
        })
    }
}

/// Whether rows of a batch whose words are equal but for their places are in order.
fn ties_rise<W: Word>(rows: &Rows, layout: &Layout, run: &InOrder<W>, words: &[W]) -> Result<bool> {
    let shift = layout.place_bits();
    let mut compare = None;
    for row in 1..words.len() {
        if words[row - 1].shifted(shift) == words[row].shifted(shift) {
            let compare = match &compare {
                Some(compare) => compare,
                None => compare.insert(rows.comparator((run.batch, run.batch))?),
            };
            if compare(row - 1, row).is_gt() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether batches follow each other by all of their keys, if they do by their words.
fn follow<W: Word>(rows: &Rows, layout: &Layout, runs: &[&InOrder<W>]) -> Result<bool> {
    let shift = layout.place_bits();
    for pair in runs.windows(2) {
        if let [a, b] = pair
            && a.max.shifted(shift) == b.min.shifted(shift)
        {
            let last = |batch: usize| rows.batches[batch].num_rows() - 1;
            let last_row = if a.is_reversed { 0 } else { last(a.batch) };
            let first_row = if b.is_reversed { last(b.batch) } else { 0 };
            if rows.comparator((a.batch, b.batch))?(last_row, first_row).is_gt() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whole batches as parts.
pub(super) fn in_order<W: Word>(runs: &[&InOrder<W>]) -> Vec<Part<W>> {
    let part = |run: &&InOrder<W>| Part::Batch {
        batch: run.batch,
        is_reversed: run.is_reversed,
    };
    runs.iter().map(part).collect()
}

/// The batches in the order of their words, if those of each task are in order and follow each other. With `keeps_ties`,
/// rows of different batches may have the same word and are still to stay in their order.
pub(super) fn ordered<'a, W: Word>(
    tasks: impl Iterator<Item = &'a [InOrder<W>]>,
    keeps_ties: bool,
) -> Option<Vec<&'a InOrder<W>>> {
    let mut runs: Vec<&InOrder<W>> = Vec::new();
    for task in tasks {
        if task.is_empty() {
            return None;
        }
        runs.extend(task);
    }
    runs.sort_by_key(|run| run.min);
    let follows = |pair: &[&InOrder<W>]| match pair {
        [a, b] if keeps_ties && a.max == b.min => a.batch < b.batch,
        [a, b] => a.max <= b.min,
        _ => true,
    };
    runs.windows(2).all(follows).then_some(runs)
}

/// Splits the words of each task, and buckets that are far too large once more.
fn split<W: Word>(
    words: Vec<Vec<W>>,
    sizes: Sizes,
    clock: Time,
) -> BoxFuture<'static, Result<Vec<Part<W>>>> {
    async move {
        let num_words: usize = words.iter().map(Vec::len).sum();
        if num_words <= sizes.part_words {
            let tasks: Vec<_> = words.into_iter().map(Buckets::whole).collect();
            return Ok(whole(tasks));
        }
        let words = Arc::new(words);
        let Some((min, max)) = min_max(&words, &clock).await? else {
            return Ok(Vec::new());
        };
        let num_parts = num_words / sizes.part_words.max(1);
        let bits = (usize::BITS - num_parts.leading_zeros() + 2).clamp(4, 11);
        let splitter = Splitter::new((min, max), bits, sizes.kept_bits);
        let tasks = each(&words, &clock, move |words| {
            Buckets::split(words, &splitter)
        });
        let tasks = joined(tasks).await?;
        drop(words);
        let can_split = min.shifted(sizes.kept_bits) != max.shifted(sizes.kept_bits);
        grouped(Arc::new(tasks), sizes, can_split, &clock).await
    }
    .boxed()
}

fn whole<W: Word>(tasks: Vec<Buckets<W>>) -> Vec<Part<W>> {
    vec![Part::Buckets {
        tasks: Arc::new(tasks),
        buckets: 0..1,
    }]
}

/// Runs `f` over the words of each task, in tasks.
fn each<W: Word, T: Send + 'static>(
    words: &Arc<Vec<Vec<W>>>,
    clock: &Time,
    f: impl Fn(&[W]) -> T + Copy + Send + 'static,
) -> Vec<SpawnedTask<Result<T>>> {
    (0..words.len())
        .map(|i| {
            let words = Arc::clone(words);
            SpawnedTask::spawn(timed(clock.clone(), async move { Ok(f(&words[i])) }))
        })
        .collect()
}

async fn min_max<W: Word>(words: &Arc<Vec<Vec<W>>>, clock: &Time) -> Result<Option<(W, W)>> {
    let ranges = each(words, clock, |words| {
        let first = *words.first()?;
        let widen = |(min, max): (W, W), w: &W| (min.min(*w), max.max(*w));
        Some(words.iter().fold((first, first), widen))
    });
    let ranges = joined(ranges).await?.into_iter().flatten();
    Ok(ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))))
}

/// Joins neighbouring buckets to parts of some `part_words` words.
async fn grouped<W: Word>(
    tasks: Arc<Vec<Buckets<W>>>,
    sizes: Sizes,
    can_split: bool,
    clock: &Time,
) -> Result<Vec<Part<W>>> {
    let num_buckets = tasks.first().map_or(0, Buckets::num_buckets);
    let part_words = sizes.part_words;
    let mut parts = Vec::new();
    let (mut first, mut len) = (0, 0);
    for bucket in 0..num_buckets {
        let bucket_len = num_words(&tasks, bucket..bucket + 1);
        let is_skewed = can_split && bucket_len > SKEWED_PARTS * part_words;
        if len > 0 && (is_skewed || len + bucket_len > part_words) {
            parts.push(Part::Buckets {
                tasks: Arc::clone(&tasks),
                buckets: first..bucket,
            });
            (first, len) = (bucket, 0);
        }
        if is_skewed {
            let words = tasks.iter().map(|t| t.words(bucket..bucket + 1).to_vec());
            parts.extend(split(words.collect(), sizes, clock.clone()).await?);
            first = bucket + 1;
        } else {
            len += bucket_len;
        }
    }
    if len > 0 {
        parts.push(Part::Buckets {
            tasks,
            buckets: first..num_buckets,
        });
    }
    Ok(parts)
}
