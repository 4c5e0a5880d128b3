//! Knows what each query holds, and which query the current thread works for.
//!
//! The accounts lie in an array that is there from the start, because an allocator cannot allocate. An
//! account is given to the next query when its last user has gone. Memory that one query has taken and
//! another frees, such as that of a dropped table, leaves the one who frees it with more than its due.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

/// Queries that are counted at once; further ones are not.
const NUM_ACCOUNTS: usize = 256;

/// The account of those who work for no query that is counted.
const NOBODY: usize = 0;

/// Bytes that a thread may hold back before it tells its account: fewer would make threads wait for each
/// other's caches at every small allocation.
const PENDING_BYTES: usize = 64 << 10;

#[derive(Debug)]
struct Cells {
    held_bytes: AtomicIsize,
    num_users: AtomicUsize,
}

static ACCOUNTS: [Cells; NUM_ACCOUNTS] = [const {
    Cells {
        held_bytes: AtomicIsize::new(0),
        num_users: AtomicUsize::new(0),
    }
}; NUM_ACCOUNTS];

// Without destructors, so that a thread that ends can still allocate and free.
thread_local! {
    static OWNER: Cell<usize> = const { Cell::new(NOBODY) };
    static PENDING: Cell<isize> = const { Cell::new(0) };
}

/// Counts bytes for the query that this thread works for: what is taken is positive.
#[inline]
pub(crate) fn count(bytes: isize) {
    let owner = OWNER.get();
    if owner == NOBODY {
        return;
    }
    let pending = PENDING.get().wrapping_add(bytes);
    if pending.unsigned_abs() < PENDING_BYTES {
        PENDING.set(pending);
    } else {
        PENDING.set(0);
        ACCOUNTS[owner]
            .held_bytes
            .fetch_add(pending, Ordering::Relaxed);
    }
}

/// Makes a thread work for another account, and gives the one before.
fn change_owner(owner: usize) -> usize {
    let before = OWNER.replace(owner);
    let pending = PENDING.take();
    ACCOUNTS[before]
        .held_bytes
        .fetch_add(pending, Ordering::Relaxed);
    before
}

/// One user's hold on an account.
#[derive(Debug)]
pub struct Account(usize);

impl Account {
    /// An account that nobody else has; one that counts nothing if there are too many.
    pub fn open() -> Self {
        for (i, cells) in ACCOUNTS.iter().enumerate().skip(NOBODY + 1) {
            let is_free =
                cells
                    .num_users
                    .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed);
            if is_free.is_ok() {
                cells.held_bytes.store(0, Ordering::Relaxed);
                return Self(i);
            }
        }
        Self(NOBODY)
    }

    /// An account that counts nothing.
    pub fn nobody() -> Self {
        Self(NOBODY)
    }

    /// The account that this thread works for.
    pub fn current() -> Self {
        Self::hold(OWNER.get())
    }

    fn hold(i: usize) -> Self {
        ACCOUNTS[i].num_users.fetch_add(1, Ordering::Relaxed);
        Self(i)
    }

    /// Whether this counts nothing.
    pub fn is_nobody(&self) -> bool {
        self.0 == NOBODY
    }

    /// Bytes taken and not freed by those who work for this account, but for what threads hold back.
    pub fn held_bytes(&self) -> usize {
        let held_bytes = ACCOUNTS[self.0].held_bytes.load(Ordering::Relaxed);
        if self.is_nobody() {
            return 0;
        }
        usize::try_from(held_bytes).unwrap_or(0)
    }

    /// Makes this thread work for the account until the guard goes.
    pub fn enter(&self) -> Entered<'_> {
        Entered {
            before: change_owner(self.0),
            account: PhantomData,
        }
    }
}

impl Clone for Account {
    fn clone(&self) -> Self {
        Self::hold(self.0)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        if !self.is_nobody() {
            ACCOUNTS[self.0].num_users.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// A thread's work for an account. It is the thread's own: the pointer keeps it from being sent.
#[derive(Debug)]
#[must_use]
pub struct Entered<'a> {
    before: usize,
    account: PhantomData<(&'a Account, *const ())>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        change_owner(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, count};

    #[test]
    fn a_thread_counts_for_the_innermost_account() {
        let (outer, inner) = (Account::open(), Account::open());
        {
            let _outer = outer.enter();
            count(1_000);
            {
                let _inner = inner.enter();
                count(10);
                count(-3);
            }
            count(2_000_000);
        }
        count(7);
        assert_eq!(outer.held_bytes(), 2_001_000);
        assert_eq!(inner.held_bytes(), 7);
    }

    #[test]
    fn an_account_is_free_after_its_last_user() {
        let account = Account::open();
        let current = {
            let _entered = account.enter();
            count(100);
            Account::current()
        };
        drop(account);
        assert_eq!(current.held_bytes(), 100);
        assert!(Account::current().is_nobody());
        assert_eq!(Account::nobody().held_bytes(), 0);
    }

    #[test]
    fn what_others_have_taken_does_not_go_below_nothing() {
        let account = Account::open();
        {
            let _entered = account.enter();
            count(-1_000_000);
        }
        assert_eq!(account.held_bytes(), 0);
    }
}
