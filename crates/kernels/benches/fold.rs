//! Times folds of integers into lanes, beside the loop that a compiler is given where no order is
//! kept, for this processor only.
//!
//! `cargo bench -p basalt-kernels --bench fold`

mod measure;

use std::hint::black_box;

use basalt_adapt::Random;
use basalt_kernels::Bitmap;
use basalt_kernels::fold::fold_lanes;

type Named<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// Sums and minima of `values`, in as many ways as there are.
fn time(title: &str, values: &[i64], validity: Option<&[u8]>) {
    let bits = || validity.and_then(|bytes| Bitmap::try_new(bytes, 0, values.len()));
    let sum = || fold_lanes(values, bits(), 0, i64::wrapping_add, i64::wrapping_add);
    let min = || fold_lanes(values, bits(), i64::MAX, i64::min, i64::min);
    let sum_small = || {
        let step = |sum: u64, value: i64| sum.wrapping_add(value as u8 as u64);
        fold_lanes(values, bits(), 0, step, u64::wrapping_add)
    };
    let floats: Vec<f64> = values.iter().map(|v| *v as f64).collect();
    let sum_floats = || fold_lanes(&floats, bits(), 0.0, |a, b| a + b, |a: f64, b| a + b);
    let free = || values.iter().fold(0, |sum: i64, v| sum.wrapping_add(*v));
    let timed: Vec<Named<'_>> = vec![
        ("sum", Box::new(move || _ = black_box(sum()))),
        ("min", Box::new(move || _ = black_box(min()))),
        ("sum of bytes", Box::new(move || _ = black_box(sum_small()))),
        ("sum of floats", Box::new(|| _ = black_box(sum_floats()))),
        ("sum, no lanes", Box::new(move || _ = black_box(free()))),
    ];
    measure::print(title, values.len(), size_of::<i64>(), timed);
}

fn main() {
    let mut random = Random::new(7);
    let values: Vec<i64> = (0..1 << 24).map(|_| random.bits() as i64).collect();
    let in_cache = &values[..1 << 14];
    let bytes: Vec<u8> = (0..values.len() / 8)
        .map(|_| (random.bits() | random.bits()) as u8)
        .collect();
    time("16 Ki rows", in_cache, None);
    time(
        "16 Ki rows, a quarter missing",
        in_cache,
        Some(&bytes[..in_cache.len() / 8]),
    );
    time("16 Mi rows", &values, None);
    time("16 Mi rows, a quarter missing", &values, Some(&bytes));
}
