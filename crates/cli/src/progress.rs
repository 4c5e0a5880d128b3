//! Shows how far a running query is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use basalt_engine::session::Running;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

/// How often the bar is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// Queries that are done before this show no bar.
const DELAY: Duration = Duration::from_millis(200);

/// A bar that follows a session's running query until it is dropped.
pub(crate) struct Progress {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    /// Starts to watch; `None` if no thread can be had for it.
    pub(crate) fn watch(running: Running) -> Option<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .spawn(move || draw(&running, &stopped))
            .ok()?;
        Some(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A bar that broke has nothing to say about the query.
            let _ = thread.join();
        }
    }
}

fn draw(running: &Running, stopped: &AtomicBool) {
    let bar = ProgressBar::no_length();
    let style = ProgressStyle::with_template("{spinner} {msg} {wide_bar:.cyan/blue} {percent:>3}%");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    std::thread::park_timeout(DELAY);
    while !stopped.load(Ordering::Relaxed) {
        if let Some(control) = running.control() {
            let (rows, bytes) = (control.rows_read(), control.bytes_read());
            let seconds = control.elapsed().as_secs_f64().max(1e-9);
            bar.set_length(control.rows_to_read().max(rows).max(1));
            bar.set_position(rows);
            bar.set_message(format!(
                "{} rows, {} ({} rows/s, {}/s)",
                HumanCount(rows),
                HumanBytes(bytes),
                HumanCount((rows as f64 / seconds) as u64),
                HumanBytes((bytes as f64 / seconds) as u64),
            ));
        }
        std::thread::park_timeout(INTERVAL);
    }
    bar.finish_and_clear();
}
