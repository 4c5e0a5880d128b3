//! Puts rows with few different keys in order: counts each key, then writes every row to its place.
//!
//! ```text
//! task 1: batches ── codes ── counts ─┐            ┌─▶ │ code 0 │ code 1 │ … │ columns of task 1
//! task 2: batches ── codes ── counts ─┴─▶ places ──┴─▶ │ code 0 │ code 1 │ … │ columns of task 2
//! ```
//!
//! The packed keys of a row, which are few bits, are its code. No row number is kept and nothing is
//! gathered from far away: a few thousand rows at a time are ordered in the cache, and each column is
//! written in runs of rows with the same code. Every task writes columns of its own, so that no two
//! threads write one vector; the result takes its pieces from all of them (see [`super::counted_rows`]).
//! Batches none of whose rows are wanted are only counted.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use basalt_kernels::counting::{count, order};
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Time;

use super::codes::Codes;
use super::counted_rows::{Shape, Written};
use super::parts::{Cut, batches_of_tasks};
use super::rows::{Rows, joined};
use super::written::{Run, Runs, WrittenColumn};
use crate::report::clock::timed;

/// Rows that are ordered at a time: their codes, their order and a column of 64 bits stay in the cache.
/// No power of two, with which runs of equal length would begin at the same places of the cache.
const CACHED_ROWS: usize = 15_000;

/// Codes from which on runs of so few rows would be too short.
const MAX_CACHED_CODES: usize = 256;

/// Rows that are ordered at a time if there are more codes.
const MOST_ROWS: usize = 60_000;

/// How often each code occurs.
pub(super) struct Counted {
    rows: Arc<Rows>,
    codes: Arc<Codes>,
    tasks: Vec<TaskCounts>,
}

/// Counts of the batches of one task.
struct TaskCounts {
    batches: Range<usize>,
    /// For each batch, how often each code occurs.
    counts: Vec<u32>,
}

impl Counted {
    /// Counts the rows in tasks; `clock` gets their time.
    pub(super) async fn of(
        rows: &Arc<Rows>,
        codes: &Arc<Codes>,
        cut: Cut,
        clock: &Time,
    ) -> Result<Self> {
        let tasks = batches_of_tasks(rows, cut.num_tasks).into_iter();
        let tasks = tasks.map(|batches| {
            let (rows, codes) = (Arc::clone(rows), Arc::clone(codes));
            let count = async move { Ok(TaskCounts::new(&rows, &codes, batches)) };
            SpawnedTask::spawn(timed(clock.clone(), count))
        });
        Ok(Self {
            rows: Arc::clone(rows),
            codes: Arc::clone(codes),
            tasks: joined(tasks.collect()).await?,
        })
    }

    /// Writes rows `wanted` of the result, in tasks; `clock` gets their time.
    pub(super) async fn write(
        self,
        wanted: Range<usize>,
        shape: Arc<Shape>,
        clock: &Time,
    ) -> Result<Vec<Written>> {
        let places = self.places();
        let tasks = self.tasks.into_iter().zip(places);
        let tasks = tasks.map(|(task, places)| {
            let writer = Writer {
                rows: Arc::clone(&self.rows),
                codes: Arc::clone(&self.codes),
                wanted: Wanted::new(&places, &task, &wanted),
                next: places,
                places: Vec::new(),
                columns: Vec::new(),
            };
            let shape = Arc::clone(&shape);
            let write = async move { writer.write(&task, &shape) };
            SpawnedTask::spawn(timed(clock.clone(), write))
        });
        joined(tasks.collect()).await
    }

    /// For each task, the place in the result of its first row of each code.
    fn places(&self) -> Vec<Vec<usize>> {
        let num_codes = self.codes.len();
        let mut places = vec![vec![0; num_codes]; self.tasks.len()];
        let totals = self.tasks.iter().map(|t| t.totals(num_codes));
        let totals: Vec<Vec<usize>> = totals.collect();
        let mut next = 0;
        for code in 0..num_codes {
            for (places, totals) in places.iter_mut().zip(&totals) {
                places[code] = next;
                next += totals[code];
            }
        }
        places
    }
}

impl TaskCounts {
    fn new(rows: &Rows, keys: &Codes, batches: Range<usize>) -> Self {
        let num_codes = keys.len();
        let mut counts = vec![0; num_codes * batches.len()];
        let mut codes = Vec::new();
        for (batch, counts) in batches.clone().zip(counts.chunks_exact_mut(num_codes)) {
            keys.pack(rows, batch, &mut codes);
            count(&codes, counts);
        }
        Self { batches, counts }
    }

    fn totals(&self, num_codes: usize) -> Vec<usize> {
        let mut totals = vec![0; num_codes];
        for counts in self.counts.chunks_exact(num_codes) {
            for (total, count) in totals.iter_mut().zip(counts) {
                *total += *count as usize;
            }
        }
        totals
    }
}

/// Which rows of a task are wanted.
struct Wanted {
    /// For each code, the places in the result of its first row that is wanted and of the one after the
    /// last.
    places: Vec<Range<usize>>,
    /// Where the rows of each code begin in the task's columns; one more than there are codes.
    starts: Vec<usize>,
}

impl Wanted {
    /// Of the rows of `task`, whose codes begin at `places` in the result, those at `wanted`.
    fn new(places: &[usize], task: &TaskCounts, wanted: &Range<usize>) -> Self {
        let totals = task.totals(places.len()).into_iter();
        let clamp = |place: usize| place.clamp(wanted.start, wanted.end);
        let ranges = places.iter().zip(totals);
        let places: Vec<Range<usize>> = ranges
            .map(|(place, total)| clamp(*place)..clamp(place + total))
            .collect();
        let mut starts = vec![0];
        let mut end = 0;
        for range in &places {
            end += range.len();
            starts.push(end);
        }
        Self { places, starts }
    }

    fn num_rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Of `num_rows` rows of a code, the first of which is at `place` in the result, those that are
    /// wanted.
    fn rows(&self, code: usize, place: usize, num_rows: usize) -> Range<usize> {
        let Range { start, end } = self.places[code];
        let row = |bound: usize| bound.clamp(place, place + num_rows) - place;
        row(start)..row(end)
    }

    /// Where in the task's columns the row at `place` in the result goes.
    fn target(&self, code: usize, place: usize) -> usize {
        self.starts[code] + place - self.places[code].start
    }
}

/// Writes the rows of one task.
struct Writer {
    rows: Arc<Rows>,
    codes: Arc<Codes>,
    wanted: Wanted,
    /// For each code, the place in the result of its next row.
    next: Vec<usize>,
    columns: Vec<Option<Box<dyn WrittenColumn>>>,
    /// The batch and the row of each row of the result, if a column needs them.
    places: Vec<(u32, u32)>,
}

impl Writer {
    fn write(mut self, task: &TaskCounts, shape: &Shape) -> Result<Written> {
        let num_rows = self.wanted.num_rows();
        self.columns = shape.written_columns(num_rows);
        if shape.needs_places() {
            self.places = vec![(0, 0); num_rows];
        }
        let is_needed = shape.needs_places() || self.columns.iter().any(Option::is_some);
        if is_needed {
            let (mut codes, mut order) = (Vec::new(), Vec::new());
            let counts = task.counts.chunks_exact(self.next.len());
            for (batch, counts) in task.batches.clone().zip(counts) {
                if self.skips(counts) {
                    continue;
                }
                let rows = Arc::clone(&self.rows);
                self.codes.pack(&rows, batch, &mut codes);
                self.write_batch((batch, &rows.batches[batch]), &codes, &mut order);
            }
        }
        let columns = self.columns.into_iter();
        let columns = columns.map(|column| column.map(WrittenColumn::finish).transpose());
        Ok(Written {
            columns: columns.collect::<Result<_>>()?,
            places: self.places,
            starts: self.wanted.starts,
        })
    }

    /// Passes a batch with these counts if none of its rows is wanted.
    fn skips(&mut self, counts: &[u32]) -> bool {
        let is_wanted = |(code, count): (usize, &u32)| {
            let rows = self.wanted.rows(code, self.next[code], *count as usize);
            !rows.is_empty()
        };
        if counts.iter().enumerate().any(is_wanted) {
            return false;
        }
        let next = self.next.iter_mut().zip(counts);
        next.for_each(|(next, count)| *next += *count as usize);
        true
    }

    fn write_batch(
        &mut self,
        (number, batch): (usize, &RecordBatch),
        codes: &[u16],
        order_of_rows: &mut Vec<u16>,
    ) {
        let num_codes = self.next.len();
        let chunk_rows = if num_codes <= MAX_CACHED_CODES {
            CACHED_ROWS
        } else {
            MOST_ROWS
        };
        let mut first_row = 0;
        for codes in codes.chunks(chunk_rows) {
            let ends = order(codes, num_codes, order_of_rows);
            let runs = self.runs(order_of_rows, &ends);
            let runs = Runs {
                first_row,
                runs: &runs,
            };
            for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
                if let Some(column) = column {
                    column.write(array.as_ref(), runs);
                }
            }
            self.write_places(number, runs);
            first_row += codes.len();
        }
    }

    /// The wanted rows of each code, of which `ends` says where those of each end in `rows`.
    fn runs<'a>(&mut self, rows: &'a [u16], ends: &[u32]) -> Vec<Run<'a>> {
        let mut runs = Vec::new();
        let mut start = 0;
        for (code, end) in ends.iter().enumerate() {
            let rows = &rows[start..*end as usize];
            start = *end as usize;
            let place = self.next[code];
            self.next[code] += rows.len();
            let wanted = self.wanted.rows(code, place, rows.len());
            if !wanted.is_empty() {
                runs.push(Run {
                    start: self.wanted.target(code, place + wanted.start),
                    rows: &rows[wanted],
                });
            }
        }
        runs
    }

    fn write_places(&mut self, batch: usize, runs: Runs<'_>) {
        if self.places.is_empty() {
            return;
        }
        for run in runs.runs {
            let places = self.places[run.start..].iter_mut().zip(run.rows);
            // Batches and their rows are fewer than 2^32.
            places.for_each(|(place, row)| {
                *place = (batch as u32, runs.first_row as u32 + u32::from(*row));
            });
        }
    }
}
