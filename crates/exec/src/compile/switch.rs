//! Decides when a query goes over to compiled code, and counts what it did.
//!
//! The tasks of a query share a switch. They begin as they would without it and look into the slot of the
//! cache between batches. The code is asked for, from a thread of its own, as soon as
//!
//! ```text
//! rows that are left * (ns for a row now - ns for a row compiled)  >  time to compile
//! ```
//!
//! where rows that go by while LLVM works do not count, or as soon as that much has been lost already, in
//! this query and those before it with the same program, or a quarter of it when so many queries had the
//! program: LLVM takes a processor, and the library some time to load, which short queries never get back.
//! Times are measured: those of compilations and of compiled rows over all queries, that of the other way in
//! this one.
//!
//! Folds of columns, without a condition and without anything computed, run at the speed of memory without
//! code: LLVM would only take a processor away, and a first run that waits for fresh memory would look as if
//! code paid. They are compiled where that is forced.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use basalt_jit::{CodeCache, Compiled, Program, Slot};

use super::{Options, Told};

/// Nanoseconds for a byte that compiled code reads, before that was measured: most of it waits for memory.
const USUAL_NS_PER_BYTE: f64 = 0.1;

/// How many times what was lost so far is expected to be lost by queries to come.
const MISSED_TIMES: u32 = 4;

/// The same for a row that compiled code adds to its group: most of it waits for the group's accumulators.
const USUAL_NS_PER_GROUPED_ROW: f64 = 3.0;

/// What compiled code has done in all queries, and the nanoseconds for that.
#[derive(Debug)]
struct Rate {
    amount: AtomicU64,
    elapsed_ns: AtomicU64,
    /// Nanoseconds for one before that was measured.
    usual_ns: f64,
}

/// Bytes that were read.
static BYTES: Rate = Rate::new(USUAL_NS_PER_BYTE);

/// Rows that were added to groups.
static GROUPED_ROWS: Rate = Rate::new(USUAL_NS_PER_GROUPED_ROW);

impl Rate {
    const fn new(usual_ns: f64) -> Self {
        Self {
            amount: AtomicU64::new(0),
            elapsed_ns: AtomicU64::new(0),
            usual_ns,
        }
    }

    fn add(&self, amount: u64, elapsed_ns: u64) {
        self.amount.fetch_add(amount, Ordering::Relaxed);
        self.elapsed_ns.fetch_add(elapsed_ns, Ordering::Relaxed);
    }

    /// Nanoseconds for one.
    fn ns(&self) -> f64 {
        match self.amount.load(Ordering::Relaxed) {
            0 => self.usual_ns,
            amount => self.elapsed_ns.load(Ordering::Relaxed) as f64 / amount as f64,
        }
    }
}

/// Rows of a run, and the time that they took.
#[derive(Debug, Default)]
struct Tally {
    num_rows: AtomicU64,
    elapsed_ns: AtomicU64,
}

impl Tally {
    /// Adds rows; all of them by now, and their time.
    fn add(&self, num_rows: usize, elapsed: Duration) -> (u64, f64) {
        let rows = num_rows as u64;
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let rows = self.num_rows.fetch_add(rows, Ordering::Relaxed) + rows;
        let all_ns = self.elapsed_ns.fetch_add(elapsed_ns, Ordering::Relaxed) + elapsed_ns;
        (rows, all_ns as f64)
    }

    fn told(&self) -> (u64, Duration) {
        let elapsed_ns = self.elapsed_ns.load(Ordering::Relaxed);
        let num_rows = self.num_rows.load(Ordering::Relaxed);
        (num_rows, Duration::from_nanos(elapsed_ns))
    }
}

/// The way of one query from its usual work to compiled code.
#[derive(Debug)]
pub(crate) struct Switch {
    slot: Arc<Slot>,
    is_hit: bool,
    /// Whether code may be faster at all.
    may_pay: bool,
    /// About how many rows there are, if that is known.
    num_rows: Option<u64>,
    num_tasks: f64,
    usual: Tally,
    compiled: Tally,
    is_verified: AtomicBool,
}

impl Switch {
    /// The switch of a query with `num_tasks` tasks over about `num_rows` rows.
    pub(crate) fn new(
        program: &Program,
        options: Options,
        num_rows: Option<usize>,
        num_tasks: usize,
    ) -> Self {
        let (slot, is_hit) = CodeCache::global().slot(program.clone());
        let may_pay = program.computes();
        let is_slower = || {
            slot.other_way_ns()
                .is_none_or(|ns| ns > compiled_ns(program))
        };
        let will_pay = || {
            let compilation = CodeCache::global().counters().expected_elapsed(program);
            slot.missed() * MISSED_TIMES > compilation
        };
        if options.min_count == 0 {
            slot.compile();
        } else if may_pay && slot.num_queries() >= options.min_count && is_slower() && will_pay() {
            slot.compile_in_background();
        }
        Self {
            slot,
            is_hit,
            may_pay,
            num_rows: num_rows.map(|n| n as u64),
            num_tasks: num_tasks.max(1) as f64,
            usual: Tally::default(),
            compiled: Tally::default(),
            is_verified: AtomicBool::new(false),
        }
    }

    /// The code, if it is there by now.
    pub(crate) fn code(&self) -> Option<&Arc<Compiled>> {
        self.slot.code()
    }

    /// Rows took the usual way.
    pub(crate) fn went_usual_way(&self, num_rows: usize, elapsed: Duration) {
        let (all_rows, all_ns) = self.usual.add(num_rows, elapsed);
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.slot.count_other_way(num_rows as u64, elapsed_ns);
        if all_rows == 0 || !self.may_pay || self.slot.is_requested() {
            return;
        }
        let usual_ns = all_ns / all_rows as f64;
        let saved_ns = usual_ns - compiled_ns(self.slot.program());
        if saved_ns <= 0.0 {
            return;
        }
        let counters = CodeCache::global().counters();
        let compilation = counters.expected_elapsed(self.slot.program());
        let compilation_ns = compilation.as_nanos() as f64;
        // Of an input whose length is not known, half is taken to be done.
        let left = self
            .num_rows
            .unwrap_or(2 * all_rows)
            .saturating_sub(all_rows) as f64;
        let meanwhile = compilation_ns / usual_ns * self.num_tasks;
        let lost = Duration::from_nanos((saved_ns * num_rows as f64) as u64);
        let all_lost = self.slot.count_missed(lost);
        if (left - meanwhile) * saved_ns > compilation_ns || all_lost > compilation {
            self.slot.compile_in_background();
        }
    }

    /// Rows went through compiled code.
    pub(crate) fn went_compiled_way(&self, num_rows: usize, elapsed: Duration) {
        self.compiled.add(num_rows, elapsed);
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let program = self.slot.program();
        match program.grouped() {
            Some(_) => GROUPED_ROWS.add(num_rows as u64, elapsed_ns),
            None => BYTES.add((program.row_bytes() * num_rows) as u64, elapsed_ns),
        }
    }

    /// Both ways were compared.
    pub(crate) fn verified(&self) {
        self.is_verified.store(true, Ordering::Relaxed);
    }

    /// What it did so far.
    pub(crate) fn told(&self) -> Told {
        Told {
            usual: self.usual.told(),
            compiled: self.compiled.told(),
            is_hit: self.is_hit,
            compilation: self.code().map(|code| code.elapsed()),
            is_verified: self.is_verified.load(Ordering::Relaxed),
        }
    }
}

/// What compiled code takes for a row, or would take.
fn compiled_ns(program: &Program) -> f64 {
    match program.grouped() {
        Some(_) => GROUPED_ROWS.ns(),
        None => BYTES.ns() * program.row_bytes() as f64,
    }
}
