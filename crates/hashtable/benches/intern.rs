//! Times tables over keys that repeat at once, later or hardly ever, for this processor only.
//!
//! `cargo bench -p basalt-hashtable --bench intern`

#[path = "../../kernels/benches/measure/mod.rs"]
mod measure;

use std::hint::black_box;

use basalt_adapt::Random;
use basalt_hashtable::{
    Arena, BytesTable, TwoLevelBytesTable, TwoLevelWordTable, Views, Word, Word256, WordTable,
};
use measure::Timed;

const NUM_ROWS: usize = 1 << 20;

/// Rows of a batch, as operators have them.
const BATCH_ROWS: usize = 1 << 16;

/// Bits of the hash that tell small tables apart.
const BITS: u32 = 8;

/// Numbers of keys: tables in the caches of the first and second level, and in none.
const NUM_KEYS: [u64; 3] = [1 << 9, 1 << 14, 1 << 20];

/// Rows that follow each other with one key.
const RUN_LENGTHS: [(usize, &str); 4] = [
    (1, "no runs"),
    (2, "runs of 2"),
    (4, "runs of 4"),
    (32, "runs of 32"),
];

/// Keys in runs of such a length, in random order.
fn numbers(num_keys: u64, run_length: usize) -> Vec<u64> {
    let mut random = Random::new(num_keys + run_length as u64);
    let mut keys = Vec::with_capacity(NUM_ROWS);
    while keys.len() < NUM_ROWS {
        let key = random.bits() % num_keys;
        keys.extend(std::iter::repeat_n(key, run_length));
    }
    keys
}

fn words<W: Word>(keys: &[u64]) -> Vec<W> {
    keys.iter().map(|key| W::place(*key, 0)).collect()
}

/// The numbers as texts behind `prefix`, as views.
fn strings(keys: &[u64], prefix: &str) -> (Vec<u128>, Arena) {
    let mut arena = Arena::default();
    let view = |key: &u64| {
        let text = format!("{prefix}{key}");
        if text.len() > 12 {
            return arena.push(text.as_bytes());
        }
        let mut view = [0; 16];
        view[0] = text.len() as u8;
        view[4..4 + text.len()].copy_from_slice(text.as_bytes());
        u128::from_le_bytes(view)
    };
    (keys.iter().map(view).collect(), arena)
}

/// Times `intern` over the keys that `keys_of` makes, for each number of keys.
fn print<K>(
    title: &str,
    keys_of: impl Fn(Vec<u64>) -> K,
    row_bytes: usize,
    intern: impl Fn(&K, &mut Vec<u32>),
) {
    for num_keys in NUM_KEYS {
        let forms = RUN_LENGTHS.map(|(run_length, name)| {
            let keys = keys_of(numbers(num_keys, run_length));
            let intern = &intern;
            let mut groups = Vec::with_capacity(NUM_ROWS);
            let run: Box<dyn FnMut()> = Box::new(move || {
                groups.clear();
                intern(&keys, &mut groups);
                black_box(&groups);
            });
            (name, run)
        });
        let forms: Vec<Timed<'_>> = forms.into_iter().collect();
        let title = format!("{title}, {num_keys} keys");
        measure::print(&title, NUM_ROWS, row_bytes, forms);
    }
}

fn print_words<W: Word>(title: &str)
where
    basalt_hashtable::Fold: basalt_hashtable::HashWord<W>,
{
    let row_bytes = size_of::<W>();
    print(
        title,
        |keys| words::<W>(&keys),
        row_bytes,
        |keys, groups| {
            let mut table = WordTable::<W>::default();
            for batch in keys.chunks(BATCH_ROWS) {
                table.intern(batch, groups).unwrap_or_default();
            }
        },
    );
    let title = format!("{title}, two levels");
    print(
        &title,
        |keys| words::<W>(&keys),
        row_bytes,
        |keys, groups| {
            let mut table = TwoLevelWordTable::<W>::new(BITS);
            for batch in keys.chunks(BATCH_ROWS) {
                table.intern(batch, groups).unwrap_or_default();
            }
        },
    );
}

fn print_strings(title: &str, prefix: &str) {
    let keys_of = |keys: Vec<u64>| strings(&keys, prefix);
    print(title, keys_of, 16, |(views, arena), groups| {
        let mut table = BytesTable::<basalt_hashtable::Fold>::default();
        for views in views.chunks(BATCH_ROWS) {
            let buffers = arena.buffers();
            let rows = Views { views, buffers };
            table.intern(&rows, groups).unwrap_or_default();
        }
    });
    let title = format!("{title}, two levels");
    print(&title, keys_of, 16, |(views, arena), groups| {
        let mut table = TwoLevelBytesTable::<basalt_hashtable::Fold>::new(BITS);
        for views in views.chunks(BATCH_ROWS) {
            let buffers = arena.buffers();
            let rows = Views { views, buffers };
            table.intern(&rows, groups).unwrap_or_default();
        }
    });
}

fn main() {
    print_words::<u64>("words of 64 bits");
    print_words::<Word256>("words of 256 bits");
    print_strings("short strings", "k");
    print_strings("long strings", "https://example.org/page/");
}
