//! Times every form of division and remainder, for this processor only.
//!
//! `cargo bench -p basalt-kernels --bench divide`

mod measure;

use std::hint::black_box;

use basalt_adapt::Random;
use basalt_kernels::divide::{Divisor, Operation, Quotient, Remainder, Word, forms, remainders};

/// Values of a call: they stay in a cache of the second level.
const NUM_VALUES: usize = 1 << 16;

fn time<T: Word, O: Operation<T>>(title: &str, divisor: T, values: &[T]) {
    let title = format!("{title}, by {divisor:?}");
    let divisor = Divisor::try_new(divisor).expect("no zero");
    let timed = forms::<T, O>().map(|form| {
        let mut out = vec![O::Out::default(); values.len()];
        let run: Box<dyn FnMut()> = Box::new(move || {
            for _ in 0..8 {
                form.run(&divisor, values, black_box(&mut out));
            }
        });
        (form.name, run)
    });
    measure::print(&title, 8 * values.len(), size_of::<T>(), timed.collect());
}

/// Times the count of remainders of consecutive numbers beside the widest division.
fn time_consecutive(divisor: u64) {
    let values: Vec<u64> = (1 << 30..).take(NUM_VALUES).collect();
    let divisor = Divisor::try_new(divisor).expect("no zero");
    let widest = forms::<u64, Remainder<u8>>().last().expect("a form");
    let (mut divided, mut counted) = (vec![0_u8; NUM_VALUES], vec![0_u8; NUM_VALUES]);
    let divide: Box<dyn FnMut()> =
        Box::new(|| widest.run(&divisor, &values, black_box(&mut divided)));
    let count: Box<dyn FnMut()> =
        Box::new(|| remainders(&divisor, &values, black_box(&mut counted)));
    let timed = vec![("divided", divide), ("counted", count)];
    let title = format!("consecutive u64 % to u8, by {}", divisor.get());
    measure::print(&title, NUM_VALUES, size_of::<u64>(), timed);
}

fn main() {
    for divisor in [3, 100] {
        time_consecutive(divisor);
    }
    let mut random = Random::new(7);
    let long: Vec<u64> = (0..NUM_VALUES).map(|_| random.bits()).collect();
    let narrow: Vec<u64> = long.iter().map(|value| value >> 20).collect();
    let low: Vec<u64> = long.iter().map(|value| value >> 33).collect();
    let short: Vec<u32> = long.iter().map(|value| *value as u32).collect();
    let signed: Vec<i64> = long.iter().map(|value| value.cast_signed()).collect();
    for divisor in [3, 7, 8, 1000] {
        time::<u64, Remainder<u8>>("u64 below 2^44 % to u8", divisor, &narrow);
        time::<u64, Remainder<u8>>("u64 below 2^31 % to u8", divisor, &low);
        time::<u64, Remainder<u32>>("u64 below 2^31 % to u32", divisor, &low);
        time::<u64, Remainder<u64>>("u64 %", divisor, &long);
        time::<u64, Quotient>("u64 below 2^44 /", divisor, &narrow);
        time::<u32, Remainder<u8>>("u32 % to u8", divisor as u32, &short);
        time::<u32, Quotient>("u32 /", divisor as u32, &short);
        time::<i64, Remainder<i64>>("i64 %", divisor.cast_signed(), &signed);
    }
}
