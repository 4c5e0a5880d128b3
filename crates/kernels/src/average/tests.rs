//! Compares every available form with the specification of its order.

use proptest::prelude::{ProptestConfig, any, proptest};

use super::{
    ByteKeyStates, LANES_CHOICE, NUM_KEYS, Order, ROWS_CHOICE, Rows, Value, all_forms, forms,
};
use crate::Bitmap;

/// The orders of summation, as plainly as they can be written.
fn specified<V: Value>(order: Order, states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let num_lanes = match order {
        Order::Rows => return super::scalar::table(states, rows),
        Order::Lanes(num_lanes) => num_lanes,
    };
    let mut lanes = vec![[0.0; NUM_KEYS]; num_lanes];
    for row in 0..rows.len() {
        if rows.validity.is_none_or(|bits| bits.get(row)) {
            lanes[row % num_lanes][usize::from(rows.keys[row])] += rows.values[row].widen();
            states.counts[usize::from(rows.keys[row])] += 1;
        }
    }
    while lanes.len() > 1 {
        let upper = lanes.split_off(lanes.len() / 2);
        for (lower, upper) in lanes.iter_mut().flatten().zip(upper.iter().flatten()) {
            *lower += upper;
        }
    }
    for (sum, lane) in states.sums.iter_mut().zip(lanes[0]) {
        *sum += lane;
    }
}

fn bits(states: &ByteKeyStates) -> Vec<(u64, u64)> {
    // All NaN are one: which of two is kept is up to the processor.
    let sum = |sum: f64| if sum.is_nan() { f64::NAN } else { sum };
    let sums = states.sums.iter().map(|s| sum(*s).to_bits());
    sums.zip(states.counts).collect()
}

/// Runs every form twice over the rows, so that the second call meets states that are not empty.
fn check<V: Value>(keys: &[u8], values: &[V], validity: Option<Bitmap<'_>>) {
    let rows = Rows::try_new(keys, values, validity).unwrap();
    for form in forms::<V>() {
        let mut expected = ByteKeyStates::default();
        let mut found = ByteKeyStates::default();
        for _ in 0..2 {
            specified(form.order, &mut expected, &rows);
            form.add(&mut found, &rows);
        }
        assert_eq!(
            bits(&found),
            bits(&expected),
            "{} of {} rows",
            form.name,
            keys.len()
        );
    }
}

const EDGES: [f32; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    1e-45,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    3e7,
    0.1,
];

fn keys_of(len: usize, num_keys: usize) -> Vec<u8> {
    (0..len)
        .map(|i| (i * i / 3 * 37 % num_keys) as u8)
        .collect()
}

#[test]
fn every_length_and_offset() {
    let bytes: Vec<u8> = (0..64_u32)
        .map(|i| ((i * i * 31) >> 2) as u8 | 0x11)
        .collect();
    let values: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.1 - 3.0).collect();
    for num_keys in [1, 3, 12, 256] {
        let keys = keys_of(200, num_keys);
        for offset in 0..9 {
            for len in 0..=(200 - offset) {
                let range = offset..offset + len;
                check(&keys[range.clone()], &values[range.clone()], None);
                let validity = Bitmap::try_new(&bytes, offset, len);
                check(&keys[range.clone()], &values[range], validity);
            }
        }
    }
}

#[test]
fn edge_values_and_what_lies_under_missing_ones() {
    for len in [1, 12, 63, 64, 65, 300] {
        let values: Vec<f32> = EDGES.iter().copied().cycle().take(len).collect();
        let all_valid = vec![0xFF; len];
        let none_valid = vec![0; len];
        let without_edges: Vec<u8> = [0b0000_0111, 0b0111_1100, 0b1100_0000].repeat(len);
        for num_keys in [1, 5, 200] {
            let keys = keys_of(len, num_keys);
            check(&keys, &values, None);
            for bytes in [&all_valid, &none_valid, &without_edges] {
                check(&keys, &values, Bitmap::try_new(bytes, 0, len));
                check(&keys, &values, Bitmap::try_new(bytes, 3, len));
            }
        }
    }
}

#[test]
fn long_batches() {
    let values: Vec<f32> = (0..70_000).map(|i| (i % 1023) as f32 * 0.3).collect();
    for num_keys in [1, 2, 10, 256] {
        check(&keys_of(70_000, num_keys), &values, None);
    }
}

#[test]
fn runs_of_keys() {
    let values: Vec<f32> = (0..5_000).map(|i| i as f32 * 0.7).collect();
    let keys: Vec<u8> = (0..5_000).map(|i| (i / 300) as u8).collect();
    check(&keys, &values, None);
    check(&keys, &values, Bitmap::try_new(&[0xF7; 1000], 5, 5_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_rows(
        rows in proptest::collection::vec((any::<u8>(), -1e9_f64..1e9), 0..400),
        key_mask in any::<u8>(),
        bytes in proptest::collection::vec(any::<u8>(), 52),
        offset in 0_usize..16,
    ) {
        let keys: Vec<u8> = rows.iter().map(|(key, _)| key & key_mask).collect();
        let values: Vec<f64> = rows.iter().map(|(_, value)| *value).collect();
        check(&keys, &values, None);
        check(&keys, &values, Bitmap::try_new(&bytes, offset, keys.len()));
    }
}

#[test]
fn choices_name_forms_of_one_order() {
    for (choice, order) in [
        (&ROWS_CHOICE, Order::Rows),
        (&LANES_CHOICE, Order::Lanes(8)),
    ] {
        for arm in choice.arms() {
            // Elsewhere than on x86-64 there are arms that can never be picked.
            let form = all_forms::<f32>().find(|form| form.name == *arm);
            assert!(form.is_none_or(|form| form.order == order), "{arm}");
        }
        assert!(forms::<f32>().any(|form| form.name == choice.arms()[0]));
    }
}

#[test]
fn lengths_must_agree() {
    assert!(Rows::try_new(&[1, 2], &[1.0_f32], None).is_none());
    assert!(Rows::try_new(&[1], &[1.0_f32], Bitmap::try_new(&[0], 0, 2)).is_none());
}

#[test]
fn averages_of_merged_states() {
    let mut states = ByteKeyStates::default();
    let rows = Rows::try_new(&[7, 7, 9], &[1.0_f32, 2.0, 5.0], None).unwrap();
    super::scalar::table(&mut states, &rows);
    states.merge(&states.clone());
    assert_eq!(states.average(7), 1.5);
    assert_eq!(states.counts[9], 2);
    assert!(states.average(0).is_nan());
    let mut seen = [false; NUM_KEYS];
    super::mark_seen(&[7, 9, 7], &mut seen);
    assert_eq!(seen.iter().filter(|seen| **seen).count(), 2);
}
