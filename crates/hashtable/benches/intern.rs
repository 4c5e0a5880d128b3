//! Times tables over keys that repeat at once, later or hardly ever, for this processor only.
//!
//! `cargo bench -p basalt-hashtable --bench intern`

#[path = "../../kernels/benches/measure/mod.rs"]
mod measure;

use std::hint::black_box;
use std::sync::Arc;

use basalt_adapt::Random;
use basalt_hashtable::{
    Arena, BytesTable, KeptBytesTable, TwoLevelBytesTable, TwoLevelWordTable, Views, Word, Word256,
    WordTable,
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

/// The numbers as ends of addresses, which are longer and shorter, as views.
fn pages(keys: &[u64]) -> (Vec<u128>, Arena) {
    let text = "https://example.org/some/page/of/average/length/with/more/in/between/";
    let mut arena = Arena::default();
    let mut page = |key: &u64| {
        let len = 20 + (key.wrapping_mul(0x9E37_79B9) >> 7) as usize % (text.len() - 20);
        arena.push(format!("{}{key}", &text[..len]).as_bytes())
    };
    (keys.iter().map(&mut page).collect(), arena)
}

/// Long strings of rows that were split by hash, in memory in the order of the partitions and in
/// that of the rows they came as: more than the caches hold, a third of them different.
fn print_split() {
    const ROWS: usize = 4 << 20;
    const PARTITIONS: usize = 256;
    let mut random = Random::new(1);
    let keys: Vec<u64> = (0..ROWS)
        .map(|_| random.bits() % (ROWS as u64 / 3))
        .collect();
    let mut rows: Vec<usize> = (0..ROWS).collect();
    rows.sort_by_key(|row| keys[*row] as usize % PARTITIONS);
    let split_keys: Vec<u64> = rows.iter().map(|row| keys[*row]).collect();

    let side_by_side = pages(&split_keys);
    let (views, arena) = pages(&keys);
    let scattered: (Vec<u128>, _) = (rows.iter().map(|row| views[*row]).collect(), arena);
    let form = |(views, arena): (Vec<u128>, Arena)| -> Box<dyn FnMut()> {
        let mut groups = Vec::new();
        Box::new(move || {
            for views in views.chunks(ROWS / PARTITIONS) {
                groups.clear();
                let mut table = BytesTable::<basalt_hashtable::Fold>::default();
                let buffers = arena.buffers();
                let rows = Views { views, buffers };
                table.intern(&rows, &mut groups).unwrap_or_default();
                black_box(&groups);
            }
        })
    };
    let hashed = |(views, arena): (Vec<u128>, Arena)| -> Box<dyn FnMut()> {
        type Table = BytesTable<basalt_hashtable::Fold>;
        let mut groups = Vec::new();
        let buffers = arena.buffers();
        let rows = Views {
            views: &views,
            buffers,
        };
        let hashes: Vec<u64> = views.iter().map(|v| Table::hash(&rows, *v)).collect();
        Box::new(move || {
            let parts = views.chunks(ROWS / PARTITIONS);
            for (views, hashes) in parts.zip(hashes.chunks(ROWS / PARTITIONS)) {
                groups.clear();
                let mut table = Table::default();
                let buffers = arena.buffers();
                let rows = Views { views, buffers };
                table
                    .intern_hashed(&rows, hashes, &mut groups)
                    .unwrap_or_default();
                black_box(&groups);
            }
        })
    };
    let forms = vec![
        ("side by side", form(side_by_side)),
        ("scattered", form(scattered.clone())),
        ("scattered, hashed", hashed(scattered.clone())),
        (
            "scattered, kept",
            kept(scattered.0, scattered.1.buffers(), ROWS / PARTITIONS),
        ),
    ];
    measure::print("long strings of partitions", ROWS, 16, forms);
}

/// Interns strings of which the tables keep no copies, so many rows a table.
fn kept(views: Vec<u128>, buffers: &[Vec<u8>], part_rows: usize) -> Box<dyn FnMut()> {
    type Table = BytesTable<basalt_hashtable::Fold>;
    let buffers: Vec<Arc<[u8]>> = buffers.iter().map(|b| b.as_slice().into()).collect();
    let rows = Views {
        views: &views,
        buffers: &buffers,
    };
    let hashes: Vec<u64> = views.iter().map(|v| Table::hash(&rows, *v)).collect();
    let mut groups = Vec::new();
    let mut table = KeptBytesTable::default();
    Box::new(move || {
        for (views, hashes) in views.chunks(part_rows).zip(hashes.chunks(part_rows)) {
            groups.clear();
            table.clear();
            let buffers = &buffers;
            table
                .intern_hashed(&Views { views, buffers }, hashes, &mut groups)
                .unwrap_or_default();
            black_box(&groups);
        }
    })
}

/// Words of rows that were split by hash, in pieces as they were split: one table for each partition, of which
/// the memory is used again.
fn print_split_words() {
    const PARTITION_ROWS: usize = 24 << 10;
    const PARTITIONS: usize = 128;
    const PIECE_ROWS: usize = 128;
    let mut random = Random::new(1);
    let mut form = |rows_per_key: usize| -> Box<dyn FnMut()> {
        let num_keys = PARTITION_ROWS / rows_per_key;
        let partition = |_| -> Vec<u64> {
            let keys: Vec<u64> = (0..num_keys).map(|_| random.bits()).collect();
            let row = |_| keys[random.bits() as usize % num_keys];
            match rows_per_key {
                1 => keys,
                _ => (0..PARTITION_ROWS).map(row).collect(),
            }
        };
        let partitions: Vec<Vec<u64>> = (0..PARTITIONS).map(partition).collect();
        let mut table = WordTable::<u64>::default();
        let mut groups = Vec::new();
        Box::new(move || {
            for keys in &partitions {
                table.clear();
                for piece in keys.chunks(PIECE_ROWS) {
                    groups.clear();
                    table.intern(piece, &mut groups).unwrap_or_default();
                    black_box(&groups);
                }
            }
        })
    };
    let forms = vec![
        ("all different", form(1)),
        ("five of each", form(5)),
        ("fifty of each", form(50)),
    ];
    let num_rows = PARTITIONS * PARTITION_ROWS;
    measure::print("words of partitions", num_rows, 8, forms);
}

/// Phrases as people search for: four of five rows have none, few phrases are searched often, most once.
fn print_phrases() {
    const ROWS: usize = 8 << 20;
    const PHRASES: f64 = 400_000.0;
    let mut random = Random::new(1);
    let mut unit = || (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
    let keys: Vec<Option<u64>> = (0..ROWS)
        .map(|_| (unit() < 0.2).then(|| PHRASES.powf(unit()) as u64))
        .collect();
    let mut arena = Arena::default();
    let phrase = |key: u64| format!("search for {key} in many words").into_bytes();
    let view = |key: &Option<u64>| key.map_or(0, |key| arena.push(&phrase(key)));
    let views: Vec<u128> = keys.iter().map(view).collect();
    let mut groups = Vec::new();
    let run: Box<dyn FnMut()> = Box::new(move || {
        let mut table = BytesTable::<basalt_hashtable::Fold>::default();
        for views in views.chunks(BATCH_ROWS) {
            groups.clear();
            let buffers = arena.buffers();
            let rows = Views { views, buffers };
            table.intern(&rows, &mut groups).unwrap_or_default();
            black_box(&groups);
        }
    });
    measure::print("phrases", ROWS, 16, vec![("four of five empty", run)]);
}

fn main() {
    // `cargo bench -p basalt-hashtable --bench intern -- phrases` runs that part alone.
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let parts: [(&str, fn()); 5] = [
        ("words", || {
            print_words::<u64>("words of 64 bits");
            print_words::<Word256>("words of 256 bits");
        }),
        ("strings", || {
            print_strings("short strings", "k");
            print_strings("long strings", "https://example.org/page/");
        }),
        ("partitions", print_split),
        ("phrases", print_phrases),
        ("partitions-words", print_split_words),
    ];
    for (name, print) in parts {
        if wanted.as_ref().is_none_or(|wanted| wanted == name) {
            print();
        }
    }
}
