//! Sorts as many rows as each threshold says, one less and one more: each type and strategy against a stable
//! sort.

use arrow::array::RecordBatch;
use basalt_exec::sort::{Limit, Options, Strategy};

use super::types::{Keys, all_keys, random, table};
use super::{around, context, expected, is_limited, partitions, run, sort_of};

/// Rows where something changes: ties that are compared; batches that are joined, values of a sample; buckets that are
/// staged; values of a group; words that are compared; neighbours of a group; stretches; batches, parts.
const FEW: [usize; 8] = [20, 64, 128, 256, 384, 512, 2048, 4096];

/// The same for many rows: strings that are ranked, strings of a part; blocks of a file; parts; batches of the result;
/// the best rows.
const MANY: [usize; 5] = [8192, 16_384, 32_768, 65_505, 65_536];

/// Rows up to which all keys are tried with each number around a threshold; above, with one of three.
const ALL_KEYS_ROWS: usize = 10_000;

/// Rows from which on those of no order are not taken apart after all: there would be too many stretches.
const MIN_WHOLE_ROWS: usize = 20_000;

/// How rows are sorted.
#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    keys: &'a Keys,
    /// Decides directions, places of NULLs and batches.
    turn: usize,
    limit: Limit,
    external_bytes: Option<usize>,
}

/// All strategies, but that which takes rows apart only now and then: of those in no order, stretches are two or three
/// rows, and each is a task.
fn strategies(num_rows: usize, turn: usize) -> impl Iterator<Item = Strategy> {
    let num_turns = if num_rows < MIN_WHOLE_ROWS {
        1 + num_rows / 32
    } else {
        8
    };
    let has_turn = turn.is_multiple_of(num_turns);
    let is_tried = move |strategy: &Strategy| *strategy != Strategy::InOrder || has_turn;
    Strategy::ALL.into_iter().filter(is_tried)
}

/// Sorts rows of all types by some of them, with each strategy.
fn check(all: &RecordBatch, case: Case<'_>) {
    let bits = random(case.turn);
    let (all, keys) = case.keys.of(all, bits);
    let expected = expected(&all, &keys);
    let num_rows = all.num_rows();
    // One batch as large as the threshold, or several; several runs, each of several blocks.
    let num_inputs = 1 + (bits >> 32) as usize % 2;
    let (num_batches, batch_rows) = match case.external_bytes {
        None => (num_inputs, 65_505),
        Some(_) => (2 * num_inputs, num_rows.div_ceil(5)),
    };
    let input = partitions(&all, num_inputs, num_rows.div_ceil(num_batches));
    for strategy in strategies(num_rows, case.turn) {
        let options = Options {
            strategy,
            external_bytes: case.external_bytes,
        };
        let sort = sort_of(all.schema(), &input, &keys);
        let sort = sort.with_options(options).with_limit(case.limit);
        let sorted = run(sort, context(2, batch_rows));
        assert!(
            is_limited(&sorted, &expected, &keys, case.limit),
            "{num_rows} rows by {keys:?}, {strategy:?}, {case:?}"
        );
    }
}

/// A limit in the middle of so many rows. Where rows are many, candidates for it are as many as they are.
fn middle(num_rows: usize, with_ties: bool) -> Limit {
    let num_first = if num_rows > 300 {
        (num_rows - 256) / 2
    } else {
        num_rows / 2
    };
    let skip = num_first / 4 + 1;
    Limit {
        skip,
        fetch: Some(num_first - skip),
        with_ties,
    }
}

#[test]
fn each_type_around_each_threshold() {
    let (keys, mut turn) = (all_keys(), 0);
    for num_rows in around(&FEW) {
        let all = table(num_rows);
        let limits = [false, true].map(|with_ties| middle(num_rows, with_ties));
        for (i, keys) in keys.iter().enumerate() {
            // In files, each limit has one of the three numbers around a threshold.
            let in_files = [Limit::default(), limits[0], limits[1]][(i + num_rows) % 3];
            for (limit, external_bytes) in [
                (Limit::default(), None),
                (limits[(i + num_rows) % 2], None),
                (in_files, Some(1)),
            ] {
                turn += 1;
                let case = Case {
                    keys,
                    turn,
                    limit,
                    external_bytes,
                };
                check(&all, case);
            }
        }
    }
}

#[test]
fn each_type_around_each_threshold_of_many_rows() {
    let (keys, mut turn) = (all_keys(), 0);
    for num_rows in around(&MANY) {
        let all = table(num_rows);
        for (i, keys) in keys.iter().enumerate() {
            if num_rows > ALL_KEYS_ROWS && !(i + num_rows).is_multiple_of(3) {
                continue;
            }
            turn += 1;
            let case = Case {
                keys,
                turn,
                limit: Limit::default(),
                external_bytes: None,
            };
            check(&all, case);
        }
    }
}

#[test]
fn limits_around_each_threshold() {
    let keys = all_keys();
    for (thresholds, num_rows) in [(&FEW[..], 9_000), (&MANY[..], 70_000)] {
        let all = table(num_rows);
        for (i, num_first) in around(thresholds).enumerate() {
            // Kinds of limits take turns with what is around a threshold.
            let kind = (i + i / 3) % 3;
            let skip = if kind == 1 { num_first / 3 } else { 0 };
            let limit = Limit {
                skip,
                fetch: Some(num_first - skip),
                with_ties: kind == 2,
            };
            let case = Case {
                keys: &keys[4 * i % keys.len()],
                turn: i,
                limit,
                external_bytes: None,
            };
            check(&all, case);
        }
    }
}
