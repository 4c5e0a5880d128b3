//! Measures grouping beside DataFusion's operator: nanoseconds a row over keys of several shapes.
//!
//! `cargo run --release -p basalt-exec --example group_by_speed [million rows] [name]`

#![allow(clippy::print_stdout, reason = "the output is the point")]
#![allow(
    clippy::unwrap_used,
    reason = "a measurement ends where something fails"
)]

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{
    ArrayRef, BinaryViewArray, Float32Array, RecordBatch, UInt8Array, UInt32Array, UInt64Array,
};
use basalt_analyzer::udaf::{AggregateUdf, aggregate_udf};
use basalt_exec::group_by::{AggregateSpec, GroupByExec, Grouping, Thresholds};
use basalt_functions::Context;
use basalt_functions::aggregate::bind;
use basalt_types::DataType;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::expressions::{Column, lit};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use datafusion::prelude::SessionConfig;
use futures::StreamExt;

/// The allocator of the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const THREADS: usize = 2;
const RUNS: usize = 3;
const BATCH_ROWS: u64 = 65_505;

/// What is measured: name, keys of row number `n` and the aggregates over column `value`.
struct Case {
    name: &'static str,
    keys: fn(std::ops::Range<u64>) -> Vec<ArrayRef>,
    aggregates: &'static [(&'static str, bool)],
}

/// A permutation of 64-bit numbers without a pattern.
fn scramble(n: u64) -> u64 {
    let n = (n ^ (n >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    n ^ (n >> 32)
}

fn words(keys: impl Iterator<Item = u64>) -> Vec<ArrayRef> {
    vec![Arc::new(UInt64Array::from_iter_values(keys))]
}

const COUNT: &[(&str, bool)] = &[("count", false)];

const CASES: &[Case] = &[
    Case {
        name: "u8_avg",
        keys: |rows| {
            let keys = rows.map(|n| (scramble(n) % 10) as u8);
            vec![Arc::new(UInt8Array::from_iter_values(keys))]
        },
        aggregates: &[("avg", true)],
    },
    Case {
        name: "no_key_avg",
        keys: |_| vec![],
        aggregates: &[("avg", true)],
    },
    Case {
        name: "three_u8_keys",
        keys: |rows| {
            let key = |c: u64| -> ArrayRef {
                Arc::new(UInt8Array::from_iter_values(
                    rows.clone().map(|n| (n % c) as u8),
                ))
            };
            vec![key(3), key(4), key(5)]
        },
        aggregates: COUNT,
    },
    Case {
        name: "u32_sequence_10m",
        keys: |rows| {
            let keys = rows.map(|n| (n % 10_000_000) as u32);
            vec![Arc::new(UInt32Array::from_iter_values(keys))]
        },
        aggregates: COUNT,
    },
    Case {
        name: "u64_100k",
        keys: |rows| words(rows.map(|n| scramble(scramble(n) % 100_000))),
        aggregates: COUNT,
    },
    Case {
        name: "u64_10m",
        keys: |rows| words(rows.map(|n| scramble(scramble(n) % 10_000_000))),
        aggregates: COUNT,
    },
    Case {
        name: "u64_10m_avg",
        keys: |rows| words(rows.map(|n| scramble(scramble(n) % 10_000_000))),
        aggregates: &[("count", false), ("avg", true)],
    },
    Case {
        name: "u64_unique",
        keys: |rows| words(rows.map(scramble)),
        aggregates: COUNT,
    },
    Case {
        name: "text_100k",
        keys: |rows| {
            let text = |n| match scramble(n) % 500_000 {
                n if n < 100_000 => format!("phrase number {n}"),
                _ => String::new(),
            };
            vec![Arc::new(BinaryViewArray::from_iter_values(rows.map(text)))]
        },
        aggregates: COUNT,
    },
];

fn input(case: &Case, num_rows: u64) -> Arc<dyn ExecutionPlan> {
    let batch = |start: u64| {
        let rows = start..num_rows.min(start + BATCH_ROWS);
        let values = Float32Array::from_iter_values(rows.clone().map(|n| (n & 1023) as f32 / 16.0));
        let mut columns: Vec<(String, ArrayRef)> = vec![("value".to_owned(), Arc::new(values))];
        let keys = (case.keys)(rows).into_iter().enumerate();
        columns.extend(keys.map(|(i, key)| (format!("key{i}"), key)));
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let mut partitions = vec![Vec::new(); THREADS];
    for (i, start) in (0..num_rows).step_by(BATCH_ROWS as usize).enumerate() {
        partitions[i / 16 % THREADS].push(batch(start));
    }
    let schema = batch(0).schema();
    MemorySourceConfig::try_new_exec(&partitions, schema, None).unwrap()
}

fn aggregate(input: &Arc<dyn ExecutionPlan>, name: &str, of_value: bool) -> AggregateFunctionExpr {
    let types = if of_value {
        vec![DataType::Float32]
    } else {
        vec![]
    };
    let bound = bind(name, &[], &types, &Context::default()).unwrap();
    let arg: Arc<dyn PhysicalExpr> = if of_value {
        Arc::new(Column::new("value", 0))
    } else {
        lit(1u8)
    };
    let udf = aggregate_udf(name.to_owned(), bound);
    let builder = AggregateExprBuilder::new(udf, vec![arg]).schema(input.schema());
    builder.alias(name).build().unwrap()
}

fn theirs(input: &Arc<dyn ExecutionPlan>, case: &Case) -> AggregateExec {
    let num_keys = input.schema().fields().len() - 1;
    let key = |i: usize| -> (Arc<dyn PhysicalExpr>, String) {
        let name = format!("key{i}");
        (Arc::new(Column::new(&name, i + 1)), name)
    };
    let group_by = PhysicalGroupBy::new_single((0..num_keys).map(key).collect());
    let aggregates: Vec<_> = case
        .aggregates
        .iter()
        .map(|(n, v)| Arc::new(aggregate(input, n, *v)))
        .collect();
    let stage = |mode, group_by, input: Arc<dyn ExecutionPlan>, schema| {
        let filters = vec![None; aggregates.len()];
        AggregateExec::try_new(mode, group_by, aggregates.clone(), filters, input, schema).unwrap()
    };
    let schema = input.schema();
    let partial = stage(
        AggregateMode::Partial,
        group_by.clone(),
        Arc::clone(input),
        Arc::clone(&schema),
    );
    let last = group_by.as_final();
    if num_keys == 0 {
        let whole = Arc::new(CoalescePartitionsExec::new(Arc::new(partial)));
        return stage(AggregateMode::Final, last, whole, schema);
    }
    let hash = Partitioning::Hash(partial.output_group_expr(), THREADS);
    let split = Arc::new(RepartitionExec::try_new(Arc::new(partial), hash).unwrap());
    stage(AggregateMode::FinalPartitioned, last, split, schema)
}

fn ours(input: &Arc<dyn ExecutionPlan>, case: &Case) -> GroupByExec {
    let theirs = theirs(input, case);
    let spec = |expr: &Arc<AggregateFunctionExpr>| AggregateSpec {
        bound: expr
            .fun()
            .inner()
            .downcast_ref::<AggregateUdf>()
            .unwrap()
            .bound()
            .clone(),
        args: expr.expressions(),
    };
    let num_keys = input.schema().fields().len() - 1;
    let key =
        |i: usize| -> Arc<dyn PhysicalExpr> { Arc::new(Column::new(&format!("key{i}"), i + 1)) };
    let grouping = Grouping {
        keys: (0..num_keys).map(key).collect(),
        aggregates: theirs.aggr_expr().iter().map(spec).collect(),
        schema: theirs.schema(),
        thresholds: Thresholds::default(),
        top: None,
        kept_keys: None,
    };
    GroupByExec::try_new(Arc::clone(input), Arc::new(grouping), THREADS).unwrap()
}

/// Seconds of all threads since the start, where the system says so.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    // User and system time in hundredths of a second.
    fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// Seconds of wall and of processors, and number of groups of one run.
async fn run(plan: Arc<dyn ExecutionPlan>) -> ([f64; 2], usize) {
    let config = SessionConfig::new().with_batch_size(BATCH_ROWS as usize);
    let context = Arc::new(TaskContext::default().with_session_config(config));
    let (start, cpu_start) = (Instant::now(), cpu_seconds());
    let num_partitions = plan.properties().partitioning.partition_count();
    let mut tasks = Vec::new();
    for partition in 0..num_partitions {
        let mut rows = plan.execute(partition, Arc::clone(&context)).unwrap();
        tasks.push(tokio::spawn(async move {
            let mut num_rows = 0;
            while let Some(batch) = rows.next().await {
                num_rows += batch.unwrap().num_rows();
            }
            num_rows
        }));
    }
    let mut num_groups = 0;
    for task in tasks {
        num_groups += task.await.unwrap();
    }
    (
        [start.elapsed().as_secs_f64(), cpu_seconds() - cpu_start],
        num_groups,
    )
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let mut args = std::env::args().skip(1);
    let millions: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(20);
    let only = args.next();
    let num_rows = millions * 1_000_000;
    println!("{millions} M rows, {THREADS} threads, best of {RUNS}; ns a row: wall, processors");
    println!(
        "{:18} {:>16} {:>16} {:>10}",
        "", "Basalt", "DataFusion", "groups"
    );
    for case in CASES
        .iter()
        .filter(|c| only.as_ref().is_none_or(|o| c.name.contains(o)))
    {
        let input = input(case, num_rows);
        let (mut best, mut groups) = ([[f64::MAX; 2]; 2], [0; 2]);
        for _ in 0..RUNS {
            let plans: [Arc<dyn ExecutionPlan>; 2] =
                [Arc::new(ours(&input, case)), Arc::new(theirs(&input, case))];
            for (i, plan) in plans.into_iter().enumerate() {
                let (seconds, num_groups) = run(plan).await;
                best[i][0] = best[i][0].min(seconds[0]);
                best[i][1] = best[i][1].min(seconds[1]);
                groups[i] = num_groups;
            }
        }
        assert_eq!(groups[0], groups[1], "{}", case.name);
        let [ours, theirs] = best.map(|of| of.map(|s| s * 1e9 / num_rows as f64));
        println!(
            "{:18} {:8.2}{:8.2} {:8.2}{:8.2} {:10}",
            case.name, ours[0], ours[1], theirs[0], theirs[1], groups[0]
        );
    }
}
