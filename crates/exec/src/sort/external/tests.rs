//! Compares merges of runs in files with a stable sort of their rows.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int64Array,
    RecordBatch, UInt8Array, UInt64Array,
};
use arrow::compute::{SortOptions, concat_batches, take_record_batch};
use arrow::row::{RowConverter, SortField};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, UnboundedMemoryPool};
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use futures::TryStreamExt;
use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};

use super::batches::Merging;
use super::cuts::KeyRange;
use super::merge::{Source, merged};
use super::plan::Means;
use super::run::{KeyRanges, RowKeys, Run, keys_of};
use crate::sort::layout::KeyColumn;
use crate::sort::range::Range;
use crate::sort::sort_exec::Limit;
use crate::spill::{Budget, SpillFile, compacted};
use crate::temporary::TemporaryFiles;

/// A column to sort by, whether it falls, and whether NULLs come first.
type Key = (usize, bool, bool);

/// A row as numbers, from which columns are made.
type Row = (Option<u8>, Option<i64>, u16);

/// How rows are cut.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    run_rows: usize,
    block_rows: usize,
    range_bytes: usize,
    max_rows: usize,
}

/// Strings of which some begin alike for longer than words hold, and differ by a zero byte.
fn text(n: u16) -> Vec<u8> {
    match n % 8 {
        0 => Vec::new(),
        1 => b"https://a.example/the/same/for/long".to_vec(),
        2 => b"https://a.example/the/same/for/long\0".to_vec(),
        3 => b"ftp://".to_vec(),
        _ => format!("https://a.example/the/same/for/long/{}", n / 50).into_bytes(),
    }
}

fn float(n: u16) -> f64 {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0];
    let odd = odd.get(usize::from(n % 16));
    odd.copied().unwrap_or(f64::from(n) - 300.0)
}

fn table(rows: &[Row]) -> RecordBatch {
    let few: UInt8Array = rows.iter().map(|row| row.0).collect();
    let many: Int64Array = rows.iter().map(|row| row.1).collect();
    let floats = rows.iter().map(|row| row.0.map(|_| float(row.2)));
    let texts = rows.iter().map(|row| row.1.map(|_| text(row.2)));
    let wide = rows.iter().map(|row| row.1.map(|n| i128::from(n) << 40));
    let fixed = rows
        .iter()
        .map(|row| [&[9; 18], row.2.to_be_bytes().as_slice()].concat());
    let columns: [(&str, ArrayRef); 7] = [
        ("few", Arc::new(few)),
        ("many", Arc::new(many)),
        ("float", Arc::new(floats.collect::<Float64Array>())),
        ("text", Arc::new(texts.collect::<BinaryViewArray>())),
        ("wide", Arc::new(wide.collect::<Decimal128Array>())),
        (
            "fixed",
            Arc::new(FixedSizeBinaryArray::try_from_iter(fixed).unwrap()),
        ),
        (
            "row",
            Arc::new(UInt64Array::from_iter_values(0..rows.len() as u64)),
        ),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn sorts(rows: &RecordBatch, keys: &[Key]) -> Arc<[PhysicalSortExpr]> {
    let sort = |(column, descending, nulls_first): &Key| {
        let name = rows.schema().field(*column).name().clone();
        let options = SortOptions {
            descending: *descending,
            nulls_first: *nulls_first,
        };
        PhysicalSortExpr::new(Arc::new(Column::new(&name, *column)), options)
    };
    keys.iter().map(sort).collect()
}

/// The rows as a stable sort has them.
fn sorted(rows: &RecordBatch, sorts: &[PhysicalSortExpr]) -> RecordBatch {
    let keys = keys_of(sorts, rows).unwrap();
    let field = |(key, sort): (&ArrayRef, &PhysicalSortExpr)| {
        SortField::new_with_options(key.data_type().clone(), sort.options)
    };
    let fields = keys.iter().zip(sorts).map(field).collect();
    let converter = RowConverter::new(fields).unwrap();
    let keys = converter.convert_columns(&keys).unwrap();
    let mut order: Vec<u64> = (0..rows.num_rows() as u64).collect();
    order.sort_by_key(|row| keys.row(*row as usize));
    take_record_batch(rows, &UInt64Array::from(order)).unwrap()
}

fn slices(rows: &RecordBatch, num_rows: usize) -> impl Iterator<Item = RecordBatch> {
    let starts = (0..rows.num_rows()).step_by(num_rows);
    starts.map(move |start| rows.slice(start, num_rows.min(rows.num_rows() - start)))
}

/// Sorted runs of the rows.
fn source(rows: &RecordBatch, sorts: &Arc<[PhysicalSortExpr]>, sizes: Sizes) -> Source {
    let row_keys = Arc::new(RowKeys::try_new(sorts, &rows.schema()).unwrap());
    let mut keys = KeyRanges::default();
    let run = |rows: RecordBatch| {
        let values = keys_of(sorts, &rows).unwrap();
        let columns = values.iter().zip(sorts.iter());
        let columns: Vec<KeyColumn> = columns
            .map(|(values, sort)| KeyColumn::new(values.data_type(), sort.options))
            .collect();
        let mut ranges = vec![Range::default(); values.len()];
        for ((range, column), values) in ranges.iter_mut().zip(&columns).zip(&values) {
            range.include(column.kind, values.as_ref());
        }
        keys.merge(KeyRanges { columns, ranges });
        let file = SpillFile::create(&TemporaryFiles::default()).unwrap();
        let mut run = Run::new(Arc::new(file));
        for block in slices(&sorted(&rows, sorts), sizes.block_rows) {
            run.append(&compacted(&block).unwrap(), &row_keys).unwrap();
        }
        run
    };
    let runs: Vec<Run> = slices(rows, sizes.run_rows).map(run).collect();
    let metrics = ExecutionPlanMetricsSet::new();
    Source {
        runs,
        schema: rows.schema(),
        sorts: Arc::clone(sorts),
        layout: Arc::new(keys.layout()),
        row_keys,
        budget: Budget::new(None, 1, &TaskContext::default(), &metrics),
        max_rows: sizes.max_rows,
    }
}

/// The rows of each range.
fn merged_ranges(rows: &RecordBatch, keys: &[Key], sizes: Sizes) -> Vec<RecordBatch> {
    let source = Arc::new(source(rows, &sorts(rows, keys), sizes));
    let ranges = KeyRange::cut(&source.runs, sizes.range_bytes);
    let of_range = |range: KeyRange| {
        let batches: Vec<RecordBatch> = merged(&source, range)
            .unwrap()
            .map(|batch| batch.unwrap())
            .collect();
        let is_full = |batch: &RecordBatch| (1..=sizes.max_rows).contains(&batch.num_rows());
        assert!(batches.iter().all(is_full));
        concat_batches(&rows.schema(), &batches).unwrap()
    };
    ranges.into_iter().map(of_range).collect()
}

/// Merges ranges of runs and compares the result; how many rows each range has.
fn check(rows: &RecordBatch, keys: &[Key], sizes: Sizes) -> Vec<usize> {
    let ranges = merged_ranges(rows, keys, sizes);
    let all = concat_batches(&rows.schema(), &ranges).unwrap();
    assert_eq!(
        all,
        sorted(rows, &sorts(rows, keys)),
        "{keys:?} in {sizes:?}"
    );
    ranges.iter().map(RecordBatch::num_rows).collect()
}

fn random(row: u64) -> u64 {
    let hash = (row + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^ (hash >> 29)
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let row = (
        prop::option::weighted(0.9, 0u8..4),
        prop::option::weighted(0.9, any::<i64>()),
        any::<u16>(),
    );
    prop::collection::vec(row, 1..most)
}

proptest! {
    #[test]
    fn ranges_are_a_stable_sort(
        rows in rows(400),
        keys in prop::collection::vec((0usize..6, any::<bool>(), any::<bool>()), 1..4),
        (run_rows, block_rows, max_rows) in (1usize..150, 1usize..40, 1usize..70),
        range_bytes in 1usize..20_000,
    ) {
        let sizes = Sizes { run_rows, block_rows, range_bytes, max_rows };
        check(&table(&rows), &keys, sizes);
    }

    #[test]
    fn wanted_rows_of_ranges_that_tasks_merge(
        rows in rows(400),
        keys in prop::collection::vec((0usize..6, any::<bool>(), any::<bool>()), 1..3),
        (skip, fetch) in (0usize..420, prop::option::of(0usize..420)),
        num_tasks in 1usize..4,
    ) {
        let rows = table(&rows);
        let sizes = Sizes { run_rows: 50, block_rows: 7, range_bytes: 0, max_rows: 30 };
        let sorts = sorts(&rows, &keys);
        let source = source(&rows, &sorts, sizes);
        let means = Means { free_bytes: 1 << 30, num_tasks, is_tiny: true };
        let limit = Limit { skip, fetch, with_ties: false };
        let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::default());
        let memory = MemoryConsumer::new("test").register(&pool);
        let metrics = BaselineMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
        let merging = Merging::try_new(source, means, memory).unwrap();
        prop_assert_eq!(merging.num_ranges().1 > 1, num_tasks > 1 && merging.num_ranges().0 > 1);
        let merged = merging.batches(limit, metrics.clone()).unwrap();
        let found: Vec<RecordBatch> = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap()
            .block_on(merged.try_collect())
            .unwrap();
        let found = concat_batches(&rows.schema(), &found).unwrap();
        let end = fetch.map_or(rows.num_rows(), |fetch| rows.num_rows().min(skip + fetch));
        let start = skip.min(end);
        prop_assert_eq!(&found, &sorted(&rows, &sorts).slice(start, end - start));
        prop_assert_eq!(metrics.output_rows().value(), end - start);
        prop_assert_eq!(pool.reserved(), 0);
    }
}

#[test]
fn a_key_of_all_rows_is_cut_as_any_other() {
    let rows: Vec<Row> = (0..20_000).map(|row| (Some(1), Some(2), row)).collect();
    let sizes = Sizes {
        run_rows: 3_000,
        block_rows: 100,
        range_bytes: 100_000,
        max_rows: 8_192,
    };
    let ranges = check(&table(&rows), &[(0, false, false), (1, true, false)], sizes);
    assert!(ranges.len() > 10, "{ranges:?}");
    // Whole blocks, whose strings are not all as long, but for the last range, which has what is left.
    let (first, rest) = (ranges[0], &ranges[1..ranges.len() - 1]);
    let is_alike = |rows: &usize| rows.abs_diff(first) <= 200;
    assert!(rest.iter().all(is_alike), "{ranges:?}");
}

#[test]
fn ranges_are_of_a_size_whatever_keys_are_like() {
    type KeyOf = fn(u64) -> i64;
    let kinds: [KeyOf; 4] = [
        |row| random(row) as i64,
        // Nine of ten rows have one key.
        |row| {
            if random(row).is_multiple_of(10) {
                row as i64
            } else {
                77
            }
        },
        |row| random(row).leading_zeros().into(),
        // Runs follow each other.
        |row| row as i64 / 3,
    ];
    for (i, key) in kinds.into_iter().enumerate() {
        let rows: Vec<Row> = (0..40_000)
            .map(|row| (None, Some(key(row)), row as u16))
            .collect();
        let sizes = Sizes {
            run_rows: 4_000,
            block_rows: 50,
            range_bytes: 400_000,
            max_rows: 65_505,
        };
        let ranges = check(&table(&rows), &[(1, i % 2 == 1, false)], sizes);
        let mean = 40_000 / ranges.len();
        assert!(ranges.len() > 5, "{i}: {ranges:?}");
        // A block of each of the ten runs may go either way.
        let is_balanced = |rows: &usize| *rows < mean + mean / 2 + 10 * 50;
        assert!(ranges.iter().all(is_balanced), "{i}: {ranges:?}");
    }
}
