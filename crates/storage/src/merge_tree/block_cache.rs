//! Keeps decoded groups of columns for the next query, as many as fit into a limit.
//!
//! Groups that were asked for more than once stay before those that one scan of a large table brings in (Clock-PRO,
//! by `quick_cache`). What is decoded about as fast as it is read from memory is not kept at all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arrow::array::{Array, ArrayRef};
use basalt_profile::Account;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// What decoding a byte must cost at least for the result to be kept, in nanoseconds: about what it costs to
/// bring it back from memory.
const LEAST_BYTE_NS: f64 = 0.1;

/// About the bytes of a column's group, by which the cache guesses how many it will hold.
const USUAL_BYTES: u64 = 256 << 10;

/// A group of a column of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// A number that no other part of the process has.
    pub(super) part: u64,
    pub(super) column: u32,
    pub(super) group: u32,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Key, ArrayRef> for Bytes {
    fn weight(&self, _: &Key, array: &ArrayRef) -> u64 {
        array.get_array_memory_size() as u64
    }
}

/// Decoded groups of the columns of all tables that share the cache.
#[derive(Debug)]
pub struct BlockCache {
    groups: Cache<Key, ArrayRef, Bytes>,
    /// What it may hold, which the groups' parts round up.
    capacity_bytes: AtomicU64,
}

impl Default for BlockCache {
    /// A cache that keeps nothing.
    fn default() -> Self {
        Self::new(0)
    }
}

impl BlockCache {
    /// A cache of at most so many bytes.
    pub fn new(capacity_bytes: u64) -> Self {
        let num_groups = capacity_bytes / USUAL_BYTES;
        let num_groups = usize::try_from(num_groups).unwrap_or(usize::MAX);
        Self {
            groups: Cache::with_weighter(num_groups, capacity_bytes, Bytes),
            capacity_bytes: AtomicU64::new(capacity_bytes),
        }
    }

    /// Changes how much it may hold; what is too much goes.
    pub fn set_capacity(&self, capacity_bytes: u64) {
        let before = self.capacity_bytes.swap(capacity_bytes, Ordering::Relaxed);
        if before != capacity_bytes {
            let nobody = Account::nobody();
            let _entered = nobody.enter();
            self.groups.set_capacity(capacity_bytes);
        }
    }

    /// Bytes that it may hold.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes.load(Ordering::Relaxed)
    }

    /// Bytes that it holds.
    pub fn held_bytes(&self) -> u64 {
        self.groups.weight()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let nobody = Account::nobody();
        let _entered = nobody.enter();
        self.groups.clear();
    }

    pub(super) fn get(&self, key: Key) -> Option<ArrayRef> {
        self.groups.get(&key)
    }

    /// Keeps a group, if reading and decoding it took so long that this pays. Its memory must be in no query's account.
    pub(super) fn offer(&self, key: Key, array: &ArrayRef, elapsed: Duration) -> bool {
        let bytes = array.get_array_memory_size();
        let is_cheap = (elapsed.as_nanos() as f64) < bytes as f64 * LEAST_BYTE_NS;
        // The library would make room for what can never fit.
        if is_cheap || bytes as u64 > self.groups.shard_capacity() {
            return false;
        }
        // What goes for it is no query's.
        let nobody = Account::nobody();
        let _entered = nobody.enter();
        self.groups.insert(key, ArrayRef::clone(array));
        true
    }

    /// Forgets the groups of a part's column that is gone.
    pub(super) fn forget(&self, (part, column): (u64, u32), num_groups: usize) {
        let nobody = Account::nobody();
        let _entered = nobody.enter();
        for group in 0..u32::try_from(num_groups).unwrap_or(u32::MAX) {
            self.groups.remove(&Key {
                part,
                column,
                group,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use arrow::array::{ArrayRef, UInt64Array};

    use super::{BlockCache, Key};

    fn key(group: u32) -> Key {
        Key {
            part: 1,
            column: 0,
            group,
        }
    }

    fn array() -> ArrayRef {
        Arc::new(UInt64Array::from(vec![1; 1000]))
    }

    #[test]
    fn it_stays_within_its_limit() {
        let cache = BlockCache::new(1 << 20);
        for group in 0..10_000 {
            cache.offer(key(group), &array(), Duration::from_secs(1));
            assert!(cache.held_bytes() <= 1 << 20);
        }
        assert!(cache.held_bytes() > 1 << 19);
        cache.set_capacity(0);
        assert_eq!(cache.held_bytes(), 0);
        cache.offer(key(0), &array(), Duration::from_secs(1));
        assert!(cache.get(key(0)).is_none());
    }

    #[test]
    fn what_is_decoded_fast_is_not_kept() {
        let cache = BlockCache::new(1 << 20);
        cache.offer(key(0), &array(), Duration::from_nanos(10));
        cache.offer(key(1), &array(), Duration::from_micros(10));
        assert!(cache.get(key(0)).is_none());
        assert!(cache.get(key(1)).is_some());
        cache.forget((1, 0), 2);
        assert!(cache.get(key(1)).is_none());
    }
}
