//! Keeps memory that was freed for the next query, and gives it back to the system once no query has run for
//! a while.
//!
//! The first touch of a page costs more than what is done with it: the system clears it, and under a
//! hypervisor finds memory for it, too. A query that needs 600 MB anew takes 0.47 s where it takes 0.28 s
//! with memory that was kept (`GROUP BY` of 10 million URLs; benchmarks/record/2026-11-24-group-by.md).
//! To give it back costs as well, so a thread of its own does that while nobody waits: mimalloc would look at
//! the time only when memory is asked for, which is in the next query, and never in a process that rests.
//!
//! A query whose limit is near is another matter: what it has freed is given back while it runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use libmimalloc_sys::{mi_collect, mi_option_set_default, mi_option_t};

/// `mi_option_purge_delay` of mimalloc.h, which the crate that binds it leaves out.
const PURGE_DELAY: mi_option_t = 15;

/// How much longer mimalloc itself keeps memory, so that it gives nothing back while a query begins: what a
/// long query does not need any more goes so.
const TIMES_LONGER: u32 = 2;

/// Least time between two times that memory is given back while queries run.
const PAUSE: Duration = Duration::from_millis(50);

/// Lets mimalloc, if that is the allocator, keep memory that was freed until no query has run for so long.
///
/// While queries run, mimalloc gives back what nobody has used for twice as long; the environment's
/// `MIMALLOC_PURGE_DELAY` (milliseconds) goes before that.
pub fn keep_freed_memory(delay: Duration) {
    let millis = (delay * TIMES_LONGER).as_millis();
    let millis = millis.try_into().unwrap_or(i32::MAX);
    // SAFETY: The option exists, so the call writes a number into mimalloc's table of options.
    unsafe { mi_option_set_default(PURGE_DELAY, millis.into()) };
    let thread = std::thread::Builder::new().name("freed memory".to_owned());
    let _ = thread.spawn(move || QUERIES.watch(delay, give_back, || true));
}

/// Tells that a query holds much of what it may: what was freed goes back to the system soon, and does not
/// wait for the end of the queries. A GROUP BY under 256 MiB held 600 MB of the machine's memory before, half
/// of it freed.
pub(crate) fn give_back_soon() {
    QUERIES.give_back_soon();
}

/// Gives memory that nobody has back to the system.
fn give_back() {
    // SAFETY: Any thread may call it at any time; it gives back only what nobody has.
    unsafe { mi_collect(true) };
}

/// The queries of this process.
static QUERIES: Queries = Queries::new();

/// A query runs until this is dropped.
#[derive(Debug)]
pub struct Busy(());

impl Busy {
    /// Begins a query.
    pub fn begin() -> Self {
        QUERIES.begin();
        Self(())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        QUERIES.end();
    }
}

/// How many queries run, and since when none does.
struct Queries {
    state: Mutex<State>,
    /// Whether one of them holds much of what it may.
    is_short: AtomicBool,
    /// Something changed that the watching thread waits for.
    has_changed: Condvar,
}

struct State {
    num_running: usize,
    /// When the last query ended, until memory is given back or another one begins.
    resting_since: Option<Instant>,
    /// Whether the watching thread waits for the end of a query.
    is_watched: bool,
}

impl Queries {
    const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                num_running: 0,
                resting_since: None,
                is_watched: false,
            }),
            is_short: AtomicBool::new(false),
            has_changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) {
        let mut state = self.state();
        state.num_running += 1;
        state.resting_since = None;
    }

    fn end(&self) {
        let mut state = self.state();
        state.num_running = state.num_running.saturating_sub(1);
        if state.num_running == 0 {
            state.resting_since = Some(Instant::now());
            // While queries follow each other the thread sleeps, and is not woken by each.
            if state.is_watched {
                self.has_changed.notify_one();
            }
        }
    }

    fn give_back_soon(&self) {
        let is_asked = self.is_short.load(Ordering::Relaxed);
        if !is_asked && !self.is_short.swap(true, Ordering::Relaxed) {
            let _state = self.state();
            self.has_changed.notify_one();
        }
    }

    /// Calls `give_back` whenever no query has run for `delay` since the last one, and soon after it was asked
    /// for, as long as `goes_on` says so.
    fn watch(&self, delay: Duration, give_back: impl Fn(), goes_on: impl Fn() -> bool) {
        let mut state = self.state();
        while goes_on() {
            if self.is_short.swap(false, Ordering::Relaxed) {
                drop(state);
                give_back();
                std::thread::sleep(PAUSE);
                state = self.state();
                continue;
            }
            let Some(since) = state.resting_since else {
                state.is_watched = true;
                state = self
                    .has_changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.is_watched = false;
                continue;
            };
            let left = delay.saturating_sub(since.elapsed());
            if left.is_zero() {
                state.resting_since = None;
                drop(state);
                give_back();
                state = self.state();
            } else {
                let waited = self.has_changed.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use libmimalloc_sys::mi_option_get;

    use super::{PURGE_DELAY, Queries, keep_freed_memory};

    #[test]
    fn the_option_is_the_one_that_is_meant() {
        // SAFETY: The option exists, so the call reads a number from mimalloc's table of options.
        let delay = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(
            delay(),
            1000,
            "mimalloc's default, which no option beside it has"
        );
        keep_freed_memory(Duration::from_secs(7));
        assert_eq!(delay(), 14_000);
    }

    /// Waits until `given` back is that often, at most for long.
    fn wait_for(given: &AtomicUsize, num_times: usize) {
        let begin = Instant::now();
        while given.load(Ordering::SeqCst) < num_times {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "never given back"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn memory_is_given_back_once_after_the_last_query_and_never_before() {
        let queries = Arc::new(Queries::new());
        let given = Arc::new(AtomicUsize::new(0));
        let watch = {
            let (queries, given) = (Arc::clone(&queries), Arc::clone(&given));
            move || {
                let give_back = || {
                    let is_asked = given.load(Ordering::SeqCst) == 2;
                    assert_eq!(queries.state().num_running, usize::from(is_asked));
                    given.fetch_add(1, Ordering::SeqCst);
                };
                let goes_on = || given.load(Ordering::SeqCst) < 3;
                queries.watch(Duration::from_millis(5), give_back, goes_on);
            }
        };
        queries.begin();
        let watcher = std::thread::spawn(watch);
        queries.begin();
        queries.end();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(given.load(Ordering::SeqCst), 0, "a query still runs");
        queries.end();
        wait_for(&given, 1);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(
            given.load(Ordering::SeqCst),
            1,
            "there is nothing more to give"
        );
        // A query within the delay puts it off.
        for _ in 0..20 {
            queries.begin();
            queries.end();
        }
        wait_for(&given, 2);
        // While one runs that is short of memory, nobody waits for its end.
        queries.begin();
        queries.give_back_soon();
        wait_for(&given, 3);
        watcher.join().expect("the watching thread");
    }
}
