//! Notes what a grouping does while it runs, once a batch: ways to work, their times, changes of mind.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::metrics::{
    ExecutionPlanMetricsSet, MetricBuilder, MetricValue, Time,
};

use super::options::Tuning;
use crate::report::clock::{Consumed, Listener, timed};
use crate::report::figures::{counted, memory, quantity};

/// How a task that adapts works on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Keys index arrays.
    Dense,
    /// Keys are looked up in the task's table.
    Table,
    /// The same, but the table is emptied now and then: keys come again soon or never.
    Flushing,
    /// Rows are only split by the hash of their keys.
    Staging,
}

impl Way {
    /// All ways, in the order of their numbers.
    pub(super) const ALL: [Way; 4] = [Way::Dense, Way::Table, Way::Flushing, Way::Staging];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Dense => "dense",
            Way::Table => "table",
            Way::Flushing => "flushing",
            Way::Staging => "staging",
        }
    }
}

/// No way yet.
const NONE: u8 = u8::MAX;

/// What a task knew when its way of working was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) num_rows: usize,
    pub(super) num_groups: usize,
    pub(super) has_spilled: bool,
}

/// A change of mind of one task.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) to: Way,
    /// Rows of all tasks before it.
    pub(super) at_rows: u64,
    pub(super) reason: String,
}

/// How the tasks' groups became one result.
#[derive(Clone, Debug)]
pub(super) struct Merging {
    /// Its name.
    pub(super) way: &'static str,
    pub(super) reason: String,
}

/// Notes of a run.
#[derive(Debug)]
pub(super) struct Observed {
    tasks: Vec<Arc<Notes>>,
    changes: Mutex<Vec<Change>>,
    merging: Mutex<Option<Merging>>,
    grouping_time: Time,
    merging_time: Time,
    tuning: Tuning,
}

/// Names of metrics: time with rows, and time between the last row and the first group.
pub(super) const GROUPING_TIME: &str = "grouping_time";
pub(super) const MERGING_TIME: &str = "merging_time";

impl Observed {
    /// Notes of a run of so many tasks.
    pub(super) fn new(
        num_tasks: usize,
        tuning: Tuning,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Arc<Self> {
        let time = |name| {
            let time = MetricBuilder::new(metrics).subset_time(name, 0);
            let own = MetricValue::ElapsedCompute(time.clone());
            MetricBuilder::new(metrics).with_partition(0).build(own);
            time
        };
        Arc::new(Self {
            tasks: (0..num_tasks).map(|_| Arc::default()).collect(),
            changes: Mutex::default(),
            merging: Mutex::default(),
            grouping_time: time(GROUPING_TIME),
            merging_time: time(MERGING_TIME),
            tuning,
        })
    }

    /// Notes of one task.
    pub(super) fn task(self: &Arc<Self>, task: usize) -> TaskNotes {
        TaskNotes {
            notes: self.tasks.get(task).map(Arc::clone).unwrap_or_default(),
            run: Arc::clone(self),
        }
    }

    /// The input of a task, whose work on each batch is noted.
    pub(super) fn input(
        self: &Arc<Self>,
        task: usize,
        input: SendableRecordBatchStream,
    ) -> SendableRecordBatchStream {
        Consumed::stream(input, &Arc::new(self.task(task)))
    }

    /// A future of the work between rows and groups, whose time is noted.
    pub(super) fn timed<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        timed(self.merging_time.clone(), future)
    }

    /// Notes how groups are merged.
    pub(super) fn merges(&self, way: &'static str, reason: String) {
        let mut merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        *merging = Some(Merging { way, reason });
    }

    /// Notes that groups and rows are merged from temporary files.
    pub(super) fn merges_files(&self) {
        self.merges("files", "some groups or rows are in files".to_owned());
    }

    /// How groups were merged, if anybody said so.
    pub(super) fn merging(&self) -> Option<Merging> {
        let merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        merging.clone()
    }

    /// All changes of mind.
    pub(super) fn changes(&self) -> Vec<Change> {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.clone()
    }

    /// Rows and time of a way, by all tasks.
    pub(super) fn tally(&self, way: Way) -> (u64, Duration) {
        let tallies = || self.tasks.iter().map(|t| &t.tallies[way as usize]);
        let sum =
            |of: fn(&Tally) -> &AtomicU64| tallies().map(|t| of(t).load(Ordering::Relaxed)).sum();
        let elapsed = Duration::from_nanos(sum(|t| &t.elapsed_ns));
        (sum(|t| &t.num_rows), elapsed)
    }

    /// Rows and time of all ways.
    pub(super) fn total(&self) -> (u64, Duration) {
        let tallies = Way::ALL.into_iter().map(|way| self.tally(way));
        tallies.fold((0, Duration::ZERO), |(rows, time), (r, t)| {
            (rows + r, time + t)
        })
    }

    /// Whether some task ended in this way.
    pub(super) fn ended_in(&self, way: Way) -> bool {
        let mut tasks = self.tasks.iter();
        tasks.any(|task| task.way.load(Ordering::Relaxed) == way as u8)
    }

    /// Number of tasks that had rows.
    pub(super) fn num_tasks(&self) -> usize {
        let has_rows = |notes: &&Arc<Notes>| {
            let mut tallies = notes.tallies.iter();
            tallies.any(|t| t.num_rows.load(Ordering::Relaxed) > 0)
        };
        self.tasks.iter().filter(has_rows).count()
    }

    /// A task that has `num_ahead` rows which are in no tally yet changed its way.
    fn change(&self, (from, to): (Way, Way), seen: Seen, num_ahead: usize) {
        let change = Change {
            to,
            at_rows: self.total().0 + num_ahead as u64,
            reason: self.reason((from, to), seen),
        };
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.push(change);
    }

    fn reason(&self, change: (Way, Way), seen: Seen) -> String {
        let rows = counted(seen.num_rows as u64, "row");
        let groups = counted(seen.num_groups as u64, "group");
        match change {
            (Way::Dense, _) if seen.has_spilled => {
                format!("memory ran out after {rows} of a task")
            }
            (Way::Dense, _) => {
                let most = quantity(self.tuning.max_dense_len(seen.num_rows) as u64);
                format!("keys of {rows} span more than {most} values")
            }
            (_, Way::Staging | Way::Flushing) if seen.num_groups == 0 => {
                format!("few of {rows} of a task found their groups, which are in a file")
            }
            (_, Way::Staging) => {
                format!("{groups} in {rows} of a task, few of the last rows found theirs")
            }
            (_, Way::Flushing) => {
                format!("{groups} in {rows} of a task, keys come again soon or never")
            }
            (Way::Staging, _) => format!("only about {groups} in {rows} of a task"),
            (_, to) => format!("{} after {rows} of a task", to.name()),
        }
    }
}

/// Groups in tables, and the memory of these, as a text.
pub(super) fn in_tables(num_groups: usize, num_tables: usize, size_bytes: usize) -> String {
    format!(
        "{} in {} of {}",
        counted(num_groups as u64, "group"),
        counted(num_tables as u64, "table"),
        memory(size_bytes as u64)
    )
}

/// What one task notes; only it writes.
#[derive(Debug)]
struct Notes {
    way: AtomicU8,
    tallies: [Tally; Way::ALL.len()],
}

#[derive(Debug, Default)]
struct Tally {
    num_rows: AtomicU64,
    elapsed_ns: AtomicU64,
}

impl Default for Notes {
    fn default() -> Self {
        Self {
            way: AtomicU8::new(NONE),
            tallies: Default::default(),
        }
    }
}

/// The notes of a task and of its run.
#[derive(Clone, Debug)]
pub(super) struct TaskNotes {
    notes: Arc<Notes>,
    run: Arc<Observed>,
}

impl TaskNotes {
    /// Rows of this task before the batch at hand.
    fn num_rows(&self) -> usize {
        let tallies = self.notes.tallies.iter();
        let num_rows: u64 = tallies.map(|t| t.num_rows.load(Ordering::Relaxed)).sum();
        usize::try_from(num_rows).unwrap_or(usize::MAX)
    }

    /// The batch at hand was worked on in this way.
    pub(super) fn works(&self, way: Way, seen: Seen) {
        let before = self.notes.way.load(Ordering::Relaxed);
        if before != way as u8 {
            self.notes.way.store(way as u8, Ordering::Relaxed);
            if let Some(from) = Way::ALL.get(usize::from(before)) {
                // Rows are flushed or staged because of those before them.
                let before = self.num_rows();
                let num_rows = match way {
                    Way::Flushing | Way::Staging => before,
                    _ => seen.num_rows,
                };
                let seen = Seen { num_rows, ..seen };
                let num_ahead = num_rows.saturating_sub(before);
                self.run.change((*from, way), seen, num_ahead);
            }
        }
    }
}

impl Listener for TaskNotes {
    fn worked(&self, num_rows: usize, elapsed: Duration) {
        self.run.grouping_time.add_duration(elapsed);
        // Strategies that do not adapt name no way: all they do stands in the first tally.
        let way = usize::from(self.notes.way.load(Ordering::Relaxed));
        let tally = self
            .notes
            .tallies
            .get(way)
            .unwrap_or(&self.notes.tallies[0]);
        tally.num_rows.fetch_add(num_rows as u64, Ordering::Relaxed);
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        tally.elapsed_ns.fetch_add(elapsed_ns, Ordering::Relaxed);
    }
}
