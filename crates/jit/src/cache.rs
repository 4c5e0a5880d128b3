//! Keeps compiled programs for all queries, up to a number of bytes.
//!
//! A query asks for the [`Slot`] of its program and looks into it between batches. What is compiled is found by
//! the program's text and the level of instructions that loops may use, so equal computations of different
//! queries share their code. When there is no more room, what was asked for longest ago goes first; queries that run
//! keep theirs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use basalt_adapt::SimdLevel;

use crate::background;
use crate::compiled::{CompileError, Compiled};
use crate::program::Program;

/// Bytes of compiled code and of the texts of programs that are kept, unless it is said otherwise: as many as
/// ClickHouse keeps.
pub const DEFAULT_LIMIT_BYTES: usize = 128 << 20;

/// What has been compiled since the process began.
#[derive(Debug, Default)]
pub struct Counters {
    compilations: AtomicU64,
    /// Nodes of the programs that were compiled.
    nodes: AtomicU64,
    elapsed_us: AtomicU64,
    hits: AtomicU64,
}

impl Counters {
    /// Programs that were compiled.
    pub fn compilations(&self) -> u64 {
        self.compilations.load(Ordering::Relaxed)
    }

    /// Microseconds that compiling took.
    pub fn elapsed_us(&self) -> u64 {
        self.elapsed_us.load(Ordering::Relaxed)
    }

    /// Queries that found their program compiled already.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// What compiling `program` will take, by what it took so far for each node.
    pub fn expected_elapsed(&self, program: &Program) -> Duration {
        let num_nodes = program.graph().nodes().len() as u64;
        let measured_us = self.elapsed_us();
        let per_node_us = measured_us.checked_div(self.nodes.load(Ordering::Relaxed));
        Duration::from_micros(num_nodes * per_node_us.unwrap_or(USUAL_US_PER_NODE))
    }
}

/// Microseconds that compiling takes for a node, before that was measured (example `fused`).
const USUAL_US_PER_NODE: u64 = 3_000;

/// The place of a program's code.
#[derive(Debug)]
pub struct Slot {
    program: Program,
    level: SimdLevel,
    code: OnceLock<Result<Arc<Compiled>, CompileError>>,
    is_requested: AtomicBool,
    num_queries: AtomicU64,
    /// Rows that went another way, over all queries, and the nanoseconds for these.
    other_rows: AtomicU64,
    other_ns: AtomicU64,
    /// Time saved so far, had it been compiled, in nanoseconds.
    missed_ns: AtomicU64,
    cache: &'static CodeCache,
}

impl Slot {
    fn new(program: Program, level: SimdLevel, cache: &'static CodeCache) -> Self {
        Self {
            program,
            level,
            code: OnceLock::new(),
            is_requested: AtomicBool::new(false),
            num_queries: AtomicU64::new(0),
            other_rows: AtomicU64::new(0),
            other_ns: AtomicU64::new(0),
            missed_ns: AtomicU64::new(0),
            cache,
        }
    }

    /// What is, or could be, compiled.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The code, if there is some.
    pub fn code(&self) -> Option<&Arc<Compiled>> {
        self.code.get()?.as_ref().ok()
    }

    /// Whether it is known if there is code.
    #[cfg(test)]
    pub(crate) fn is_settled(&self) -> bool {
        self.code.get().is_some()
    }

    /// Whether nothing is to be gained by asking for code: it is there, cannot be, or is on its way.
    pub fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }

    /// Queries that have asked for the slot, this one included.
    pub fn num_queries(&self) -> u64 {
        self.num_queries.load(Ordering::Relaxed)
    }

    /// Counts rows that went another way.
    pub fn count_other_way(&self, num_rows: u64, elapsed_ns: u64) {
        self.other_rows.fetch_add(num_rows, Ordering::Relaxed);
        self.other_ns.fetch_add(elapsed_ns, Ordering::Relaxed);
    }

    /// Nanoseconds for a row that went another way, if there was one, over all queries.
    pub fn other_way_ns(&self) -> Option<f64> {
        let num_rows = self.other_rows.load(Ordering::Relaxed);
        let elapsed_ns = self.other_ns.load(Ordering::Relaxed);
        (num_rows > 0).then(|| elapsed_ns as f64 / num_rows as f64)
    }

    /// Counts time that code would have saved; how much it is by now, over all queries.
    pub fn count_missed(&self, missed: Duration) -> Duration {
        let ns = u64::try_from(missed.as_nanos()).unwrap_or(u64::MAX);
        let before = self.missed_ns.fetch_add(ns, Ordering::Relaxed);
        Duration::from_nanos(before.saturating_add(ns))
    }

    /// Time that would have been saved so far.
    pub fn missed(&self) -> Duration {
        Duration::from_nanos(self.missed_ns.load(Ordering::Relaxed))
    }

    /// Compiles the program and waits for it, also if another thread is at it.
    pub fn compile(&self) {
        self.is_requested.store(true, Ordering::Relaxed);
        self.code
            .get_or_init(|| self.cache.compiled(&self.program, self.level));
    }

    /// Has the program compiled by another thread, once.
    pub fn compile_in_background(self: &Arc<Self>) {
        if self.is_requested.swap(true, Ordering::Relaxed) {
            return;
        }
        background::compile(Arc::clone(self));
    }

    /// Forgets that code was asked for.
    pub(crate) fn withdraw(&self) {
        self.is_requested.store(false, Ordering::Relaxed);
    }
}

/// Programs and their code.
#[derive(Debug)]
pub struct CodeCache {
    slots: Mutex<Slots>,
    limit_bytes: AtomicUsize,
    counters: Counters,
}

impl Default for CodeCache {
    fn default() -> Self {
        Self {
            slots: Mutex::default(),
            limit_bytes: AtomicUsize::new(DEFAULT_LIMIT_BYTES),
            counters: Counters::default(),
        }
    }
}

#[derive(Debug, Default)]
struct Slots {
    /// By [`key_of`].
    by_key: HashMap<String, Kept>,
    size_bytes: usize,
    /// Requests so far: the clock of what was asked for last.
    num_requests: u64,
}

#[derive(Debug)]
struct Kept {
    slot: Arc<Slot>,
    size_bytes: usize,
    last_request: u64,
}

impl CodeCache {
    /// The cache of the process.
    pub fn global() -> &'static Self {
        static CACHE: LazyLock<CodeCache> = LazyLock::new(CodeCache::default);
        &CACHE
    }

    /// What has been compiled.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Bytes that are kept.
    pub fn size_bytes(&self) -> usize {
        self.slots().size_bytes
    }

    /// Keeps at most so many bytes from now on, also of what is there already.
    pub fn set_limit(&self, bytes: usize) {
        self.limit_bytes.store(bytes, Ordering::Relaxed);
        drop(self.over_limit(self.slots()));
    }

    /// Takes out what there is no room for. Freeing code may wait for LLVM, which is not to be done while others wait
    /// for the slots.
    fn over_limit(&self, mut slots: MutexGuard<'_, Slots>) -> Vec<Kept> {
        slots.make_room(self.limit_bytes.load(Ordering::Relaxed))
    }

    /// The slot of `program` for one more query, and whether it has its code already.
    pub fn slot(&'static self, program: Program) -> (Arc<Slot>, bool) {
        self.slot_with_level(program, SimdLevel::current())
    }

    fn slot_with_level(&'static self, program: Program, level: SimdLevel) -> (Arc<Slot>, bool) {
        let key = key_of(&program, level);
        let mut slots = self.slots();
        slots.num_requests += 1;
        let now = slots.num_requests;
        let slot = match slots.by_key.get_mut(&key) {
            Some(kept) => {
                kept.last_request = now;
                Arc::clone(&kept.slot)
            }
            None => {
                let slot = Arc::new(Slot::new(program, level, self));
                slots.add(key, Arc::clone(&slot), now);
                slot
            }
        };
        drop(self.over_limit(slots));
        slot.num_queries.fetch_add(1, Ordering::Relaxed);
        let is_hit = slot.code().is_some();
        self.counters
            .hits
            .fetch_add(u64::from(is_hit), Ordering::Relaxed);
        (slot, is_hit)
    }

    fn compiled(&self, program: &Program, level: SimdLevel) -> Result<Arc<Compiled>, CompileError> {
        let compiled = Compiled::try_with_level(program.clone(), level)?;
        let num_nodes = program.graph().nodes().len() as u64;
        self.counters.nodes.fetch_add(num_nodes, Ordering::Relaxed);
        let elapsed_us = u64::try_from(compiled.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.counters.compilations.fetch_add(1, Ordering::Relaxed);
        self.counters
            .elapsed_us
            .fetch_add(elapsed_us, Ordering::Relaxed);
        let mut slots = self.slots();
        slots.grow(&key_of(program, level), compiled.size_bytes());
        drop(self.over_limit(slots));
        Ok(Arc::new(compiled))
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What code is found by.
fn key_of(program: &Program, level: SimdLevel) -> String {
    format!("{level}\n{}", program.text())
}

/// Copies of a program's text and nodes, in lengths of its text: about what a slot without code takes.
const TEXTS_OF_SLOT: usize = 8;

impl Slots {
    fn add(&mut self, key: String, slot: Arc<Slot>, now: u64) {
        let size_bytes = TEXTS_OF_SLOT * key.len();
        self.size_bytes += size_bytes;
        let kept = Kept {
            slot,
            size_bytes,
            last_request: now,
        };
        self.by_key.insert(key, kept);
    }

    /// Counts the bytes of new code.
    fn grow(&mut self, key: &str, size_bytes: usize) {
        if let Some(kept) = self.by_key.get_mut(key) {
            kept.size_bytes += size_bytes;
            self.size_bytes += size_bytes;
        }
    }

    /// Takes out what was asked for longest ago until what is left has room.
    fn make_room(&mut self, max_bytes: usize) -> Vec<Kept> {
        let mut dropped = Vec::new();
        while self.size_bytes > max_bytes {
            let oldest = self.by_key.iter().min_by_key(|(_, kept)| kept.last_request);
            let oldest = oldest.map(|(key, _)| key.clone());
            let Some(kept) = oldest.and_then(|key| self.by_key.remove(&key)) else {
                break;
            };
            self.size_bytes -= kept.size_bytes;
            dropped.push(kept);
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use basalt_adapt::SimdLevel;

    use super::CodeCache;
    use crate::ir::{Graph, Type};
    use crate::program::{Output, Program};

    fn cache() -> &'static CodeCache {
        Box::leak(Box::default())
    }

    fn constant(bits: u64) -> Program {
        let mut graph = Graph::default();
        let node = graph.constant(Type::U64, Some(bits));
        Program::try_new(graph, None, vec![Output::Map(node)]).unwrap()
    }

    #[test]
    fn equal_programs_share_a_slot() {
        let cache = cache();
        let (one, _) = cache.slot(constant(1));
        let (two, _) = cache.slot(constant(2));
        let (one_again, is_hit) = cache.slot(constant(1));
        assert!(Arc::ptr_eq(&one, &one_again) && !is_hit);
        assert_eq!((one.num_queries(), two.num_queries()), (2, 1));
    }

    #[test]
    fn what_was_asked_for_longest_ago_goes_first() {
        let cache = cache();
        let slots: Vec<_> = (0..3).map(|bits| cache.slot(constant(bits)).0).collect();
        let (first, _) = cache.slot(constant(0));
        let third = cache.size_bytes() / 3;
        cache.slots().make_room(2 * third);
        assert_eq!(cache.size_bytes(), 2 * third);
        let (same, _) = cache.slot(constant(0));
        let (other, _) = cache.slot(constant(1));
        assert!(Arc::ptr_eq(&first, &same));
        assert!(!Arc::ptr_eq(&slots[1], &other));
    }

    #[test]
    fn a_lower_limit_counts_at_once() {
        let cache = cache();
        let _slots: Vec<_> = (0..4).map(|bits| cache.slot(constant(bits))).collect();
        let half = cache.size_bytes() / 2;
        cache.set_limit(half);
        assert_eq!(cache.size_bytes(), half);
        let (fifth, _) = cache.slot(constant(4));
        assert_eq!(cache.size_bytes(), half);
        cache.set_limit(2 * half);
        let (other, _) = cache.slot(constant(0));
        let (fifth_again, _) = cache.slot(constant(4));
        assert!(Arc::ptr_eq(&fifth, &fifth_again) && !Arc::ptr_eq(&fifth, &other));
        cache.set_limit(0);
        assert_eq!(cache.size_bytes(), 0);
    }

    #[test]
    fn levels_have_code_of_their_own() {
        let cache = cache();
        let of = |level| cache.slot_with_level(constant(1), level).0;
        let [scalar, wide] = [SimdLevel::Scalar, SimdLevel::Avx2].map(of);
        assert!(!Arc::ptr_eq(&scalar, &wide));
        assert!(Arc::ptr_eq(&scalar, &of(SimdLevel::Scalar)));
    }

    #[test]
    fn code_is_made_once_and_counted() {
        if !crate::compiled::is_available_to_tests() {
            return;
        }
        let cache = cache();
        let (slot, _) = cache.slot(constant(7));
        assert!(slot.code().is_none() && !slot.is_requested());
        slot.compile_in_background();
        slot.compile();
        assert!(slot.code().is_some());
        let (_, is_hit) = cache.slot(constant(7));
        let counters = cache.counters();
        assert_eq!(
            (is_hit, counters.hits(), counters.compilations()),
            (true, 1, 1)
        );
        assert!(cache.size_bytes() > 500);
    }
}
