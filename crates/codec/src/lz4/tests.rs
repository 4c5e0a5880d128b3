//! Tests all forms against the specification, on blocks of the C library and on made-up ones.

use basalt_adapt::{Random, SimdLevel};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

use crate::error::DecodeError;
use crate::lz4::{CHOICE, Decoder, FORMS, available, reference, scalar};
use crate::padded::PaddedBuffer;

/// What the specification makes of a block.
fn specified(block: &[u8], len: usize) -> Result<Vec<u8>, DecodeError> {
    let mut out = vec![0; len];
    scalar::decode(block, &mut out, 0).map(|()| out)
}

/// Checks that every form but the reference does to a block what the specification does.
fn check(block: &[u8], len: usize) -> Result<Vec<u8>, DecodeError> {
    let expected = specified(block, len);
    for form in available().skip(1) {
        let mut out = PaddedBuffer::copied(&vec![0xA5; len]);
        let result = form.decompress(block, &mut out);
        assert_eq!(
            result.is_ok(),
            expected.is_ok(),
            "{}: {result:?} {expected:?}",
            form.name
        );
        if let Ok(expected) = &expected {
            let place = out.iter().zip(expected).position(|(a, b)| a != b);
            assert_eq!(place, None, "{} of {len} bytes", form.name);
        }
    }
    expected
}

/// Compresses and checks that every form gives the bytes back.
fn check_roundtrip(bytes: &[u8]) {
    let mut blocks = [Vec::new(), Vec::new(), Vec::new()];
    assert!(reference::compress_fast(bytes, 1, &mut blocks[0]));
    assert!(reference::compress_fast(bytes, 40, &mut blocks[1]));
    assert!(reference::compress_high(bytes, 9, &mut blocks[2]));
    for block in blocks {
        assert_eq!(check(&block, bytes.len()).unwrap(), bytes);
        let mut out = PaddedBuffer::zeroed(bytes.len());
        FORMS[0].decompress(&block, &mut out).unwrap();
        assert_eq!(*out, *bytes);
    }
}

/// Appends a sequence: literals, then a match unless the offset is 0.
fn append_sequence(block: &mut Vec<u8>, literals: &[u8], offset: u16, match_len: usize) {
    let nibble = |length: usize| length.min(15) as u8;
    let rest = |mut length: usize, block: &mut Vec<u8>| {
        if length >= 15 {
            length -= 15;
            block.resize(block.len() + length / 255, 255);
            block.push((length % 255) as u8);
        }
    };
    let match_rest = match_len.saturating_sub(4);
    block.push(nibble(literals.len()) << 4 | nibble(match_rest));
    rest(literals.len(), block);
    block.extend_from_slice(literals);
    if offset > 0 {
        block.extend_from_slice(&offset.to_le_bytes());
        rest(match_rest, block);
    }
}

/// Bytes in which runs, repetitions and noise alternate.
fn mixture(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let most = 1 << random.below(9);
        let run = 1 + random.below(most) as usize;
        let back = 1 + random.below(bytes.len().min(80) as u64) as usize;
        let is_noise = random.below(3) == 0 || bytes.len() < back;
        for _ in 0..run {
            let byte = if is_noise {
                random.bits() as u8
            } else {
                bytes[bytes.len() - back]
            };
            bytes.push(byte);
        }
    }
    bytes.truncate(len);
    bytes
}

#[test]
fn names_are_arms() {
    let names: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
    assert_eq!(names, CHOICE.arms());
    assert!(available().count() >= 4);
    let is_narrow = |form: &super::Form| form.level == SimdLevel::Scalar;
    assert!(FORMS[..4].iter().all(is_narrow));
}

#[test]
fn blocks_of_the_library_come_back() {
    for len in (0..200).chain([1000, 65_535, 65_536, 300_000]) {
        check_roundtrip(&mixture(len, len as u64));
        check_roundtrip(&vec![7; len]);
        let numbers = (0..len as u32).flat_map(|i| (i / 3).to_le_bytes());
        check_roundtrip(&numbers.take(len).collect::<Vec<u8>>());
    }
}

#[test]
fn matches_of_every_distance_and_length() {
    let literals: Vec<u8> = (0..100).collect();
    for offset in 1..=100 {
        for match_len in (4..90).chain([254, 255, 256, 273, 274, 275, 1000]) {
            for last in [0, 5, 40] {
                let mut block = Vec::new();
                append_sequence(&mut block, &literals, offset, match_len);
                append_sequence(&mut block, &literals[..last], 0, 0);
                check(&block, literals.len() + match_len + last).unwrap();
                // As far from the end of the input as the fast loop needs, at the end of the output.
                let mut block = Vec::new();
                append_sequence(&mut block, &literals, offset, match_len);
                append_sequence(&mut block, &[], offset, 18);
                append_sequence(&mut block, &literals[..last], 0, 0);
                check(&block, literals.len() + match_len + 18 + last).unwrap();
            }
        }
    }
}

#[test]
fn runs_of_literals_of_every_length() {
    let literals = mixture(700, 3);
    for first in (0..100).chain([269, 270, 271, 600]) {
        for second in [0, 1, 14, 15, 16, 31, 32, 33, 64, 300] {
            let mut block = Vec::new();
            append_sequence(&mut block, &literals[..first + 1], 1, 4);
            append_sequence(&mut block, &literals[..second], 0, 0);
            check(&block, first + 1 + 4 + second).unwrap();
        }
    }
}

#[test]
fn blocks_that_do_not_fit_are_errors() {
    let bytes = mixture(2000, 5);
    let mut block = Vec::new();
    assert!(reference::compress_fast(&bytes, 1, &mut block));
    for len in (0..bytes.len()).chain([bytes.len() + 1, 1 << 16]) {
        check(&block, len).unwrap_err();
    }
    for len in 0..block.len() {
        check(&block[..len], bytes.len()).unwrap_err();
    }
    check(&[], 0).unwrap_err();
    check(&[0], 0).unwrap();
}

#[test]
fn damaged_blocks_are_errors_or_other_bytes() {
    for seed in 0..4 {
        let bytes = mixture(1500, seed);
        let mut block = Vec::new();
        assert!(reference::compress_fast(&bytes, 1, &mut block));
        for place in 0..block.len() {
            for flip in [1, 0x10, 0x80, 0xFF] {
                let mut damaged = block.clone();
                damaged[place] ^= flip;
                let _ = check(&damaged, bytes.len());
                let mut out = PaddedBuffer::zeroed(bytes.len());
                let _ = FORMS[0].decompress(&damaged, &mut out);
            }
        }
    }
}

#[test]
fn offsets_before_the_block_are_errors() {
    for (offset, is_bad) in [
        (0, true),
        (1, false),
        (40, false),
        (41, true),
        (60_000, true),
    ] {
        for match_len in [4, 18, 19, 300] {
            let mut block = Vec::new();
            append_sequence(&mut block, &[9; 40], 1, match_len);
            let place = 1 + 1 + 40;
            block[place..place + 2].copy_from_slice(&u16::to_le_bytes(offset));
            append_sequence(&mut block, &[1; 20], 0, 0);
            let result = check(&block, 40 + match_len + 20);
            assert_eq!(result.is_err(), is_bad, "{offset}");
        }
    }
}

#[test]
fn decoders_settle_and_give_the_same_bytes() {
    let bytes = mixture(65_536, 11);
    let mut block = Vec::new();
    assert!(reference::compress_fast(&bytes, 1, &mut block));
    let mut decoder = Decoder::new();
    let mut out = PaddedBuffer::zeroed(bytes.len());
    for _ in 0..100 {
        out.fill(0);
        decoder.decompress(&block, &mut out).unwrap();
        assert_eq!(*out, *bytes);
    }
    assert!(decoder.best().is_available());
}

/// Pieces that make bytes which LZ4 compresses in all its ways.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = (prop::collection::vec(any::<u8>(), 0..40), 1_usize..50);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| {
        let repeated = pieces
            .into_iter()
            .flat_map(|(bytes, times)| bytes.repeat(times));
        repeated.collect()
    })
}

proptest! {
    #[test]
    fn any_bytes_come_back(bytes in pieces()) {
        check_roundtrip(&bytes);
    }

    #[test]
    fn any_block_is_decoded_as_specified(block in prop::collection::vec(any::<u8>(), 0..300), len in 0_usize..600) {
        let _ = check(&block, len);
    }

    #[test]
    fn what_the_library_takes_is_taken(block in prop::collection::vec(any::<u8>(), 0..100), len in 0_usize..300) {
        let mut out = PaddedBuffer::zeroed(len);
        if FORMS[0].decompress(&block, &mut out).is_ok() {
            match check(&block, len) {
                Ok(bytes) => prop_assert_eq!(&bytes[..], &out[..]),
                Err(e) => prop_assert!(e == DecodeError::BadOffset, "{}", e),
            }
        }
    }
}
