//! Times every form of every hash, for this processor only.
//!
//! `cargo bench -p basalt-kernels --bench hash`

mod measure;

use std::hint::black_box;

use basalt_kernels::hash::{CRC, FOLD, MIX, available};

/// Words of a call: they stay in a cache of the second level.
const NUM_WORDS: usize = 1 << 16;

fn main() {
    let words: Vec<u64> = (0..NUM_WORDS as u64).collect();
    let words = &words;
    let all = [FOLD, CRC, MIX].into_iter().flat_map(available);
    let timed = all.map(|form| {
        let mut hashes = vec![0; words.len()];
        let run: Box<dyn FnMut()> = Box::new(move || {
            for _ in 0..8 {
                form.hash(words, black_box(&mut hashes));
            }
        });
        (form.name, run)
    });
    measure::print("hashes", 8 * NUM_WORDS, size_of::<u64>(), timed.collect());
}
