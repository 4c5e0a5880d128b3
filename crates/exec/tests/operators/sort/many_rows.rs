//! Sorts more rows than one part has: many parts, threads and buckets, some of them far larger than others.

use basalt_exec::sort::Limit;

use super::{
    batch, context, expected, is_limited, many, options_of_many, partitions, projected, run,
    sort_of,
};

#[test]
fn the_best_of_many_rows() {
    for distinct in [3, 100_000] {
        let all = batch(&many(300_000, distinct));
        for keys in [
            vec![(2, true, false)],
            vec![(1, false, true), (11, true, false)],
        ] {
            let (all, keys) = projected(&all, &keys, &[0, 12, 14]);
            let expected = expected(&all, &keys);
            for (skip, fetch) in [(0, 1), (5, 4_000), (20_000, 30_000)] {
                let limit = Limit {
                    skip,
                    fetch: Some(fetch),
                    with_ties: false,
                };
                let sort = sort_of(all.schema(), &partitions(&all, 3, 5000), &keys);
                let sorted = run(sort.with_limit(limit), context(2, 4000));
                assert!(
                    is_limited(&sorted, &expected, &keys, limit),
                    "{distinct} {keys:?} {fetch}"
                );
            }
        }
    }
}

#[test]
fn only_keys_are_read_back_from_words() {
    for distinct in [1, 2, 40, 60_000] {
        let keys = [1, 0, 2, 3, 12].map(|c| (c, c == 2, c == 1));
        let (all, keys) = projected(&batch(&many(20_000, distinct)), &keys, &[]);
        let expected = expected(&all, &keys);
        for options in options_of_many() {
            let sort = sort_of(all.schema(), &partitions(&all, 2, 3000), &keys);
            let sorted = run(sort.with_options(options), context(2, 1000));
            assert!(sorted == expected, "{distinct} {options:?}");
        }
    }
}

#[test]
fn many_rows_in_many_parts() {
    for (distinct, threads) in [(3, 2), (1000, 16), (u64::MAX, 40)] {
        let all = batch(&many(40_000, distinct));
        for keys in [
            vec![(2, false, false)],
            vec![(11, true, false)],
            vec![(13, false, false)],
            vec![(13, true, true), (0, true, false)],
            vec![(4, true, true), (8, false, true)],
            // Few of them, but of many bits.
            vec![(6, true, false), (0, false, true)],
            vec![(9, false, true)],
        ] {
            let (all, keys) = projected(&all, &keys, &[0, 12, 14]);
            let expected = expected(&all, &keys);
            for options in options_of_many() {
                let sort = sort_of(all.schema(), &partitions(&all, 3, 5000), &keys);
                let sorted = run(sort.with_options(options), context(threads, 4000));
                assert!(sorted == expected, "{distinct} {keys:?} {options:?}");
            }
        }
    }
}

#[test]
fn a_few_far_away_rows_leave_one_bucket_with_the_rest() {
    let mut rows = many(50_000, 1 << 20);
    rows[77].2 = Some(i64::MAX);
    rows[49_000].2 = Some(i64::MIN);
    let (all, keys) = projected(&batch(&rows), &[(2, true, false)], &[12, 13]);
    let expected = expected(&all, &keys);
    for options in options_of_many() {
        let sort = sort_of(all.schema(), &partitions(&all, 2, 6000), &keys).with_options(options);
        assert!(run(sort, context(4, 8000)) == expected, "{options:?}");
    }
}
