//! The threads that all sessions share, and what becomes of them at the end.

use std::time::Duration;

use basalt_error::{Error, Result};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::database::STACK_BYTES;

/// How long the end waits for tasks: one that is in the middle of a long step when its query has ended keeps
/// nobody from leaving.
const END_WAIT: Duration = Duration::from_millis(200);

/// One worker thread per processor.
#[derive(Debug)]
pub(crate) struct Workers {
    handle: Handle,
    /// None when they have ended.
    runtime: Option<Runtime>,
}

impl Workers {
    /// Starts them.
    pub(crate) fn start() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .thread_name("basalt")
            .thread_stack_size(STACK_BYTES)
            .enable_all()
            .build()
            .map_err(Error::from)?;
        Ok(Self {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        })
    }

    /// Where tasks are started.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits for a future on this thread.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }
}

impl Workers {
    /// Ends them; a task that takes no notice goes on for as long as the process does.
    pub(crate) fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(END_WAIT);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.end();
    }
}
