//! Times dealing words by digits against the standard library's sort, on keys as inserts have them.
//!
//! `cargo bench -p basalt-kernels --bench radix_sort`

mod measure;

use std::hint::black_box;

use basalt_kernels::radix_sort::{RadixWord, radix_sort};

/// Rows of a part.
const NUM_ROWS: u64 = 1 << 20;

fn main() {
    let random = |i: u64| {
        let mixed = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    // A third of the rows has the same 17 upper bits, as counters of visits do.
    let skewed = |i: u64| match random(i) % 3 {
        0 => 77,
        _ => random(i + 7) % 100_000,
    };
    let narrow = |i: u64| random(i) >> 24 << 20 | i;
    let sorted = |i: u64| ((i / 3) << 20) | i;
    let wide =
        |i: u64| u128::from(skewed(i)) << 84 | u128::from(random(i / 4)) << 20 | u128::from(i);
    time("40 bits and the row", (0..NUM_ROWS).map(narrow).collect());
    time("in order", (0..NUM_ROWS).map(sorted).collect());
    time(
        "17 skewed bits, 64 bits and the row",
        (0..NUM_ROWS).map(wide).collect(),
    );
}

fn time<W: RadixWord + 'static>(title: &str, words: Vec<W>) {
    let (a, b) = (words.clone(), words);
    let mut sorted = a.clone();
    let std: Box<dyn FnMut()> = Box::new(move || {
        sorted.copy_from_slice(&a);
        black_box(&mut sorted).sort_unstable();
    });
    let (mut sorted, mut scratch) = (b.clone(), b.clone());
    let radix: Box<dyn FnMut()> = Box::new(move || {
        sorted.copy_from_slice(&b);
        radix_sort(black_box(&mut sorted), &mut scratch);
    });
    let timed = vec![("sort_unstable", std), ("radix_sort", radix)];
    measure::print(title, NUM_ROWS as usize, size_of::<W>(), timed);
}
