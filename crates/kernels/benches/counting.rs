//! Times the order of rows by small codes against one counter for each code, and the copy of a column.
//!
//! `cargo bench -p basalt-kernels --bench counting`

mod measure;

use std::hint::black_box;

use basalt_kernels::counting::{gather, order};

/// Rows of a call: their codes and a column of 64 bits stay in a cache of the second level.
/// No power of two, with which runs would begin at the same places of the cache.
const NUM_ROWS: usize = 15_000;

fn main() {
    for num_codes in [2u64, 8, 64, 2048] {
        let random = |i: u64| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let codes: Vec<u16> = (0..NUM_ROWS as u64)
            .map(|i| (random(i) % num_codes) as u16)
            .collect();
        let values: Vec<u64> = (0..NUM_ROWS as u64).collect();
        let num_codes = num_codes as usize;
        let (codes, values) = (&codes, &values);
        let mut rows = Vec::new();
        let plain: Box<dyn FnMut()> = Box::new(move || {
            for _ in 0..8 {
                order_plainly(codes, num_codes, black_box(&mut rows));
            }
        });
        let mut rows = Vec::new();
        let lanes: Box<dyn FnMut()> = Box::new(move || {
            for _ in 0..8 {
                order(codes, num_codes, black_box(&mut rows));
            }
        });
        let mut rows = Vec::new();
        order(codes, num_codes, &mut rows);
        let mut out = vec![0; values.len()];
        let copy: Box<dyn FnMut()> = Box::new(move || {
            for _ in 0..8 {
                gather(values, &rows, black_box(&mut out));
            }
        });
        let timed = vec![("plain", plain), ("lanes", lanes), ("gather", copy)];
        let title = format!("rows of {num_codes} codes");
        measure::print(&title, 8 * NUM_ROWS, size_of::<u16>(), timed);
    }
}

/// One counter for each code.
fn order_plainly(codes: &[u16], num_codes: usize, rows: &mut Vec<u16>) {
    let mut next = vec![0u32; num_codes];
    for code in codes {
        next[usize::from(*code)] += 1;
    }
    let mut start = 0;
    for count in &mut next {
        start += std::mem::replace(count, start);
    }
    rows.clear();
    rows.resize(codes.len(), 0);
    for (row, code) in codes.iter().enumerate() {
        let next = &mut next[usize::from(*code)];
        rows[*next as usize] = row as u16;
        *next += 1;
    }
}
