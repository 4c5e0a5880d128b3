//! Gives other threads their share of the work before a task begins a long piece of it.
//!
//! A thread that ends what several tasks wait for wakes them all. The last of these it keeps for itself, in
//! tokio's LIFO slot, where no idle thread finds it (as of tokio 1.54). If it went on with a long piece of
//! its own task at once, that task would wait for the end of it, and another thread would have nothing to do.

use std::future::poll_fn;
use std::task::Poll;

use futures::{Stream, StreamExt};

/// Lets the tasks that this thread has woken, and this task, be taken by any thread.
///
/// This is not `tokio::task::yield_now`: that keeps the task from others until its thread is idle.
pub(crate) async fn hand_over() {
    let mut has_left = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_left, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// The stream, with a [`hand_over`] before its first item.
pub(crate) fn handed_over<S: Stream>(stream: S) -> impl Stream<Item = S::Item> {
    futures::stream::once(async move {
        hand_over().await;
        stream
    })
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use futures::FutureExt;
    use tokio::runtime::Builder;

    use super::hand_over;

    /// Keeps its thread until both tasks are there; whether they came to be at the same time.
    fn meet(num_there: &AtomicUsize) -> bool {
        num_there.fetch_add(1, Ordering::Relaxed);
        let end = Instant::now() + Duration::from_secs(20);
        while num_there.load(Ordering::Relaxed) < 2 && Instant::now() < end {
            std::thread::yield_now();
        }
        Instant::now() < end
    }

    #[test]
    fn tasks_that_waited_for_the_same_run_side_by_side() {
        let runtime = Builder::new_multi_thread().worker_threads(2).build();
        let runtime = runtime.unwrap();
        for _ in 0..20 {
            let num_there = Arc::new(AtomicUsize::new(0));
            let ready = tokio::task::yield_now().boxed().shared();
            let tasks = [ready.clone(), ready].map(|ready| {
                let num_there = Arc::clone(&num_there);
                runtime.spawn(async move {
                    ready.await;
                    hand_over().await;
                    meet(&num_there)
                })
            });
            for task in tasks {
                assert!(runtime.block_on(task).unwrap());
            }
        }
    }
}
