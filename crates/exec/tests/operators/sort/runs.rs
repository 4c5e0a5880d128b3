//! Sorts with runs in files: as many as are merged at once, rows that follow each other in theirs, and the first rows
//! where these turn out to be too many.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray, Int64Array, RecordBatch, UInt64Array};
use basalt_exec::sort::{Limit, Options, Strategy};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;

use super::borders::check;
use super::types::{Keys, random, table};
use super::{context, expected, is_limited, partitions, run_and_tell, sort_of, way};

/// Each batch becomes a run.
fn in_files(strategy: Strategy) -> Options {
    Options {
        strategy,
        external_bytes: Some(1),
    }
}

#[test]
fn as_many_runs_as_are_merged_at_once() {
    for num_runs in [63, 64, 65, 128, 129] {
        let all = table(20 * num_runs);
        for (bits, names) in [
            &["few", "text"][..],
            &["i64"],
            &["skewed", "u8"],
            &["list", "f64"],
        ]
        .into_iter()
        .enumerate()
        {
            let (all, keys) = Keys::new(names, true).of(&all, 5 * bits as u64);
            let options = [Strategy::Auto, Strategy::Radix, Strategy::Counting].map(in_files);
            let ways = check(&keys, &partitions(&all, 1, 20), (2, 50), options);
            assert_eq!(ways, ["merge"; 3]);
        }
    }
}

#[test]
fn rows_that_follow_each_other_in_their_run() {
    // Two runs take turns after so many rows: with a row each, these are looked for one by one; later, several are
    // taken, and copied, at once.
    for len in 1..=14 {
        let batch = |first: i64| {
            let pieces = (first..40).step_by(2);
            let keys: Vec<i64> = pieces
                .flat_map(|piece| piece * len..(piece + 1) * len)
                .collect();
            let runs = vec![first; keys.len()];
            let columns = [("key", keys), ("run", runs)];
            let columns = columns
                .map(|(name, numbers)| (name, Arc::new(Int64Array::from(numbers)) as ArrayRef));
            RecordBatch::try_from_iter(columns).unwrap()
        };
        for input in [
            vec![vec![batch(0), batch(1)]],
            vec![vec![batch(1)], vec![batch(0)]],
        ] {
            for batch_rows in [30, 1000] {
                for descending in [false, true] {
                    let strategies = [Strategy::Auto, Strategy::Comparison, Strategy::Radix];
                    let options = strategies.map(in_files);
                    let keys = [(0, descending, false)];
                    let ways = check(&keys, &input, (2, batch_rows), options);
                    assert_eq!(ways, ["merge"; 3]);
                }
            }
        }
    }
}

/// Rows of few different keys, with long strings, and their numbers.
fn with_long_strings(num_rows: usize) -> RecordBatch {
    let keys = (0..num_rows).map(|row| (random(row) % 50) as i64);
    let strings = (0..num_rows).map(|row| format!("{:0300}", random(row)));
    let columns: [(&str, ArrayRef); 3] = [
        ("key", Arc::new(Int64Array::from_iter_values(keys))),
        (
            "string",
            Arc::new(BinaryViewArray::from_iter_values(strings)),
        ),
        (
            "row",
            Arc::new(UInt64Array::from_iter_values(0..num_rows as u64)),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn first_rows_that_no_memory_holds_go_to_files() {
    let all = with_long_strings(20_000);
    let options = in_files(Strategy::Auto);
    for keys in [
        vec![(0, false, false)],
        vec![(0, true, false), (1, false, false)],
        vec![(1, true, false)],
    ] {
        let expected = expected(&all, &keys);
        for (skip, fetch, with_ties) in [
            (0, 1, false),
            (0, 10, true),
            (3, 10, false),
            (100, 500, false),
            (100, 500, true),
        ] {
            let limit = Limit {
                skip,
                fetch: Some(fetch),
                with_ties,
            };
            let sort = sort_of(all.schema(), &partitions(&all, 2, 2_000), &keys);
            let sort = sort.with_options(options).with_limit(limit);
            let (account, sorted) = run_and_tell(sort, context(2, 1_000));
            assert!(
                is_limited(&sorted, &expected, &keys, limit),
                "{keys:?} {limit:?}"
            );
            assert_eq!(way(&account), "merge", "{keys:?} {limit:?}");
        }
    }
}

#[test]
fn first_rows_go_to_files_where_a_pool_ends() {
    // Wanted are some 6 MB of the rows, which are twice as many.
    let all = with_long_strings(40_000);
    let keys = [(0, true, false)];
    let options = Options {
        strategy: Strategy::Auto,
        external_bytes: Some(usize::MAX),
    };
    let expected = expected(&all, &keys);
    for with_ties in [false, true] {
        let pool = Arc::new(GreedyMemoryPool::new(4 << 20));
        let memory = RuntimeEnvBuilder::new().with_memory_pool(pool);
        let config = SessionConfig::new()
            .with_target_partitions(2)
            .with_batch_size(200);
        let context = TaskContext::default()
            .with_session_config(config)
            .with_runtime(memory.build_arc().unwrap());
        let limit = Limit {
            skip: 500,
            fetch: Some(20_000),
            with_ties,
        };
        let sort = sort_of(all.schema(), &partitions(&all, 1, 2_000), &keys);
        let sort = sort.with_options(options).with_limit(limit);
        let (account, sorted) = run_and_tell(sort, Arc::new(context));
        assert!(is_limited(&sorted, &expected, &keys, limit), "{limit:?}");
        assert_eq!(way(&account), "merge", "{limit:?}");
    }
}
