//! Makes rows for a kernel, and runs it over them again and again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;

use basalt_adapt::Random;
use basalt_error::Result;
use basalt_kernels::Bitmap;

use crate::lab::{Setup, sum};

/// Rows of a call, as many as queries hand to a kernel.
pub(super) const BATCH_ROWS: usize = 65_536;

/// Most bytes that a kernel keeps for a row: its input, its output and scratch memory.
pub(super) const MOST_ROW_BYTES: usize = 32;

/// A kernel with the rows that it goes over.
pub(super) struct Kernel {
    pub(super) name: &'static str,
    /// Bytes of a row of its input.
    pub(super) row_bytes: f64,
    pub(super) description: &'static str,
    pub(super) make: Make,
}

/// Makes the rows of a kernel.
type Make = fn(&mut Rows<'_>) -> Result<Box<dyn Work>>;

pub(super) const fn kernel(
    name: &'static str,
    row_bytes: f64,
    description: &'static str,
    make: Make,
) -> Kernel {
    Kernel {
        name,
        row_bytes,
        description,
        make,
    }
}

/// A loop with its input and a place for its output.
pub(super) trait Work {
    /// Goes over all rows once.
    fn run(&mut self);

    /// Does the same with a new output, and gives a number that tells this from others.
    fn checksum(&mut self) -> u64;
}

/// Work that writes the same to `out` whatever is in it before.
pub(super) fn work<O: Clone + Hash + 'static>(
    out: O,
    run: impl FnMut(&mut O) + 'static,
) -> Box<dyn Work> {
    Box::new(Repeated {
        new: out.clone(),
        out,
        run,
    })
}

struct Repeated<O, F> {
    new: O,
    out: O,
    run: F,
}

impl<O: Clone + Hash, F: FnMut(&mut O)> Work for Repeated<O, F> {
    fn run(&mut self) {
        (self.run)(black_box(&mut self.out));
    }

    fn checksum(&mut self) -> u64 {
        // What an earlier run has left would hide rows that this one forgets.
        self.out.clone_from(&self.new);
        self.run();
        let mut hasher = DefaultHasher::new();
        self.out.hash(&mut hasher);
        hasher.finish()
    }
}

/// Draws the rows of a kernel: the same for the same seed.
pub(super) struct Rows<'a> {
    setup: &'a Setup,
    random: Random,
}

impl<'a> Rows<'a> {
    pub(super) fn new(setup: &'a Setup) -> Self {
        Self {
            setup,
            random: Random::new(setup.seed),
        }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.setup.num_rows
    }

    /// A value for each row, made of 64 random bits.
    pub(super) fn column<T>(&mut self, value: impl Fn(u64) -> T) -> Result<Vec<T>> {
        let mut values = self.setup.allocate(self.len())?;
        values.extend((0..self.len()).map(|_| value(self.random.bits())));
        Ok(values)
    }

    /// A bit for each row, about `clear` percent of which are 0; `None` if none is.
    pub(super) fn bits(&mut self, clear: u64) -> Result<Option<Vec<u8>>> {
        sum::validity(self.setup, clear, &mut self.random)
    }
}

/// The bits of each batch of `num_rows` rows.
pub(super) fn bits_of_batches(bytes: &[u8], num_rows: usize) -> impl Iterator<Item = Bitmap<'_>> {
    let starts = (0..num_rows).step_by(BATCH_ROWS);
    starts.filter_map(move |start| Bitmap::try_new(bytes, start, BATCH_ROWS.min(num_rows - start)))
}

#[cfg(test)]
mod tests {
    use super::work;

    #[test]
    fn rows_that_a_run_forgets_show() {
        let mut num_runs = 0;
        let mut forgetful = work([0; 2], move |out: &mut [u32; 2]| {
            out[num_runs % 2] = 1;
            num_runs += 1;
        });
        assert_ne!(forgetful.checksum(), forgetful.checksum());
        let mut steady = work([0; 2], |out: &mut [u32; 2]| *out = [7, 8]);
        assert_eq!(steady.checksum(), steady.checksum());
    }
}
