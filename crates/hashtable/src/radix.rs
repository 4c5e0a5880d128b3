//! Splits rows by the high bits of their hashes, with a counting sort.

/// Rows in the order of their partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partitions {
    /// Row numbers, those of partition 0 first; within a partition in their order.
    pub rows: Vec<u32>,
    /// Where each partition starts in `rows`, and the end.
    pub offsets: Vec<u32>,
}

impl Partitions {
    /// Places in `rows` of a partition.
    pub fn range(&self, partition: usize) -> std::ops::Range<usize> {
        self.offsets[partition] as usize..self.offsets[partition + 1] as usize
    }

    /// Rows of a partition.
    pub fn rows_of(&self, partition: usize) -> &[u32] {
        &self.rows[self.range(partition)]
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        (self.rows.capacity() + self.offsets.capacity()) * size_of::<u32>()
    }
}

/// The partition of a hash among 2^`bits`.
#[inline]
pub fn partition_of(hash: u64, bits: u32) -> usize {
    (hash >> 32 >> (32 - bits)) as usize
}

/// The part of a hash among `num_parts`, by multiplying instead of dividing.
///
/// Source: D. Lemire, "A fast alternative to the modulo reduction", 2016.
#[inline]
pub fn fast_range(hash: u64, num_parts: usize) -> usize {
    (((hash >> 32) * num_parts as u64) >> 32) as usize
}

/// Splits rows into 2^`bits` partitions by their hashes; there are fewer than 2^32 rows, and
/// `bits` is at most 32.
pub fn partition(hashes: &[u64], bits: u32) -> Partitions {
    partition_by(hashes, 1 << bits, |hash| partition_of(hash, bits))
}

/// Splits rows into `num_partitions` partitions as `partition_of` says for their hashes; there are
/// fewer than 2^32 rows.
pub fn partition_by(
    hashes: &[u64],
    num_partitions: usize,
    partition_of: impl Fn(u64) -> usize,
) -> Partitions {
    let mut offsets = vec![0u32; num_partitions + 1];
    for hash in hashes {
        offsets[partition_of(*hash) + 1] += 1;
    }
    for i in 0..num_partitions {
        offsets[i + 1] += offsets[i];
    }
    let mut next = offsets.clone();
    let mut rows = vec![0u32; hashes.len()];
    for (row, hash) in hashes.iter().enumerate() {
        let place = &mut next[partition_of(*hash)];
        rows[*place as usize] = row as u32;
        *place += 1;
    }
    Partitions { rows, offsets }
}

#[cfg(test)]
mod tests {
    use super::{partition, partition_of};
    use crate::hash::{Fold, HashWord};

    #[test]
    fn every_row_is_in_its_partition_once() {
        for (num_rows, bits) in [(0u64, 3), (1, 0), (1000, 0), (1000, 4), (10_000, 8)] {
            let hashes: Vec<u64> = (0..num_rows).map(Fold::hash).collect();
            let split = partition(&hashes, bits);
            let mut seen = vec![false; hashes.len()];
            for p in 0..1 << bits {
                assert!(split.rows_of(p).is_sorted());
                for row in split.rows_of(p) {
                    assert_eq!(partition_of(hashes[*row as usize], bits), p);
                    assert!(!std::mem::replace(&mut seen[*row as usize], true));
                }
            }
            assert!(seen.into_iter().all(|s| s));
        }
    }
}
