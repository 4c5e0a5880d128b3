//! The settings of a table on disk, by ClickHouse's names.

use std::time::Duration;

/// Limits and times of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Parts of a partition from which on inserts wait; 0: never.
    pub parts_to_delay_insert: u64,
    /// Parts of a partition from which on inserts fail; 0: never.
    pub parts_to_throw_insert: u64,
    /// How long an insert waits at most.
    pub max_delay_to_insert: Duration,
    /// How long an insert that waits does so at least.
    pub min_delay_to_insert: Duration,
    /// Bytes of the parts that one background merge takes.
    pub max_bytes_to_merge: u64,
    /// How long the files of merged parts stay for readers of other processes.
    pub old_parts_lifetime: Duration,
    /// How long a part with expired rows stays before it is written anew for them alone.
    pub ttl_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            parts_to_delay_insert: 1000,
            parts_to_throw_insert: 3000,
            max_delay_to_insert: Duration::from_secs(1),
            min_delay_to_insert: Duration::from_millis(10),
            max_bytes_to_merge: 150 << 30,
            old_parts_lifetime: Duration::from_secs(8 * 60),
            ttl_timeout: Duration::from_secs(4 * 60 * 60),
        }
    }
}

/// Parts that a setting of `n` parts allows.
pub(super) fn reaches(num_parts: usize, limit: u64) -> bool {
    limit > 0 && num_parts as u64 >= limit
}
