//! Ways of sorting that rows in a certain order, or with certain keys, take: each against a stable sort.

use std::sync::Arc;

use arrow::array::UInt64Array;
use arrow::compute::{SortOptions, concat_batches, take_record_batch};
use arrow::row::{RowConverter, SortField};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::{ExecutionPlan, collect_partitioned};

use super::types::random;
use super::{
    RUNTIME, Row, batch, context, expected, many, options_of_many, partitions, projected, run,
    run_and_tell, sort, sort_of, way,
};
use basalt_exec::memory::PEAK_MEMORY;
use basalt_exec::sort::{Limit, SortRowsExec};

#[test]
fn batches_in_order_or_reversed_stay_whole() {
    let all = batch(
        &(0..60_000)
            .map(|i| (None, None, Some(i * 3), 0))
            .collect::<Vec<Row>>(),
    );
    for descending in [false, true] {
        let keys = vec![(2, descending, false), (12, false, false)];
        let expected = expected(&all, &keys);
        let mut input = partitions(&all, 2, 5000);
        // As threads take them: every other batch.
        let (a, b) = (input[0].clone(), input[1].clone());
        let batches = a.into_iter().chain(b).enumerate();
        let (odd, even): (Vec<_>, Vec<_>) = batches.partition(|(i, _)| i % 2 == 1);
        input[0] = odd.into_iter().map(|(_, b)| b).collect();
        input[1] = even.into_iter().map(|(_, b)| b).collect();
        assert!(run(sort(&input, &keys), context(2, 65_505)) == expected);
        let limited = sort(&input, &keys).with_limit(Limit {
            skip: 7_001,
            fetch: Some(20_000),
            with_ties: false,
        });
        assert!(run(limited, context(2, 65_505)) == expected.slice(7_001, 20_000));
    }
}

#[test]
fn stretches_within_batches_are_found() {
    // As two threads read a table that is in order, in batches that hold parts of what each has read.
    let blocks = [0, 3, 1, 4, 2, 5, 6];
    let keys_of = |tied: i64| {
        blocks.iter().flat_map(move |block| {
            let rows = block * 7_000..(block + 1) * 7_000;
            rows.map(move |i| (None, None, Some(i / tied), i as u64))
        })
    };
    for (tied, descending, skip) in [
        (1, false, 0),
        (1, true, 0),
        (3, false, 0),
        (3, true, 0),
        (1, true, 30_000),
    ] {
        let all = batch(&keys_of(tied).collect::<Vec<Row>>());
        let keys = vec![(2, descending, false)];
        let expected = expected(&all, &keys);
        let sort = sort(&partitions(&all, 2, 12_345), &keys).with_limit(Limit {
            skip,
            ..Limit::default()
        });
        let (account, sorted) = run_and_tell(sort, context(2, 3_000));
        assert!(
            sorted == expected.slice(skip, 49_000 - skip),
            "{tied} {descending}"
        );
        // Rows of the same key would have to be turned.
        let is_turned = tied > 1 && descending;
        assert_eq!(way(&account), if is_turned { "radix" } else { "in_order" });
    }
}

#[test]
fn few_rows_out_of_order_are_merged_in() {
    // Every 90th row is somewhere else; of the keys, the second decides ties.
    let row = |i: i64| {
        let key = if i % 90 == 7 { i * 7919 % 50_000 } else { i };
        (Some((i % 3) as u8), None, Some(key / 2), i as u64)
    };
    let rising: Vec<Row> = (0..50_000).map(row).collect();
    let falling: Vec<Row> = rising.iter().rev().copied().collect();
    let mut with_nulls = rising.clone();
    with_nulls
        .iter_mut()
        .step_by(400)
        .for_each(|row| row.2 = None);
    for (rows, keys) in [
        (&rising, vec![(2, false, false)]),
        (&rising, vec![(2, false, false), (12, false, false)]),
        (&rising, vec![(2, true, false), (12, true, false)]),
        (&falling, vec![(2, true, false)]),
        (&falling, vec![(2, false, true), (12, false, false)]),
        (&with_nulls, vec![(2, false, true)]),
        (&with_nulls, vec![(2, true, true), (12, true, true)]),
    ] {
        let all = batch(rows);
        let expected = expected(&all, &keys);
        for (skip, fetch) in [(0, 50_000), (20_000, 12_345)] {
            let limit = Limit {
                skip,
                fetch: (fetch < 50_000).then_some(fetch),
                with_ties: false,
            };
            let sort = sort(&partitions(&all, 2, 6_000), &keys).with_limit(limit);
            let (account, sorted) = run_and_tell(sort, context(2, 3_000));
            assert!(sorted == expected.slice(skip, fetch), "{keys:?} {skip}");
            let is_top = skip > 0;
            assert!(is_top || way(&account) == "nearly_in_order", "{keys:?}");
        }
    }
}

#[test]
fn strings_that_repeat_become_ranks() {
    // With NULLs, and of 2700 different strings.
    let rows: Vec<Row> = (0..60_000_u64)
        .map(|i| {
            let n = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let string = (n % 20 != 0).then_some((n % 2_700) as u16);
            (Some((n % 5) as u8), string, Some(n as i64), i)
        })
        .collect();
    let all = batch(&rows);
    for keys in [
        vec![(13, false, false)],
        vec![(11, true, true), (2, false, false)],
        vec![(0, true, false), (13, false, true), (11, true, false)],
    ] {
        let sort = sort(&partitions(&all, 3, 7_000), &keys);
        let (account, sorted) = run_and_tell(sort, context(2, 5_000));
        assert!(sorted == expected(&all, &keys), "{keys:?}");
        assert!(
            account
                .facts
                .iter()
                .any(|(name, _)| *name == "Keys as ranks")
        );
    }
}

#[test]
fn rows_that_are_their_keys_are_counted() {
    let rows: Vec<Row> = (0..50_000_u64)
        .map(|i| {
            let n = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 45;
            let narrow = (n % 30 != 0).then_some((n % 3_000) as u16);
            (None, narrow, Some((n % 5_000 * 1_000_003) as i64), i)
        })
        .collect();
    let all = batch(&rows);
    // Numbers with a counter each, strings, floats and wide integers that are found in a table.
    for key in [1, 13, 5, 2] {
        for (descending, nulls_first) in [(false, false), (true, false), (true, true)] {
            let expected = expected(&all, &[(key, descending, nulls_first)]);
            let input = all.project(&[key]).unwrap();
            let options = SortOptions {
                descending,
                nulls_first,
            };
            let name = all.schema().field(key).name().clone();
            let column = Arc::new(Column::new(&name, 0));
            let ordering = LexOrdering::new([PhysicalSortExpr::new(column, options)]).unwrap();
            let partitions = partitions(&input, 2, 9_000);
            let memory = MemorySourceConfig::try_new_exec(&partitions, input.schema(), None);
            let sort = SortRowsExec::try_new(memory.unwrap(), ordering, false).unwrap();
            let limit = Limit {
                skip: 3,
                ..Limit::default()
            };
            let sort = sort.with_limit(limit);
            let (account, sorted) = run_and_tell(sort, context(2, 4_000));
            let expected = expected.project(&[key]).unwrap().slice(3, 49_997);
            assert!(sorted == expected, "{name} {options:?}");
            assert_eq!(way(&account), "counting", "{name}");
        }
    }
}

#[test]
fn runs_that_do_not_follow_each_other_are_sorted() {
    // Each batch is in order, also by its ties; together they are not.
    let row = |i: i64| (Some((i % 2) as u8), None, Some(i % 9_000 / 2), i as u64);
    let all = batch(&(0..36_000).map(row).collect::<Vec<Row>>());
    for keys in [
        vec![(2, false, false)],
        vec![(2, false, false), (12, true, false)],
        vec![(2, true, false), (0, true, false)],
    ] {
        let expected = expected(&all, &keys);
        for batch_rows in [4_500, 9_000] {
            let input = partitions(&all, 1, batch_rows);
            assert!(
                run(sort(&input, &keys), context(2, 5000)) == expected,
                "{keys:?}"
            );
        }
    }
}

#[test]
fn ties_across_batches_keep_their_order() {
    // The ends of batches are the same keys, and the later of two batches comes first.
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let ranges = [(0, 5_000), (5_000, 10_000), (10_000, 15_000)];
        let rows = order.map(|i: usize| ranges[i]).map(|(start, end)| {
            let row = |i: i64| (None, None, Some((i + 2_500) / 5_000), i as u64);
            (start..end).map(row).collect::<Vec<Row>>()
        });
        let all = batch(&rows.concat());
        for descending in [false, true] {
            let keys = vec![(2, descending, false)];
            let expected = expected(&all, &keys);
            let input = partitions(&all, 1, 5_000);
            assert!(
                run(sort(&input, &keys), context(2, 700)) == expected,
                "{order:?}"
            );
        }
    }
}

#[test]
fn equal_strings_are_cut_into_parts() {
    // More than half of the rows have the same key, which the words hold.
    let row = |i: u64| {
        (
            None,
            Some(if i.is_multiple_of(3) {
                16 * (i as u16 % 700) + 3
            } else {
                0
            }),
            None,
            i,
        )
    };
    let all = batch(&(0..400_000).map(row).collect::<Vec<Row>>());
    let all = all.project(&[1, 12, 13]).unwrap();
    let sorts = [PhysicalSortExpr::new(
        Arc::new(Column::new("url", 2)),
        SortOptions::default(),
    )];
    let ordering = LexOrdering::new(sorts).unwrap();
    let input = MemorySourceConfig::try_new_exec(&partitions(&all, 2, 50_000), all.schema(), None);
    let fields = vec![SortField::new(all.column(2).data_type().clone())];
    let rows = RowConverter::new(fields).unwrap();
    let rows = rows.convert_columns(&all.columns()[2..]).unwrap();
    let mut order: Vec<u64> = (0..400_000).collect();
    order.sort_by_key(|row| rows.row(*row as usize));
    let expected = take_record_batch(&all, &UInt64Array::from(order)).unwrap();
    let sort = SortRowsExec::try_new(input.unwrap(), ordering, false).unwrap();
    assert!(run(sort, context(2, 10_000)) == expected);
}

#[test]
fn strings_in_order_stay_whole_only_if_all_bytes_are() {
    let rows: Vec<Row> = (0..40_000).map(|i| (None, Some(i), None, 0)).collect();
    let keys = vec![(13, false, false), (12, false, false)];
    let sorted = expected(&batch(&rows), &keys);
    assert!(
        run(
            sort(&partitions(&sorted, 2, 5000), &keys),
            context(2, 65_505)
        ) == sorted
    );
    // The words of these two are the same.
    let mut order: Vec<u64> = (0..40_000).collect();
    order.swap(20_000, 20_050);
    let swapped = take_record_batch(&sorted, &UInt64Array::from(order)).unwrap();
    let expected = expected(&swapped, &keys);
    assert!(expected != swapped);
    assert!(
        run(
            sort(&partitions(&swapped, 2, 5000), &keys),
            context(2, 65_505)
        ) == expected
    );
}

#[test]
fn memory_of_all_batches_is_counted() {
    let all = batch(&many(40_000, u64::MAX));
    let keys = vec![(2, false, false)];
    let one = sort(&partitions(&all, 2, 5_000), &keys);
    let again = one.clone();
    assert_eq!(run(one, context(2, 5_000)).num_rows(), 40_000);
    let peak = again.metrics().unwrap().sum_by_name(PEAK_MEMORY).unwrap();
    let least = 40_000 * 2 * size_of::<u128>();
    assert!(peak.as_usize() > least, "{peak:?}");
}

#[tokio::test]
async fn partitions_for_themselves() {
    let all = batch(&many(9_000, 500));
    let keys = vec![(1, false, true), (12, true, true)];
    let input = partitions(&all, 3, 1000);
    let one = sort(&input, &keys);
    let below = Arc::clone(one.children()[0]);
    let each = one.over(below, true).unwrap();
    let sorted = collect_partitioned(Arc::new(each), context(3, 700))
        .await
        .unwrap();
    assert_eq!(sorted.len(), 3);
    for (batches, input) in sorted.iter().zip(&input) {
        let schema = all.schema();
        let input = concat_batches(&schema, input).unwrap();
        assert_eq!(
            concat_batches(&schema, batches).unwrap(),
            expected(&input, &keys)
        );
    }
}

#[test]
fn a_partition_with_nearly_all_rows_is_sorted_as_others_are() {
    // One key has 95 % of the rows, and all of these are in one partition.
    let row = |i: usize| -> Row {
        let n = random(i);
        let key = if n.is_multiple_of(20) {
            (n >> 32) as u16 % 1_000
        } else {
            77
        };
        (
            Some((n >> 8) as u8 % 4),
            Some(16 * key + 3),
            Some(key.into()),
            i as u64,
        )
    };
    let rows: Vec<Row> = (0..60_000).map(row).collect();
    let of_partition = |partition: i64| {
        let rows = rows
            .iter()
            .filter(|row| row.2.is_some_and(|key| key % 4 == partition));
        batch(&rows.copied().collect::<Vec<Row>>())
    };
    let tables = [0, 1, 2, 3].map(of_partition);
    assert!(tables[1].num_rows() > 57_000);
    for keys in [
        vec![(2, false, false)],
        vec![(13, true, false), (0, false, true)],
        vec![(0, true, true), (2, true, false)],
    ] {
        let tables = tables
            .each_ref()
            .map(|table| projected(table, &keys, &[12]));
        let input = tables
            .each_ref()
            .map(|(table, _)| partitions(table, 1, 5_000).concat());
        let keys = &tables[0].1;
        let expected = tables.each_ref().map(|(table, keys)| expected(table, keys));
        let schema = expected[0].schema();
        for options in options_of_many() {
            let sort = sort_of(Arc::clone(&schema), &input, keys).with_options(options);
            let each = sort.over(Arc::clone(sort.children()[0]), true).unwrap();
            let sorted = collect_partitioned(Arc::new(each), context(4, 3_000));
            let sorted = RUNTIME.block_on(sorted).unwrap();
            assert_eq!(sorted.len(), 4);
            for (batches, expected) in sorted.iter().zip(&expected) {
                let sorted = concat_batches(&schema, batches).unwrap();
                assert!(sorted == *expected, "{keys:?} {options:?}");
            }
        }
    }
}
