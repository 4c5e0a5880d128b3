//! Lets one thread at a time use LLVM, and none any more when the process ends.
//!
//! At its end a process takes down what its libraries keep in static memory, while other threads still
//! run: a compilation in the background would then work on freed memory. So the end waits for the one
//! that runs, and no other begins.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// Whether the process ends; locked as long as LLVM is used.
static IS_ENDING: Mutex<bool> = Mutex::new(false);

/// Longest wait for a compilation, in milliseconds: should it be LLVM that ends the process, in the middle
/// of one, nobody waits for ever.
const MAX_WAIT_MS: u32 = 5_000;

/// The right to use LLVM until it is dropped.
pub(super) fn take() -> Result<MutexGuard<'static, bool>, &'static str> {
    let turn = IS_ENDING.lock().unwrap_or_else(PoisonError::into_inner);
    if *turn {
        return Err("the process ends");
    }
    Ok(turn)
}

unsafe extern "C" {
    /// Has the C library call `handler` when the process ends.
    fn atexit(handler: extern "C" fn()) -> c_int;
}

/// Makes the end of the process wait. To be called before LLVM is loaded, so that no end overtakes the
/// loading, and once more afterwards: handlers run in the reverse order of their registration, so the
/// second one runs before those of LLVM.
pub(super) fn end_with_process() {
    // SAFETY: (function) it neither unwinds nor needs anything but static memory. A handler that finds no
    //         place is an end that does not wait, as it would be without one.
    unsafe { atexit(wait_for_last) };
}

extern "C" fn wait_for_last() {
    for _ in 0..MAX_WAIT_MS {
        match IS_ENDING.try_lock() {
            Ok(mut turn) => {
                *turn = true;
                return;
            }
            Err(TryLockError::Poisoned(turn)) => {
                *turn.into_inner() = true;
                return;
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
