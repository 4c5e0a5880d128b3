//! Tests that every encoding gives back what it took, over all widths and edge values.

use basalt_adapt::{Random, SimdLevel};
use proptest::prelude::{Strategy, any, prop, prop_oneof, proptest};

use crate::encoding::bit_packing::GROUP_LEN;
use crate::encoding::{Packing, Transform, distinct};
use crate::word::Word;

/// Checks a packing alone and behind each transformation; what it cannot pack is no failure.
fn check<T: Word>(packing: Packing, words: &[T]) {
    for transform in [None, Some(Transform::Delta), Some(Transform::DoubleDelta)] {
        let mut start = Vec::new();
        let mut changed = words.to_vec();
        if let Some(transform) = transform {
            transform.apply(&mut changed, &mut start);
            assert_eq!(start.len(), transform.start_bytes::<T>());
        }
        let mut packed = Vec::new();
        if !packing.pack(&changed, &mut packed) {
            continue;
        }
        let mut found = vec![T::MAX; words.len()];
        packing.unpack(&packed, &mut found).unwrap();
        if let Some(transform) = transform {
            transform.undo(&start, &mut found).unwrap();
        }
        let place = found.iter().zip(words).position(|(a, b)| a != b);
        assert_eq!(
            place,
            None,
            "{packing:?} after {transform:?} of {} words",
            words.len()
        );
        // Neither more nor fewer bytes or words are taken.
        packing
            .unpack(&packed, &mut vec![T::MAX; words.len() + GROUP_LEN])
            .unwrap_err_unless(packing);
        packed.push(0);
        packing.unpack(&packed, &mut found).unwrap_err();
        packed.truncate(packed.len() - 2);
        packing.unpack(&packed, &mut found).unwrap_err();
    }
}

/// A constant fills whatever length is asked for.
trait UnwrapErrUnless {
    fn unwrap_err_unless(self, packing: Packing);
}

impl UnwrapErrUnless for crate::error::Result<()> {
    fn unwrap_err_unless(self, packing: Packing) {
        assert!(self.is_err() || packing == Packing::Constant);
    }
}

fn check_all<T: Word>(words: &[T]) {
    for packing in Packing::ALL {
        if !words.is_empty() {
            check(packing, words);
        }
    }
}

/// Words around the edges of their type.
fn edges<T: Word>() -> Vec<T> {
    let near = |word: T| {
        let one = T::mask(1);
        [word.wrapping_sub(one), word, word.wrapping_add(one)]
    };
    [T::default(), T::MAX, T::SIGN, T::mask(T::BITS / 2)]
        .into_iter()
        .flat_map(near)
        .collect()
}

/// Checks inputs of all lengths around rows and groups.
fn check_lengths<T: Word>(word: impl Fn(usize) -> T) {
    let lanes = 128 / size_of::<T>();
    let near_rows = [1, 2, lanes - 1, lanes, lanes + 1, 5 * lanes + 3];
    let near_groups = [GROUP_LEN - 1, GROUP_LEN, GROUP_LEN + 1, 3 * GROUP_LEN + 7];
    for len in near_rows.into_iter().chain(near_groups) {
        let words: Vec<T> = (0..len).map(&word).collect();
        check_all(&words);
    }
}

fn check_type<T: Word>() {
    let edges = edges::<T>();
    check_lengths(|i| edges[i % edges.len()]);
    check_lengths(|_| T::MAX);
    check_lengths(|i| T::truncated(i as u64 / 10));
    check_lengths(|i| T::truncated(i as u64).wrapping_sub(T::mask(3)));
    check_lengths(|i| T::truncated((i * i) as u64));
    for num_bits in 0..=T::BITS {
        let mut random = Random::new(u64::from(num_bits));
        let words: Vec<T> = (0..GROUP_LEN + 50)
            .map(|_| T::truncated(random.bits()) & T::mask(num_bits))
            .collect();
        check(Packing::FrameOfReference, &words);
        check(Packing::Dictionary, &words);
    }
}

#[test]
fn every_packing_gives_back_what_it_took() {
    for level in SimdLevel::ALL {
        SimdLevel::force(Some(level));
        check_type::<u8>();
        check_type::<u16>();
        check_type::<u32>();
        check_type::<u64>();
    }
    SimdLevel::force(None);
}

#[test]
fn floats_keep_all_their_bits() {
    let special = [
        0.0,
        -0.0,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
    ];
    let decimal = |i: usize| i as f64 / 100.0;
    let mixed = |i: usize| {
        if i.is_multiple_of(97) {
            special[i / 97 % 8]
        } else {
            decimal(i)
        }
    };
    let any = |i: usize| f64::from_bits(Random::new(i as u64).bits());
    for len in [1, 2, 63, 1000, 5000] {
        let doubles: [Vec<f64>; 3] = [
            (0..len).map(decimal).collect(),
            (0..len).map(mixed).collect(),
            (0..len).map(any).collect(),
        ];
        for doubles in doubles {
            check(
                Packing::Decimal,
                &doubles.iter().map(|x| x.to_bits()).collect::<Vec<u64>>(),
            );
            let singles = doubles.iter().map(|x| (*x as f32).to_bits());
            check(Packing::Decimal, &singles.collect::<Vec<u32>>());
        }
    }
    assert!(!Packing::Decimal.pack(&[1_u8], &mut Vec::new()));
}

#[test]
fn decimal_numbers_take_few_bits() {
    let prices: Vec<u64> = (0..65_536_u64)
        .map(|i| (i * 7919 % 100_000) as f64 / 100.0)
        .map(f64::to_bits)
        .collect();
    let mut packed = Vec::new();
    assert!(Packing::Decimal.pack(&prices, &mut packed));
    // 17 bits a value and the frames of 64 groups.
    assert!(packed.len() < 65_536 * 17 / 8 + 64 * 16, "{}", packed.len());
    let estimate = Packing::Decimal.estimated_bytes(&prices).unwrap();
    assert!(
        estimate < packed.len() * 5 / 4 && packed.len() < estimate * 5 / 4,
        "{estimate}"
    );
}

#[test]
fn estimates_are_near_the_truth() {
    let words: Vec<u32> = (0..50_000_u32).map(|i| i / 9 * 1000 % 77_777).collect();
    for packing in [
        Packing::Dictionary,
        Packing::RunLength,
        Packing::FrameOfReference,
        Packing::Plain,
    ] {
        let mut packed = Vec::new();
        assert!(packing.pack(&words, &mut packed));
        let estimate = packing.estimated_bytes(&words).unwrap();
        assert!(
            packed.len() <= estimate * 3 / 2 && estimate <= packed.len() * 2,
            "{packing:?}: {estimate} {}",
            packed.len()
        );
    }
}

#[test]
fn distinct_numbers_are_estimated() {
    for num_distinct in [1, 2, 100, 5000, 60_000, 200_000] {
        let words: Vec<u64> = (0..400_000).map(|i| i % num_distinct * 1_000_003).collect();
        let estimate = distinct::estimate(&words) as f64;
        let error = (estimate / num_distinct as f64 - 1.0).abs();
        assert!(error < 0.1, "{num_distinct}: {estimate}");
    }
    assert_eq!(distinct::estimate::<u8>(&[]), 0);
}

#[test]
fn distinct_numbers_are_guessed_by_a_sample() {
    let guess = |words: &[u64]| distinct::estimate_by_sample(words) as f64;
    // The end of SplitMix64.
    let scrambled = |i: u64| {
        let mixed = (i ^ (i >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    for num_distinct in [1, 3, 100, 5000, 60_000] {
        let words: Vec<u64> = (0..400_000).map(|i| scrambled(i) % num_distinct).collect();
        let repeated: Vec<u64> = (0..400_000).map(|i| i % num_distinct).collect();
        let sorted: Vec<u64> = (0..400_000).map(|i| i * num_distinct / 400_000).collect();
        for (order, words) in [("any", words), ("repeated", repeated), ("sorted", sorted)] {
            let factor = guess(&words) / num_distinct as f64;
            assert!(
                (0.5..2.0).contains(&factor),
                "{num_distinct} {order}: {factor}"
            );
        }
    }
    let all: Vec<u64> = (0..400_000).map(scrambled).collect();
    assert!(guess(&all) > 200_000.0);
    assert_eq!(guess(&[7; 100]), 1.0);
    assert_eq!(guess(&[]), 0.0);
}

#[test]
fn damaged_bytes_are_errors_or_other_numbers() {
    let words: Vec<u32> = (0..3000_u32).map(|i| i / 7 * 100 % 5000).collect();
    for packing in Packing::ALL {
        let mut packed = Vec::new();
        if !packing.pack(&words, &mut packed) {
            continue;
        }
        let mut out = vec![0_u32; words.len()];
        for place in 0..packed.len().min(2000) {
            for flip in [1, 0x40, 0xFF] {
                packed[place] ^= flip;
                let _ = packing.unpack(&packed, &mut out);
                packed[place] ^= flip;
            }
        }
        for len in 0..packed.len() {
            packing.unpack(&packed[..len], &mut out).unwrap_err();
        }
    }
}

/// Numbers with runs, steps and leaps.
fn numbers() -> impl Strategy<Value = Vec<u64>> {
    let step = prop_oneof![0_u64..3, 0_u64..1000, any::<u64>()];
    prop::collection::vec((step, 1_usize..200), 1..30).prop_map(|runs| {
        let mut number = 0_u64;
        let runs = runs.into_iter().flat_map(|(step, len)| {
            (0..len)
                .map(|_| {
                    number = number.wrapping_add(step);
                    number
                })
                .collect::<Vec<u64>>()
        });
        runs.collect()
    })
}

proptest! {
    #[test]
    fn any_numbers_come_back(numbers in numbers()) {
        check_all(&numbers);
        check_all(&numbers.iter().map(|n| u32::truncated(*n)).collect::<Vec<u32>>());
        check_all(&numbers.iter().map(|n| u16::truncated(*n)).collect::<Vec<u16>>());
        check_all(&numbers.iter().map(|n| u8::truncated(*n)).collect::<Vec<u8>>());
    }

    #[test]
    fn any_bytes_unpack_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), len in 0_usize..3000) {
        for packing in Packing::ALL {
            let _ = packing.unpack(&bytes, &mut vec![0_u8; len]);
            let _ = packing.unpack(&bytes, &mut vec![0_u16; len]);
            let _ = packing.unpack(&bytes, &mut vec![0_u32; len]);
            let _ = packing.unpack(&bytes, &mut vec![0_u64; len]);
        }
    }
}
