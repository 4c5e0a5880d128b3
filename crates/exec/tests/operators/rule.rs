//! Plans queries with and without the rule.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryViewArray, Float64Array, RecordBatch, UInt64Array};
use arrow::datatypes::UInt64Type;
use basalt_analyzer::udaf;
use basalt_functions::Context;
use basalt_functions::aggregate::bind;
use basalt_types::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{Expr, ExprFunctionExt, lit};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::{ExecutionPlan, displayable};
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext, col};

use basalt_exec::group_by::{Options, Strategy};
use basalt_exec::rule::{HelpfulRules, Joins, SwapOperators};
use basalt_exec::sort;

fn options(strategy: Strategy) -> Options {
    Options {
        strategy,
        ..Options::default()
    }
}

fn session(strategy: Option<Strategy>) -> SessionContext {
    sorting_session(strategy, None)
}

fn sorting_session(strategy: Option<Strategy>, sort: Option<sort::Options>) -> SessionContext {
    session_of(SwapOperators::rules(
        strategy.map(options),
        sort,
        Joins::Hash,
    ))
}

fn session_of(rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>) -> SessionContext {
    // Batches of few rows, so that a hundred are worth several threads.
    let config = SessionConfig::new()
        .with_target_partitions(4)
        .with_batch_size(50);
    let state = SessionStateBuilder::new_with_default_features()
        .with_config(config)
        .with_physical_optimizer_rules(rules)
        .build();
    SessionContext::new_with_state(state)
}

fn table(session: &SessionContext, num_partitions: u64) -> DataFrame {
    let batch = |p: u64| {
        let numbers: Vec<u64> = (p * 100..p * 100 + 100).collect();
        let text = numbers
            .iter()
            .map(|n| format!("number {}", n % 9).into_bytes());
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("n", Arc::new(UInt64Array::from(numbers.clone()))),
            ("text", Arc::new(BinaryViewArray::from_iter_values(text))),
            (
                "x",
                Arc::new(Float64Array::from_iter_values(
                    numbers.iter().map(|n| *n as f64),
                )),
            ),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let partitions = (0..num_partitions).map(|p| vec![batch(p)]).collect();
    let table = MemTable::try_new(batch(0).schema(), partitions).unwrap();
    session.read_table(Arc::new(table)).unwrap()
}

fn count() -> Expr {
    let bound = bind("count", &[], &[], &Context::default()).unwrap();
    udaf::call("count".to_owned(), bound, vec![lit(1u8)]).alias("c")
}

fn sum_n() -> Expr {
    sum_of("n")
}

fn sum_of(column: &str) -> Expr {
    let bound = bind("sum", &[], &[DataType::UInt64], &Context::default()).unwrap();
    udaf::call("sum".to_owned(), bound, vec![col(column)])
}

async fn plan(rows: &DataFrame) -> String {
    let plan = rows.clone().create_physical_plan().await.unwrap();
    displayable(plan.as_ref()).indent(false).to_string()
}

#[tokio::test]
async fn both_stages_become_one_operator() {
    let session = session(Some(Strategy::Auto));
    let rows = table(&session, 3).aggregate(vec![col("n") % lit(10u64)], vec![count(), sum_n()]);
    let plan = plan(&rows.unwrap()).await;
    assert!(plan.contains("GroupByExec"), "{plan}");
    assert!(plan.contains("table=hash64"), "{plan}");
    assert!(
        !plan.contains("AggregateExec") && !plan.contains("hash_expr"),
        "{plan}"
    );
}

#[tokio::test]
async fn one_partition_is_spread_over_the_threads() {
    let session = session(Some(Strategy::Auto));
    let rows = table(&session, 1)
        .aggregate(vec![col("n")], vec![count()])
        .unwrap();
    let plan = plan(&rows).await;
    assert!(plan.contains("RoundRobinBatch(4)"), "{plan}");
}

#[tokio::test]
async fn a_join_on_the_keys_still_meets_its_rows() {
    let mut results = Vec::new();
    for strategy in [Some(Strategy::Auto), None] {
        let session = session(strategy);
        let left = table(&session, 3).aggregate(vec![col("text")], vec![count(), sum_n()]);
        let right = table(&session, 2)
            .aggregate(vec![col("text")], vec![count()])
            .unwrap();
        let right = right
            .select(vec![col("text").alias("t"), col("c").alias("d")])
            .unwrap();
        let how = datafusion::common::JoinType::Inner;
        let rows = left
            .unwrap()
            .join(right, how, &["text"], &["t"], None)
            .unwrap();
        let rows = rows
            .aggregate(vec![col("text"), col("d")], vec![sum_of("c")])
            .unwrap();
        assert_eq!(
            plan(&rows).await.contains("GroupByExec"),
            strategy == Some(Strategy::Auto)
        );
        let rows = rows.sort(vec![col("text").sort(true, false)]).unwrap();
        results.push(rows.collect().await.unwrap());
    }
    let rows: usize = results[0].iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 9);
    assert_eq!(results[0], results[1]);
}

#[tokio::test]
async fn what_the_operator_cannot_stays() {
    let session = session(Some(Strategy::Auto));
    let filtered = sum_n().filter(col("n").gt(lit(5u64))).build().unwrap();
    let distinct = sum_n().distinct().build().unwrap();
    let foreign = datafusion::functions_aggregate::sum::sum(col("x"));
    for aggregate in [filtered, distinct, foreign] {
        let rows = table(&session, 3).aggregate(vec![col("text")], vec![count(), aggregate]);
        let plan = plan(&rows.unwrap()).await;
        assert!(
            plan.contains("AggregateExec") && !plan.contains("GroupByExec"),
            "{plan}"
        );
    }
}

#[tokio::test]
async fn a_limit_above_tells_which_groups_are_wanted() {
    let mut results = Vec::new();
    for strategy in [Some(Strategy::Auto), None] {
        let session = session(strategy);
        let rows = table(&session, 3)
            .aggregate(
                vec![col("n") % lit(70u64)],
                vec![count(), sum_n().alias("s")],
            )
            .unwrap()
            .select(vec![col("c").alias("d"), col("s")])
            .unwrap();
        let by = vec![col("d").sort(false, false), col("s").sort(true, false)];
        let best = rows.clone().sort(by).unwrap().limit(2, Some(5)).unwrap();
        let has_top = plan(&best).await.contains(", top=7");
        assert_eq!(has_top, strategy == Some(Strategy::Auto));
        results.push(best.collect().await.unwrap());
        // Rows that are left out below a filter would be missed above it.
        let few = rows.clone().filter(col("d").gt(lit(1u64))).unwrap();
        let by = vec![col("d").sort(true, false)];
        let few = few.sort(by).unwrap().limit(0, Some(5)).unwrap();
        assert!(!plan(&few).await.contains(", top="));
    }
    assert_eq!(results[0], results[1]);
}

#[tokio::test]
async fn off_means_off() {
    let session = session(None);
    let rows = table(&session, 3)
        .aggregate(vec![col("n")], vec![count()])
        .unwrap();
    assert!(!plan(&rows).await.contains("GroupByExec"));
}

#[tokio::test]
async fn sorts_and_their_merge_become_one_operator() {
    let session = sorting_session(None, Some(sort::Options::default()));
    let by_text = || vec![col("text").sort(true, false), col("n").sort(false, true)];
    let sorted = table(&session, 3).sort(by_text()).unwrap();
    let text = plan(&sorted).await;
    assert!(text.starts_with("SortRowsExec"), "{text}");
    assert!(!text.contains("SortPreservingMergeExec"), "{text}");
    let limited = sorted.clone().limit(20_000, Some(30_000)).unwrap();
    let text = plan(&limited).await;
    assert!(text.contains("skip=20000, fetch=30000"), "{text}");
    assert!(!text.contains("GlobalLimitExec"), "{text}");
    let best = sorted.limit(0, Some(10)).unwrap();
    let text = plan(&best).await;
    assert!(
        text.starts_with("SortRowsExec") && text.contains("fetch=10"),
        "{text}"
    );
}

#[tokio::test]
async fn a_key_that_is_the_same_in_all_rows_needs_no_merge() {
    let session = sorting_session(None, Some(sort::Options::default()));
    let columns = vec![col("n"), col("text"), lit(1_u8).alias("one")];
    let rows = table(&session, 3).select(columns).unwrap();
    let by = vec![col("n").sort(true, false), col("one").sort(true, false)];
    let sorted = rows.sort(by).unwrap();
    let text = plan(&sorted.clone().limit(150, Some(3)).unwrap()).await;
    assert!(text.contains("SortRowsExec"), "{text}");
    assert!(!text.contains("SortPreservingMergeExec"), "{text}");
    assert!(text.contains("skip=150, fetch=3"), "{text}");
    let batches = sorted.limit(150, Some(3)).unwrap().collect().await;
    let first = batches.unwrap()[0]
        .column(0)
        .as_primitive::<UInt64Type>()
        .value(0);
    assert_eq!(first, 150);
}

#[tokio::test]
async fn sorts_can_be_left_to_datafusion() {
    let session = sorting_session(Some(Strategy::Auto), None);
    let sorted = table(&session, 3).sort(vec![col("n").sort(true, false)]);
    let text = plan(&sorted.unwrap()).await;
    assert!(
        text.contains("SortExec") && !text.contains("SortRowsExec"),
        "{text}"
    );
}

/// The plans of rows of `table` behind all rules, and behind those that help.
async fn plans(rows: impl Fn(DataFrame) -> DataFrame, num_partitions: u64) -> [String; 2] {
    let rules = || {
        SwapOperators::rules(
            Some(Options::default()),
            Some(sort::Options::default()),
            Joins::Hash,
        )
    };
    let all = session_of(rules());
    let helpful = session_of(vec![Arc::new(HelpfulRules::new(rules()))]);
    let of = async |session| plan(&rows(table(&session, num_partitions))).await;
    [of(all).await, of(helpful).await]
}

#[tokio::test]
async fn rules_that_are_left_out_change_nothing() {
    let by = || vec![col("text").sort(true, false), col("n").sort(false, true)];
    let grouped = |rows: DataFrame| {
        let rows = rows.filter(col("n").gt(lit(5u64))).unwrap();
        rows.aggregate(vec![col("text")], vec![count(), sum_n()])
            .unwrap()
    };
    let of_queries: &[(&str, &dyn Fn(DataFrame) -> DataFrame)] = &[
        ("nothing", &|rows| rows),
        ("keys", &grouped),
        ("no keys", &|rows| {
            rows.aggregate(vec![], vec![count()]).unwrap()
        }),
        ("having", &|rows| {
            grouped(rows).filter(col("c").gt(lit(1u64))).unwrap()
        }),
        ("order", &|rows| {
            rows.filter(col("x").lt(lit(1.5)))
                .unwrap()
                .sort(by())
                .unwrap()
        }),
        ("best", &|rows| {
            let rows = rows.sort(by()).unwrap().limit(2, Some(3)).unwrap();
            rows.select(vec![col("n") + lit(1u64)]).unwrap()
        }),
        ("best groups", &|rows| {
            let rows = grouped(rows).sort(vec![col("c").sort(false, true)]);
            rows.unwrap().limit(0, Some(3)).unwrap()
        }),
        ("a constant key", &|rows| {
            let rows = rows.filter(col("n").eq(lit(5u64))).unwrap();
            let rows = rows.sort(vec![col("n").sort(true, false)]).unwrap();
            rows.limit(0, Some(3)).unwrap()
        }),
        ("a constant key and another", &|rows| {
            let rows = rows.filter(col("n").eq(lit(5u64))).unwrap();
            let by = vec![col("n").sort(true, false), col("x").sort(true, false)];
            rows.sort(by).unwrap()
        }),
        ("a key that is written", &|rows| {
            let rows = rows.select(vec![lit(1u8).alias("one"), col("n")]).unwrap();
            let rows = rows.sort(vec![col("one").sort(true, false)]).unwrap();
            rows.limit(0, Some(3)).unwrap()
        }),
        ("some", &|rows| rows.limit(1, Some(3)).unwrap()),
        ("some of the best", &|rows| {
            let rows = rows.sort(by()).unwrap().limit(0, Some(9)).unwrap();
            grouped(rows)
        }),
        ("sets", &|rows| rows.clone().union(rows).unwrap()),
    ];
    for num_partitions in [1, 4] {
        for (name, rows) in of_queries {
            let [all, helpful] = plans(rows, num_partitions).await;
            assert_eq!(all, helpful, "{name}, {num_partitions} partitions");
        }
    }
}

/// Counts how often it is asked.
#[derive(Debug, Default)]
struct Asked(std::sync::atomic::AtomicUsize);

impl PhysicalOptimizerRule for Asked {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(plan)
    }

    fn name(&self) -> &str {
        "Asked"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn plans_of_one_select_are_spared_rules_about_others() {
    let asked = Arc::new(Asked::default());
    let mut rules = SwapOperators::rules(
        Some(Options::default()),
        Some(sort::Options::default()),
        Joins::Hash,
    );
    rules.push(Arc::clone(&asked) as _);
    let session = session_of(vec![Arc::new(HelpfulRules::new(rules))]);
    let num_asked = || asked.0.load(std::sync::atomic::Ordering::Relaxed);
    let rows = table(&session, 4).aggregate(vec![col("n")], vec![count()]);
    let rows = rows
        .unwrap()
        .sort(vec![col("c").sort(false, true)])
        .unwrap();
    plan(&rows).await;
    assert_eq!(num_asked(), 0);
    plan(&rows.clone().limit(0, Some(1)).unwrap().union(rows).unwrap()).await;
    assert_eq!(num_asked(), 1);
}
