//! Times every form of `sum`, with and without missing values, for this processor only.
//!
//! `cargo bench -p basalt-kernels --bench sum`

mod measure;

use std::hint::black_box;

use basalt_adapt::Random;
use basalt_kernels::Bitmap;
use basalt_kernels::sum::forms;

/// Rows of a call.
const BATCH_ROWS: usize = 1 << 16;

fn time(title: &str, values: &[f64], validity: Option<&[u8]>) {
    let timed = forms().map(|form| {
        let run: Box<dyn FnMut()> = Box::new(move || {
            for (batch, values) in values.chunks(BATCH_ROWS).enumerate() {
                let start = batch * BATCH_ROWS;
                let bits = validity.and_then(|b| Bitmap::try_new(b, start, values.len()));
                black_box(form.sum(values, bits));
            }
        });
        (form.name, run)
    });
    measure::print(title, values.len(), size_of::<f64>(), timed.collect());
}

fn main() {
    let mut random = Random::new(7);
    let values: Vec<f64> = (0..1 << 22).map(|_| random.unit()).collect();
    let in_cache = &values[..1 << 16];
    let mut bytes = vec![0_u8; values.len() / 8];
    bytes
        .iter_mut()
        .for_each(|byte| *byte = (random.bits() | random.bits()) as u8);
    time("64 Ki rows", in_cache, None);
    time("64 Ki rows, a quarter missing", in_cache, Some(&bytes));
    time("4 Mi rows", &values, None);
    time("4 Mi rows, a quarter missing", &values, Some(&bytes));
}
