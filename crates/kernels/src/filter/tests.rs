//! Compares what is appended at every level with a loop over the rows.

use std::fmt::Debug;

use proptest::prelude::{ProptestConfig, any, prop, proptest};

use super::{append_selected, append_selected_rows};
use crate::Bitmap;
use crate::level::at_every_level;

/// What is in a vector before.
const NUM_BEFORE: usize = 3;

fn check<T: Copy + PartialEq + Debug + 'static>(values: &[T], bytes: &[u8], offset: usize) {
    let bits = Bitmap::try_new(bytes, offset, values.len()).unwrap();
    let before = values.iter().copied().take(NUM_BEFORE);
    let selected = values.iter().enumerate().filter(|(row, _)| bits.get(*row));
    let expected: Vec<T> = before.clone().chain(selected.map(|(_, v)| *v)).collect();
    at_every_level(|level| {
        let mut found: Vec<T> = before.clone().collect();
        append_selected(values, bits, &mut found);
        let what = (level, size_of::<T>(), values.len(), offset);
        assert_eq!(found, expected, "{what:?}");
    });
}

/// Checks values of all sizes that are made from `words`.
fn check_types(words: &[u64], bytes: &[u8], offset: usize) {
    fn of<T>(words: &[u64], value: impl Fn(u64) -> T) -> Vec<T> {
        words.iter().map(|word| value(*word)).collect()
    }
    check(&of(words, |w| w as u8), bytes, offset);
    check(&of(words, |w| w as i16), bytes, offset);
    check(&of(words, |w| w as u32), bytes, offset);
    check(&of(words, |w| w), bytes, offset);
    check(&of(words, |w| u128::from(w) << 64 | 5), bytes, offset);
    // A size that no form knows, and bytes without a value.
    check(&of(words, |w| (w as u8, w as u16)), bytes, offset);
    check(&of(words, |w| [w as u8; 3]), bytes, offset);
    check(&of(words, |_| ()), bytes, offset);
}

fn words(len: usize) -> Vec<u64> {
    let word = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..len).map(word).collect()
}

/// Bytes of bits of which about `eighths` eighths are set.
fn bytes_of(len: usize, eighths: u64) -> Vec<u8> {
    let bit = |i: u64| u8::from((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61 < eighths);
    let byte = |i: u64| (0..8).fold(0, |byte, place| byte << 1 | bit(8 * i + place));
    (0..len as u64).map(byte).collect()
}

#[test]
fn every_length_and_offset() {
    let words = words(300);
    for eighths in [0, 1, 4, 7, 8] {
        let bytes = bytes_of(40, eighths);
        for len in 0..=words.len() {
            check_types(&words[..len], &bytes, len % 11);
        }
        for offset in 0..16 {
            check_types(&words[offset..], &bytes, offset);
        }
    }
}

#[test]
fn words_of_few_and_many_ones() {
    let words = words(64 * 6);
    for num_ones in 0..=64 {
        let low = u64::MAX.checked_shr(64 - num_ones).unwrap_or(0);
        let ones = [
            low,
            low.reverse_bits(),
            low.rotate_left(17),
            0,
            u64::MAX,
            low,
        ];
        let bytes: Vec<u8> = ones.iter().flat_map(|word| word.to_le_bytes()).collect();
        check_types(&words, &bytes, 0);
    }
}

#[test]
fn every_byte_of_bits() {
    let words = words(256 * 8);
    let bytes: Vec<u8> = (0..=255).collect();
    check_types(&words, &bytes, 0);
    check_types(&words[4..], &bytes, 4);
}

#[test]
fn floats_keep_all_their_bits() {
    let floats: Vec<f64> = [f64::NAN, -0.0, 5e-324, f64::INFINITY].repeat(40);
    let bits = [0b0110_1101; 20];
    at_every_level(|level| {
        let mut found = Vec::new();
        let mut narrow = Vec::new();
        let narrow_floats: Vec<f32> = floats.iter().map(|v| *v as f32).collect();
        let selected = Bitmap::try_new(&bits, 0, floats.len()).unwrap();
        append_selected(&floats, selected, &mut found);
        append_selected(&narrow_floats, selected, &mut narrow);
        let rows = (0..floats.len()).filter(|row| selected.get(*row));
        let is_same = |(place, row): (usize, usize)| {
            found[place].to_bits() == floats[row].to_bits()
                && narrow[place].to_bits() == narrow_floats[row].to_bits()
        };
        assert!(rows.enumerate().all(is_same), "{level}");
        assert_eq!(found.len(), 5 * floats.len() / 8);
    });
}

fn check_rows(bytes: &[u8], (offset, len): (usize, usize), first_row: u32) {
    let bits = Bitmap::try_new(bytes, offset, len).unwrap();
    let selected = (0..len).filter(|row| bits.get(*row));
    let numbers = selected.map(|row| first_row + row as u32);
    let expected: Vec<u32> = [7].into_iter().chain(numbers).collect();
    at_every_level(|level| {
        let mut found = vec![7];
        append_selected_rows(bits, first_row, &mut found);
        assert_eq!(found, expected, "{level} {offset} {len} {first_row}");
    });
}

#[test]
fn numbers_of_rows() {
    for eighths in [0, 1, 4, 7, 8] {
        let bytes = bytes_of(500, eighths);
        for len in (0..300).chain([1023, 1024, 1025, 2048, 3900]) {
            check_rows(&bytes, (len % 13, len), 0);
            check_rows(&bytes, (3, len), 1000);
            check_rows(&bytes, (0, len), u32::MAX - len as u32);
        }
        check_rows(&bytes, (0, 4000), u32::MAX - 3999);
    }
}

#[test]
fn too_many_bits_or_rows_are_refused() {
    let bits = Bitmap::try_new(&[0xFF; 9], 0, 65).unwrap();
    let append = || append_selected(&[1; 64], bits, &mut Vec::new());
    std::panic::catch_unwind(append).unwrap_err();
    let append = || append_selected_rows(bits, u32::MAX - 63, &mut Vec::new());
    std::panic::catch_unwind(append).unwrap_err();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_bits(
        words in prop::collection::vec(any::<u64>(), 0..500),
        bytes in prop::collection::vec(any::<u8>(), 70),
        runs in prop::collection::vec(prop::sample::select(vec![0_u8, 0xFF, 0x10, 0xEF]), 70),
        offset in 0_usize..60,
    ) {
        check_types(&words, &bytes, offset);
        check_types(&words, &runs, offset);
        check_rows(&bytes, (offset, words.len()), 9);
        check_rows(&runs, (offset, words.len()), 9);
    }
}
