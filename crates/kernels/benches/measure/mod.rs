//! Times functions side by side: forms alternate in random order, and medians are printed.

use std::hint::black_box;
use std::time::Instant;

use basalt_adapt::Random;

/// Rounds in which every form runs once.
const NUM_ROUNDS: usize = 15;

/// A form with its name.
pub(crate) type Timed<'a> = (&'a str, Box<dyn FnMut() + 'a>);

/// Prints nanoseconds for a row and bytes a second of every form, as factors over the first.
#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
pub(crate) fn print(title: &str, num_rows: usize, row_bytes: usize, mut forms: Vec<Timed<'_>>) {
    let mut times = vec![Vec::new(); forms.len()];
    let mut order: Vec<usize> = (0..forms.len()).collect();
    let mut random = Random::new(1);
    for _ in 0..NUM_ROUNDS {
        random.shuffle(&mut order);
        for form in &order {
            let started = Instant::now();
            black_box(&mut forms[*form]).1();
            times[*form].push(started.elapsed().as_secs_f64());
        }
    }
    println!("{title}");
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    for ((name, _), seconds) in forms.iter().zip(&medians) {
        let ns = seconds * 1e9 / num_rows as f64;
        let rate = (num_rows * row_bytes) as f64 / seconds / 1e9;
        let factor = medians[0] / seconds;
        println!("  {name:20} {ns:8.3} ns/row {rate:8.2} GB/s {factor:6.2}x");
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
