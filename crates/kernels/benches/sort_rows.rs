//! Times three ways of sorting rows by three columns: comparing them key by key, by one function that knows all keys,
//! which is the best that a compiler of comparators could make, and as words that all keys are packed into.
//!
//! `cargo bench -p basalt-kernels --bench sort_rows`

mod measure;

use std::cmp::Ordering;
use std::hint::black_box;

use basalt_adapt::Random;
use basalt_kernels::radix_sort::radix_sort;

const NUM_ROWS: usize = 1 << 20;

/// A part of a comparator: one key of two rows.
type Key<'a> = Box<dyn Fn(usize, usize) -> Ordering + 'a>;

/// The columns of a table.
struct Columns {
    region: Vec<u32>,
    user: Vec<i64>,
    price: Vec<f32>,
}

impl Columns {
    fn keys(&self) -> Vec<Key<'_>> {
        vec![
            Box::new(|a, b| self.region[a].cmp(&self.region[b])),
            Box::new(|a, b| self.user[b].cmp(&self.user[a])),
            Box::new(|a, b| self.price[a].total_cmp(&self.price[b])),
        ]
    }

    fn compared(&self, a: usize, b: usize) -> Ordering {
        let region = self.region[a].cmp(&self.region[b]);
        region
            .then_with(|| self.user[b].cmp(&self.user[a]))
            .then_with(|| self.price[a].total_cmp(&self.price[b]))
    }

    /// The keys of a row and its number, in the bits that they need.
    fn word(&self, row: usize, (user_bits, row_bits): (u32, u32)) -> u128 {
        let user = (1_u64 << user_bits) - 1 - self.user[row].cast_unsigned();
        let bits = self.price[row].to_bits();
        let price = match bits >> 31 {
            0 => bits | 1 << 31,
            _ => !bits,
        };
        let keys = u128::from(self.region[row]) << user_bits | u128::from(user);
        (keys << 32 | u128::from(price)) << row_bits | row as u128
    }
}

fn main() {
    let mut random = Random::new(3);
    for (title, num_regions, user_bits) in [
        ("few regions, many users", 100, 30),
        ("one region, a hundred users", 1, 7),
        ("many regions", 1 << 20, 30),
    ] {
        let columns = Columns {
            region: (0..NUM_ROWS)
                .map(|_| (random.bits() % num_regions) as u32)
                .collect(),
            user: (0..NUM_ROWS)
                .map(|_| (random.bits() >> (64 - user_bits)).cast_signed())
                .collect(),
            price: (0..NUM_ROWS)
                .map(|_| (random.bits() % 100_000) as f32 / 100.0)
                .collect(),
        };
        time(title, &columns, user_bits);
    }
}

fn time(title: &str, columns: &Columns, user_bits: u32) {
    let row_bits = NUM_ROWS.ilog2();
    let keys = columns.keys();
    let rows = || (0..NUM_ROWS as u32).collect::<Vec<u32>>();
    let by_keys = || {
        let mut rows = rows();
        rows.sort_unstable_by(|a, b| {
            let mut orders = keys.iter().map(|key| key(*a as usize, *b as usize));
            orders
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        });
        black_box(rows);
    };
    let by_one = || {
        let mut rows = rows();
        rows.sort_unstable_by(|a, b| columns.compared(*a as usize, *b as usize));
        black_box(rows);
    };
    let packed = || {
        let place = (user_bits, row_bits);
        let mut words: Vec<u128> = (0..NUM_ROWS).map(|row| columns.word(row, place)).collect();
        let mut scratch = vec![0; NUM_ROWS];
        radix_sort(&mut words, &mut scratch);
        let mask = NUM_ROWS - 1;
        let rows: Vec<u32> = words
            .iter()
            .map(|word| (*word as usize & mask) as u32)
            .collect();
        black_box(rows);
    };
    let timed: Vec<measure::Timed<'_>> = vec![
        ("a call for each key", Box::new(by_keys)),
        ("all keys, compiled", Box::new(by_one)),
        ("packed words", Box::new(packed)),
    ];
    measure::print(title, NUM_ROWS, 16, timed);
}
