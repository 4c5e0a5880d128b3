//! Tells the accounts what an allocator gives out and takes back.
//!
//! `unsafe` stands here because `GlobalAlloc` is an unsafe trait; every call goes on to the allocator inside
//! as it came.

use std::alloc::{GlobalAlloc, Layout};

use crate::account::count;

/// The allocator inside, counted.
#[derive(Debug, Default)]
pub struct Counting<A>(pub A);

/// What a layout takes, as accounts count it; a layout has at most `isize::MAX` bytes.
fn bytes_of(layout: Layout) -> isize {
    isize::try_from(layout.size()).unwrap_or(isize::MAX)
}

// SAFETY: Every method hands its arguments to the same method of `A`, which is a `GlobalAlloc`, and gives
// its answer back; `count` neither allocates nor panics.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(bytes_of(layout));
        // SAFETY: The caller's promise for `layout` is the one that is asked for.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-bytes_of(layout));
        // SAFETY: The pointer came from `self.0` with this layout, as the caller promises of `self`.
        unsafe { self.0.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(bytes_of(layout));
        // SAFETY: As for `alloc`.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let new_bytes = isize::try_from(new_size).unwrap_or(isize::MAX);
        count(new_bytes.wrapping_sub(bytes_of(layout)));
        // SAFETY: As for `dealloc`, and the caller's promise for `new_size` is the one that is asked for.
        unsafe { self.0.realloc(pointer, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::System;

    use super::Counting;
    use crate::Account;

    #[global_allocator]
    static ALLOCATOR: Counting<System> = Counting(System);

    #[test]
    fn what_is_freed_is_held_no_more() {
        let account = Account::open();
        let held = |work: fn() -> Vec<u8>| {
            let kept = {
                let _entered = account.enter();
                work()
            };
            let bytes = account.held_bytes();
            let _entered = account.enter();
            drop(kept);
            bytes
        };
        assert_eq!(held(|| vec![1; 1_000_000]), 1_000_000);
        assert_eq!(held(|| vec![0; 1_000_000]), 1_000_000);
        let grown = held(|| {
            let mut bytes = Vec::with_capacity(10);
            bytes.reserve_exact(500_000);
            bytes
        });
        assert_eq!(grown, 500_000);
        assert_eq!(account.held_bytes(), 0);
    }
}
