//! Compares counts of distinct values with those of sets of the standard library.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array, UInt64Array};
use basalt_functions::aggregate::Groups;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use proptest::prelude::{Strategy, prop, proptest};

use super::{DistinctCounts, counts, settle};
use crate::group_by::options::Thresholds;
use crate::group_by::spill::Budget;

/// Rows of a task, batch by batch: group and value.
type Batches = Vec<Vec<(usize, u64)>>;

const NUM_GROUPS: usize = 5;

fn batches() -> impl Strategy<Value = Batches> {
    let row = (0..NUM_GROUPS, 0u64..50);
    prop::collection::vec(prop::collection::vec(row, 0..40), 0..5)
}

/// The group that a task gives the number that the first one gives as `group`.
fn number(task: usize, group: usize) -> usize {
    (group + task) % NUM_GROUPS
}

fn column(bits: u32, rows: &[(usize, u64)]) -> Vec<ArrayRef> {
    let values = rows.iter().map(|row| row.1);
    match bits {
        32 => vec![Arc::new(UInt32Array::from_iter_values(
            values.map(|v| v as u32),
        ))],
        64 => vec![Arc::new(UInt64Array::from_iter_values(values))],
        _ => {
            let values: ArrayRef = Arc::new(UInt64Array::from_iter_values(values));
            vec![Arc::clone(&values), values]
        }
    }
}

/// What a task has counted; it writes files where `spills` says so.
fn task(task: usize, bits: u32, batches: &Batches, spills: bool) -> Box<dyn DistinctCounts> {
    let budget = Budget::new(
        Some(1),
        1,
        &TaskContext::default(),
        &ExecutionPlanMetricsSet::new(),
    );
    let mut states = counts(bits, true, Thresholds::Tiny);
    for (i, rows) in batches.iter().enumerate() {
        let ids: Vec<u32> = rows.iter().map(|row| number(task, row.0) as u32).collect();
        let groups = Groups {
            ids: Some(&ids),
            num_groups: NUM_GROUPS,
            num_rows: rows.len(),
        };
        states.update(&column(bits, rows), groups).unwrap();
        if spills && i % 2 == 0 {
            states.spill(&budget).unwrap();
        }
    }
    states
}

fn expected(tasks: &[Batches]) -> Vec<u64> {
    let mut sets = vec![HashSet::new(); NUM_GROUPS];
    for (group, value) in tasks.iter().flatten().flatten() {
        sets[*group].insert(*value);
    }
    sets.iter().map(|set| set.len() as u64).collect()
}

fn check(bits: u32, tasks: &[Batches], spills: bool, settles: bool) {
    let context = TaskContext::default();
    let memory = MemoryConsumer::new("test").register(context.memory_pool());
    let mut merged = task(0, bits, &tasks[0], spills);
    for (i, batches) in tasks.iter().enumerate().skip(1) {
        let sets = task(i, bits, batches, spills).export(NUM_GROUPS).unwrap();
        // Some groups now, the others later.
        for groups in [0..2, 2..NUM_GROUPS] {
            let rows: Vec<u32> = groups.clone().map(|id| number(i, id) as u32).collect();
            let ids: Vec<u32> = groups.map(|id| id as u32).collect();
            let groups = Groups {
                ids: Some(&ids),
                num_groups: NUM_GROUPS,
                num_rows: ids.len(),
            };
            merged.merge(&sets, &rows, groups).unwrap();
        }
    }
    if settles {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let done = settle(merged.as_mut(), NUM_GROUPS, 3, &memory);
        runtime.block_on(done).unwrap();
    }
    let result = merged.finish(NUM_GROUPS).unwrap();
    assert_eq!(result, expected(tasks), "{bits} {spills} {settles}");
}

/// About so many values are expected, then come the groups of other tasks, whose sets are still held, and the
/// rows of the first.
fn check_expected(bits: u32, tasks: &[Batches], thresholds: Thresholds, num_values: usize) {
    let sets: Vec<_> = (1..tasks.len())
        .map(|i| task(i, bits, &tasks[i], false).export(NUM_GROUPS).unwrap())
        .collect();
    let mut merged = counts(bits, true, thresholds);
    merged.expect(num_values);
    for (i, sets) in sets.iter().enumerate() {
        let rows: Vec<u32> = (0..NUM_GROUPS).map(|id| number(i + 1, id) as u32).collect();
        let ids: Vec<u32> = (0..NUM_GROUPS as u32).collect();
        let groups = Groups {
            ids: Some(&ids),
            num_groups: NUM_GROUPS,
            num_rows: NUM_GROUPS,
        };
        merged.merge(sets, &rows, groups).unwrap();
    }
    for rows in &tasks[0] {
        let ids: Vec<u32> = rows.iter().map(|row| row.0 as u32).collect();
        let groups = Groups {
            ids: Some(&ids),
            num_groups: NUM_GROUPS,
            num_rows: rows.len(),
        };
        merged.update(&column(bits, rows), groups).unwrap();
    }
    assert_eq!(
        merged.finish(NUM_GROUPS).unwrap(),
        expected(tasks),
        "{bits} {thresholds:?}"
    );
}

/// Sets with files go from one task to the next, which goes on with rows of its own; then all go by group.
fn check_moved(bits: u32, tasks: &[Batches]) {
    let mut moving = counts(bits, true, Thresholds::Tiny);
    let to: Vec<u32> = (0..NUM_GROUPS as u32).map(|id| (id + 1) % 5).collect();
    let groups = Groups {
        ids: Some(&to),
        num_groups: NUM_GROUPS,
        num_rows: NUM_GROUPS,
    };
    let rows: Vec<u32> = (0..NUM_GROUPS as u32).collect();
    let mut sets = vec![HashSet::new(); NUM_GROUPS];
    for batches in tasks {
        let mut own = task(0, bits, batches, true);
        own.merge(&moving.export(NUM_GROUPS).unwrap(), &rows, groups)
            .unwrap();
        own.update(
            &column(bits, &[(0, 77)]),
            Groups {
                ids: Some(&[0]),
                num_groups: NUM_GROUPS,
                num_rows: 1,
            },
        )
        .unwrap();
        sets.rotate_right(1);
        sets[0].insert(77);
        for (group, value) in batches.iter().flatten() {
            sets[*group].insert(*value);
        }
        moving = own;
    }
    let mut by_group = counts(bits, true, Thresholds::Tiny);
    while let Some((ids, sets)) = moving.take_block().unwrap() {
        let rows: Vec<u32> = (0..ids.len() as u32).collect();
        let groups = Groups {
            ids: Some(&ids),
            num_groups: NUM_GROUPS,
            num_rows: ids.len(),
        };
        by_group
            .merge_lists(&sets.lists(&rows).unwrap(), groups)
            .unwrap();
    }
    assert!(!moving.has_blocks());
    let rest = moving.export(NUM_GROUPS).unwrap();
    let groups = Groups {
        ids: Some(&rows),
        ..groups
    };
    by_group.merge(&rest, &rows, groups).unwrap();
    drop(rest);
    let expected: Vec<u64> = sets.iter().map(|set| set.len() as u64).collect();
    assert_eq!(by_group.finish(NUM_GROUPS).unwrap(), expected);
}

proptest! {
    #[test]
    fn counts_as_sets_do(tasks in prop::collection::vec(batches(), 1..4)) {
        for bits in [32, 64, 128] {
            for (spills, settles) in [(false, false), (false, true), (true, false), (true, true)] {
                check(bits, &tasks, spills, settles);
            }
        }
    }

    #[test]
    fn few_values_are_counted_by_group(tasks in prop::collection::vec(batches(), 1..4)) {
        for bits in [32, 64, 128] {
            for (thresholds, num_values) in [(Thresholds::Usual, 60), (Thresholds::Tiny, 1)] {
                check_expected(bits, &tasks, thresholds, num_values);
            }
        }
    }

    #[test]
    fn files_are_moved_and_read_by_group(tasks in prop::collection::vec(batches(), 1..4)) {
        for bits in [32, 64, 128] {
            check_moved(bits, &tasks);
        }
    }

    #[test]
    fn lists_are_what_was_counted(batches in batches()) {
        for bits in [32, 64, 128] {
            let sets = task(0, bits, &batches, false).export(NUM_GROUPS).unwrap();
            let rows: Vec<u32> = (0..NUM_GROUPS as u32).collect();
            let groups = Groups {
                ids: Some(&rows),
                num_groups: NUM_GROUPS,
                num_rows: NUM_GROUPS,
            };
            let mut merged = counts(bits, true, Thresholds::Tiny);
            merged.merge_lists(&sets.lists(&rows).unwrap(), groups).unwrap();
            let result = merged.finish(NUM_GROUPS).unwrap();
            assert_eq!(result, expected(std::slice::from_ref(&batches)));
        }
    }
}
