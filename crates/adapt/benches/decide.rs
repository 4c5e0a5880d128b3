//! Times what choosing costs: the same work by itself, and as the only thing that all arms of a chooser do.
//!
//! `cargo bench -p basalt-adapt --bench decide`

#[path = "../../kernels/benches/measure/mod.rs"]
mod measure;

use std::hint::black_box;

use basalt_adapt::{Choice, Chooser, Work, WorkUnit};

/// As many forms as decompression of LZ4 has.
static NINE: Choice = Choice::new(
    "nine",
    "a choice between equals",
    WorkUnit::Byte,
    &["0", "1", "2", "3", "4", "5", "6", "7", "8"],
);

fn main() {
    // A decision by itself: an arm is drawn, and learns.
    let mut chooser = Chooser::new(&NINE);
    let work = Work::bytes(64 << 10);
    let decisions = 100_000;
    let decide = move || {
        for i in 0..decisions {
            let arm = black_box(chooser.pick());
            chooser.report(arm, work, 16_000 + i % 512);
        }
    };
    measure::print(
        "drawing and learning, nine arms",
        decisions as usize,
        0,
        vec![("decision", Box::new(decide))],
    );
    for block_bytes in [4 << 10, 32 << 10, 64 << 10, 512 << 10] {
        let words: Vec<u64> = (0..block_bytes as u64 / 8).collect();
        let num_blocks = (256 << 20) / block_bytes;
        let (ref words, mut chooser) = (words, Chooser::new(&NINE));
        let alone = move || (0..num_blocks).for_each(|_| hash(words));
        let chosen = move || {
            for _ in 0..num_blocks {
                let turn = chooser.begin(Work::bytes(block_bytes));
                hash(words);
                chooser.end(turn);
            }
        };
        measure::print(
            &format!("blocks of {} KiB", block_bytes >> 10),
            num_blocks,
            block_bytes,
            vec![("alone", Box::new(alone)), ("chosen", Box::new(chosen))],
        );
    }
}

/// Work at the pace of decompression, some GB a second.
fn hash(words: &[u64]) {
    let mixed = black_box(words).iter().fold(0_u64, |hash, word| {
        (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    black_box(mixed);
}
