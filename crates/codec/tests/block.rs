//! Tests blocks from outside: every chain, golden files, and every way to damage a block.
//!
//! The golden files hold down the bytes that `docs/format/block.md` specifies. After a change of the
//! format, which needs a new version, `GOLDEN=write cargo test -p basalt-codec --test block` writes them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use basalt_codec::auto::Policy;
use basalt_codec::block::{HEADER_BYTES, MAX_BYTES};
use basalt_codec::word::bytes_of;
use basalt_codec::{
    Auto, Block, BlockDecoder, BlockEncoder, Chain, Codec, Compression, DecodeError, Element, Kind,
    Packing, PaddedBuffer, Statistics, Transform,
};

fn encoded(values: &[u8], element: Element, chain: Chain) -> Vec<u8> {
    let mut stored = Vec::new();
    let mut encoder = BlockEncoder::new(element, Codec::Fixed(chain));
    encoder.encode(values, &mut stored).unwrap();
    stored
}

/// Decodes the one block in `stored`.
fn decoded(stored: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let (block, rest) = Block::read(stored)?;
    assert!(rest.is_empty());
    let mut values = PaddedBuffer::default();
    BlockDecoder::new().decode(&block, &mut values)?;
    Ok(values.to_vec())
}

/// Numbers that nothing makes smaller.
fn noise(len: usize) -> Vec<u64> {
    let mut random = basalt_adapt::Random::new(1);
    (0..len).map(|_| random.bits()).collect()
}

fn element(name: &str) -> Element {
    Element::named(name).unwrap()
}

/// Every chain there is, with one level of each compression.
fn chains() -> Vec<Chain> {
    let transforms = [None, Some(Transform::Delta), Some(Transform::DoubleDelta)];
    let compressions = [
        Compression::None,
        Compression::Lz4,
        Compression::Lz4High(9),
        Compression::Zstd(3),
    ];
    let mut chains = Vec::new();
    for transform in transforms {
        for packing in Packing::ALL {
            let chain = |compression| Chain {
                transform,
                packing,
                compression,
            };
            chains.extend(compressions.map(chain));
        }
    }
    chains
}

/// Columns of different nature, small enough to damage every byte of them.
fn columns() -> Vec<(Element, Vec<u8>)> {
    let keys: Vec<u32> = (0..700_u32).map(|i| i / 9 * 37 % 11).collect();
    let times: Vec<u64> = (0..300_u64)
        .map(|i| 1_700_000_000_000 + i * 1000 + i % 3)
        .collect();
    let prices: Vec<u64> = (0..300_u64).map(|i| (i as f64 / 4.0).to_bits()).collect();
    let flags: Vec<u8> = (0..900_u32).map(|i| u8::from(i % 50 == 0)).collect();
    let text = "the quick brown fox and the quick brown dog; "
        .repeat(9)
        .into_bytes();
    let wide: Vec<u8> = (0..32).map(|i| i % 16).collect();
    vec![
        (element("UInt32"), bytes_of(&keys).to_vec()),
        (element("Int64"), bytes_of(&times).to_vec()),
        (element("Float64"), bytes_of(&prices).to_vec()),
        (element("UInt8"), flags),
        (Element::BYTES, text),
        (element("Int128"), wide),
        (element("UInt16"), Vec::new()),
        (element("UInt16"), [7, 0].repeat(500)),
    ]
}

#[test]
fn every_chain_gives_back_every_column() {
    for (element, values) in columns() {
        for chain in chains() {
            let stored = encoded(&values, element, chain);
            assert_eq!(stored.len() % HEADER_BYTES, 0);
            let (block, _) = Block::read(&stored).unwrap();
            assert_eq!(block.element(), element);
            assert_eq!(block.decoded_bytes(), values.len());
            assert!(block.payload_bytes() <= values.len() + 16, "{chain}");
            assert_eq!(*block.statistics(), Statistics::of(&values, element));
            assert_eq!(decoded(&stored).unwrap(), values, "{chain}");
        }
    }
}

#[test]
fn steps_that_cannot_be_taken_are_left_out() {
    let chain_of = |values: &[u8], name: &str, chain: &str| {
        let stored = encoded(values, element(name), Chain::parse(chain).unwrap());
        Block::read(&stored).unwrap().0.chain().to_string()
    };
    let noise = noise(512);
    let noise = bytes_of(&noise);
    assert_eq!(chain_of(noise, "String", "Delta, LZ4"), "NONE");
    assert_eq!(chain_of(noise, "UInt32", "Dictionary"), "NONE");
    assert_eq!(chain_of(noise, "Int128", "FrameOfReference, LZ4"), "NONE");
    assert_eq!(chain_of(&[5; 4096], "Int128", "Constant"), "Constant");
    assert_eq!(
        chain_of(&[5; 4096], "UInt32", "RunLength, ZSTD"),
        "RunLength"
    );
}

#[test]
fn plain_blocks_are_read_where_they_lie() {
    let values: Vec<u64> = (0..100)
        .map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .collect();
    let stored = PaddedBuffer::copied(&encoded(bytes_of(&values), element("UInt64"), Chain::PLAIN));
    let (block, _) = Block::read(&stored).unwrap();
    let plain = block.plain().unwrap();
    assert_eq!(
        basalt_codec::word::words_of::<u64>(plain),
        Some(&values[..])
    );
    let packed = encoded(
        &[1; 64],
        element("UInt64"),
        Chain::packed(Packing::Constant, Compression::None),
    );
    assert_eq!(Block::read(&packed).unwrap().0.plain(), None);
}

#[test]
fn values_that_are_no_block_are_refused() {
    let mut encoder = BlockEncoder::new(element("UInt32"), Codec::Fixed(Chain::PLAIN));
    let mut stored = vec![1, 2, 3];
    assert!(encoder.encode(&[0; 7], &mut stored).is_err());
    assert!(
        encoder
            .encode(&vec![0; MAX_BYTES + 4], &mut stored)
            .is_err()
    );
    assert_eq!(stored, [1, 2, 3]);
    // Blocks need not begin at a multiple of anything in memory.
    encoder.encode(&[0; 8], &mut stored).unwrap();
    assert_eq!(decoded(&stored[3..]).unwrap(), [0; 8]);
}

#[test]
fn every_damaged_byte_and_every_cut_is_an_error() {
    for (element, values) in columns() {
        for chain in chains().into_iter().filter(|chain| chain.fits(element)) {
            let stored = encoded(&values, element, chain);
            for place in 0..stored.len() {
                for flip in [1, 0x80, 0xFF] {
                    let mut damaged = stored.clone();
                    damaged[place] ^= flip;
                    assert!(decoded(&damaged).is_err(), "{chain}: byte {place}");
                }
            }
            for len in 0..stored.len() {
                assert!(decoded(&stored[..len]).is_err(), "{chain}: {len} bytes");
            }
        }
    }
}

/// Writes the checksum anew, as somebody would who wants to deceive.
fn seal(stored: &mut [u8]) {
    let sum = xxhash_rust::xxh3::xxh3_128(&stored[16..]);
    stored[..16].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn damage_with_a_right_checksum_is_an_error_or_other_values() {
    for (element, values) in columns() {
        for chain in chains().into_iter().filter(|chain| chain.fits(element)) {
            let stored = encoded(&values, element, chain);
            // Sizes of gigabytes would only test the memory.
            for place in (16..stored.len()).filter(|place| !matches!(place, 30..=31 | 34..=35)) {
                for flip in [1, 0x80] {
                    let mut damaged = stored.clone();
                    damaged[place] ^= flip;
                    seal(&mut damaged);
                    let _ = decoded(&damaged);
                }
            }
        }
    }
}

#[test]
fn auto_takes_what_is_small() {
    // Bytes cost so much that the time of decoding, which depends on the build, does not count.
    let policy = Policy {
        stored_byte_ns: 1e6,
        strong: None,
        ..Policy::default()
    };
    let chosen = |values: &[u8], element: Element| {
        let codec = Codec::Auto(Box::new(Auto::new(policy)));
        let mut encoder = BlockEncoder::new(element, codec);
        let mut chain = Chain::PLAIN;
        for _ in 0..5 {
            let mut stored = Vec::new();
            chain = encoder.encode(values, &mut stored).unwrap();
            assert_eq!(decoded(&stored).unwrap(), values);
        }
        chain
    };
    let random = noise(1 << 16);
    assert_eq!(chosen(bytes_of(&random), element("UInt64")), Chain::PLAIN);
    assert_eq!(chosen(bytes_of(&random), Element::BYTES), Chain::PLAIN);
    let small: Vec<u64> = random.iter().map(|x| x % 1000).collect();
    assert_ne!(
        chosen(bytes_of(&small), element("UInt64")).packing,
        Packing::Plain
    );
    let times: Vec<u64> = (0..)
        .zip(&random)
        .map(|(i, x)| i * 1_000_000 + x % 4)
        .collect();
    assert!(
        chosen(bytes_of(&times), element("UInt64"))
            .transform
            .is_some()
    );
    let constant = vec![3; 1 << 16];
    assert_eq!(
        chosen(&constant, element("UInt32")).packing,
        Packing::Constant
    );
    let text = "page title number 7; another title; ".repeat(2000);
    assert_ne!(
        chosen(text.as_bytes(), Element::BYTES).compression,
        Compression::None
    );
    let prices: Vec<u64> = random
        .iter()
        .map(|x| (x % 100_000) as f64 / 100.0)
        .map(f64::to_bits)
        .collect();
    assert_eq!(
        chosen(bytes_of(&prices), element("Float64")).packing,
        Packing::Decimal
    );
}

#[test]
fn auto_takes_what_is_quick() {
    // Bytes cost nothing, so that nothing is quicker to decode than what is not encoded.
    let policy = Policy {
        stored_byte_ns: 0.0,
        ..Policy::default()
    };
    let codec = Codec::Auto(Box::new(Auto::new(policy)));
    let values: Vec<u64> = noise(1 << 16).iter().map(|x| x % 1000).collect();
    let mut encoder = BlockEncoder::new(element("UInt64"), codec);
    let chain = encoder.encode(bytes_of(&values), &mut Vec::new()).unwrap();
    assert_eq!(chain, Chain::PLAIN);
}

#[test]
fn auto_follows_a_column_that_changes() {
    let mut encoder = BlockEncoder::new(
        element("UInt32"),
        Codec::Auto(Box::new(Auto::new(Policy::default()))),
    );
    let mut stored = Vec::new();
    let constant = vec![0; 4096];
    for _ in 0..20 {
        stored.clear();
        encoder.encode(&constant, &mut stored).unwrap();
    }
    let noise = noise(512);
    stored.clear();
    let chain = encoder.encode(bytes_of(&noise), &mut stored).unwrap();
    assert_eq!(decoded(&stored).unwrap(), bytes_of(&noise), "{chain}");
    // One more block goes by what won for the noise, which is plain and does not change its size.
    stored.clear();
    encoder.encode(&constant, &mut stored).unwrap();
    let chain = encoder.encode(&constant, &mut stored).unwrap();
    assert_eq!(chain.packing, Packing::Constant);
}

#[test]
fn what_few_values_told_is_no_rule_for_many() {
    let auto = || Codec::Auto(Box::new(Auto::new(Policy::default())));
    let values: Vec<u64> = (0..1 << 16).map(|i| i % 10).collect();
    let values = bytes_of(&values);
    // One value cannot be made smaller; nor can noise.
    for few in [bytes_of(&[7_u64]), bytes_of(&noise(1 << 14))] {
        let mut learned = None;
        for _ in 0..100 {
            let mut encoder = BlockEncoder::new(element("UInt64"), auto()).going_on_with(learned);
            encoder.encode(few, &mut Vec::new()).unwrap();
            learned = encoder.learned();
        }
        let mut encoder = BlockEncoder::new(element("UInt64"), auto()).going_on_with(learned);
        let chain = encoder.encode(values, &mut Vec::new()).unwrap();
        assert_ne!(chain, Chain::PLAIN, "{} bytes before", few.len());
    }
}

#[test]
fn an_encoder_goes_on_with_what_another_has_learned() {
    let auto = || Codec::Auto(Box::new(Auto::new(Policy::default())));
    let values: Vec<u64> = (0..1 << 16).map(|i| i % 10).collect();
    let mut first = BlockEncoder::new(element("UInt64"), auto());
    let chain = first.encode(bytes_of(&values), &mut Vec::new()).unwrap();
    let mut second = BlockEncoder::new(element("UInt64"), auto()).going_on_with(first.learned());
    let mut stored = Vec::new();
    let again = second.encode(bytes_of(&values), &mut stored).unwrap();
    assert_eq!(again, chain);
    assert_eq!(decoded(&stored).unwrap(), bytes_of(&values));
    assert!(second.learned().is_some());
}

#[test]
fn golden_files_are_read_and_written_alike() {
    // Asked at run time: a cached binary may come from another clone.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("tests are run by cargo");
    let folder = std::path::Path::new(&package).join("tests/golden");
    let names = [
        "UInt32", "Int64", "Float64", "UInt8", "String", "Int128", "empty", "constant",
    ];
    for ((element, values), name) in columns().into_iter().zip(names) {
        // What compresses may change from version to version, what is packed may not.
        let of_format =
            |chain: &Chain| chain.fits(element) && chain.compression == Compression::None;
        let mut all = Vec::new();
        for chain in chains().into_iter().filter(of_format) {
            all.extend(encoded(&values, element, chain));
        }
        check_golden(&folder.join(format!("{name}.blocks")), &all, &values);
    }
    // Compressed blocks only have to be read.
    let text = columns()[4].1.clone();
    for (name, compression) in [("lz4", Compression::Lz4), ("zstd", Compression::Zstd(3))] {
        let path = folder.join(format!("{name}.blocks"));
        if std::env::var_os("GOLDEN").is_some() {
            std::fs::write(
                &path,
                encoded(&text, Element::BYTES, Chain::compressed(compression)),
            )
            .unwrap();
        }
        assert_eq!(decoded(&std::fs::read(path).unwrap()).unwrap(), text);
    }
}

fn check_golden(path: &std::path::Path, written: &[u8], values: &[u8]) {
    if std::env::var_os("GOLDEN").is_some() {
        std::fs::write(path, written).unwrap();
    }
    let golden = std::fs::read(path).unwrap();
    assert!(golden == written, "{} has other bytes", path.display());
    let mut rest = &golden[..];
    let mut decoder = BlockDecoder::new();
    let mut out = PaddedBuffer::default();
    while !rest.is_empty() {
        let (block, after) = Block::read(rest).unwrap();
        decoder.decode(&block, &mut out).unwrap();
        assert_eq!(*out, *values, "{} {}", path.display(), block.chain());
        rest = after;
    }
}

#[test]
fn streams_are_cut_into_blocks_and_back() {
    use basalt_codec::stream::{StreamError, decode_all, encode_all};
    let values: Vec<u8> = (0..100_000_u32)
        .flat_map(|i| (i / 100).to_le_bytes())
        .collect();
    let mut encoder = BlockEncoder::new(
        element("UInt32"),
        Codec::Fixed(Chain::parse("LZ4").unwrap()),
    );
    let (mut stored, mut back, mut num_blocks) = (Vec::new(), Vec::new(), 0);
    encode_all(&values[..], &mut stored, &mut encoder, 65_536, |_| {
        num_blocks += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(num_blocks, values.len().div_ceil(65_536));
    decode_all(&stored[..], &mut back, |_| Ok(())).unwrap();
    assert_eq!(back, values);
    let last = stored.len() - 1;
    let number = |stored: &[u8]| match decode_all(stored, std::io::sink(), |_| Ok(())) {
        Err(StreamError::Damaged { block, error }) => (block, error),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        number(&stored[..last]),
        (num_blocks as u64 - 1, DecodeError::Truncated)
    );
    stored[last] ^= 1;
    assert_eq!(
        number(&stored),
        (num_blocks as u64 - 1, DecodeError::BadChecksum)
    );
    let kind = Element::try_new(Kind::Unsigned, 4).unwrap();
    assert_eq!(kind, element("UInt32"));
}
