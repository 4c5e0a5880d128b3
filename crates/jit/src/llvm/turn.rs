//! Lets one thread at a time use LLVM.

use std::sync::{Mutex, MutexGuard, PoisonError};

static TURN: Mutex<()> = Mutex::new(());

/// The right to use LLVM until it is dropped.
pub(super) fn take() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for who uses LLVM, and gives nobody a turn any more: they wait until the process has ended.
pub(super) fn end() {
    let _kept = std::mem::ManuallyDrop::new(take());
}
