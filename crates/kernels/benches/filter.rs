//! Times the selection of values and of row numbers beside plain loops over rows and over ones.
//!
//! `cargo bench -p basalt-kernels --bench filter`

mod measure;

use std::hint::black_box;

use basalt_adapt::{Random, SimdLevel};
use basalt_kernels::Bitmap;
use basalt_kernels::filter::{append_selected, append_selected_rows};

/// Rows of a call.
const BATCH_ROWS: usize = 1 << 14;

/// Rows of a column: they stay in the last-level cache, so that the loops and not the memory are timed.
const NUM_ROWS: usize = 1 << 18;

type Append<T> = fn(&[T], Bitmap<'_>, &mut Vec<T>);

fn row_by_row<T: Copy>(values: &[T], bits: Bitmap<'_>, out: &mut Vec<T>) {
    for (row, value) in values.iter().enumerate() {
        if bits.get(row) {
            out.push(*value);
        }
    }
}

fn for_ones(bits: Bitmap<'_>, mut f: impl FnMut(usize)) {
    for i in 0..bits.len().div_ceil(64) {
        let mut word = bits.word(i);
        while word != 0 {
            f(64 * i + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

fn one_by_one<T: Copy>(values: &[T], bits: Bitmap<'_>, out: &mut Vec<T>) {
    for_ones(bits, |row| out.push(values[row]));
}

fn run<'a, T: Copy>(
    values: &'a [T],
    bytes: &'a [u8],
    level: Option<SimdLevel>,
    append: Append<T>,
) -> Box<dyn FnMut() + 'a> {
    let mut out = Vec::with_capacity(values.len() + 64);
    let bits = Bitmap::try_new(bytes, 0, values.len()).expect("a bit for each row");
    Box::new(move || {
        SimdLevel::force(level);
        for start in (0..values.len()).step_by(BATCH_ROWS) {
            out.clear();
            let values = &values[start..start + BATCH_ROWS];
            append(values, bits.slice(start, BATCH_ROWS), &mut out);
            black_box(&out);
        }
        SimdLevel::force(None);
    })
}

fn time<T: Copy + 'static>(title: &str, values: &[T], bytes: &[u8]) {
    let narrow = Some(SimdLevel::Scalar);
    let timed = vec![
        ("row_by_row", run(values, bytes, None, row_by_row)),
        ("one_by_one", run(values, bytes, None, one_by_one)),
        ("portable", run(values, bytes, narrow, append_selected)),
        ("kernel", run(values, bytes, None, append_selected)),
    ];
    let title = format!("{} bytes, {title}", size_of::<T>());
    measure::print(&title, values.len(), size_of::<T>(), timed);
}

fn time_rows(title: &str, numbers: &[u32], bytes: &[u8]) {
    let ones: Append<u32> = |_, bits, out| for_ones(bits, |row| out.push(row as u32));
    let kernel: Append<u32> = |_, bits, out| append_selected_rows(bits, 0, out);
    let narrow = Some(SimdLevel::Scalar);
    let timed = vec![
        ("one_by_one", run(numbers, bytes, None, ones)),
        ("portable", run(numbers, bytes, narrow, kernel)),
        ("kernel", run(numbers, bytes, None, kernel)),
    ];
    let title = format!("row numbers, {title}");
    measure::print(&title, numbers.len(), 4, timed);
}

/// Bits of `len` rows that are set in runs of `run_len`, `percent` of them.
fn bytes_of(len: usize, percent: u64, run_len: usize) -> Vec<u8> {
    let mut random = Random::new(11);
    let runs: Vec<bool> = (0..len.div_ceil(run_len))
        .map(|_| random.below(100) < percent)
        .collect();
    let byte = |i: usize| {
        (0..8).fold(0, |byte, bit| {
            byte | u8::from(runs[(8 * i + bit) / run_len]) << bit
        })
    };
    (0..len / 8).map(byte).collect()
}

fn main() {
    let mut random = Random::new(7);
    let longs: Vec<u64> = (0..NUM_ROWS).map(|_| random.bits()).collect();
    let wide: Vec<u128> = longs.iter().map(|v| u128::from(*v)).collect();
    let words: Vec<u32> = longs.iter().map(|v| *v as u32).collect();
    let shorts: Vec<u16> = longs.iter().map(|v| *v as u16).collect();
    let bytes: Vec<u8> = longs.iter().map(|v| *v as u8).collect();
    let single = [1, 10, 50, 90, 99].map(|percent| (percent, 1));
    for (percent, run_len) in single.into_iter().chain([(50, 1000)]) {
        let bits = bytes_of(longs.len(), percent, run_len);
        let title = match run_len {
            1 => format!("{percent} % selected"),
            _ => format!("{percent} % selected in runs of {run_len}"),
        };
        time(&title, &bytes, &bits);
        time(&title, &shorts, &bits);
        time(&title, &words, &bits);
        time(&title, &longs, &bits);
        time(&title, &wide, &bits);
        time_rows(&title, &words, &bits);
    }
}
