//! Compares every available form with the processor's division.

use proptest::prelude::{ProptestConfig, any, proptest};

use super::{
    Divisor, Operation, Quotient, Remainder, Truncated, Word, forms, quotients, remainders,
};
use crate::level::at_every_level;

fn check_operation<T: Word, O: Operation<T>>(divisor: T, values: &[T])
where
    O::Out: Eq,
{
    let divisor = Divisor::try_new(divisor).unwrap();
    let specified = forms::<T, O>().next().unwrap();
    let mut expected = vec![O::Out::default(); values.len()];
    specified.run(&divisor, values, &mut expected);
    for form in forms::<T, O>() {
        let mut found = vec![O::Out::default(); values.len()];
        form.run(&divisor, values, &mut found);
        let differs = |row: &usize| found[*row] != expected[*row];
        let wrong = (0..values.len()).find(differs).map(|row| values[row]);
        assert_eq!(wrong, None, "{} by {divisor:?}", form.name);
    }
}

fn check<T: Word + Truncated<T>>(divisor: T, values: &[T]) {
    check_operation::<T, Quotient>(divisor, values);
    check_operation::<T, Remainder<T>>(divisor, values);
}

/// Numbers around the powers of two and around each other's multiples.
fn edges() -> Vec<u64> {
    let powers = (0..64).map(|bit| 1_u64 << bit);
    let around = powers.flat_map(|power| [power - 1, power, power + 1]);
    let others = [
        3,
        5,
        6,
        7,
        10,
        25,
        100,
        641,
        1000,
        86_400,
        999_983,
        u64::MAX,
        u64::MAX - 1,
    ];
    let mut edges: Vec<u64> = around.chain(others).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Numbers at which a quotient by `divisor` changes, and the edges: so many that the groups of wide
/// forms are full.
fn dividends(divisor: u64) -> Vec<u64> {
    let multiples = (0..64).map(|bit| (u64::MAX >> bit) / divisor * divisor);
    let around = multiples.flat_map(|m| [m.wrapping_sub(1), m, m.wrapping_add(1)]);
    let all: Vec<u64> = around.chain(edges()).collect();
    all.iter().copied().cycle().take(1100).collect()
}

#[test]
fn edges_of_64_bits() {
    for divisor in edges().into_iter().filter(|divisor| *divisor != 0) {
        let all = dividends(divisor);
        check(divisor, &all);
        let narrow: Vec<u64> = all.iter().map(|value| value & ((1 << 51) - 1)).collect();
        check(divisor, &narrow);
        let low: Vec<u64> = all
            .iter()
            .map(|value| value & u64::from(u32::MAX))
            .collect();
        check(divisor, &low);
        let signed: Vec<i64> = all.iter().map(|value| value.cast_signed()).collect();
        check(divisor.cast_signed(), &signed);
        check(divisor.cast_signed().wrapping_neg(), &signed);
    }
}

#[test]
fn edges_of_32_bits() {
    for divisor in edges()
        .into_iter()
        .filter_map(|divisor| u32::try_from(divisor).ok())
    {
        if divisor != 0 {
            let all: Vec<u32> = dividends(u64::from(divisor))
                .iter()
                .map(|v| *v as u32)
                .collect();
            check(divisor, &all);
        }
    }
}

#[test]
fn every_length() {
    let values: Vec<u64> = (0..300).map(|i| i * 977 + (i % 7) * (1 << 20)).collect();
    let narrow: Vec<u32> = values.iter().map(|value| *value as u32).collect();
    for len in 0..values.len() {
        check(7, &values[..len]);
        check(10, &narrow[..len]);
        check(10, &narrow[len..]);
        check_remainders::<u64, u8>(7, &values[..len]);
        check_remainders::<u32, u16>(300, &narrow[..len]);
    }
}

#[test]
fn remainders_are_written_narrow() {
    let values: Vec<u64> = (0..1000).map(|i| i * 123_456_789).collect();
    let divisor = Divisor::try_new(5).unwrap();
    let mut found = vec![0_u8; values.len()];
    remainders(&divisor, &values, &mut found);
    assert!(
        values
            .iter()
            .zip(&found)
            .all(|(value, found)| value % 5 == u64::from(*found))
    );
    check_operation::<u64, Remainder<u8>>(255, &values);
    check_operation::<u64, Remainder<u16>>(1000, &values);
    check_operation::<u32, Remainder<u8>>(3, &[0, 1, 2, 3, u32::MAX]);
    check_operation::<i64, Remainder<i8>>(-100, &[0, -1, 99, -100, i64::MIN, i64::MAX]);
    let mut whole = vec![0; values.len()];
    quotients(&divisor, &values, &mut whole);
    assert!(
        values
            .iter()
            .zip(&whole)
            .all(|(value, found)| value / 5 == *found)
    );
}

/// Compares `remainders` with one division for each value.
fn check_remainders<T: Word, R: Truncated<T> + Eq>(divisor: T, values: &[T]) {
    let divisor = Divisor::try_new(divisor).unwrap();
    let rest = |value: &T| R::truncate(value.divide(divisor.get()).1);
    let expected: Vec<R> = values.iter().map(rest).collect();
    at_every_level(|level| {
        let mut found = vec![R::default(); values.len()];
        remainders(&divisor, values, &mut found);
        let first = values.first();
        assert_eq!(found, expected, "from {first:?} by {divisor:?}, {level}");
    });
}

#[test]
fn consecutive_numbers_are_counted() {
    let starts = [0, 1, 59, 1 << 31, (1 << 32) - 100, 1 << 40, u64::MAX - 1030];
    for start in starts {
        for len in [1, 63, 64, 65, 300, 1024] {
            let mut values: Vec<u64> = (start..start + len).collect();
            for divisor in [
                1,
                2,
                3,
                60,
                64,
                255,
                256,
                300,
                1023,
                1024,
                5000,
                1 << 35,
                u64::MAX,
            ] {
                check_remainders::<u64, u64>(divisor, &values);
                check_remainders::<u64, u8>(divisor % 256 + 1, &values);
                let short: Vec<u32> = values.iter().map(|value| *value as u32).collect();
                check_remainders::<u32, u32>((divisor as u32).max(1), &short);
                let up: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
                let down: Vec<i64> = up.iter().map(|value| value.wrapping_neg()).collect();
                let around: Vec<i64> = up.iter().map(|value| value.wrapping_sub(100)).collect();
                for signed in [up, down, around] {
                    check_remainders::<i64, i64>(divisor.cast_signed(), &signed);
                    check_remainders::<i64, i64>(-7, &signed);
                }
            }
            // Consecutive at both ends, but not between them.
            let middle = values.len() / 2;
            values[middle] ^= 1;
            check_remainders::<u64, u16>(300, &values);
        }
    }
}

#[test]
fn zero_is_no_divisor_and_the_least_number_wraps() {
    assert!(Divisor::try_new(0_u32).is_none());
    assert!(Divisor::try_new(0_i64).is_none());
    let divisor = Divisor::try_new(-1_i64).unwrap();
    let mut found = [0];
    quotients(&divisor, &[i64::MIN], &mut found);
    assert_eq!(found, [i64::MIN]);
    remainders(&divisor, &[i64::MIN], &mut found);
    assert_eq!(found, [0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_numbers(
        divisor in 1_u64..,
        shift in 0_u32..64,
        values in proptest::collection::vec(any::<u64>(), 0..200),
    ) {
        let divisor = (divisor >> shift).max(1);
        check(divisor, &values);
        let narrow = values.iter().cycle().map(|value| value >> 13);
        check(divisor, &narrow.take(if values.is_empty() { 0 } else { 1030 }).collect::<Vec<_>>());
        let signed: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
        check(divisor.cast_signed(), &signed);
        let short: Vec<u32> = values.iter().map(|value| *value as u32).collect();
        check((divisor as u32).max(1), &short);
    }
}
