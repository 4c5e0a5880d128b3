//! Keeps one call of a function from taking more memory than its query may.
//!
//! The columns that functions make are not counted while a plan runs, and a call can make gigabytes of a
//! few bytes: `repeat`, `range`. So writers of columns ask, before they grow, what the call may take; and
//! loops that keep or make much ask now and then whether the whole query holds too much.

use std::cell::Cell;

use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::check_limit;

use crate::Context;

thread_local! {
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Bytes that one call may take in a query with these settings.
pub(crate) fn limit_of(context: &Context) -> usize {
    limit_in(context).unwrap_or(context.machine_memory_bytes)
}

/// Whether a query with these settings may take only so much.
pub(crate) fn is_limited(context: &Context) -> bool {
    limit_in(context).is_some()
}

fn limit_in(context: &Context) -> Option<usize> {
    let bytes = context.settings.get("max_memory_usage")?.parse().ok()?;
    (bytes > 0).then_some(bytes)
}

/// Bytes that the call may take which this thread is in.
pub(crate) fn limit() -> usize {
    LIMIT.get()
}

/// Does the work of a call that may take `limit` bytes, and no more than the call around it.
pub(crate) fn within<T>(limit: usize, work: impl FnOnce() -> T) -> T {
    /// Puts the limit of the call around back, also behind a panic.
    struct Before(usize);
    impl Drop for Before {
        fn drop(&mut self) {
            LIMIT.set(self.0);
        }
    }
    let before = Before(LIMIT.get());
    LIMIT.set(limit.min(before.0));
    work()
}

/// Checks whether the call may take so many bytes.
///
/// # Errors
/// `MEMORY_LIMIT_EXCEEDED`.
pub(crate) fn check(size_bytes: usize) -> Result<()> {
    let limit = limit();
    if size_bytes <= limit {
        return check_limit();
    }
    Err(Error::new(
        ErrorCode::MEMORY_LIMIT_EXCEEDED,
        format!(
            "Raise max_memory_usage or lower max_block_size: memory limit exceeded: one column would \
             take {size_bytes} bytes, allowed are {limit}"
        ),
    ))
}
