//! Computes constants on threads of their own, so that a query can be cancelled meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};

use arrow::array::ArrayRef;
use basalt_analyzer::constants::{Runner, Work};
use basalt_error::{Error, Result};
use basalt_exec::QueryControl;

use crate::database::STACK_BYTES;
use crate::execution::{CHECK_INTERVAL, panic_error};

/// Starts a thread for each constant of a query that may take long. Who is cancelled does not wait for
/// it: the thread ends with its value, which nobody takes, or with the process.
pub(crate) struct ConstantThreads(pub(crate) Arc<QueryControl>);

impl Runner for ConstantThreads {
    fn run(&self, work: Work) -> Result<ArrayRef> {
        self.0.check()?;
        let (sender, receiver) = channel();
        let account = self.0.account().clone();
        let compute = move || {
            let _counted = account.enter();
            let value = catch_unwind(AssertUnwindSafe(work));
            let value = value.unwrap_or_else(|p| Err(panic_error(p.as_ref())));
            // Nobody waits any more after a cancellation.
            let _ = sender.send(value);
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn(compute).map_err(Error::from)?;
        loop {
            match receiver.recv_timeout(CHECK_INTERVAL) {
                Ok(value) => return value,
                Err(RecvTimeoutError::Timeout) => self.0.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::bug("the thread of a constant gave no value"));
                }
            }
        }
    }
}
