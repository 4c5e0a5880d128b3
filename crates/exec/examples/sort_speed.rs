//! Measures the sort beside its own radix sort of all rows: milliseconds over keys in orders of several kinds.
//!
//! `cargo run --release -p basalt-exec --example sort_speed [million rows] [name]`

#![allow(clippy::print_stdout, reason = "the output is the point")]
#![allow(
    clippy::unwrap_used,
    reason = "a measurement ends where something fails"
)]

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, BinaryViewArray, Float64Array, RecordBatch, UInt64Array};
use arrow::compute::SortOptions;
use basalt_exec::sort::{Options, SortRowsExec, Strategy};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use futures::StreamExt;

/// The allocator of the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const THREADS: usize = 2;
const RUNS: usize = 5;
const BATCH_ROWS: u64 = 65_505;

/// Rows that a thread reads before another has its turn.
const TURN_ROWS: u64 = 20_000;

/// What is measured: name, the key of row number `n` of so many, and whether there are other columns.
struct Case {
    name: &'static str,
    key: fn(&[u64], u64) -> ArrayRef,
    has_payload: bool,
}

/// A permutation of 64-bit numbers without a pattern.
fn scramble(n: u64) -> u64 {
    let n = (n ^ (n >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    n ^ (n >> 32)
}

fn words(rows: &[u64], key: impl Fn(u64) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(|n| key(*n))))
}

fn texts(rows: &[u64], key: impl Fn(u64) -> String) -> ArrayRef {
    let texts = rows.iter().map(|n| key(*n));
    Arc::new(BinaryViewArray::from_iter_values(texts))
}

/// A number below `most` that is n times rarer than the first if it is the n-th.
fn rarer(n: u64, most: u64) -> u64 {
    let exponent = (scramble(n) >> 11) as f64 / (1u64 << 53) as f64;
    (most as f64).powf(exponent) as u64
}

const CASES: &[Case] = &[
    Case {
        name: "in_order",
        key: |rows, _| words(rows, |n| 3 * n),
        has_payload: true,
    },
    Case {
        name: "reversed",
        key: |rows, num_rows| words(rows, |n| num_rows - n),
        has_payload: true,
    },
    Case {
        name: "disorder",
        key: |rows, _| words(rows, |n| if n % 100 == 7 { 0 } else { n }),
        has_payload: true,
    },
    Case {
        name: "disorder_random",
        key: |rows, num_rows| {
            let random = move |n: u64| scramble(n) % num_rows;
            words(rows, |n| if n % 100 == 7 { random(n) } else { n })
        },
        has_payload: true,
    },
    Case {
        name: "random",
        key: |rows, _| words(rows, scramble),
        has_payload: true,
    },
    Case {
        name: "phrases",
        key: |rows, _| {
            texts(rows, |n| match scramble(n) % 5 {
                0 => format!("what is number {} about", rarer(n, 100_000)),
                _ => String::new(),
            })
        },
        has_payload: false,
    },
    Case {
        name: "urls",
        key: |rows, num_rows| {
            texts(rows, |n| {
                let n = rarer(n, num_rows);
                format!(
                    "https://www.example.com/{}/{}",
                    n % 77,
                    scramble(n) % 1_000_000_007
                )
            })
        },
        has_payload: false,
    },
    Case {
        name: "urls_and_payload",
        key: |rows, num_rows| {
            texts(rows, |n| {
                let n = rarer(n, num_rows);
                format!(
                    "https://www.example.com/{}/{}",
                    n % 77,
                    scramble(n) % 1_000_000_007
                )
            })
        },
        has_payload: true,
    },
    Case {
        name: "different_urls",
        key: |rows, _| texts(rows, |n| format!("https://www.example.com/{}", scramble(n))),
        has_payload: false,
    },
    Case {
        name: "floats",
        key: |rows, _| {
            let distance = |n: &u64| (rarer(*n, 5_000) as f64) / 100.0;
            Arc::new(Float64Array::from_iter_values(rows.iter().map(distance)))
        },
        has_payload: false,
    },
];

/// The batches of a table that two threads have filled in turn.
fn batches(case: &Case, num_rows: u64) -> Vec<RecordBatch> {
    let turns = num_rows.div_ceil(TURN_ROWS);
    let of_thread = |thread: u64| (0..turns).filter(move |turn| turn % 2 == thread);
    let rows_of = |turn: u64| turn * TURN_ROWS..((turn + 1) * TURN_ROWS).min(num_rows);
    let rows = (0..2).flat_map(of_thread).flat_map(rows_of);
    let rows: Vec<u64> = rows.collect();
    let batch = |rows: &[u64]| {
        let mut columns = vec![("key", (case.key)(rows, num_rows))];
        if case.has_payload {
            columns.push(("payload", words(rows, scramble)));
        }
        RecordBatch::try_from_iter(columns).unwrap()
    };
    rows.chunks(BATCH_ROWS as usize).map(batch).collect()
}

fn sort(batches: &[RecordBatch], strategy: Strategy) -> SortRowsExec {
    let schema = batches[0].schema();
    let halves: Vec<Vec<RecordBatch>> = batches
        .chunks(batches.len().div_ceil(THREADS))
        .map(<[RecordBatch]>::to_vec)
        .collect();
    let input = MemorySourceConfig::try_new_exec(&halves, schema, None).unwrap();
    let key = PhysicalSortExpr::new(Arc::new(Column::new("key", 0)), SortOptions::default());
    let ordering = LexOrdering::new([key]).unwrap();
    let options = Options {
        strategy,
        external_bytes: None,
    };
    let sort = SortRowsExec::try_new(input, ordering, false).unwrap();
    sort.with_options(options)
}

/// Milliseconds until all rows are there.
async fn run(sort: SortRowsExec, num_rows: u64) -> f64 {
    let config = SessionConfig::new()
        .with_target_partitions(THREADS)
        .with_batch_size(BATCH_ROWS as usize);
    let context = Arc::new(TaskContext::default().with_session_config(config));
    let start = Instant::now();
    let mut batches = sort.execute(0, context).unwrap();
    let mut num_seen = 0;
    while let Some(batch) = batches.next().await {
        num_seen += batch.unwrap().num_rows() as u64;
    }
    assert_eq!(num_seen, num_rows);
    start.elapsed().as_secs_f64() * 1e3
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let mut args = std::env::args().skip(1);
    let millions: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(5);
    let only = args.next();
    let num_rows = millions * 1_000_000;
    println!("{millions} M rows, {THREADS} threads, median of {RUNS}: ms");
    println!("{:18} {:>10} {:>10}", "", "auto", "radix");
    let is_wanted = |case: &&Case| only.as_ref().is_none_or(|o| case.name.contains(o));
    for case in CASES.iter().filter(is_wanted) {
        let batches = batches(case, num_rows);
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..RUNS {
            for (times, strategy) in times.iter_mut().zip([Strategy::Auto, Strategy::Radix]) {
                times.push(run(sort(&batches, strategy), num_rows).await);
            }
        }
        let [auto, radix] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[RUNS / 2]
        });
        println!("{:18} {auto:10.1} {radix:10.1}", case.name);
    }
}
