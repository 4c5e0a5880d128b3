//! Turns Ctrl-C into the cancellation of the running query.
//!
//! While text is typed the terminal is in raw mode and Ctrl-C is a key of the editor; the signal
//! comes only while a query runs. Between the two it does nothing, so the shell never dies of it.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use parking_lot::Mutex;

use super::Canceller;

/// The process's handler of Ctrl-C, and what it cancels at present.
pub(super) struct Interrupts {
    running: Arc<Mutex<Option<Canceller>>>,
}

impl Interrupts {
    /// Takes over Ctrl-C for the rest of the process.
    pub(super) fn install() -> Result<Self> {
        let running = Arc::new(Mutex::new(None));
        let current = Arc::clone(&running);
        ctrlc::set_handler(move || cancel(&current)).map_err(|e| {
            Error::new(
                ErrorCode::STD_EXCEPTION,
                format!("cannot take over Ctrl-C: {e}"),
            )
        })?;
        Ok(Self { running })
    }

    /// Runs `work`; Ctrl-C calls `canceller` until it returns.
    pub(super) fn during<T>(&self, canceller: Canceller, work: impl FnOnce() -> T) -> T {
        *self.running.lock() = Some(canceller);
        let result = work();
        *self.running.lock() = None;
        result
    }
}

fn cancel(running: &Mutex<Option<Canceller>>) {
    // The lock is not held during the call, which may wait for the query.
    let canceller = running.lock().clone();
    if let Some(canceller) = canceller {
        canceller();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use super::{Canceller, Interrupts, Mutex, cancel};

    #[test]
    fn cancels_only_while_a_query_runs() {
        let interrupts = Interrupts {
            running: Arc::new(Mutex::new(None)),
        };
        let num_calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&num_calls);
        let canceller: Canceller = Arc::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        cancel(&interrupts.running);
        let answer = interrupts.during(canceller, || {
            cancel(&interrupts.running);
            7
        });
        cancel(&interrupts.running);
        assert_eq!((answer, num_calls.load(Ordering::Relaxed)), (7, 1));
    }
}
