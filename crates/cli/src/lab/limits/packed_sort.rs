//! Sorts words of 64 bits that hold all keys of a row: split by their highest bits, then each part in a core's cache.

use std::sync::Mutex;
use std::time::Instant;

use basalt_adapt::Random;
use basalt_error::{Error, Result};
use basalt_kernels::radix_sort::radix_sort;

use crate::lab::Setup;

/// Bits of the words: two keys of ten bits and one of forty.
const WORD_BITS: u32 = 60;

/// Bits of the number of a part, of which each core's cache holds one.
const PART_BITS: u32 = 11;

const NUM_PARTS: usize = 1 << PART_BITS;

/// Words that are collected for a part before they are written to it: a line of the cache.
const LINE_WORDS: usize = 8;

/// Fills rows with words.
pub(super) fn fill(rows: &mut [u64], random: &mut Random) {
    for row in rows {
        *row = random.bits() >> (u64::BITS - WORD_BITS);
    }
}

fn part_of(word: u64) -> usize {
    (word >> (WORD_BITS - PART_BITS)) as usize
}

/// The memory that a sort needs.
pub(super) struct Sorter {
    sorted: Vec<u64>,
    scratch: Vec<u64>,
}

/// Words of a part, and as much memory for them.
type Part<'a> = (&'a mut [u64], &'a mut [u64]);

impl Sorter {
    /// Memory for the rows of `setup`.
    pub(super) fn new(setup: &Setup) -> Result<Self> {
        let mut sorted = setup.allocate(setup.num_rows)?;
        sorted.resize(setup.num_rows, 0);
        let mut scratch = setup.allocate(setup.num_rows)?;
        scratch.resize(setup.num_rows, 0);
        Ok(Self { sorted, scratch })
    }

    /// Seconds of sorting `rows`.
    pub(super) fn sort(&mut self, setup: &Setup, rows: &[u64]) -> f64 {
        let started = Instant::now();
        let counts = setup.in_parallel(|range| counts(&rows[range]));
        let places = places_of_threads(&mut self.sorted, &counts);
        std::thread::scope(|scope| {
            let mut rest = rows;
            for (counts, places) in counts.iter().zip(places) {
                let (rows, others) = rest.split_at(counts.iter().sum());
                rest = others;
                scope.spawn(|| split(rows, places));
            }
        });
        let len = |part: usize| counts.iter().map(|counts| counts[part]).sum();
        let lens: Vec<usize> = (0..NUM_PARTS).map(len).collect();
        let words = cut(&mut self.sorted, &lens);
        let scratch = cut(&mut self.scratch, &lens);
        let parts: Mutex<Vec<Part<'_>>> = Mutex::new(words.into_iter().zip(scratch).collect());
        std::thread::scope(|scope| {
            for _ in 0..setup.num_threads {
                scope.spawn(|| {
                    let next = || parts.lock().ok()?.pop();
                    while let Some((words, scratch)) = next() {
                        radix_sort(words, scratch);
                    }
                });
            }
        });
        started.elapsed().as_secs_f64()
    }

    /// Makes sure that the words stand in order and are those of `rows`.
    pub(super) fn check(&self, rows: &[u64]) -> Result<()> {
        let sum = |words: &[u64]| words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
        if self.sorted.is_sorted() && sum(&self.sorted) == sum(rows) {
            return Ok(());
        }
        Err(Error::bug("the words are not sorted"))
    }
}

fn counts(rows: &[u64]) -> Vec<usize> {
    let mut counts = vec![0; NUM_PARTS];
    for row in rows {
        counts[part_of(*row)] += 1;
    }
    counts
}

/// Memory cut into pieces of these lengths.
fn cut<'a>(mut memory: &'a mut [u64], lens: &[usize]) -> Vec<&'a mut [u64]> {
    let mut pieces = Vec::with_capacity(lens.len());
    for len in lens {
        let (piece, rest) = memory.split_at_mut(*len);
        pieces.push(piece);
        memory = rest;
    }
    pieces
}

/// For each thread, where its words of each part go.
fn places_of_threads<'a>(memory: &'a mut [u64], counts: &[Vec<usize>]) -> Vec<Vec<&'a mut [u64]>> {
    let lens = (0..NUM_PARTS).flat_map(|part| counts.iter().map(move |counts| counts[part]));
    let mut pieces = cut(memory, &lens.collect::<Vec<_>>()).into_iter();
    let mut of_threads: Vec<Vec<&mut [u64]>> = Vec::new();
    of_threads.resize_with(counts.len(), || Vec::with_capacity(NUM_PARTS));
    for _ in 0..NUM_PARTS {
        for (places, piece) in of_threads.iter_mut().zip(&mut pieces) {
            places.push(piece);
        }
    }
    of_threads
}

/// Writes words to their parts, a line of the cache at a time.
fn split(rows: &[u64], mut places: Vec<&mut [u64]>) {
    let mut lines = vec![[0u64; LINE_WORDS]; NUM_PARTS];
    let mut lens = vec![0u8; NUM_PARTS];
    let mut write = |part: usize, words: &[u64]| {
        let place = std::mem::take(&mut places[part]);
        let (filled, rest) = place.split_at_mut(words.len());
        filled.copy_from_slice(words);
        places[part] = rest;
    };
    for row in rows {
        let part = part_of(*row);
        let len = usize::from(lens[part]);
        lines[part][len] = *row;
        if len + 1 == LINE_WORDS {
            write(part, &lines[part]);
            lens[part] = 0;
        } else {
            lens[part] += 1;
        }
    }
    for (part, len) in lens.into_iter().enumerate() {
        write(part, &lines[part][..usize::from(len)]);
    }
}

#[cfg(test)]
mod tests {
    use basalt_adapt::Random;

    use super::{Sorter, fill};
    use crate::lab::Setup;

    #[test]
    fn words_are_sorted_and_none_is_lost() {
        for (num_rows, num_threads) in [(0, 1), (1, 2), (100_000, 1), (100_001, 3)] {
            let setup = Setup {
                num_rows,
                num_rounds: 1,
                num_threads,
                seed: 0,
                level: None,
                is_json: false,
            };
            let mut rows = vec![0; num_rows];
            fill(&mut rows, &mut Random::new(num_rows as u64));
            let mut sorter = Sorter::new(&setup).unwrap();
            sorter.sort(&setup, &rows);
            sorter.check(&rows).unwrap();
            assert!(num_rows < 2 || sorter.check(&rows[1..]).is_err());
        }
    }
}
