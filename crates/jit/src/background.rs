//! Compiles in a thread of its own, one program after the other.
//!
//! When a process ends, LLVM takes its static memory down while other threads still run; it makes some of
//! that memory as late as in a compilation, so no handler that is registered beforehand comes early enough
//! to wait. Whoever ends the process must have called [`wait`] or [`stop`] by then.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::cache::Slot;
use crate::llvm;

#[derive(Debug)]
struct Queue {
    slots: VecDeque<Arc<Slot>>,
    /// Whether the thread will look into the queue again.
    is_running: bool,
    thread: Option<JoinHandle<()>>,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    slots: VecDeque::new(),
    is_running: false,
    thread: None,
});

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the program of `slot` compiled.
pub(crate) fn compile(slot: Arc<Slot>) {
    let mut queue = queue();
    queue.slots.push_back(slot);
    if queue.is_running {
        return;
    }
    let thread = std::thread::Builder::new().name("jit".to_owned());
    // Without a thread queries go on as they do; the next one tries again.
    queue.thread = thread.spawn(work).ok();
    queue.is_running = queue.thread.is_some();
}

fn work() {
    loop {
        let mut queue = queue();
        let Some(slot) = queue.slots.pop_front() else {
            queue.is_running = false;
            return;
        };
        drop(queue);
        slot.compile();
    }
}

/// Waits for the compilation that runs, and forgets those that have not begun: a query that asks for them
/// again gets them.
pub fn wait() {
    let mut queue = queue();
    let forgotten = std::mem::take(&mut queue.slots);
    let thread = queue.thread.take();
    drop(queue);
    for slot in forgotten {
        slot.withdraw();
    }
    // A thread that has panicked is over, too.
    let _ = thread.map(JoinHandle::join);
}

/// As [`wait`], also for compilations that a query waits for, and has no other begin ever again. For the
/// end of the process.
pub fn stop() {
    wait();
    llvm::stop();
}

#[cfg(test)]
mod tests {
    use crate::cache::CodeCache;
    use crate::ir::{Graph, Type};
    use crate::program::{Output, Program};

    #[test]
    fn after_the_wait_nothing_is_on_its_way() {
        let slots: Vec<_> = (0..20)
            .map(|i| {
                let mut graph = Graph::default();
                let node = graph.constant(Type::U64, Some(1_000 + i));
                let program = Program::try_new(graph, None, vec![Output::Map(node)]).unwrap();
                CodeCache::global().slot(program).0
            })
            .collect();
        for slot in &slots {
            slot.compile_in_background();
        }
        super::wait();
        for slot in &slots {
            assert!(slot.is_settled() || !slot.is_requested());
            // What was forgotten can be asked for again.
            slot.compile_in_background();
        }
        super::wait();
    }
}
