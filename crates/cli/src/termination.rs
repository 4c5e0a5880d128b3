//! Ends the process when it is asked to end, and leaves no files of its queries behind.

/// Ends the process while queries run.
pub(crate) fn leave(code: i32) -> ! {
    basalt_engine::prepare_exit();
    std::process::exit(code)
}

/// Leaves on SIGTERM from now on, as programs do that do not listen to it.
#[cfg(unix)]
pub(crate) fn listen() {
    use tokio::signal::unix::{SignalKind, signal};

    let kind = SignalKind::terminate();
    let wait = async move || Ok::<_, std::io::Error>(signal(kind)?.recv().await);
    std::thread::spawn(move || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let signal = builder.enable_all().build().map(|r| r.block_on(wait()));
        // Where nobody can listen, the system ends the process.
        if matches!(signal, Ok(Ok(Some(())))) {
            // As shells have it.
            leave(128 + kind.as_raw_value());
        }
    });
}

/// Here, nobody asks.
#[cfg(not(unix))]
pub(crate) fn listen() {}
