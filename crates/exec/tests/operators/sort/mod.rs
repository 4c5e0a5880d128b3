//! Compares the operator with a stable sort of rows in arrow's row format.
//!
//! | module | what its tests vary |
//! |---|---|
//! | [`columns`] | types of the columns, for all tests |
//! | [`types`] | the same for many rows, and keys of these |
//! | [`many_rows`] | parts, threads and buckets |
//! | [`thresholds`] | numbers of rows, around each where something changes |
//! | [`borders`] | other numbers of that kind: ties, different keys, stretches |
//! | [`runs`] | runs in files |
//! | [`ways`] | the order in which rows come |

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow::compute::{SortOptions, concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, SortField};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionConfig;
use proptest::prelude::{
    ProptestConfig, Strategy as Values, any, prop, prop_assert, prop_assert_eq, proptest,
};
use tokio::runtime::{Builder, Runtime};

use basalt_exec::report::{Account, account};
use basalt_exec::sort::{Limit, Options, SortRowsExec, Strategy};

use columns::{INTEGERS, NUM_COLUMNS, Row, batch};

mod borders;
mod columns;
mod many_rows;
mod runs;
mod thresholds;
mod types;
mod ways;

/// A column to sort by, whether it falls, and whether NULLs come first.
type Key = (usize, bool, bool);

/// Runs all sorts: thousands of small ones would spend their time with threads of their own.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).build().unwrap()
});

/// All that may be forced, and memory that is full with every batch.
fn all_options() -> impl Iterator<Item = Options> {
    let external_bytes = [None, Some(1)];
    Strategy::ALL.into_iter().flat_map(move |strategy| {
        external_bytes.map(|external_bytes| Options {
            strategy,
            external_bytes,
        })
    })
}

/// The same for many rows of no order: where these are taken apart, each is a task, and a block of a file.
fn options_of_many() -> impl Iterator<Item = Options> {
    all_options().filter(|options| options.strategy != Strategy::InOrder)
}

fn rows(max: usize) -> impl Values<Value = Vec<Row>> {
    let small = (
        prop::option::weighted(0.9, 0u8..4),
        prop::option::weighted(0.9, any::<u16>()),
    );
    let large = prop::option::weighted(0.9, prop::num::i64::ANY);
    let row = (small, large, any::<u64>()).prop_map(|((a, b), c, d)| (a, b, c, d));
    prop::collection::vec(row, 0..max)
}

/// Rows whose numbers are the least, the largest or in the middle, so that many are the same.
fn extreme_rows(max: usize) -> impl Values<Value = Vec<Row>> {
    let (least, most) = (i64::MIN, i64::MAX);
    let numbers = [least, least + 1, -1 << 32, -1, 0, 1, 1 << 32, most];
    let number = prop::option::weighted(0.9, prop::sample::select(numbers.to_vec()));
    let row = (number, any::<u64>()).prop_map(|(number, last)| {
        let (small, middle) = (number.map(|n| n as u8), number.map(|n| n as u16));
        (small, middle, number, last)
    });
    prop::collection::vec(row, 0..max)
}

/// Columns to sort by.
fn keys() -> impl Values<Value = Vec<Key>> {
    prop::collection::vec((0..NUM_COLUMNS, any::<bool>(), any::<bool>()), 1..5)
}

/// Columns that are in the result whether or not they are keys: none, narrow ones that words carry, and others.
fn others() -> impl Values<Value = Vec<usize>> {
    prop::sample::subsequence(vec![0usize, 5, 8, 12, 13, 14], 0..=6)
}

/// The columns of keys, and `others`; the places of keys among them.
fn projected(all: &RecordBatch, keys: &[Key], others: &[usize]) -> (RecordBatch, Vec<Key>) {
    let mut columns: Vec<usize> = keys.iter().map(|key| key.0).collect();
    columns.extend(others);
    columns.sort_unstable();
    columns.dedup();
    let place = |column: usize| columns.partition_point(|before| *before < column);
    let keys = keys.iter().map(|key| (place(key.0), key.1, key.2));
    (all.project(&columns).unwrap(), keys.collect())
}

fn options(key: &Key) -> SortOptions {
    SortOptions {
        descending: key.1,
        nulls_first: key.2,
    }
}

/// The rows in order.
fn expected(all: &RecordBatch, keys: &[Key]) -> RecordBatch {
    let columns: Vec<ArrayRef> = keys.iter().map(|k| Arc::clone(all.column(k.0))).collect();
    let field = |(key, column): (&Key, &ArrayRef)| {
        SortField::new_with_options(column.data_type().clone(), options(key))
    };
    let fields = keys.iter().zip(&columns).map(field).collect();
    let rows = RowConverter::new(fields)
        .unwrap()
        .convert_columns(&columns)
        .unwrap();
    let mut order: Vec<u64> = (0..all.num_rows() as u64).collect();
    order.sort_by_key(|row| rows.row(*row as usize));
    take_record_batch(all, &UInt64Array::from(order)).unwrap()
}

/// How many rows from the one at `end` on have the keys of the row before it.
fn num_tied(ordered: &RecordBatch, keys: &[Key], end: usize) -> usize {
    let places: Vec<usize> = keys.iter().map(|key| key.0).collect();
    let keys = ordered.project(&places).unwrap();
    let Some(last) = end.checked_sub(1).map(|last| keys.slice(last, 1)) else {
        return 0;
    };
    let is_tied = |row: &usize| keys.slice(*row, 1) == last;
    (end..keys.num_rows()).take_while(is_tied).count()
}

/// Whether `sorted` is what a limit leaves of rows in order. With ties, any rows may be behind those that are wanted,
/// as long as they are in order.
fn is_limited(sorted: &RecordBatch, ordered: &RecordBatch, keys: &[Key], limit: Limit) -> bool {
    let num_rows = ordered.num_rows();
    let end = |fetch: usize| num_rows.min(limit.skip + fetch);
    let mut end = limit.fetch.map_or(num_rows, end);
    if limit.with_ties {
        end += num_tied(ordered, keys, end);
    }
    let num_wanted = end.saturating_sub(limit.skip);
    let wanted = ordered.slice(end - num_wanted, num_wanted);
    if !limit.with_ties || sorted.num_rows() <= num_wanted {
        return *sorted == wanted;
    }
    let rest = sorted.slice(num_wanted, sorted.num_rows() - num_wanted);
    let is_rest = || rest == ordered.slice(end, rest.num_rows()) || rest == expected(&rest, keys);
    sorted.slice(0, num_wanted) == wanted && is_rest()
}

/// A sort over partitions of batches.
fn sort(partitions: &[Vec<RecordBatch>], keys: &[Key]) -> SortRowsExec {
    sort_of(batch(&[]).schema(), partitions, keys)
}

/// The same over rows of any schema.
fn sort_of(schema: SchemaRef, partitions: &[Vec<RecordBatch>], keys: &[Key]) -> SortRowsExec {
    let sorts = keys.iter().map(|key| {
        let column = Column::new(schema.field(key.0).name(), key.0);
        PhysicalSortExpr::new(Arc::new(column), options(key))
    });
    let ordering = LexOrdering::new(sorts).unwrap();
    let input = MemorySourceConfig::try_new_exec(partitions, schema, None).unwrap();
    assert!(SortRowsExec::supports(
        &(Arc::clone(&input) as _),
        &ordering
    ));
    SortRowsExec::try_new(input, ordering, false).unwrap()
}

fn context(threads: usize, batch_rows: usize) -> Arc<TaskContext> {
    let config = SessionConfig::new()
        .with_target_partitions(threads)
        .with_batch_size(batch_rows);
    Arc::new(TaskContext::default().with_session_config(config))
}

fn run(sort: SortRowsExec, context: Arc<TaskContext>) -> RecordBatch {
    run_and_tell(sort, context).1
}

/// What the operator tells of the run, and its rows.
fn run_and_tell(sort: SortRowsExec, context: Arc<TaskContext>) -> (Account, RecordBatch) {
    let sort: Arc<dyn ExecutionPlan> = Arc::new(sort);
    let batches = RUNTIME
        .block_on(collect(Arc::clone(&sort), context))
        .unwrap();
    let rows = concat_batches(&sort.schema(), &batches).unwrap();
    (account(sort.as_ref()).unwrap(), rows)
}

/// The way of sorting that was gone.
fn way(account: &Account) -> &'static str {
    let mut arms = account.decisions[0].arms.iter();
    arms.find(|arm| arm.is_chosen).unwrap().name
}

/// Partitions of `all`, in batches of some rows.
fn partitions(all: &RecordBatch, num: usize, batch_rows: usize) -> Vec<Vec<RecordBatch>> {
    let slice = |start: usize, end: usize, size: usize| -> Vec<RecordBatch> {
        (start..end)
            .step_by(size)
            .map(|i| all.slice(i, size.min(end - i)))
            .collect()
    };
    let size = all.num_rows().div_ceil(num).max(1);
    (0..num)
        .map(|p| (p * size).min(all.num_rows()))
        .map(|start| slice(start, (start + size).min(all.num_rows()), batch_rows))
        .collect()
}

/// Each threshold, one less and one more.
fn around(thresholds: &[usize]) -> impl Iterator<Item = usize> {
    thresholds.iter().flat_map(|t| [t - 1, *t, t + 1])
}

/// Rows of a simple generator, `distinct` different keys.
fn many(num: u64, distinct: u64) -> Vec<Row> {
    let row = |i: u64| {
        let random = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let key = (random ^ (random >> 29)) % distinct;
        let null = key.is_multiple_of(7);
        (
            Some(key as u8),
            (!null).then_some(key as u16),
            Some(key as i64 - 9),
            i,
        )
    };
    (0..num).map(row).collect()
}

proptest! {
    #[test]
    fn as_a_stable_sort(
        rows in rows(300),
        keys in keys(),
        others in others(),
        inputs in 1usize..4,
        threads in 1usize..9,
    ) {
        let (all, keys) = projected(&batch(&rows), &keys, &others);
        let expected = expected(&all, &keys);
        for options in all_options() {
            let input = partitions(&all, inputs, 7 * threads);
            let sort = sort_of(all.schema(), &input, &keys).with_options(options);
            prop_assert_eq!(&run(sort, context(threads, 50)), &expected, "{:?}", options);
        }
    }

    #[test]
    fn some_of_the_rows(
        rows in rows(200),
        keys in keys(),
        others in others(),
        skip in 0usize..220,
        fetch in prop::option::of(0usize..220),
    ) {
        let (all, keys) = projected(&batch(&rows), &keys, &others);
        let expected = expected(&all, &keys);
        let limit = Limit { skip, fetch, with_ties: false };
        for options in all_options() {
            let sort = sort_of(all.schema(), &partitions(&all, 2, 30), &keys);
            let sorted = run(sort.with_options(options).with_limit(limit), context(3, 9));
            prop_assert!(is_limited(&sorted, &expected, &keys, limit), "{:?}", options);
        }
    }

    #[test]
    fn rows_as_good_as_the_last(
        rows in rows(200),
        keys in keys(),
        others in others(),
        (skip, fetch) in (0usize..20, 1usize..220),
        inputs in 1usize..4,
    ) {
        let (all, keys) = projected(&batch(&rows), &keys, &others);
        let expected = expected(&all, &keys);
        let limit = Limit { skip, fetch: Some(fetch), with_ties: true };
        for options in all_options() {
            let sort = sort_of(all.schema(), &partitions(&all, inputs, 30), &keys);
            let sorted = run(sort.with_options(options).with_limit(limit), context(3, 9));
            prop_assert!(is_limited(&sorted, &expected, &keys, limit), "{:?}", options);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn integers_of_all_widths(
        rows in extreme_rows(250),
        columns in prop::sample::subsequence(INTEGERS.to_vec(), 1..5).prop_shuffle(),
        directions in any::<u64>(),
        has_others in any::<bool>(),
    ) {
        let is_set = |bit: usize| (directions >> bit) & 1 == 1;
        let keys = columns.iter().enumerate();
        let keys: Vec<Key> = keys.map(|(i, column)| (*column, is_set(i), is_set(8 + i))).collect();
        let others: &[usize] = if has_others { &[12, 13] } else { &[] };
        let (all, keys) = projected(&batch(&rows), &keys, others);
        let expected = expected(&all, &keys);
        for options in all_options() {
            let sort = sort_of(all.schema(), &partitions(&all, 2, 60), &keys).with_options(options);
            prop_assert_eq!(&run(sort, context(2, 20)), &expected, "{:?}", options);
        }
    }
}
