//! Times every form of `average` over several distributions of keys, for this processor only.
//!
//! `cargo bench -p basalt-kernels --bench average`

mod measure;

use basalt_adapt::Random;
use basalt_kernels::Bitmap;
use basalt_kernels::average::{ByteKeyStates, Rows, SUITABLE_ROWS, forms};

/// Rows of an input: it stays in the last-level cache, so that the loops and not the memory are timed.
const NUM_ROWS: usize = 1 << 20;

fn time(title: &str, keys: &[u8], values: &[f32], validity: Option<&[u8]>) {
    let timed = forms::<f32>().map(|form| {
        let run: Box<dyn FnMut()> = Box::new(move || {
            let mut states = ByteKeyStates::default();
            for start in (0..keys.len()).step_by(SUITABLE_ROWS) {
                let range = start..start + SUITABLE_ROWS;
                let bits = validity.and_then(|b| Bitmap::try_new(b, start, SUITABLE_ROWS));
                let rows = Rows::try_new(&keys[range.clone()], &values[range], bits);
                form.add(&mut states, &rows.expect("equal lengths"));
            }
            std::hint::black_box(states);
        });
        (form.name, run)
    });
    measure::print(title, keys.len(), 5, timed.collect());
}

fn main() {
    let mut random = Random::new(7);
    let values: Vec<f32> = (0..NUM_ROWS)
        .map(|_| random.below(1024) as f32 / 16.0)
        .collect();
    for num_keys in [1, 2, 4, 10, 32, 256] {
        let keys: Vec<u8> = (0..NUM_ROWS)
            .map(|_| random.below(num_keys) as u8)
            .collect();
        time(&format!("{num_keys} keys"), &keys, &values, None);
    }
    let zeros: Vec<u8> = (1..=NUM_ROWS).map(|i| i.trailing_zeros() as u8).collect();
    time("trailing zeros", &zeros, &values, None);
    let skewed = [2, 72, 86, 91, 94, 97, 99];
    let key = |percent| skewed.iter().filter(|limit| **limit <= percent).count() as u8;
    let trips: Vec<u8> = (0..NUM_ROWS).map(|_| key(random.below(100))).collect();
    time("8 keys, one with 70 %", &trips, &values, None);
    let tenth_missing: Vec<u8> = (0..NUM_ROWS / 8)
        .map(|_| !(1 << random.below(8)) | (random.bits() & 1) as u8)
        .collect();
    time(
        "the same, values missing",
        &trips,
        &values,
        Some(&tenth_missing),
    );
    let runs: Vec<u8> = (0..NUM_ROWS).map(|i| (i * 256 / NUM_ROWS) as u8).collect();
    time("sorted", &runs, &values, None);
}
