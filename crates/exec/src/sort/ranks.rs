//! Numbers the different strings of a key in their order, so that rows are sorted by numbers.
//!
//! ```text
//! task 1: strings ── table ── different ones ─┐  parts of these   ┌─▶ ranks of its rows
//! task 2: strings ── table ── different ones ─┴─▶ sorted by tasks ─┴─▶ ranks of its rows
//! ```
//!
//! Strings that repeat are looked at far from their neighbours once each instead of once a row, and a
//! number is a key that words hold whole. A sample tells whether enough of them repeat.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, UInt32Array};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::compute::{SortOptions, concat, take};
use basalt_hashtable::{BytesTable, TableFull, Views};
use datafusion::common::internal_datafusion_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Time;

use super::options::Strategy;
use super::ordinal::Kind;
use super::parts::{Cut, batches_of_tasks};
use super::rows::{Rows, joined};
use super::ties::Ties;
use crate::report::clock::timed;

/// Rows from which on it may pay.
const MIN_ROWS: usize = 8 << 10;

/// Pieces of the sample, and rows of each.
const SAMPLED_PIECES: usize = 64;
const PIECE_ROWS: usize = 256;

/// Strings of a part that one task sorts in its cache.
const PART_STRINGS: usize = 8 << 10;

/// Strings of a sample for each part, of which one becomes its bound.
const SAMPLED_PER_PART: usize = 32;

/// The ranks of a key's strings.
struct Ranked {
    /// For each batch, the ranks of its rows.
    ranks: Vec<ArrayRef>,
    /// The string of each rank.
    strings: ArrayRef,
}

/// Puts ranks in the place of keys that are strings, where these repeat; `clock` gets the time of all
/// tasks.
pub(super) async fn with_ranks(mut rows: Rows, cut: Cut, clock: &Time) -> Result<Rows> {
    let is_forced = cut.strategy == Strategy::Ranks;
    if rows.num_rows() < MIN_ROWS && !is_forced {
        return Ok(rows);
    }
    for key in 0..rows.columns.len() {
        let column = rows.columns[key];
        let arrays = rows.keys.iter().map(|keys| keys[key].as_binary_view_opt());
        let arrays = arrays.map(|array| array.cloned());
        let Some(arrays) = arrays.collect::<Option<Vec<_>>>() else {
            continue;
        };
        if column.kind != Kind::Bytes || !is_forced && !seems_worth_it(&arrays) {
            continue;
        }
        let arrays: Arc<[BinaryViewArray]> = arrays.into();
        let tasks = batches_of_tasks(&rows, cut.num_tasks);
        let Some(ranked) = ranked(&arrays, tasks, cut, clock).await? else {
            continue;
        };
        if !rows.try_keep_more(ranked.strings.get_array_memory_size()) {
            return Ok(rows);
        }
        for (keys, ranks) in rows.keys.iter_mut().zip(ranked.ranks) {
            keys[key] = ranks;
        }
        rows.columns[key].kind = Kind::Narrow;
        rows.set_ranked(key, ranked.strings);
    }
    Ok(rows)
}

/// Whether strings of a sample repeat.
fn seems_worth_it(arrays: &[BinaryViewArray]) -> bool {
    let num_rows: usize = arrays.iter().map(Array::len).sum();
    // Of few rows fewer, so that none is looked at twice.
    let num_pieces = (num_rows / (4 * PIECE_ROWS)).min(SAMPLED_PIECES);
    let mut table: BytesTable = BytesTable::default();
    let mut groups = Vec::new();
    for piece in 0..num_pieces {
        let array = &arrays[piece * arrays.len() / num_pieces];
        let len = array.len().min(PIECE_ROWS);
        let start = (array.len() - len) * piece / num_pieces;
        if intern(&mut table, &array.slice(start, len), &mut groups).is_err() {
            return false;
        }
    }
    table.len() <= groups.len() / 4 * 3
}

/// Appends the number of each string of `array` to `groups`, any number where there is none.
fn intern(
    table: &mut BytesTable,
    array: &BinaryViewArray,
    groups: &mut Vec<u32>,
) -> Result<(), TableFull> {
    let buffers = array.data_buffers();
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => {
            let views = array.views();
            table.intern(&Views { views, buffers }, groups)
        }
        Some(nulls) => {
            // What stands in place of NULL may be no string.
            let rows = array.views().iter().zip(nulls);
            let views = rows.map(|(view, is_valid)| if is_valid { *view } else { 0 });
            let views: &[u128] = &views.collect::<Vec<_>>();
            table.intern(&Views { views, buffers }, groups)
        }
    }
}

/// What one task has found.
struct Found {
    /// For each batch, the numbers of its rows' strings.
    groups: Vec<Vec<u32>>,
    /// The different strings.
    strings: ArrayRef,
}

impl Found {
    /// The different strings of some arrays; none once a task has met that they hardly repeat.
    fn of(
        arrays: &[BinaryViewArray],
        is_vain: &AtomicBool,
        is_forced: bool,
    ) -> Result<Option<Self>> {
        let mut table: BytesTable = BytesTable::default();
        let mut all = Vec::new();
        let mut num_rows = 0;
        for array in arrays {
            let mut groups = Vec::with_capacity(array.len());
            let is_full = intern(&mut table, array, &mut groups).is_err();
            num_rows += array.len();
            all.push(groups);
            let are_many = num_rows > MIN_ROWS && table.len() > num_rows / 8 * 7;
            if is_full || are_many && !is_forced {
                is_vain.store(true, Ordering::Relaxed);
            }
            if is_vain.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
        let views = ScalarBuffer::from(table.keys().to_vec());
        let buffers = table.take_arena().into_buffers().into_iter();
        let buffers: Vec<Buffer> = buffers.map(Buffer::from_vec).collect();
        Ok(Some(Self {
            groups: all,
            strings: Arc::new(BinaryViewArray::try_new(views, buffers, None)?),
        }))
    }
}

/// The ranks of all strings, if they repeat.
async fn ranked(
    arrays: &Arc<[BinaryViewArray]>,
    batches: Vec<Range<usize>>,
    cut: Cut,
    clock: &Time,
) -> Result<Option<Ranked>> {
    let is_forced = cut.strategy == Strategy::Ranks;
    let is_vain = Arc::new(AtomicBool::new(false));
    let tasks = batches.iter().cloned().map(|batches| {
        let (arrays, is_vain) = (Arc::clone(arrays), Arc::clone(&is_vain));
        let find = async move { Found::of(&arrays[batches], &is_vain, is_forced) };
        SpawnedTask::spawn(timed(clock.clone(), find))
    });
    let found = joined(tasks.collect()).await?;
    let Some(found) = found.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let strings: Vec<&dyn Array> = found.iter().map(|f| f.strings.as_ref()).collect();
    let strings = concat(&strings)?;
    let sorted = Sorted::of(&strings, cut.num_tasks, clock).await?;
    let rank_of = Arc::new(sorted.rank_of);
    let mut first = 0;
    let mut tasks = Vec::new();
    for (task, batches) in found.into_iter().zip(batches) {
        let (rank_of, start) = (Arc::clone(&rank_of), first);
        first += task.strings.len();
        let arrays = Arc::clone(arrays);
        let renumber = async move {
            let rank_of = &rank_of[start..];
            let of_batch = |(mut groups, array): (Vec<u32>, &BinaryViewArray)| -> ArrayRef {
                for group in &mut groups {
                    *group = rank_of[*group as usize];
                }
                Arc::new(UInt32Array::new(groups.into(), array.nulls().cloned()))
            };
            let groups = task.groups.into_iter();
            let ranks = groups.zip(&arrays[batches]).map(of_batch);
            Ok(ranks.collect::<Vec<_>>())
        };
        tasks.push(SpawnedTask::spawn(timed(clock.clone(), renumber)));
    }
    Ok(Some(Ranked {
        ranks: joined(tasks).await?.concat(),
        strings: sorted.strings,
    }))
}

/// Strings in order.
struct Sorted {
    /// The different ones.
    strings: ArrayRef,
    /// For each string that was given, its place among them.
    rank_of: Vec<u32>,
}

/// Strings of one part in order.
struct Part {
    /// Their places among all strings.
    places: Vec<u32>,
    /// For each of them, its rank in the part.
    ranks: Vec<u32>,
    /// The place of each different one.
    different: Vec<u32>,
}

impl Sorted {
    /// Sorts strings in tasks; some may be the same.
    async fn of(strings: &ArrayRef, num_tasks: usize, clock: &Time) -> Result<Self> {
        let num_parts = (strings.len() / PART_STRINGS).clamp(1, 1 << 12);
        let bounds = Arc::new(bounds(strings.as_binary_view(), num_parts));
        let len = strings.len().div_ceil(num_tasks.max(1)).max(1);
        let tasks = (0..strings.len()).step_by(len).map(|start| {
            let (strings, bounds) = (Arc::clone(strings), Arc::clone(&bounds));
            let range = start..strings.len().min(start + len);
            let split = async move { Ok(split(strings.as_binary_view(), range, &bounds)) };
            SpawnedTask::spawn(timed(clock.clone(), split))
        });
        let split = Arc::new(joined(tasks.collect()).await?);
        let next_part = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let tasks = (0..num_tasks.max(1)).map(|_| {
            let (strings, split) = (Arc::clone(strings), Arc::clone(&split));
            let next_part = Arc::clone(&next_part);
            let sort = async move {
                let mut parts = Vec::new();
                loop {
                    let part = next_part.fetch_add(1, Ordering::Relaxed);
                    if part >= num_parts {
                        return Ok(parts);
                    }
                    let places = split.iter().map(|parts| parts[part].as_slice());
                    let places = places.collect::<Vec<_>>().concat();
                    parts.push((part, Part::of(&strings, places)?));
                }
            };
            SpawnedTask::spawn(timed(clock.clone(), sort))
        });
        let mut parts = joined(tasks.collect())
            .await?
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        parts.sort_unstable_by_key(|(number, _)| *number);
        let _timer = clock.timer();
        let mut rank_of = vec![0; strings.len()];
        let mut different: Vec<u32> = Vec::new();
        for (_, part) in parts {
            // There are fewer than 2^32 strings.
            let first = different.len() as u32;
            for (place, rank) in part.places.iter().zip(part.ranks) {
                rank_of[*place as usize] = first + rank;
            }
            different.extend(part.different);
        }
        Ok(Self {
            strings: take(strings, &UInt32Array::from(different), None)?,
            rank_of,
        })
    }
}

/// Strings at which parts begin, but for the first.
fn bounds(strings: &BinaryViewArray, num_parts: usize) -> Vec<Box<[u8]>> {
    let num_sampled = (num_parts * SAMPLED_PER_PART).min(strings.len());
    let place = |i: usize| i * strings.len() / num_sampled;
    let sample = (0..num_sampled).map(|i| strings.value(place(i)));
    let mut sample: Vec<&[u8]> = sample.collect();
    sample.sort_unstable();
    let bounds = (1..num_parts).map(|part| sample[part * num_sampled / num_parts].into());
    bounds.collect()
}

/// For each part, the places of those of some strings that belong to it.
fn split(strings: &BinaryViewArray, range: Range<usize>, bounds: &[Box<[u8]>]) -> Vec<Vec<u32>> {
    let mut parts = vec![Vec::new(); bounds.len() + 1];
    for place in range {
        let string = strings.value(place);
        let part = bounds.partition_point(|bound| bound.as_ref() <= string);
        parts[part].push(place as u32);
    }
    parts
}

impl Part {
    /// Sorts the strings at some places.
    fn of(strings: &ArrayRef, places: Vec<u32>) -> Result<Self> {
        let places = UInt32Array::from(places);
        let own = take(strings, &places, None)?;
        let views = own.as_binary_view_opt().cloned();
        let views = views.ok_or_else(|| internal_datafusion_err!("ranks of no strings"))?;
        let mut order = Vec::new();
        Ties::new(vec![(own, SortOptions::default())]).order(0..views.len() as u32, &mut order);
        let mut part = Self {
            places: Vec::with_capacity(order.len()),
            ranks: Vec::with_capacity(order.len()),
            different: Vec::new(),
        };
        let mut last: Option<&[u8]> = None;
        for row in order {
            let string = views.value(row as usize);
            let place = places.value(row as usize);
            if last != Some(string) {
                part.different.push(place);
                last = Some(string);
            }
            part.places.push(place);
            part.ranks.push(part.different.len() as u32 - 1);
        }
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, AsArray, BinaryViewArray};
    use arrow::datatypes::UInt32Type;
    use datafusion::physical_plan::metrics::Time;

    use super::{Cut, Strategy, ranked, seems_worth_it};

    fn cut(strategy: Strategy, num_tasks: usize) -> Cut {
        Cut {
            strategy,
            num_tasks,
        }
    }

    /// Arrays of strings that begin alike; `distinct` different ones and NULLs.
    fn arrays(distinct: u32) -> Vec<BinaryViewArray> {
        let string = |i: u32| {
            let n = i.wrapping_mul(2_654_435_761) % distinct;
            (!i.is_multiple_of(50)).then(|| match n % 3 {
                0 => format!("{n}"),
                1 => format!("https://www.example.com/a/long/path/{n}"),
                _ => format!("https://www.example.com/a/long/path/{n}/and/more"),
            })
        };
        let array = |first: u32| (first..first + 7_000).map(string).collect();
        (0..6).map(|i| array(i * 7_000)).collect()
    }

    #[tokio::test]
    async fn ranks_are_in_the_order_of_strings() {
        for distinct in [1, 7, 3_000, 20_000] {
            let arrays: Arc<[BinaryViewArray]> = arrays(distinct).into();
            assert!(seems_worth_it(&arrays) || distinct == 20_000);
            let mut expected: Vec<&[u8]> = arrays.iter().flat_map(|a| a.iter().flatten()).collect();
            expected.sort_unstable();
            expected.dedup();
            for ends in [&[0, 6][..], &[0, 1, 5, 6]] {
                let batches = ends.windows(2).map(|ends| ends[0]..ends[1]).collect();
                let found = ranked(&arrays, batches, cut(Strategy::Auto, 3), &Time::new())
                    .await
                    .unwrap()
                    .unwrap();
                let strings = found.strings.as_binary_view();
                // What stands for NULL may be one of them.
                let mut with_empty = expected.clone();
                with_empty.insert(0, b"");
                assert!(strings.iter().flatten().eq(with_empty));
                for (array, ranks) in arrays.iter().zip(&found.ranks) {
                    let ranks = ranks.as_primitive::<UInt32Type>();
                    assert_eq!(array.nulls(), ranks.nulls());
                    let of_ranks = ranks.iter().map(|r| r.map(|r| strings.value(r as usize)));
                    assert!(array.iter().eq(of_ranks));
                }
            }
        }
    }

    #[tokio::test]
    async fn strings_that_hardly_repeat_get_none() {
        let strings = |first: u32| {
            (first..first + 9_000)
                .map(|i| Some(format!("{i:x}")))
                .collect()
        };
        let arrays: Arc<[BinaryViewArray]> = vec![strings(0), strings(9_000)].into();
        assert!(!seems_worth_it(&arrays));
        let clock = Time::new();
        for (strategy, is_ranked) in [(Strategy::Auto, false), (Strategy::Ranks, true)] {
            let found = ranked(&arrays, vec![0..1, 1..2], cut(strategy, 2), &clock);
            assert_eq!(found.await.unwrap().is_some(), is_ranked);
        }
    }
}
