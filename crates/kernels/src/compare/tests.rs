//! Compares the bits at every level with those of one comparison for each value.

use std::fmt::Debug;

use proptest::prelude::{ProptestConfig, any, prop, proptest};

use super::{Comparison, scalar};
use crate::level::at_every_level;

const ALL: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

fn holds<T: PartialOrd>(comparison: Comparison, a: T, b: T) -> bool {
    match comparison {
        Comparison::Equal => a == b,
        Comparison::NotEqual => a != b,
        Comparison::Less => a < b,
        Comparison::LessOrEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterOrEqual => a >= b,
    }
}

fn check<T: Copy + PartialOrd + Debug>(values: &[T], number: T, before: &[u64]) {
    for comparison in ALL {
        let mut expected = before.to_vec();
        for (values, word) in values.chunks(64).zip(&mut expected) {
            let holds = |row: usize| holds(comparison, values[row], number);
            scalar::retain_rows(values.len(), word, holds);
        }
        let numbers = vec![number; values.len()];
        at_every_level(|level| {
            let mut words = before.to_vec();
            comparison.retain(values, number, &mut words);
            let what = (level, size_of::<T>(), values.len(), comparison, number);
            assert_eq!(words, expected, "{what:?}");
            let mut words = before.to_vec();
            comparison.retain_pairs(values, &numbers, &mut words);
            assert_eq!(words, expected, "pairs, {what:?}");
            words.copy_from_slice(before);
            comparison
                .mirrored()
                .retain_pairs(&numbers, values, &mut words);
            assert_eq!(words, expected, "pairs the other way round, {what:?}");
        });
    }
    let (left, right) = values.split_at(values.len() / 2);
    let right = &right[..left.len()];
    for comparison in ALL {
        let mut expected = before.to_vec();
        for (group, word) in expected.iter_mut().enumerate() {
            let first = left.len().min(group * 64);
            let len = (left.len() - first).min(64);
            let row_holds = |row: usize| holds(comparison, left[first + row], right[first + row]);
            scalar::retain_rows(len, word, row_holds);
        }
        at_every_level(|level| {
            let mut words = before.to_vec();
            comparison.retain_pairs(left, right, &mut words);
            assert_eq!(words, expected, "{level} {comparison:?} of halves");
        });
    }
}

fn check_lengths<T: Copy + PartialOrd + Debug>(values: &[T], number: T) {
    let before = [0x00ff_ffff_0f0f_ffff, u64::MAX, 0, 1, u64::MAX];
    for len in 0..=values.len() {
        check(&values[..len], number, &before);
    }
    for start in 0..9 {
        check(&values[start..], number, &before);
    }
}

#[test]
fn every_length_of_edges() {
    let bytes: Vec<u8> = (0..300_u32).map(|i| (i * 37 % 256) as u8).collect();
    check_lengths(&bytes, 128);
    check_lengths(&bytes, 255);
    let signed: Vec<i8> = bytes.iter().map(|b| b.cast_signed()).collect();
    check_lengths(&signed, -1);
    check_lengths(&signed, i8::MIN);
    let shorts: Vec<i16> = bytes.iter().map(|b| i16::from(*b) - 100).collect();
    check_lengths(&shorts, 25);
    let words: Vec<u32> = bytes.iter().map(|b| u32::from(*b) << 24).collect();
    check_lengths(&words, 1 << 31);
    let longs: Vec<i64> = bytes.iter().map(|b| (i64::from(*b) - 128) << 55).collect();
    check_lengths(&longs, 0);
    check_lengths(&longs, i64::MIN);
    let floats = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN, 5e-324].repeat(50);
    for number in [0.0, f64::NAN, f64::MIN, f64::NEG_INFINITY] {
        check_lengths(&floats, number);
    }
    check_lengths(&floats.iter().map(|v| *v as f32).collect::<Vec<_>>(), 0.0);
}

#[test]
fn the_specification_is_one_comparison_for_each_value() {
    for comparison in ALL {
        for (a, b) in [(1, 2), (2, 2), (3, 2)] {
            let mut word = u64::MAX;
            scalar::retain_rows(2, &mut word, |row| holds(comparison, [2, a][row], b));
            let is_set = |place: u32| word >> place & 1 == 1;
            assert_eq!(is_set(0), holds(comparison, 2, b));
            assert_eq!(is_set(1), holds(comparison, a, b));
            assert_eq!(word | 3, u64::MAX);
            assert_eq!(holds(comparison, a, b), holds(comparison.mirrored(), b, a));
        }
    }
}

#[test]
fn too_few_words_are_refused() {
    let retain = || Comparison::Less.retain(&[1_u8; 65], 1, &mut [u64::MAX]);
    std::panic::catch_unwind(retain).unwrap_err();
    let retain = |left: usize, right: usize, words: usize| {
        let sides = (vec![1_u8; left], vec![1_u8; right]);
        let mut words = vec![u64::MAX; words];
        Comparison::Less.retain_pairs(&sides.0, &sides.1, &mut words);
    };
    for (left, right, words) in [(65, 65, 1), (64, 63, 1), (63, 64, 1)] {
        std::panic::catch_unwind(|| retain(left, right, words)).unwrap_err();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_values(
        values in prop::collection::vec(any::<u64>(), 0..300),
        before in prop::collection::vec(any::<u64>(), 5),
        number in any::<u64>(),
        shift in 0_u32..64,
    ) {
        let values: Vec<u64> = values.iter().map(|value| value >> shift).collect();
        let number = number >> shift;
        check(&values, number, &before);
        let signed: Vec<i32> = values.iter().map(|value| *value as i32).collect();
        check(&signed, number as i32, &before);
        let shorts: Vec<u16> = values.iter().map(|value| *value as u16).collect();
        check(&shorts, number as u16, &before);
        let bytes: Vec<i8> = values.iter().map(|value| *value as i8).collect();
        check(&bytes, number as i8, &before);
    }
}
