//! Compares the operator with DataFusion's over random batches.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow::compute::{SortColumn, concat_batches, lexsort_to_indices, take_record_batch};
use arrow::datatypes::{Field, Schema};
use basalt_analyzer::udaf::AggregateUdf;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::{ExecutionPlan, collect_partitioned};
use datafusion::prelude::SessionConfig;
use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};

mod setup;

use setup::{Row, aggregate, column, input, ours, theirs};

use basalt_exec::group_by::options::Tuning;
use basalt_exec::group_by::{
    AggregateSpec, GroupByExec, Grouping, Options, Strategy as Way, Thresholds,
};

/// Ways of working that little data does not reach by itself.
const TUNINGS: [Tuning; 10] = [
    // Tables of hashed keys, merged at once or in partitions.
    Tuning {
        cached_groups: 1 << 20,
        flushed_groups: 1 << 20,
        staging_groups: 1 << 20,
        partitioned_groups: 1 << 20,
        ..HASHED
    },
    Tuning {
        cached_groups: 1 << 20,
        flushed_groups: 1 << 20,
        staging_groups: 1 << 20,
        ..HASHED
    },
    // Nearly all rows staged, staged once in a while, and staged until keys are found again.
    HASHED,
    Tuning {
        staging_groups: 1 << 20,
        rows_per_group: 1,
        staging_bits: 1,
        asked_rows: 1,
        staged_rows: 2,
        ..HASHED
    },
    Tuning {
        staging_groups: 3,
        rows_per_group: 2,
        staging_bits: 0,
        partitioned_groups: 5,
        ..HASHED
    },
    // Tables of strings emptied: always, and until groups come again; then rows are staged.
    Tuning {
        cached_groups: 1 << 20,
        staging_groups: 1 << 20,
        ..HASHED
    },
    Tuning {
        cached_groups: 4,
        flushed_groups: 3,
        staging_groups: 8,
        rows_per_group: 4,
        staging_bits: 1,
        ..HASHED
    },
    // Keys index arrays: always, as long as there are few, and hardly ever.
    Tuning {
        dense_len: 1 << 20,
        ..HASHED
    },
    Tuning {
        dense_len: 24,
        ..HASHED
    },
    Tuning {
        dense_len_per_row: 2,
        ..HASHED
    },
];

const HASHED: Tuning = Tuning {
    cached_groups: 0,
    flushed_groups: 0,
    asked_rows: 0,
    staged_rows: 5,
    staging_groups: 0,
    rows_per_group: 1_000,
    staging_bits: 3,
    partitioned_groups: 0,
    dense_len: 0,
    dense_len_per_row: 0,
    local_groups: 0,
    shared_bits: 3,
    spill_bits: 2,
    spilled_bytes: 0,
};

/// The rows of all partitions in one order.
async fn sorted(plan: Arc<dyn ExecutionPlan>, context: &Arc<TaskContext>) -> RecordBatch {
    let schema = plan.schema();
    let max_rows = context.session_config().batch_size();
    let partitions = collect_partitioned(plan, Arc::clone(context))
        .await
        .unwrap();
    let batches: Vec<RecordBatch> = partitions.into_iter().flatten().collect();
    assert!(
        batches
            .iter()
            .all(|b| b.num_rows() > 0 && b.num_rows() <= max_rows)
    );
    let whole = concat_batches(&schema, &batches).unwrap();
    let by = |c: &ArrayRef| SortColumn {
        values: Arc::clone(c),
        options: None,
    };
    let columns: Vec<SortColumn> = whole.columns().iter().map(by).collect();
    take_record_batch(&whole, &lexsort_to_indices(&columns, None).unwrap()).unwrap()
}

fn context(batch_size: usize) -> Arc<TaskContext> {
    let config = SessionConfig::new().with_batch_size(batch_size);
    Arc::new(TaskContext::default().with_session_config(config))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap()
}

const KEYS: [&[&str]; 22] = [
    &[],
    &["u8"],
    &["u16"],
    &["u32"],
    &["i64"],
    &["plain"],
    &["small", "plain"],
    &["small", "signed"],
    &["signed"],
    &["u8", "u16"],
    &["u8", "plain", "u16"],
    &["i64", "u16"],
    &["i64", "plain", "text"],
    &["text"],
    &["float"],
    &["decimal"],
    &["list", "u8"],
    &["code"],
    &["i64", "code"],
    &["wide"],
    &["u32", "decimal", "u16"],
    &["wide", "u8"],
];

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        prop::option::of(0u8..5),
        prop::option::of(0u16..7),
        prop::option::of(-3i64..3),
        prop::option::of(any::<u32>().prop_map(|n| n % 40)),
    );
    prop::collection::vec(row, 0..60)
}

/// All strategies, and every third also with files for all or for some of the groups; which ones,
/// `turn` says.
fn ways(turn: usize) -> impl Iterator<Item = (Way, Option<usize>)> {
    let all = Way::ALL.into_iter().enumerate();
    all.flat_map(move |(i, (_, way))| {
        let few_bytes = if (i + turn).is_multiple_of(2) {
            1
        } else {
            1 << 12
        };
        let with_files = (i + turn)
            .is_multiple_of(3)
            .then_some((way, Some(few_bytes)));
        std::iter::once((way, None)).chain(with_files)
    })
}

fn check(input: &Arc<dyn ExecutionPlan>, batch_size: usize) {
    let context = context(batch_size);
    runtime().block_on(async {
        for (turn, keys) in KEYS.into_iter().enumerate() {
            let expected = sorted(theirs(input, keys), &context).await;
            for tuning in TUNINGS {
                let exec = Arc::new(ours(input, keys, tuning));
                let result = sorted(exec, &context).await;
                assert_eq!(result, expected, "keys {keys:?}, {tuning:?}");
            }
            // Each with every hash at every other number of keys.
            for (i, (strategy, external_bytes)) in ways(turn).enumerate() {
                let options = Options {
                    strategy,
                    thresholds: Thresholds::Tiny,
                    external_bytes,
                    first_by_key: true,
                    compile: None,
                    numbered_keys: Default::default(),
                    is_hash_zero: (i + keys.len()) % 2 == 0,
                };
                let exec = ours(input, keys, HASHED).with_options(options);
                let result = sorted(Arc::new(exec), &context).await;
                assert_eq!(result, expected, "keys {keys:?}, {options:?}");
            }
        }
    });
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(12))]

    #[test]
    fn agrees_with_datafusion(
        one in prop::collection::vec(rows(), 0..4),
        seven in prop::collection::vec(prop::collection::vec(rows(), 0..3), 7),
    ) {
        check(&input(&[one]), 3);
        check(&input(&seven), 65_505);
    }

    #[test]
    fn a_partition_can_be_asked_for_again(rows in rows()) {
        let input = input(&[vec![rows.clone(), rows]]);
        let context = context(10);
        runtime().block_on(async {
            let exec: Arc<dyn ExecutionPlan> = Arc::new(ours(&input, &["u32"], TUNINGS[1]));
            let first = sorted(Arc::clone(&exec), &context).await;
            prop_assert_eq!(first, sorted(exec, &context).await);
            Ok(())
        })?;
    }
}

#[test]
fn forms_are_as_narrow_as_the_keys() {
    let input = input(&[vec![]]);
    let table = |keys: &[&str]| {
        let exec = ours(&input, keys, Tuning::default());
        let plan = datafusion::physical_plan::displayable(&exec)
            .one_line()
            .to_string();
        plan.trim().rsplit_once("table=").unwrap().1.to_owned()
    };
    let tables: Vec<String> = KEYS.iter().map(|keys| table(keys)).collect();
    let expected = [
        "none", "direct8", "direct16", "hash32", "hash64", "hash32", "hash64", "hash128", "hash64",
        "hash32", "hash64", "hash128", "rows", "string", "hash64", "hash128", "rows", "hash64",
        "hash128", "hash256", "hash256", "rows",
    ];
    assert_eq!(tables, expected);
}

#[test]
fn no_input_is_one_row_without_keys_and_none_with() {
    let input = input(&[vec![], vec![]]);
    let context = context(100);
    runtime().block_on(async {
        let no_keys = Arc::new(ours(&input, &[], Tuning::default()));
        assert_eq!(no_keys.properties().partitioning.partition_count(), 1);
        let row = sorted(no_keys, &context).await;
        assert_eq!(row.num_rows(), 1);
        assert_eq!(row.column(0).as_ref(), &UInt64Array::from(vec![0]));
        let keys = Arc::new(ours(&input, &["u8"], Tuning::default()));
        assert_eq!(keys.properties().partitioning.partition_count(), 3);
        assert_eq!(sorted(keys, &context).await.num_rows(), 0);
    });
}

#[test]
fn too_little_memory_is_an_error() {
    let rows = |start: u32| -> Vec<Row> {
        (start..start + 5_000)
            .map(|n| (None, None, Some(i64::from(n)), Some(n)))
            .collect()
    };
    let input = input(&[(0..10).map(|n| rows(n * 5_000)).collect()]);
    let pool = Arc::new(GreedyMemoryPool::new(1 << 20));
    let memory = RuntimeEnvBuilder::new()
        .with_memory_pool(pool)
        .build_arc()
        .unwrap();
    let context = Arc::new(TaskContext::default().with_runtime(memory));
    for tuning in [TUNINGS[0], TUNINGS[2]] {
        let exec: Arc<dyn ExecutionPlan> = Arc::new(ours(&input, &["i64"], tuning));
        let result = runtime().block_on(collect_partitioned(exec, Arc::clone(&context)));
        let error = result.unwrap_err().to_string();
        assert!(error.contains("Resources exhausted"), "{error}");
    }
    assert_eq!(context.memory_pool().reserved(), 0);
}

#[test]
fn floats_are_one_key_if_clickhouse_says_so() {
    let floats = Float64Array::from(vec![0.0, -0.0, f64::NAN, -f64::NAN, 1.0]);
    let batch = RecordBatch::try_from_iter([("float", Arc::new(floats) as ArrayRef)]).unwrap();
    let partitions = [vec![batch.clone()], vec![batch.clone()]];
    let input: Arc<dyn ExecutionPlan> =
        MemorySourceConfig::try_new_exec(&partitions, batch.schema(), None).unwrap();
    let count = aggregate(&input, "count", None);
    let udf = count.fun().inner().downcast_ref::<AggregateUdf>().unwrap();
    let float = Field::new("float", arrow::datatypes::DataType::Float64, false);
    let counted = Field::new("count", arrow::datatypes::DataType::UInt64, false);
    let grouping = Grouping {
        keys: vec![column(&input, "float")],
        aggregates: vec![AggregateSpec {
            bound: udf.bound().clone(),
            args: vec![],
        }],
        schema: Arc::new(Schema::new(vec![float, counted])),
        thresholds: Thresholds::default(),
        top: None,
        kept_keys: None,
    };
    let exec = Arc::new(GroupByExec::try_new(input, Arc::new(grouping), 2).unwrap());
    let result = runtime().block_on(sorted(exec, &context(100)));
    // In Arrow's total order: -0, 0, 1, NaN.
    assert_eq!(
        result.column(1).as_ref(),
        &UInt64Array::from(vec![2, 2, 2, 4])
    );
}

#[test]
fn too_little_memory_is_enough_with_files() {
    let rows = |start: u32| -> Vec<Row> {
        (start..start + 5_000)
            .map(|n| (None, Some(n as u16), Some(i64::from(n) * 1_000), Some(n)))
            .collect()
    };
    let partition: Vec<Vec<Row>> = (0..10).map(|n| rows(n * 5_000)).collect();
    let input = input(&[partition.clone(), partition]);
    let pool = Arc::new(GreedyMemoryPool::new(4 << 20));
    let memory = RuntimeEnvBuilder::new()
        .with_memory_pool(pool)
        .build_arc()
        .unwrap();
    let unlimited = context(8192);
    let context = Arc::new(TaskContext::default().with_runtime(memory));
    for keys in [
        &["i64"][..],
        &["signed"],
        &["i64", "text"],
        &["list", "u32"],
    ] {
        let expected = runtime().block_on(sorted(theirs(&input, keys), &unlimited));
        // Files because of the limit that is set, and because memory ends.
        for external_bytes in [2 << 20, usize::MAX] {
            let options = Options {
                external_bytes: Some(external_bytes),
                ..Options::default()
            };
            let exec = Arc::new(ours(&input, keys, HASHED).with_options(options));
            let plan = Arc::clone(&exec) as Arc<dyn ExecutionPlan>;
            let result = runtime().block_on(sorted(plan, &context));
            assert_eq!(result, expected, "keys {keys:?}, {external_bytes}");
            let metrics = exec.metrics().unwrap();
            assert!(metrics.spill_count().unwrap() > 0, "keys {keys:?}");
            assert!(metrics.spilled_bytes().unwrap() > 0, "keys {keys:?}");
        }
    }
    assert_eq!(context.memory_pool().reserved(), 0);
}
