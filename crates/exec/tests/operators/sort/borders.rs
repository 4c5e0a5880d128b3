//! Steps around thresholds that are no numbers of rows: ties, different keys, and what is in order and what is not.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, Int64Array, RecordBatch, UInt16Array, UInt32Array,
};
use arrow::compute::concat_batches;
use basalt_exec::sort::{Options, Strategy};

use super::types::random;
use super::{
    Key, all_options, around, context, expected, options_of_many, partitions, run_and_tell,
    sort_of, way,
};

/// Rows of a batch, where none but the operator's own threshold ends it.
const WHOLE: usize = 1 << 20;

/// Columns to sort by, and the rows' numbers.
fn table(keys: Vec<ArrayRef>) -> RecordBatch {
    let num_rows = keys[0].len() as u32;
    let row: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..num_rows));
    let columns = ["a", "b", "c"]
        .into_iter()
        .zip(keys.into_iter().chain([row]));
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Rows with one number as their key.
fn numbers(values: impl IntoIterator<Item = i64>) -> RecordBatch {
    table(vec![Arc::new(Int64Array::from_iter_values(values))])
}

/// Rows with one string as their key.
fn strings(values: impl IntoIterator<Item = String>) -> RecordBatch {
    table(vec![Arc::new(BinaryViewArray::from_iter_values(values))])
}

fn in_memory(strategy: Strategy) -> Options {
    Options {
        strategy,
        external_bytes: None,
    }
}

/// All strategies for rows of no order.
fn in_no_order() -> impl Iterator<Item = Options> {
    options_of_many().filter(|options| options.external_bytes.is_none())
}

/// Sorts rows as each of the options says, with so many threads and rows of a batch; the ways that were gone.
pub(super) fn check(
    keys: &[Key],
    input: &[Vec<RecordBatch>],
    (num_threads, batch_rows): (usize, usize),
    options: impl IntoIterator<Item = Options>,
) -> Vec<&'static str> {
    let batches = input.concat();
    let schema = batches[0].schema();
    let all = concat_batches(&schema, &batches).unwrap();
    let expected = expected(&all, keys);
    let ways = options.into_iter().map(|options| {
        let sort = sort_of(Arc::clone(&schema), input, keys).with_options(options);
        let (account, sorted) = run_and_tell(sort, context(num_threads, batch_rows));
        assert!(
            sorted == expected,
            "{} rows by {keys:?}, {options:?}",
            all.num_rows()
        );
        way(&account)
    });
    ways.collect()
}

/// One batch of all rows.
fn whole(all: RecordBatch) -> [Vec<RecordBatch>; 1] {
    [vec![all]]
}

#[test]
fn as_many_tied_rows_as_are_compared() {
    for num_tied in 19..=22 {
        // The first bytes tell groups apart; within one, what is far behind them does, or the second key.
        let string = |row: usize| {
            let n = random(row);
            let end = if n.is_multiple_of(2) { "\0" } else { "" };
            let group = row % 30;
            format!("{group:02}/the/same/for/all/{}{end}", n % 7)
        };
        let number = |row: usize| {
            let n = random(row) >> 40;
            (!n.is_multiple_of(4)).then_some((n % 3) as i64)
        };
        let strings = BinaryViewArray::from_iter_values((0..30 * num_tied).map(string));
        let numbers: Int64Array = (0..30 * num_tied).map(number).collect();
        let keys: Vec<ArrayRef> = vec![Arc::new(strings), Arc::new(numbers)];
        let input = partitions(&table(keys), 2, 200);
        for bits in 0..4 {
            let (falls, others_fall) = (bits % 2 == 1, bits / 2 == 1);
            let keys = [(0, falls, false), (1, others_fall, falls)];
            check(&keys, &input, (2, 100), all_options());
        }
    }
}

#[test]
fn as_many_different_keys_as_are_counted() {
    // Buckets that are staged; keys whose rows stay in the cache; keys that are counted at all.
    for distinct in around(&[128, 256, 2048]) {
        for is_sparse in [false, true] {
            let key = |row: usize| {
                // Each of them is there.
                let key = if row < distinct {
                    row * 7919 % distinct
                } else {
                    random(row) as usize % distinct
                };
                if is_sparse {
                    random(key) as i64
                } else {
                    key as i64
                }
            };
            let all = numbers((0..8192).map(key));
            let keys_alone = all.project(&[0]).unwrap();
            let keys = [(0, is_sparse, false)];
            for num_threads in [1, 16] {
                for all in [&all, &keys_alone] {
                    let input = partitions(all, 2, 2048);
                    check(&keys, &input, (num_threads, 1000), options_of_many());
                }
            }
            let counting = [in_memory(Strategy::Counting)];
            let ways = check(&keys, &whole(all), (1, WHOLE), counting);
            assert_eq!(ways == ["counting"], distinct <= 2048, "{distinct}");
        }
    }
}

#[test]
fn as_many_rows_as_are_ordered_at_a_time() {
    // Of few different keys, and of more.
    for (most, distinct) in [(15_000, 5), (60_000, 1000)] {
        for num_rows in around(&[most]) {
            let keys = (0..num_rows).map(|row| (random(row) % distinct) as i64);
            let input = whole(numbers(keys));
            let strategies = [Strategy::Auto, Strategy::Counting];
            let options = strategies.map(in_memory);
            let ways = check(&[(0, true, false)], &input, (1, WHOLE), options);
            assert_eq!(ways[1], "counting");
        }
    }
}

#[test]
fn as_many_rows_as_a_batch_of_the_result_has() {
    // The words of so many strings are the same, since others before and after them do not begin like these.
    for num_rows in around(&[65_505]) {
        let string = |row: usize| {
            let n = random(row);
            if row < num_rows {
                format!("https://www.example.com/{:x}", n % 50_000)
            } else {
                format!("{}{n:x}", ["a", "z"][row % 2])
            }
        };
        let all = strings((0..num_rows + 28_000).map(string));
        let input = partitions(&all, 1, 10_000);
        check(&[(0, false, false)], &input, (2, WHOLE), in_no_order());
    }
    // Rows that are nothing but keys, each of which has a counter if there are as many rows as keys are possible.
    for num_rows in around(&[65_505, 65_536]) {
        let key = |row: usize| match row {
            0 => 0,
            1 => u16::MAX,
            _ => random(row) as u16,
        };
        let keys = UInt16Array::from_iter_values((0..num_rows).map(key));
        let all = table(vec![Arc::new(keys)]).project(&[0]).unwrap();
        let ways = check(&[(0, true, true)], &whole(all), (2, WHOLE), in_no_order());
        assert_eq!(ways[0] == "counting", num_rows >= 65_536, "{num_rows}");
    }
}

#[test]
fn as_many_different_keys_as_are_found() {
    // Numbers in a hash table.
    for distinct in around(&[65_536]) {
        let keys = (0..70_000).map(|row| random(row % distinct) as i64);
        let all = numbers(keys).project(&[0]).unwrap();
        let counting = [in_memory(Strategy::Counting)];
        let ways = check(&[(0, false, false)], &whole(all), (1, WHOLE), counting);
        assert_eq!(ways == ["counting"], distinct <= 65_536, "{distinct}");
    }
    // Strings that are sorted in one part, or in two.
    for distinct in around(&[16_384]) {
        let string = |row: usize| {
            let key = if row < distinct {
                row
            } else {
                random(row) as usize % distinct
            };
            format!("https://www.example.com/{:x}", random(key))
        };
        let input = whole(strings((0..40_000).map(string)));
        let options = [Strategy::Auto, Strategy::Ranks].map(in_memory);
        check(&[(0, true, false)], &input, (1, WHOLE), options);
    }
}

#[test]
fn stretches_that_end_around_a_group_of_neighbours() {
    for end in [510..=514, 1022..=1026].into_iter().flatten() {
        for direction in [1, -1] {
            let key = |row: i64| direction * if row < end { row } else { row - 5_000 };
            let input = whole(numbers((0..3_000).map(key)));
            let options = Strategy::ALL.map(in_memory);
            let ways = check(&[(0, false, false)], &input, (2, 700), options);
            assert_eq!(ways[..2], ["in_order"; 2], "{end} {direction}");
        }
    }
}

#[test]
fn as_many_stretches_as_are_worth_it() {
    // In a batch: each stretch belongs before the last one.
    for num_stretches in 7..=9 {
        let len = 8192 / num_stretches + 1;
        let key = |row: i64| (num_stretches - 1 - row / len) * len + row % len;
        let input = whole(numbers((0..8192).map(key)));
        let options = Strategy::ALL.map(in_memory);
        let ways = check(&[(0, false, false)], &input, (2, 700), options);
        assert!(ways[0] == "in_order" || num_stretches > 8);
        assert_eq!(ways[1], "in_order");
    }
    // Pieces of two batches that take turns.
    for num_pieces in 15..=17 {
        let num_rows = 20_480_i64;
        let len = num_rows / num_pieces + 1;
        let batch = |first: i64| {
            let pieces = (first..num_pieces).step_by(2);
            let rows = pieces.flat_map(|piece| piece * len..num_rows.min((piece + 1) * len));
            numbers(rows)
        };
        let input = [vec![batch(0), batch(1)]];
        let options = Strategy::ALL.map(in_memory);
        let ways = check(&[(0, false, false)], &input, (2, 700), options);
        assert!(ways[0] == "in_order" || num_pieces > 16);
        assert_eq!(ways[1], "in_order");
    }
}

#[test]
fn as_many_rows_out_of_order_as_are_few() {
    // One of so many rows is too low.
    for distance in 15..=17 {
        let key = |row: usize| {
            let is_low = row % distance == 7;
            if is_low {
                (random(row) % row as u64) as i64
            } else {
                row as i64
            }
        };
        let input = whole(numbers((0..20_000).map(key)));
        let options = Strategy::ALL.map(in_memory);
        let ways = check(&[(0, false, false)], &input, (1, 3_000), options);
        assert_eq!(ways[0] == "nearly_in_order", distance >= 16, "{distance}");
        assert_eq!(ways[2], "nearly_in_order");
    }
    // Some follow each other; those that are lost again and again could be a new stretch.
    for num_low in 7..=9 {
        for descending in [false, true] {
            let key = |row: usize| {
                let is_low = row % 1_000 + num_low >= 1_000;
                let key = if is_low {
                    random(row) % 900
                } else {
                    row as u64
                };
                if descending {
                    -(key as i64)
                } else {
                    key as i64
                }
            };
            let input = whole(numbers((0..20_000).map(key)));
            let options = Strategy::ALL.map(in_memory);
            check(&[(0, descending, false)], &input, (1, 3_000), options);
        }
    }
}
