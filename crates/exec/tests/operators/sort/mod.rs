//! Compares the operator with a stable sort of rows in arrow's row format.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, Decimal128Array, Decimal256Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int8Array, Int64Array, ListArray, RecordBatch, StructArray,
    UInt8Array, UInt16Array, UInt64Array,
};
use arrow::compute::{SortOptions, concat_batches, take_record_batch};
use arrow::datatypes::{Field, Int32Type, SchemaRef, i256};
use arrow::row::{RowConverter, SortField};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionConfig;
use proptest::prelude::{Strategy as Values, any, prop, prop_assert, prop_assert_eq, proptest};

use basalt_exec::report::{Account, account};
use basalt_exec::sort::{Limit, Options, SortRowsExec, Strategy};

mod thresholds;
mod ways;

/// All that may be forced, and memory that is full with every batch.
fn all_options() -> Vec<Options> {
    let external_bytes = [None, Some(1)];
    let options = Strategy::ALL.into_iter().flat_map(|strategy| {
        external_bytes.map(|external_bytes| Options {
            strategy,
            external_bytes,
        })
    });
    options.collect()
}

/// A row as numbers, from which columns of all types are made.
type Row = (Option<u8>, Option<u16>, Option<i64>, u64);

const FLOATS: [f64; 8] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.5,
    -2.5,
    f64::MIN_POSITIVE,
];

fn float(n: u16) -> f64 {
    match FLOATS.get(usize::from(n % 16)) {
        Some(float) => *float,
        None => f64::from(n) - 300.0,
    }
}

fn short(n: u16) -> Vec<u8> {
    [b"", b"a".as_slice(), b"a\0", b"b", b"\xff\xff"][usize::from(n % 5)].to_vec()
}

/// Strings that differ late, and by a zero byte.
fn text(n: u16) -> Vec<u8> {
    match n % 4 {
        0 => b"https://".to_vec(),
        1 => format!("https://a.example/{n}").into_bytes(),
        2 => format!("https://a.example/{}\0", n - 1).into_bytes(),
        _ => format!("https://b{n}").into_bytes(),
    }
}

/// Most begin with the same for long, some with something else.
fn url(n: u16) -> Vec<u8> {
    match n % 16 {
        0 => Vec::new(),
        1 => b"ftp://old.example/".to_vec(),
        2 => b"https://www.example.com/a/long/".to_vec(),
        _ => format!(
            "https://www.example.com/a/long/path/{}/and/on/{}",
            n % 7,
            n / 16
        )
        .into_bytes(),
    }
}

fn strings(rows: &[Row], value: fn(u16) -> Vec<u8>) -> ArrayRef {
    let values = rows.iter().map(|r| r.1.map(value));
    Arc::new(values.collect::<BinaryViewArray>())
}

fn fixed(rows: &[Row], size: i32) -> ArrayRef {
    let wide = |n: &i64| {
        let mut bytes = vec![0; size as usize];
        bytes[..8].copy_from_slice(&n.to_be_bytes());
        bytes[size as usize - 1] = 7;
        bytes
    };
    let values = rows.iter().map(|r| r.2.as_ref().map(wide));
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, size).unwrap())
}

/// Arrays that begin with the same, end early, and have NULLs.
fn list(rows: &[Row]) -> ArrayRef {
    let values = |n: u16| (0..n % 4).map(move |i| (n % 7 > i).then(|| i32::from(n % 3)));
    let lists = rows.iter().map(|r| r.1.map(values));
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

fn tuple(rows: &[Row]) -> ArrayRef {
    let first: UInt8Array = rows.iter().map(|r| r.0).collect();
    let first: ArrayRef = Arc::new(first);
    let columns = [("1", first), ("2", strings(rows, text))];
    let fields = columns.iter().map(|(name, column)| {
        let data_type = column.data_type().clone();
        Field::new(*name, data_type, true)
    });
    let fields = fields.collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Arc::new(StructArray::try_new_with_length(fields, columns, None, rows.len()).unwrap())
}

fn wide(rows: &[Row]) -> ArrayRef {
    let values = rows.iter().map(|r| r.2.map(i256::from));
    let values = values.collect::<Decimal256Array>();
    Arc::new(values.with_precision_and_scale(76, 5).unwrap())
}

fn batch(rows: &[Row]) -> RecordBatch {
    let decimals = rows.iter().map(|r| r.2.map(|n| i128::from(n) << 50));
    let decimals = decimals.collect::<Decimal128Array>();
    let u8s: UInt8Array = rows.iter().map(|r| r.0).collect();
    let u16s: UInt16Array = rows.iter().map(|r| r.1).collect();
    let i64s: Int64Array = rows.iter().map(|r| r.2).collect();
    let i8s: Int8Array = rows.iter().map(|r| r.0.map(|n| n as i8)).collect();
    let f64s: Float64Array = rows.iter().map(|r| r.1.map(float)).collect();
    let f32s: Float32Array = rows.iter().map(|r| r.1.map(|n| float(n) as f32)).collect();
    let payload: UInt64Array = rows.iter().map(|r| r.3).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("u8", Arc::new(u8s)),
        ("u16", Arc::new(u16s)),
        ("i64", Arc::new(i64s)),
        ("i8", Arc::new(i8s)),
        ("f64", Arc::new(f64s)),
        ("f32", Arc::new(f32s)),
        (
            "decimal",
            Arc::new(decimals.with_precision_and_scale(38, 5).unwrap()),
        ),
        ("uuid", fixed(rows, 16)),
        ("fixed", fixed(rows, 20)),
        ("nine", fixed(rows, 9)),
        ("short", strings(rows, short)),
        ("text", strings(rows, text)),
        ("payload", Arc::new(payload)),
        ("url", strings(rows, url)),
        ("list", list(rows)),
        ("tuple", tuple(rows)),
        ("wide", wide(rows)),
    ];
    let columns = columns
        .into_iter()
        .map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
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

/// Columns to sort by, each with its direction and the place of NULLs.
fn keys() -> impl Values<Value = Vec<(usize, bool, bool)>> {
    prop::collection::vec((0usize..17, any::<bool>(), any::<bool>()), 1..5)
}

fn options(key: &(usize, bool, bool)) -> SortOptions {
    SortOptions {
        descending: key.1,
        nulls_first: key.2,
    }
}

fn expected(all: &RecordBatch, keys: &[(usize, bool, bool)]) -> RecordBatch {
    let columns: Vec<ArrayRef> = keys.iter().map(|k| Arc::clone(all.column(k.0))).collect();
    let field = |(key, column): (&(usize, bool, bool), &ArrayRef)| {
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

/// A sort over partitions of batches.
fn sort(partitions: &[Vec<RecordBatch>], keys: &[(usize, bool, bool)]) -> SortRowsExec {
    sort_of(batch(&[]).schema(), partitions, keys)
}

/// The same over rows of any schema.
fn sort_of(
    schema: SchemaRef,
    partitions: &[Vec<RecordBatch>],
    keys: &[(usize, bool, bool)],
) -> SortRowsExec {
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
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let sort: Arc<dyn ExecutionPlan> = Arc::new(sort);
    let batches = runtime
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
        inputs in 1usize..4,
        threads in 1usize..9,
    ) {
        let all = batch(&rows);
        let expected = expected(&all, &keys);
        for options in all_options() {
            let input = partitions(&all, inputs, 7 * threads);
            let sort = sort(&input, &keys).with_options(options);
            prop_assert_eq!(&run(sort, context(threads, 50)), &expected, "{:?}", options);
        }
    }

    #[test]
    fn some_of_the_rows(
        rows in rows(200),
        keys in keys(),
        skip in 0usize..220,
        fetch in prop::option::of(0usize..220),
    ) {
        let all = batch(&rows);
        let end = fetch.map_or(all.num_rows(), |f| all.num_rows().min(skip + f));
        let start = skip.min(end);
        let expected = expected(&all, &keys).slice(start, end - start);
        for options in all_options() {
            let sort = sort(&partitions(&all, 2, 30), &keys).with_options(options);
            let sort = sort.with_limit(Limit {
                skip,
                fetch,
                with_ties: false,
            });
            prop_assert_eq!(&run(sort, context(3, 9)), &expected, "{:?}", options);
        }
    }
}

proptest! {
    #[test]
    fn rows_as_good_as_the_last(
        rows in rows(200),
        keys in keys(),
        fetch in 1usize..220,
        inputs in 1usize..4,
    ) {
        let all = batch(&rows);
        let (expected, keys_of) = (expected(&all, &keys), |batch: &RecordBatch| {
            let places: Vec<usize> = keys.iter().map(|key| key.0).collect();
            batch.project(&places).unwrap()
        });
        let last = fetch.min(all.num_rows()).checked_sub(1);
        let is_tied = |row: &usize| {
            last.is_some_and(|last| keys_of(&expected.slice(*row, 1)) == keys_of(&expected.slice(last, 1)))
        };
        let num_first = last.map_or(0, |last| last + 1);
        let num_tied = (num_first..all.num_rows()).take_while(is_tied).count();
        for options in all_options() {
            let limit = Limit { skip: 0, fetch: Some(fetch), with_ties: true };
            let sort = sort(&partitions(&all, inputs, 30), &keys).with_options(options).with_limit(limit);
            let sorted = run(sort, context(3, 9));
            prop_assert!(sorted.num_rows() >= num_first + num_tied, "{:?}", options);
            prop_assert_eq!(&sorted, &expected.slice(0, sorted.num_rows()), "{:?}", options);
        }
    }
}

#[test]
fn the_best_of_many_rows() {
    for distinct in [3, 100_000] {
        let all = batch(&many(300_000, distinct));
        for keys in [
            vec![(2, true, false)],
            vec![(1, false, true), (11, true, false)],
        ] {
            let expected = expected(&all, &keys);
            for (skip, fetch) in [(0, 1), (5, 4_000), (20_000, 30_000)] {
                let limit = Limit {
                    skip,
                    fetch: Some(fetch),
                    with_ties: false,
                };
                let sort = sort(&partitions(&all, 3, 5000), &keys).with_limit(limit);
                let sorted = run(sort, context(2, 4000));
                assert!(
                    sorted == expected.slice(skip, fetch),
                    "{distinct} {keys:?} {fetch}"
                );
            }
        }
    }
}

#[test]
fn only_keys_are_read_back_from_words() {
    for distinct in [1, 2, 40, 60_000] {
        let all = batch(&many(20_000, distinct));
        let keys: Vec<_> = [1, 0, 2, 3, 12].map(|c| (c, c == 2, c == 1)).to_vec();
        let project = |batch: &RecordBatch| batch.project(&[0, 1, 2, 3, 12]).unwrap();
        let schema = project(&all).schema();
        let at = [1, 0, 2, 3, 4];
        let sorts = keys.iter().zip(at).map(|(key, at)| {
            let column = Column::new(schema.field(at).name(), at);
            PhysicalSortExpr::new(Arc::new(column), options(key))
        });
        let ordering = LexOrdering::new(sorts).unwrap();
        let batches: Vec<_> = partitions(&all, 2, 3000)
            .iter()
            .map(|p| p.iter().map(project).collect())
            .collect();
        let input = MemorySourceConfig::try_new_exec(&batches, Arc::clone(&schema), None).unwrap();
        for options in all_options() {
            let input = Arc::clone(&input) as Arc<dyn ExecutionPlan>;
            let sort = SortRowsExec::try_new(input, ordering.clone(), false).unwrap();
            let sorted = run(sort.with_options(options), context(2, 1000));
            assert_eq!(
                sorted,
                project(&expected(&all, &keys)),
                "{distinct} {options:?}"
            );
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
            let expected = expected(&all, &keys);
            for options in all_options() {
                let sort = sort(&partitions(&all, 3, 5000), &keys).with_options(options);
                let sorted = run(sort, context(threads, 4000));
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
    let all = batch(&rows);
    let keys = vec![(2, true, false)];
    let expected = expected(&all, &keys);
    for options in all_options() {
        let sort = sort(&partitions(&all, 2, 6000), &keys).with_options(options);
        assert!(run(sort, context(4, 8000)) == expected, "{options:?}");
    }
}
