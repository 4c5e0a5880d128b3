//! Compares the folds at every level with the definition of their order.

use std::fmt::Debug;

use proptest::prelude::{ProptestConfig, any, prop, proptest};

use super::{NUM_LANES, fold_lanes, half_rows, lane_of};
use crate::Bitmap;
use crate::level::at_every_level;

/// The definition of the order, as plainly as it can be written.
fn defined<T: Copy, A: Copy>(
    values: &[T],
    validity: Option<Bitmap<'_>>,
    (init, step): (A, impl Fn(A, T) -> A),
    join: impl Fn(A, A) -> A,
) -> A {
    let mut lanes = vec![init; NUM_LANES];
    for (row, value) in values.iter().enumerate() {
        if validity.is_none_or(|bits| bits.get(row)) {
            let lane = &mut lanes[lane_of(row, values.len())];
            *lane = step(*lane, *value);
        }
    }
    while lanes.len() > 1 {
        let upper = lanes.split_off(lanes.len() / 2);
        lanes
            .iter_mut()
            .zip(upper)
            .for_each(|(a, b)| *a = join(*a, b));
    }
    lanes[0]
}

fn check_fold<T: Copy, A: Copy + PartialEq + Debug>(
    values: &[T],
    validity: Option<Bitmap<'_>>,
    (init, step): (A, impl Fn(A, T) -> A + Copy),
    join: impl Fn(A, A) -> A + Copy,
) {
    let expected = defined(values, validity, (init, step), join);
    at_every_level(|level| {
        let found = fold_lanes(values, validity, init, step, join);
        let what = (level, values.len(), validity.is_some());
        assert_eq!(found, expected, "{what:?}");
    });
}

/// Folds of several types; the floats are such that each order gives another sum.
fn check(words: &[u64], validity: Option<Bitmap<'_>>) {
    check_fold(words, validity, (0, u64::wrapping_add), u64::wrapping_add);
    let bytes: Vec<i8> = words.iter().map(|word| *word as i8).collect();
    check_fold(&bytes, validity, (i8::MAX, i8::min), i8::min);
    let add = |sum: i64, v: i8| sum + i64::from(v);
    check_fold(&bytes, validity, (0, add), i64::wrapping_add);
    let floats: Vec<f64> = words.iter().map(|w| 1.0 / (*w as f64 + 1.0)).collect();
    check_fold(&floats, validity, (0.0, |a, b| a + b), |a: f64, b| a + b);
    let narrow: Vec<f32> = floats.iter().map(|v| *v as f32).collect();
    let add = |sum: f64, v: f32| sum + f64::from(v);
    check_fold(&narrow, validity, (0.0, add), |a: f64, b| a + b);
}

#[test]
fn every_length_and_offset() {
    let words: Vec<u64> = (0..300).map(|i| i * i + 1).collect();
    let bytes: Vec<u8> = (0..60_u32).map(|i| (i * 91 % 251) as u8).collect();
    let ends = [0, 0xFF, 0xFF].repeat(20);
    for len in 0..=words.len() {
        check(&words[..len], None);
        check(&words[300 - len..], Bitmap::try_new(&bytes, len % 17, len));
        check(&words[..len], Bitmap::try_new(&ends, 3, len));
    }
    let all = [0xFF; 60];
    for offset in 0..9 {
        check(
            &words[offset..],
            Bitmap::try_new(&all, offset, 300 - offset),
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_values(
        words in prop::collection::vec(any::<u64>(), 0..700),
        bytes in prop::collection::vec(any::<u8>(), 100),
        offset in 0_usize..64,
    ) {
        check(&words, None);
        check(&words, Bitmap::try_new(&bytes, offset, words.len()));
    }
}

#[test]
fn each_row_has_its_lane() {
    for len in [0, 1, 31, 32, 33, 100, 256, 300] {
        let lanes: Vec<usize> = (0..len).map(|row| lane_of(row, len)).collect();
        let half = half_rows(len);
        let expected = (0..half)
            .map(|row| row % 16)
            .chain((0..half).map(|row| 16 + row % 16))
            .chain(0..len - 2 * half);
        assert_eq!(lanes, expected.collect::<Vec<_>>());
    }
}

#[test]
fn sums_of_floats_are_those_of_the_kernel() {
    let values: Vec<f64> = (0..777).map(|i| 1.0 / f64::from(i + 1)).collect();
    let ours = fold_lanes(&values, None, 0.0, |sum, v| sum + v, |a: f64, b| a + b);
    let kernel = crate::sum::form_named("lanes").unwrap();
    assert_eq!(ours.to_bits(), kernel.sum(&values, None).to_bits());
}
