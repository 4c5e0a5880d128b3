//! Compares every available form with the definition of its order.

use proptest::prelude::{ProptestConfig, any, proptest};

use super::{ALL_FORMS, CHOICE, NUM_LANES, Order, form_named, forms};
use crate::Bitmap;
use crate::fold::lane_of;

/// The definition of `sum`, as plainly as it can be written.
fn defined(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    let mut lanes = vec![0.0; NUM_LANES];
    for (row, value) in values.iter().enumerate() {
        if validity.is_none_or(|bits| bits.get(row)) {
            lanes[lane_of(row, values.len())] += value;
        }
    }
    while lanes.len() > 1 {
        let upper = lanes.split_off(lanes.len() / 2);
        lanes.iter_mut().zip(upper).for_each(|(a, b)| *a += b);
    }
    lanes[0]
}

fn is_same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Forms of lanes agree with the definition, others with the first form of their order.
fn check(values: &[f64], validity: Option<Bitmap<'_>>) {
    for form in forms() {
        let first = forms().find(|first| first.order == form.order).unwrap();
        let expected = match form.order {
            Order::Lanes => defined(values, validity),
            _ => first.sum(values, validity),
        };
        let found = form.sum(values, validity);
        let (name, len) = (form.name, values.len());
        assert!(
            is_same(found, expected),
            "{name} of {len}: {found} {expected}"
        );
    }
}

#[test]
fn every_length_and_offset() {
    let values: Vec<f64> = (0..260).map(|i| f64::from(i * i) * 0.1 - 900.0).collect();
    let bytes: Vec<u8> = (0..64_u32)
        .map(|i| ((i * i * 31) >> 2) as u8 | 0x11)
        .collect();
    for offset in 0..9 {
        for len in 0..=(260 - offset) {
            check(&values[offset..offset + len], None);
            check(
                &values[offset..offset + len],
                Bitmap::try_new(&bytes, offset, len),
            );
        }
    }
}

#[test]
fn edge_values_and_what_lies_under_missing_ones() {
    let edges = [
        0.0,
        -0.0,
        1.0,
        5e-324,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NAN,
        -1e300,
    ];
    for len in [1, 8, 31, 32, 33, 64, 100, 257] {
        let values: Vec<f64> = edges.iter().copied().cycle().take(len).collect();
        check(&values, None);
        for byte in [0xFF, 0x00, 0x3F, 0xA5] {
            check(&values, Bitmap::try_new(&[byte; 64], 3, len));
        }
        check(&vec![-0.0; len], None);
    }
    let nan_is_missing = Bitmap::try_new(&[0b101], 0, 3);
    for form in forms() {
        assert_eq!(
            form.sum(&[1.0, f64::NAN, 2.0], nan_is_missing),
            3.0,
            "{}",
            form.name
        );
        assert_eq!(form.sum(&[], None).to_bits(), 0, "{}", form.name);
    }
}

#[test]
fn compensated_sums_keep_what_plain_ones_lose() {
    let values: Vec<f64> = std::iter::once(1e16).chain(vec![1.0; 10_000]).collect();
    for form in forms() {
        let error = (form.sum(&values, None) - (1e16 + 10_000.0)).abs();
        match form.order {
            Order::Kahan | Order::KahanLanes | Order::Twofold => {
                assert_eq!(error, 0.0, "{}", form.name)
            }
            Order::Rows => assert_eq!(error, 10_000.0, "{}", form.name),
            Order::Lanes => assert!(error > 0.0, "{}", form.name),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_values(
        values in proptest::collection::vec(any::<f64>(), 0..300),
        bytes in proptest::collection::vec(any::<u8>(), 40),
        offset in 0_usize..16,
    ) {
        check(&values, None);
        check(&values, Bitmap::try_new(&bytes, offset, values.len()));
    }
}

#[test]
fn the_choice_names_forms_of_one_order() {
    for arm in CHOICE.arms() {
        // Elsewhere than on x86-64 there are arms that can never be picked.
        let form = ALL_FORMS.iter().find(|form| form.name == *arm);
        assert!(form.is_none_or(|form| form.order == Order::Lanes), "{arm}");
    }
    assert!(form_named(CHOICE.arms()[0]).is_some());
    assert!(form_named("no such form").is_none());
}
