//! Orders rows by small codes: counts each code, then lists the rows of each code in their order.
//!
//! A counter that is raised twice in a row waits for its own store, and few codes repeat all the time.
//! So the rows are cut into quarters that are gone through side by side, each with counters of its own;
//! many codes seldom repeat, and four times their counters would leave the cache.
//!
//! Tests: below; bench: `counting`.

/// Parts of the rows that are gone through at the same time.
const LANES: usize = 4;

/// Codes up to which that pays.
const MAX_LANE_CODES: usize = 512;

fn num_lanes(num_codes: usize) -> usize {
    if num_codes <= MAX_LANE_CODES {
        LANES
    } else {
        1
    }
}

/// Adds to `counts` how often each code occurs.
///
/// # Panics
/// If a code has no place in `counts`.
pub fn count(codes: &[u16], counts: &mut [u32]) {
    let mut lanes = counts_of_lanes(codes, counts.len());
    let (first, others) = lanes.split_at_mut(counts.len());
    for (i, count) in counts.iter_mut().enumerate() {
        let others = others.iter().skip(i).step_by(first.len());
        *count += first[i] + others.sum::<u32>();
    }
}

/// Makes `rows` the numbers of all rows, ordered by their codes; rows with the same code stay in
/// their order. Gives where the rows of each code end.
///
/// # Panics
/// If a code is not below `num_codes`, or if there are more than 2^16 rows.
pub fn order(codes: &[u16], num_codes: usize, rows: &mut Vec<u16>) -> Vec<u32> {
    assert!(codes.len() <= 1 << 16);
    let mut next = counts_of_lanes(codes, num_codes);
    let mut start = 0;
    for code in 0..num_codes {
        for count in next.iter_mut().skip(code).step_by(num_codes) {
            start += std::mem::replace(count, start);
        }
    }
    rows.clear();
    rows.resize(codes.len(), 0);
    for_lanes(codes, num_codes, &mut next, |row, next| {
        rows[*next as usize] = row as u16;
        *next += 1;
    });
    next.split_off(next.len() - num_codes)
}

/// Copies the values of some rows, in their order.
///
/// # Panics
/// If there is no such row, or if `out` has another length than `rows`.
pub fn gather<T: Copy>(values: &[T], rows: &[u16], out: &mut [T]) {
    assert_eq!(rows.len(), out.len());
    for (out, row) in out.iter_mut().zip(rows) {
        *out = values[usize::from(*row)];
    }
}

/// Counters of all lanes, one lane after the other.
fn counts_of_lanes(codes: &[u16], num_codes: usize) -> Vec<u32> {
    let mut counts = vec![0; num_lanes(num_codes) * num_codes];
    for_lanes(codes, num_codes, &mut counts, |_, count| *count += 1);
    counts
}

/// Calls `f` with each row and the counter of its code in its lane; the rows of a lane come in order.
#[inline(always)]
fn for_lanes(
    codes: &[u16],
    num_codes: usize,
    counters: &mut [u32],
    mut f: impl FnMut(usize, &mut u32),
) {
    if num_lanes(num_codes) == 1 || codes.is_empty() {
        for (row, code) in codes.iter().enumerate() {
            f(row, &mut counters[usize::from(*code)]);
        }
        return;
    }
    let len = codes.len() / LANES;
    let (a, rest) = codes.split_at(len);
    let (b, rest) = rest.split_at(len);
    let (c, d) = rest.split_at(len);
    let (counters_a, rest) = counters.split_at_mut(num_codes);
    let (counters_b, rest) = rest.split_at_mut(num_codes);
    let (counters_c, counters_d) = rest.split_at_mut(num_codes);
    for i in 0..len {
        f(i, &mut counters_a[usize::from(a[i])]);
        f(len + i, &mut counters_b[usize::from(b[i])]);
        f(2 * len + i, &mut counters_c[usize::from(c[i])]);
        f(3 * len + i, &mut counters_d[usize::from(d[i])]);
    }
    for i in len..d.len() {
        f(3 * len + i, &mut counters_d[usize::from(d[i])]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    use super::{count, gather, order};

    proptest! {
        #[test]
        fn as_a_stable_sort(
            codes in prop::collection::vec(any::<u16>(), 0..300),
            num_codes in prop::sample::select(vec![1u16, 2, 3, 7, 300, 512, 513, 2000]),
        ) {
            let codes: Vec<u16> = codes.iter().map(|code| code % num_codes).collect();
            let num_codes = usize::from(num_codes);
            let mut counts = vec![7; num_codes];
            count(&codes, &mut counts);
            let mut rows = vec![9; 5];
            let ends = order(&codes, num_codes, &mut rows);
            let mut end = 0;
            for (code, num) in counts.iter().enumerate() {
                end += num - 7;
                prop_assert_eq!(ends[code], end);
            }
            let mut expected: Vec<u16> = (0..codes.len() as u16).collect();
            expected.sort_by_key(|row| codes[usize::from(*row)]);
            prop_assert_eq!(&rows, &expected);
            let mut sorted = vec![0; codes.len()];
            gather(&codes, &rows, &mut sorted);
            prop_assert_eq!(sorted.is_sorted(), true);
            for (code, num) in counts.iter().enumerate() {
                let expected = codes.iter().filter(|c| usize::from(**c) == code).count();
                prop_assert_eq!(*num as usize, 7 + expected);
            }
        }
    }

    #[test]
    fn one_code() {
        let mut rows = Vec::new();
        assert_eq!(order(&[0; 9], 1, &mut rows), [9]);
        assert_eq!(rows, (0..9).collect::<Vec<u16>>());
    }
}
