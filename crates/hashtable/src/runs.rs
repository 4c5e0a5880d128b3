//! Finds runs of equal keys: one search serves all rows of a run.
//!
//! Rows often come in the order of what they are grouped by, or nearly so. Where they do not, the
//! look at neighbours would be for nothing, so it is soon left out for most chunks.

use crate::TableFull;

/// Rows that go through the small loops together. Their hashes and first slots stay in the L1
/// cache, and a table is grown at most once for them.
pub(crate) const CHUNK: usize = 256;

/// Rows of a run on average for runs to be worth it.
const MIN_RUN: usize = 4;

/// Chunks without runs before the next that is looked at.
const CHUNKS_BETWEEN: u8 = 15;

/// Looks for runs, and stops where there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFinder {
    /// Chunks to leave out.
    num_left_out: u8,
}

/// The keys of a chunk without repetitions of the one before.
#[derive(Debug)]
struct Runs<K> {
    keys: [K; CHUNK],
    num_runs: usize,
    /// The run of each row.
    run_of_row: [u8; CHUNK],
    num_rows: usize,
}

impl RunFinder {
    /// Appends the group of each key to `groups`; `intern` writes those of the keys of a chunk, of
    /// which there may be one for each run.
    ///
    /// # Errors
    /// What `intern` reports.
    #[inline]
    pub(crate) fn intern<K: Copy + Default>(
        &mut self,
        keys: &[K],
        groups: &mut Vec<u32>,
        is_same: impl Fn(K, K) -> bool,
        mut intern: impl FnMut(&[K], &mut [u32]) -> Result<(), TableFull>,
    ) -> Result<(), TableFull> {
        let start = groups.len();
        groups.resize(start + keys.len(), 0);
        let groups = groups[start..].chunks_mut(CHUNK);
        for (chunk, groups) in keys.chunks(CHUNK).zip(groups) {
            match self.runs(chunk, &is_same) {
                None => intern(chunk, groups)?,
                Some(runs) => {
                    let mut of_runs = [0; CHUNK];
                    intern(runs.keys(), &mut of_runs)?;
                    runs.spread(&of_runs, groups);
                }
            }
        }
        Ok(())
    }

    /// The runs of a chunk; `None` if they are not worth it, or this chunk is left out.
    #[inline]
    fn runs<K: Copy + Default>(
        &mut self,
        chunk: &[K],
        is_same: impl Fn(K, K) -> bool,
    ) -> Option<Runs<K>> {
        if self.num_left_out > 0 {
            self.num_left_out -= 1;
            return None;
        }
        let runs = Runs::of(chunk, is_same);
        // Putting runs apart again costs more than a search in the nearest cache: where two keys
        // take turns, or most strings are empty, runs are not worth it.
        if runs.num_runs > chunk.len() / MIN_RUN {
            self.num_left_out = CHUNKS_BETWEEN;
            return None;
        }
        Some(runs)
    }
}

impl<K: Copy + Default> Runs<K> {
    #[inline]
    fn of(chunk: &[K], is_same: impl Fn(K, K) -> bool) -> Self {
        let mut runs = Self {
            keys: [K::default(); CHUNK],
            num_runs: 0,
            run_of_row: [0; CHUNK],
            num_rows: chunk.len().min(CHUNK),
        };
        let Some(first) = chunk.first() else {
            return runs;
        };
        runs.keys[0] = *first;
        let (mut last, mut before) = (0, *first);
        for (run, key) in runs.run_of_row.iter_mut().zip(chunk) {
            // No branch: runs have any lengths.
            last += u8::from(!is_same(*key, before));
            runs.keys[usize::from(last)] = *key;
            *run = last;
            before = *key;
        }
        runs.num_runs = usize::from(last) + 1;
        runs
    }

    /// The key of each run.
    #[inline]
    fn keys(&self) -> &[K] {
        &self.keys[..self.num_runs]
    }

    /// Gives each row of the chunk what its run has.
    #[inline]
    fn spread(&self, of_runs: &[u32; CHUNK], of_rows: &mut [u32]) {
        let runs = &self.run_of_row[..self.num_rows];
        for (of_row, run) in of_rows.iter_mut().zip(runs) {
            *of_row = of_runs[usize::from(*run)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, CHUNKS_BETWEEN, RunFinder};

    fn runs_of(finder: &mut RunFinder, keys: &[u64]) -> Option<Vec<u64>> {
        let runs = finder.runs(keys, |a, b| a == b)?;
        let mut of_runs = [0; CHUNK];
        for (place, key) in of_runs.iter_mut().zip(runs.keys()) {
            *place = *key as u32;
        }
        let mut rows = vec![0; keys.len()];
        runs.spread(&of_runs, &mut rows);
        assert!(
            rows.iter()
                .zip(keys)
                .all(|(row, key)| u64::from(*row) == *key)
        );
        Some(runs.keys().to_vec())
    }

    #[test]
    fn neighbours_that_are_equal_are_one_run() {
        let mut finder = RunFinder::default();
        let keys = [0, 0, 0, 0, 5, 5, 5, 5, 5, 0, 0, 0, 0, 0, 0, 7, 7, 7];
        assert_eq!(runs_of(&mut finder, &keys).unwrap(), [0, 5, 0, 7]);
        assert_eq!(runs_of(&mut finder, &[3; CHUNK]).unwrap(), [3]);
        let fours: Vec<u64> = (0..CHUNK as u64).map(|i| i / 4).collect();
        assert_eq!(runs_of(&mut finder, &fours).unwrap().len(), CHUNK / 4);
        assert_eq!(runs_of(&mut finder, &[]).unwrap(), [0; 0]);
        let threes: Vec<u64> = (0..CHUNK as u64).map(|i| i / 3).collect();
        assert!(runs_of(&mut finder, &threes).is_none());
    }

    #[test]
    fn chunks_are_left_out_where_nothing_repeats() {
        let mut finder = RunFinder::default();
        let different: Vec<u64> = (0..CHUNK as u64).collect();
        assert!(runs_of(&mut finder, &different).is_none());
        for _ in 0..CHUNKS_BETWEEN {
            assert!(runs_of(&mut finder, &[1; CHUNK]).is_none());
        }
        assert!(runs_of(&mut finder, &[1; CHUNK]).is_some());
        assert!(runs_of(&mut finder, &[2; CHUNK]).is_some());
    }
}
