//! HyperLogLog with a small exact set in front of it.

use basalt_error::Result;
use hashbrown::HashTable;

use super::bias::bias;
use crate::aggregate::grouped::{ByteReader, damaged};
use crate::aggregate::row_keys::mix;

/// How a counter of one function works.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Cells are `2^precision`.
    pub(super) precision: u8,
    /// Hashes that are kept exactly before the cells are used.
    pub(super) exact_len: usize,
    /// Bits of a hash that are used.
    pub(super) hash_bits: u8,
}

impl Shape {
    /// The bits of a hash that are used.
    pub(super) fn used(self, hash: u64) -> u64 {
        hash & (u64::MAX >> (64 - self.hash_bits))
    }
}

/// The values of a group, given by their hashes.
#[derive(Debug)]
pub(super) enum Counter {
    /// The distinct hashes.
    Exact(HashTable<u64>),
    /// The largest rank that each cell has seen.
    Cells(Box<[u8]>),
}

impl Default for Counter {
    fn default() -> Self {
        Counter::Exact(HashTable::new())
    }
}

impl Counter {
    /// Adds a value by its hash.
    pub(super) fn insert(&mut self, shape: Shape, hash: u64) {
        match self {
            Counter::Cells(cells) => raise(cells, shape, hash),
            Counter::Exact(hashes) => {
                if hashes.len() < shape.exact_len {
                    hashes
                        .entry(mix(hash), |h| *h == hash, |h| mix(*h))
                        .or_insert(hash);
                    return;
                }
                if hashes.find(mix(hash), |h| *h == hash).is_some() {
                    return;
                }
                let mut cells = vec![0; 1 << shape.precision].into_boxed_slice();
                hashes.iter().for_each(|h| raise(&mut cells, shape, *h));
                raise(&mut cells, shape, hash);
                *self = Counter::Cells(cells);
            }
        }
    }

    /// Adds the values of another counter of the same shape.
    pub(super) fn merge(&mut self, shape: Shape, other: Counter) {
        match (&mut *self, other) {
            (_, Counter::Exact(hashes)) => hashes.iter().for_each(|h| self.insert(shape, *h)),
            (Counter::Cells(cells), Counter::Cells(others)) => {
                cells
                    .iter_mut()
                    .zip(&others)
                    .for_each(|(c, o)| *c = (*c).max(*o));
            }
            (Counter::Exact(hashes), Counter::Cells(mut cells)) => {
                hashes.iter().for_each(|h| raise(&mut cells, shape, *h));
                *self = Counter::Cells(cells);
            }
        }
    }

    /// The estimated number of distinct values.
    pub(super) fn estimate(&self) -> u64 {
        match self {
            Counter::Exact(hashes) => hashes.len() as u64,
            Counter::Cells(cells) => estimate(cells),
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Counter::Exact(hashes) => hashes.allocation_size(),
            Counter::Cells(cells) => cells.len(),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Counter::Exact(hashes) => {
                out.push(0);
                out.extend_from_slice(&(hashes.len() as u64).to_le_bytes());
                hashes
                    .iter()
                    .for_each(|h| out.extend_from_slice(&h.to_le_bytes()));
            }
            Counter::Cells(cells) => {
                out.push(1);
                out.extend_from_slice(cells);
            }
        }
    }

    pub(super) fn read(shape: Shape, bytes: &mut ByteReader<'_>) -> Result<Self> {
        match bytes.u8()? {
            0 => {
                let len = bytes.len(size_of::<u64>())?;
                let mut counter = Counter::default();
                for _ in 0..len {
                    counter.insert(shape, bytes.u64()?);
                }
                Ok(counter)
            }
            1 => Ok(Counter::Cells(bytes.bytes(1 << shape.precision)?.into())),
            _ => Err(damaged()),
        }
    }
}

/// The low bits of a hash choose the cell, the zeros at the low end of the rest are its rank.
fn raise(cells: &mut [u8], shape: Shape, hash: u64) {
    let mask = (1u64 << shape.precision) - 1;
    let rest_bits = shape.hash_bits - shape.precision;
    let rest = hash >> shape.precision;
    let rank = (rest.trailing_zeros() as u8).min(rest_bits) + 1;
    let cell = &mut cells[(hash & mask) as usize];
    *cell = (*cell).max(rank);
}

/// Number of cells for which the bias is known.
const BIASED_CELLS: usize = 1 << 17;

/// Up to here counting the empty ones of so many cells is better than the estimate without bias.
const LINEAR_BELOW: f64 = 177_700.0;

fn estimate(cells: &[u8]) -> u64 {
    let num_cells = cells.len() as f64;
    let mut of_rank = [0u32; 65];
    for rank in cells {
        of_rank[usize::from(*rank).min(64)] += 1;
    }
    let sum: f64 = of_rank
        .iter()
        .enumerate()
        .map(|(rank, count)| f64::from(*count) * 0.5f64.powi(rank as i32))
        .sum();
    let alpha = 0.7213 / (1.0 + 1.079 / num_cells);
    let raw = alpha * num_cells * num_cells / sum;
    let linear = match of_rank[0] {
        0 => None,
        zeros => Some(num_cells * (num_cells.ln() - f64::from(zeros).ln())),
    };
    let corrected = match linear {
        Some(linear) if cells.len() == BIASED_CELLS && linear < LINEAR_BELOW => linear,
        _ if cells.len() == BIASED_CELLS => raw - bias(raw),
        Some(linear) if raw <= 2.5 * num_cells => linear,
        _ => raw,
    };
    corrected.round() as u64
}
