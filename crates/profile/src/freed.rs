//! Keeps memory that was freed for the next query, instead of giving it back to the system at once.
//!
//! The first touch of a page costs more than what is done with it: the system clears it, and under a
//! hypervisor finds memory for it, too. A query that needs 600 MB anew takes 0.47 s where it takes 0.28 s
//! with memory that was kept (`GROUP BY` of 10 million URLs; benchmarks/record/2026-11-24-group-by.md).

use std::time::Duration;

use libmimalloc_sys::{mi_option_set_default, mi_option_t};

/// `mi_option_purge_delay` of mimalloc.h, which the crate that binds it leaves out.
const PURGE_DELAY: mi_option_t = 15;

/// Lets mimalloc, if that is the allocator, keep memory that was freed for about so long: it looks at the time
/// when memory is asked for or freed, and for many pieces of memory together.
///
/// The environment's `MIMALLOC_PURGE_DELAY` (milliseconds) goes before it.
pub fn keep_freed_memory(delay: Duration) {
    let millis = delay.as_millis().try_into().unwrap_or(i32::MAX);
    // SAFETY: The option exists, so the call writes a number into mimalloc's table of options.
    unsafe { mi_option_set_default(PURGE_DELAY, millis.into()) };
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use libmimalloc_sys::mi_option_get;

    use super::{PURGE_DELAY, keep_freed_memory};

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
        assert_eq!(delay(), 7000);
    }
}
