//! Knows what each query holds, and which query the current thread works for.
//!
//! The accounts lie in an array that is there from the start, because an allocator cannot allocate. An
//! account is given to the next query when its last user has gone. Memory that one query has taken and
//! another frees, such as that of a dropped table, leaves the one who frees it with more than its due.
//!
//! An allocator cannot refuse: an account that holds more than it may is found by those who ask, in
//! every loop that may take much.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use basalt_error::{Error, ErrorCode, Result};

use crate::{freed, resident_bytes};

/// Queries that are counted at once; further ones are not.
const NUM_ACCOUNTS: usize = 256;

/// The account of those who work for no query that is counted.
const NOBODY: usize = 0;

/// Bytes that a thread may hold back before it tells its account: fewer would make threads wait for each
/// other's caches at every small allocation.
const PENDING_BYTES: usize = 64 << 10;

/// Bytes that a query may hold beyond its limit, at least: its own text and plans, batches on their way
/// from one operator to the next, files as they are read.
const LEAST_SLACK_BYTES: usize = 16 << 20;

/// Bytes by which an account must grow before the system is asked again what the process really uses.
const ASKING_STEP_BYTES: usize = 1 << 20;

#[derive(Debug)]
struct Cells {
    held_bytes: AtomicIsize,
    num_users: AtomicUsize,
    /// What the query should hold at most.
    limit_bytes: AtomicUsize,
}

static ACCOUNTS: [Cells; NUM_ACCOUNTS] = [const {
    Cells {
        held_bytes: AtomicIsize::new(0),
        num_users: AtomicUsize::new(0),
        limit_bytes: AtomicUsize::new(usize::MAX),
    }
}; NUM_ACCOUNTS];

// Without destructors, so that a thread that ends can still allocate and free.
thread_local! {
    static OWNER: Cell<usize> = const { Cell::new(NOBODY) };
    static PENDING: Cell<isize> = const { Cell::new(0) };
    /// All that this thread has told accounts.
    static TOLD: Cell<isize> = const { Cell::new(0) };
    /// What the account held when the system last said that the process uses less.
    static DENIED: Cell<usize> = const { Cell::new(0) };
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
        tell(owner, pending);
    }
}

fn tell(owner: usize, bytes: isize) {
    TOLD.set(TOLD.get().wrapping_add(bytes));
    ACCOUNTS[owner]
        .held_bytes
        .fetch_add(bytes, Ordering::Relaxed);
}

/// Bytes that this thread has taken and not freed while it worked for queries that are counted; only the
/// difference of two answers means something.
pub fn thread_bytes() -> isize {
    TOLD.get().wrapping_add(PENDING.get())
}

/// A query holds more than it may.
#[derive(Clone, Copy, Debug)]
struct Overdraft {
    held_bytes: usize,
    limit_bytes: usize,
}

impl Overdraft {
    #[cold]
    fn error(self) -> Error {
        Error::new(
            ErrorCode::MEMORY_LIMIT_EXCEEDED,
            format!(
                "Raise max_memory_usage or lower max_block_size: memory limit exceeded: the query holds \
                 {} bytes, allowed are {}",
                self.held_bytes, self.limit_bytes
            ),
        )
    }
}

/// Checks whether the query that this thread works for holds a quarter more than its limit, 16 MiB at
/// least. It takes a few nanoseconds: loops may ask at every step that takes memory.
///
/// # Errors
/// `MEMORY_LIMIT_EXCEEDED`.
#[inline]
pub fn check_limit() -> Result<()> {
    match OWNER.get() {
        NOBODY => Ok(()),
        owner => checked(owner, 0),
    }
}

/// Checks whether the query that this thread works for would hold more than it may, were that many bytes
/// taken at once. Whoever makes a large buffer asks before: behind it is too late.
///
/// # Errors
/// `MEMORY_LIMIT_EXCEEDED`.
#[inline]
pub fn check_room(bytes: usize) -> Result<()> {
    match OWNER.get() {
        NOBODY => Ok(()),
        owner => checked(owner, bytes),
    }
}

/// Bytes that the query that this thread works for may take up to its limit, slack not included;
/// `usize::MAX` if it has none.
pub fn room_bytes() -> usize {
    match OWNER.get() {
        NOBODY => usize::MAX,
        owner => match ACCOUNTS[owner].limit_bytes.load(Ordering::Relaxed) {
            usize::MAX => usize::MAX,
            limit_bytes => limit_bytes.saturating_sub(held_bytes_of(owner)),
        },
    }
}

fn held_bytes_of(owner: usize) -> usize {
    let held_bytes = ACCOUNTS[owner].held_bytes.load(Ordering::Relaxed);
    usize::try_from(held_bytes).unwrap_or(0)
}

/// Whether a query holds so much of what it may that it should be careful.
fn is_much(held_bytes: usize, limit_bytes: usize) -> bool {
    held_bytes > limit_bytes / 2
}

#[inline]
fn checked(owner: usize, more_bytes: usize) -> Result<()> {
    let limit_bytes = ACCOUNTS[owner].limit_bytes.load(Ordering::Relaxed);
    let held_bytes = held_bytes_of(owner).saturating_add(more_bytes);
    if !is_much(held_bytes, limit_bytes) {
        return Ok(());
    }
    // What was freed is of use to all who are short of memory.
    freed::give_back_soon();
    if held_bytes <= limit_bytes {
        return Ok(());
    }
    let overdraft = Overdraft {
        held_bytes,
        limit_bytes,
    };
    confirmed(overdraft, more_bytes).map_or(Ok(()), |overdraft| Err(overdraft.error()))
}

/// The overdraft, if it is beyond the slack and the process really uses so much, or would.
#[cold]
fn confirmed(overdraft: Overdraft, more_bytes: usize) -> Option<Overdraft> {
    let Overdraft {
        held_bytes,
        limit_bytes,
    } = overdraft;
    let slack_bytes = (limit_bytes / 4).max(LEAST_SLACK_BYTES);
    let most_bytes = limit_bytes.saturating_add(slack_bytes);
    let denied = DENIED.get();
    let was_asked = (denied..denied.saturating_add(ASKING_STEP_BYTES)).contains(&held_bytes);
    if held_bytes <= most_bytes || (denied > 0 && was_asked) {
        return None;
    }
    // Tables that grow hold memory that nobody has touched; what the process uses is more than that of
    // the query, and so the last word only if it is little.
    let more_bytes = more_bytes as u64;
    if resident_bytes().is_none_or(|bytes| bytes.saturating_add(more_bytes) > most_bytes as u64) {
        return Some(overdraft);
    }
    DENIED.set(held_bytes);
    None
}

/// Makes a thread work for another account, and gives the one before.
fn change_owner(owner: usize) -> usize {
    let before = OWNER.replace(owner);
    tell(before, PENDING.take());
    DENIED.set(0);
    before
}

/// One user's hold on an account.
#[derive(Debug)]
pub struct Account(usize);

impl Account {
    /// An account that nobody else has, of a query that should hold `limit_bytes` at most; one that
    /// counts nothing if there are too many.
    pub fn limited(limit_bytes: usize) -> Self {
        let account = Self::open();
        if !account.is_nobody() {
            let limit = &ACCOUNTS[account.0].limit_bytes;
            limit.store(limit_bytes, Ordering::Relaxed);
        }
        account
    }

    /// The same without a limit.
    pub fn open() -> Self {
        for (i, cells) in ACCOUNTS.iter().enumerate().skip(NOBODY + 1) {
            let is_free =
                cells
                    .num_users
                    .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed);
            if is_free.is_ok() {
                cells.held_bytes.store(0, Ordering::Relaxed);
                cells.limit_bytes.store(usize::MAX, Ordering::Relaxed);
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
        if self.is_nobody() {
            return 0;
        }
        held_bytes_of(self.0)
    }

    /// Checks whether the query holds a quarter more than its limit, 16 MiB at least.
    ///
    /// # Errors
    /// `MEMORY_LIMIT_EXCEEDED`.
    pub fn check_limit(&self) -> Result<()> {
        match self.0 {
            NOBODY => Ok(()),
            owner => checked(owner, 0),
        }
    }

    /// Whether the query holds so much that it should go on in files.
    pub fn is_short(&self) -> bool {
        let limit_bytes = ACCOUNTS[self.0].limit_bytes.load(Ordering::Relaxed);
        is_much(self.held_bytes(), limit_bytes)
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
    use super::{Account, check_limit, count, thread_bytes};

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
    fn who_holds_too_much_is_told_so() {
        let account = Account::limited(1_000_000);
        let _entered = account.enter();
        let before = thread_bytes();
        count(10_000_000);
        assert!(check_limit().is_ok());
        // Bytes that are really there: the system has the last word.
        let bytes = vec![1_u8; 60 << 20];
        assert_eq!(bytes.last(), Some(&1));
        assert!(thread_bytes() - before >= 10_000_000 + (60 << 20));
        assert!(check_limit().is_err() && account.check_limit().is_err());
        drop(bytes);
        assert!(check_limit().is_ok());
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
