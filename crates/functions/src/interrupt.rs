//! Lets a call of a function end early when its query is cancelled or out of time.
//!
//! One call can make gigabytes of a few bytes, or wait. The loops that do ask now and then whether they may
//! go on.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use basalt_error::Result;

/// How long a waiting call does not look.
const INTERVAL: Duration = Duration::from_millis(20);

/// Steps of a loop between looks.
const STEPS_BETWEEN_CHECKS: usize = 64;

thread_local! {
    static CURRENT: RefCell<Interrupt> = RefCell::default();
}

/// Says whether a query may go on; always, unless told otherwise.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> Result<()> + Send + Sync>>);

impl Interrupt {
    /// Ends calls with the errors of `check`.
    pub fn new(check: impl Fn() -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(check)))
    }

    /// Does the work of a call that this may end; without an own check, that of the call around it stays.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        /// Puts the one of the call around back, also behind a panic.
        struct Before(Interrupt);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(std::mem::take(&mut self.0));
            }
        }
        let Some(may_go_on) = &self.0 else {
            return work();
        };
        may_go_on()?;
        let _before = Before(CURRENT.replace(self.clone()));
        work()
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}

/// Checks whether the call may go on which this thread is in.
///
/// # Errors
/// Why the query ends.
pub(crate) fn check() -> Result<()> {
    CURRENT.with_borrow(|interrupt| interrupt.0.as_ref().map_or(Ok(()), |check| check()))
}

/// Checks at some of the steps of a loop whose steps are short, and never in short loops.
///
/// # Errors
/// As [`check`].
#[inline]
pub(crate) fn check_at(step: usize) -> Result<()> {
    match step % STEPS_BETWEEN_CHECKS == STEPS_BETWEEN_CHECKS - 1 {
        true => check(),
        false => Ok(()),
    }
}

/// Waits, unless the query ends.
///
/// # Errors
/// As [`check`].
pub(crate) fn sleep(duration: Duration) -> Result<()> {
    let started = Instant::now();
    loop {
        check()?;
        let left = duration.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(INTERVAL));
    }
}
