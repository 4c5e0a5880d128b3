//! Times every form of LZ4's decompression on columns of different nature.
//!
//! `cargo bench -p basalt-codec --bench lz4`; for your own files see `basalt lab lz4`.

#[path = "../../kernels/benches/measure/mod.rs"]
mod measure;

use std::hint::black_box;

use basalt_adapt::Random;
use basalt_codec::PaddedBuffer;
use basalt_codec::lz4::{Decoder, available, reference};

/// Bytes of a column, and of its blocks.
const COLUMN_BYTES: usize = 16 << 20;
const BLOCK_BYTES: usize = 64 << 10;

/// A column that repeats what it had `back` bytes before, for `run` bytes on average, between literals.
fn repetitions(literals: u64, back: u64, run: u64) -> Vec<u8> {
    let mut random = Random::new(back);
    let mut bytes: Vec<u8> = (0..256).map(|_| random.bits() as u8).collect();
    while bytes.len() < COLUMN_BYTES {
        for _ in 0..random.below(2 * literals + 1) {
            bytes.push(random.bits() as u8);
        }
        let back = 1 + random.below(2 * back) as usize;
        for _ in 0..4 + random.below(2 * run) {
            bytes.push(bytes[bytes.len() - back.min(bytes.len())]);
        }
    }
    bytes.truncate(COLUMN_BYTES);
    bytes
}

fn words(word: impl Fn(u32, &mut Random) -> u32) -> Vec<u8> {
    let mut random = Random::new(1);
    let words = 0..COLUMN_BYTES as u32 / 4;
    words
        .flat_map(|i| word(i, &mut random).to_le_bytes())
        .collect()
}

fn main() {
    let columns = [
        (
            "flags, mostly 0",
            words(|_, random| u32::from(random.below(50) == 0)),
        ),
        ("times, in order", words(|i, _| 1_700_000_000 + i / 5)),
        (
            "keys of 1000",
            words(|_, random| random.below(1000) as u32 * 7919),
        ),
        ("short distances", repetitions(3, 10, 8)),
        ("text", repetitions(6, 2000, 8)),
        ("long repetitions", repetitions(20, 100, 300)),
        ("noise", words(|_, random| random.bits() as u32)),
    ];
    for (name, column) in &columns {
        let blocks: Vec<Vec<u8>> = column
            .chunks(BLOCK_BYTES)
            .map(|bytes| {
                let mut block = Vec::new();
                assert!(reference::compress_fast(bytes, 1, &mut block));
                block
            })
            .collect();
        let blocks = &blocks;
        let mut timed: Vec<measure::Timed<'_>> = Vec::new();
        for form in available() {
            let mut out = PaddedBuffer::zeroed(BLOCK_BYTES);
            let run = move || {
                for block in blocks {
                    assert!(form.decompress(block, black_box(&mut out)).is_ok());
                }
            };
            timed.push((form.name, Box::new(run)));
        }
        let mut out = PaddedBuffer::zeroed(BLOCK_BYTES);
        let mut decoder = Decoder::new();
        let adaptive = move || {
            for block in blocks {
                assert!(decoder.decompress(block, black_box(&mut out)).is_ok());
            }
        };
        timed.push(("adaptive", Box::new(adaptive)));
        let stored: usize = blocks.iter().map(Vec::len).sum();
        let title = format!(
            "{name}, {:.2} times smaller",
            column.len() as f64 / stored as f64
        );
        measure::print(&title, column.len(), 1, timed);
    }
}
