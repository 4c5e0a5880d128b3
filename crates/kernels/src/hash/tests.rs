//! Compares forms with their definitions, and looks at how hashes spread.

use std::collections::BTreeSet;

use basalt_adapt::Random;

use super::{CRC, FOLD, Form, MIX, available, crc, fold, mix};

type Function = (fn(u64) -> u64, &'static [Form]);

/// The functions: their definitions and their forms.
fn functions() -> [Function; 3] {
    [(fold, FOLD), (crc, CRC), (mix, MIX)]
}

#[test]
fn every_form_and_length() {
    let mut random = Random::new(5);
    let mut words: Vec<u64> = (0..100).map(|_| random.bits()).collect();
    words.extend([
        0,
        1,
        u64::MAX,
        1 << 63,
        u64::from(u32::MAX),
        u64::from(u32::MAX) << 32,
    ]);
    for (function, forms) in functions() {
        let expected: Vec<u64> = words.iter().map(|word| function(*word)).collect();
        for form in available(forms) {
            for start in 0..9 {
                for end in start..words.len() {
                    let mut found = vec![0; end - start];
                    form.hash(&words[start..end], &mut found);
                    assert_eq!(found, expected[start..end], "{} {start}..{end}", form.name);
                }
            }
        }
    }
}

#[test]
fn the_checksum_is_the_known_one() {
    // The checksum of eight zero bytes, from the standard's all-ones start and inversion.
    let zeros = !super::scalar::crc32c(u32::MAX, 0);
    assert_eq!(zeros, 0x8C28_B28A);
}

/// Keys as tables meet them: in order, in steps, dates times a factor, pointers.
fn key_sets() -> Vec<Vec<u64>> {
    let by_step = |step: u64| (0..4096_u64).map(|i| i.wrapping_mul(step)).collect();
    let floats = (0..4096).map(|i| f64::from(i).to_bits()).collect();
    vec![
        by_step(1),
        by_step(8),
        by_step(1 << 16),
        by_step(1 << 32),
        by_step(1 << 52),
        by_step(86_400),
        floats,
    ]
}

#[test]
fn hashes_spread_in_every_window_of_bits() {
    for (function, forms) in functions() {
        for (set, keys) in key_sets().iter().enumerate() {
            let hashes: Vec<u64> = keys.iter().map(|key| function(*key)).collect();
            assert_eq!(hashes.iter().collect::<BTreeSet<_>>().len(), 4096);
            for shift in [0, 20, 40, 52] {
                let windows: BTreeSet<u64> = hashes.iter().map(|h| h >> shift & 0xFFF).collect();
                // Random ones hit 4096 * (1 - 1/e) = 2589 of 4096; a single product of a regular
                // sequence stays regular in some window.
                let (name, hit) = (forms[0].name, windows.len());
                assert!(hit > 1600, "{name}, keys {set}, shift {shift}: {hit}");
            }
        }
    }
}
