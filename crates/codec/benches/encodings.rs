//! Times decoding and encoding of every packing, against copying the values.
//!
//! `cargo bench -p basalt-codec --bench encodings`

#[path = "../../kernels/benches/measure/mod.rs"]
mod measure;

use std::hint::black_box;

use basalt_adapt::Random;
use basalt_codec::{Packing, PaddedBuffer, Transform, Word};

/// Words of a block: what storage writes.
const NUM_WORDS: usize = 1 << 16;

/// Times that a block is decoded for a measurement.
const NUM_REPEATS: usize = 16;

fn decode<T: Word>(title: &str, words: &[T], packings: &[Packing], transform: Option<Transform>) {
    let mut timed: Vec<measure::Timed<'_>> = Vec::new();
    let mut out = PaddedBuffer::zeroed(size_of_val(words));
    let copy = move || {
        for _ in 0..NUM_REPEATS {
            black_box(&mut out)
                .as_words_mut::<T>()
                .copy_from_slice(words);
        }
    };
    timed.push(("copy", Box::new(copy)));
    for packing in packings {
        let mut changed = words.to_vec();
        let mut start = Vec::new();
        if let Some(transform) = transform {
            transform.apply(&mut changed, &mut start);
        }
        let mut packed = Vec::new();
        assert!(packing.pack(&changed, &mut packed));
        let mut out = PaddedBuffer::zeroed(size_of_val(words));
        let run = move || {
            for _ in 0..NUM_REPEATS {
                let out = black_box(&mut out).as_words_mut::<T>();
                assert!(packing.unpack(&packed, out).is_ok());
                if let Some(transform) = transform {
                    assert!(transform.undo(&start, out).is_ok());
                }
            }
        };
        timed.push((packing.name(), Box::new(run)));
    }
    measure::print(title, NUM_REPEATS * words.len(), size_of::<T>(), timed);
}

fn encode<T: Word>(title: &str, words: &[T], packings: &[Packing]) {
    let timed = packings.iter().map(|packing| {
        let mut packed = Vec::new();
        let run: Box<dyn FnMut()> = Box::new(move || {
            for _ in 0..NUM_REPEATS {
                packed.clear();
                assert!(packing.pack(words, black_box(&mut packed)));
            }
        });
        (packing.name(), run)
    });
    measure::print(
        title,
        NUM_REPEATS * words.len(),
        size_of::<T>(),
        timed.collect(),
    );
}

fn column<T: Word>(word: impl Fn(u64, &mut Random) -> u64) -> Vec<T> {
    let mut random = Random::new(1);
    (0..NUM_WORDS as u64)
        .map(|i| T::truncated(word(i, &mut random)))
        .collect()
}

fn main() {
    use Packing::{Constant, Decimal, Dictionary, FrameOfReference, Plain, RunLength};
    let ints = [Plain, Dictionary, RunLength, FrameOfReference];
    let bytes: Vec<u8> = column(|_, random| random.below(8));
    decode(
        "decode UInt8, 8 values",
        &bytes,
        &[Plain, FrameOfReference],
        None,
    );
    let shorts: Vec<u16> = column(|_, random| random.below(500));
    decode(
        "decode UInt16, 500 values",
        &shorts,
        &[Plain, FrameOfReference, Dictionary],
        None,
    );
    let keys: Vec<u32> = column(|i, random| i / 20 * 1000 % 100_000 + random.below(2));
    decode("decode UInt32, keys", &keys, &ints, None);
    encode("encode UInt32, keys", &keys, &ints);
    let wide: Vec<u64> = column(|i, random| i / 20 * 1000 % 100_000 + random.below(2));
    decode("decode UInt64, keys", &wide, &ints, None);
    encode("encode UInt64, keys", &wide, &ints);
    let constant: Vec<u64> = column(|_, _| 77);
    decode(
        "decode UInt64, constant",
        &constant,
        &[Constant, RunLength, FrameOfReference],
        None,
    );
    let times: Vec<u32> = column(|i, random| 1_700_000_000 + 3 * i + random.below(3));
    for transform in Transform::ALL {
        let title = format!("decode UInt32, times, {}", transform.name());
        decode(&title, &times, &[Plain, FrameOfReference], Some(transform));
    }
    let prices: Vec<u64> = column(|_, random| (random.below(100_000) as f64 / 100.0).to_bits());
    decode("decode Float64, prices", &prices, &[Plain, Decimal], None);
    encode("encode Float64, prices", &prices, &[Plain, Decimal]);
    let singles: Vec<u32> =
        column(|_, random| u64::from((random.below(10_000) as f32 / 10.0).to_bits()));
    decode("decode Float32, prices", &singles, &[Plain, Decimal], None);
}
