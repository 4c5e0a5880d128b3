//! Times comparisons with a constant and with another column beside the loop that sets one bit after the other.
//!
//! `cargo bench -p basalt-kernels --bench compare`

mod measure;

use std::hint::black_box;
use std::iter::repeat_n;

use basalt_adapt::Random;
use basalt_kernels::compare::Comparison;

/// Rows of a call.
const BATCH_ROWS: usize = 1 << 16;

fn bit_by_bit<T: Copy + PartialOrd>(values: &[T], number: T, words: &mut [u64]) {
    for (i, value) in values.iter().enumerate() {
        words[i / 64] &= !(u64::from(*value <= number) << (i % 64));
    }
}

fn time<T: Copy + PartialOrd>(title: &str, values: &[T], number: T) {
    let run = |compare: fn(&[T], T, &mut [u64])| -> Box<dyn FnMut() + '_> {
        let mut words = vec![0; BATCH_ROWS / 64];
        Box::new(move || {
            for values in values.chunks(BATCH_ROWS) {
                words.fill(u64::MAX);
                compare(values, number, &mut words);
                black_box(&words);
            }
        })
    };
    let kernel: fn(&[T], T, &mut [u64]) = |v, n, w| Comparison::Greater.retain(v, n, w);
    let numbers: Vec<T> = repeat_n(number, BATCH_ROWS).collect();
    let mut words = vec![0; BATCH_ROWS / 64];
    let pairs: Box<dyn FnMut() + '_> = Box::new(move || {
        for values in values.chunks(BATCH_ROWS) {
            words.fill(u64::MAX);
            Comparison::Greater.retain_pairs(values, &numbers[..values.len()], &mut words);
            black_box(&words);
        }
    });
    let timed = vec![
        ("bit_by_bit", run(bit_by_bit)),
        ("kernel", run(kernel)),
        ("of pairs", pairs),
    ];
    measure::print(title, values.len(), size_of::<T>(), timed);
}

fn main() {
    let mut random = Random::new(7);
    let longs: Vec<u64> = (0..1 << 20).map(|_| random.bits()).collect();
    let words: Vec<i32> = longs.iter().map(|v| *v as i32).collect();
    let shorts: Vec<i16> = longs.iter().map(|v| *v as i16).collect();
    let bytes: Vec<u8> = longs.iter().map(|v| *v as u8).collect();
    time("UInt8, 1 Mi rows", &bytes, 100);
    time("UInt8, 64 Mi rows", &bytes.repeat(64), 100);
    time("Int16, 64 Mi rows", &shorts.repeat(64), 100);
    time("Int16, 1 Mi rows", &shorts, 100);
    time("Int32, 1 Mi rows", &words, 100);
    time("UInt64, 1 Mi rows", &longs, 1 << 63);
}
