//! Adds 64 rows of one key at once where keys come in runs, as in sorted tables.

use crate::average::blocks::{Keys, Sink, Values, feed};
use crate::average::lanes::Pairs;
use crate::average::{ByteKeyStates, Rows, Value};

const LANES: usize = 8;

struct Runs(Pairs<LANES>);

impl Sink for Runs {
    #[inline(always)]
    fn add(&mut self, keys: &Keys, values: &Values) {
        if is_run(keys) {
            self.add_run(keys[0], values, values.len() as u32);
        } else {
            self.0.add(keys, values);
        }
    }

    #[inline(always)]
    fn add_valid(&mut self, keys: &Keys, values: &Values, valid: u64) {
        if is_run(keys) {
            self.add_run(keys[0], values, valid.count_ones());
        } else {
            self.0.add_valid(keys, values, valid);
        }
    }
}

impl Runs {
    #[inline(always)]
    fn add_run(&mut self, key: u8, values: &Values, num_values: u32) {
        let mut sums = self.0.sums(key);
        for values in values.as_chunks::<LANES>().0 {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += value;
            }
        }
        // The lanes share the count; parts of it are exact, because 8 is a power of two.
        self.0
            .add_column(key, sums, f64::from(num_values) / LANES as f64);
    }
}

#[inline(always)]
fn is_run(keys: &Keys) -> bool {
    keys.iter()
        .fold(0, |differing, key| differing | (key ^ keys[0]))
        == 0
}

/// As eight pairs, but a block of one key in registers.
#[inline(always)]
pub(super) fn runs<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let mut runs = Runs(Pairs::new());
    feed(&mut runs, rows);
    runs.0.add_to(states);
}
