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
use super::pack::{pack, pack_carried};
use super::radix::{Buckets, Splitter};
use super::rows::{Rows, joined};
use super::word::Word;
use super::words::{Part, Words};
use crate::report::clock::timed;

/// Parts that one bucket must be worth to be split again.
const SKEWED_PARTS: usize = 8;

/// How to cut the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) strategy: Strategy,
    pub(super) num_tasks: usize,
}

/// What parts are to be like.
#[derive(Clone)]
struct Target {
    /// Words of a part, about.
    part_words: usize,
    /// Lowest bits of words that do not split them.
    kept_bits: u32,
    layout: Arc<Layout>,
    num_keys: usize,
}

/// The words of all rows, packed in tasks; `clock` gets their time.
pub(super) async fn packed_words<W: Word>(
    rows: &Arc<Rows>,
    layout: &Arc<Layout>,
    cut: Cut,
    clock: &Time,
) -> Result<Vec<Vec<W>>> {
    let tasks = batches_of_tasks(rows, cut.num_tasks)
        .into_iter()
        .map(|batches| {
            let (rows, layout) = (Arc::clone(rows), Arc::clone(layout));
            let pack = async move { Ok(packed::<W>(&rows, &layout, batches)) };
            SpawnedTask::spawn(timed(clock.clone(), pack))
        });
    joined(tasks.collect()).await
}

/// The parts of the result in their order, made of the words of all tasks for `num_keys` keys; `clock`
/// gets the time of all tasks.
pub(super) async fn parts<W: Word>(
    words: Arc<Vec<Vec<W>>>,
    (layout, num_keys): (Arc<Layout>, usize),
    cut: Cut,
    clock: &Time,
) -> Result<Vec<Part<W>>> {
    let num_rows = words.iter().map(Vec::len).sum();
    let target = Target {
        part_words: cut.strategy.part_words(num_rows, cut.num_tasks),
        // Rows whose words have the same keys are told apart by the task that sorts them, or stay as they are.
        kept_bits: if layout.is_exact && !layout.is_carrying() {
            0
        } else {
            layout.place_bits()
        },
        layout,
        num_keys,
    };
    split(Words::All(words), target, clock.clone()).await
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

/// The words of some batches.
fn packed<W: Word>(rows: &Rows, layout: &Layout, batches: Range<usize>) -> Vec<W> {
    let num_rows = rows.batches[batches.clone()].iter().map(|b| b.num_rows());
    let mut words = vec![W::default(); num_rows.sum()];
    let mut rest = words.as_mut_slice();
    for batch in batches {
        let num_rows = rows.batches[batch].num_rows();
        let (words, after) = std::mem::take(&mut rest).split_at_mut(num_rows);
        rest = after;
        pack(layout, &rows.keys[batch], batch, words);
        pack_carried(layout, &rows.batches[batch], words);
    }
    words
}

/// Splits the words of each task, and buckets that are far too large once more.
fn split<W: Word>(
    words: Words<W>,
    target: Target,
    clock: Time,
) -> BoxFuture<'static, Result<Vec<Part<W>>>> {
    async move {
        let num_words = words.len();
        if num_words <= target.part_words {
            let range = 0..num_words;
            return Ok(vec![Part::Words { words, range }]);
        }
        let Some((min, max)) = min_max(&words, &clock).await? else {
            return Ok(Vec::new());
        };
        if min.shifted(target.kept_bits) == max.shifted(target.kept_bits) {
            return Ok(same(&words, min, &target));
        }
        let num_parts = num_words / target.part_words.max(1);
        let bits = (usize::BITS - num_parts.leading_zeros() + 2).clamp(4, 11);
        let splitter = Splitter::new((min, max), bits, target.kept_bits);
        let tasks = each(&words, &clock, move |words| {
            Buckets::split(words, &splitter)
        });
        let tasks = Arc::new(joined(tasks).await?);
        drop(words);
        grouped(tasks, target, &clock).await
    }
    .boxed()
}

/// The parts of words with the same keys. Where these decide, the words are in order as they are, and any
/// number of them is a part.
fn same<W: Word>(words: &Words<W>, word: W, target: &Target) -> Vec<Part<W>> {
    let layout = &target.layout;
    let keys = word.low_u64(layout.place_bits());
    let part_words = if layout.decides(keys, target.num_keys) {
        target.part_words.max(1)
    } else {
        usize::MAX
    };
    let num_words = words.len();
    let starts = (0..num_words).step_by(part_words.min(num_words).max(1));
    let part = |start: usize| Part::Words {
        words: words.clone(),
        range: start..num_words.min(start.saturating_add(part_words)),
    };
    starts.map(part).collect()
}

/// Runs `f` over the words of each task, in tasks.
fn each<W: Word, T: Send + 'static>(
    words: &Words<W>,
    clock: &Time,
    f: impl Fn(&[W]) -> T + Copy + Send + 'static,
) -> Vec<SpawnedTask<Result<T>>> {
    (0..words.num_tasks())
        .map(|task| {
            let words = words.clone();
            SpawnedTask::spawn(timed(
                clock.clone(),
                async move { Ok(f(words.of_task(task))) },
            ))
        })
        .collect()
}

async fn min_max<W: Word>(words: &Words<W>, clock: &Time) -> Result<Option<(W, W)>> {
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
    target: Target,
    clock: &Time,
) -> Result<Vec<Part<W>>> {
    let num_buckets = tasks.first().map_or(0, Buckets::num_buckets);
    let part_words = target.part_words;
    let mut parts = Vec::new();
    let (mut first, mut len) = (0, 0);
    for bucket in 0..num_buckets {
        let words = Words::Bucket(Arc::clone(&tasks), bucket);
        let bucket_len = words.len();
        let is_skewed = bucket_len > SKEWED_PARTS * part_words;
        if len > 0 && (is_skewed || len + bucket_len > part_words) {
            parts.push(Part::Buckets {
                tasks: Arc::clone(&tasks),
                buckets: first..bucket,
            });
            (first, len) = (bucket, 0);
        }
        if is_skewed {
            parts.extend(split(words, target.clone(), clock.clone()).await?);
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
