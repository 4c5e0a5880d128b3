//! Ends the process at every operation on files, and fills the disk at every one: what was acknowledged is
//! there, once, and nothing half.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int32Type;
use basalt_error::Result;

use super::{batch, layout};
use crate::faulty_disk::{Fault, FaultyDisk};
use crate::merge_tree::{MergeTree, Options, PartChange};

/// What a table goes through.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(i32),
    Merge,
    /// Takes the even keys away.
    DeleteEven,
    /// Takes the keys that 5 divides away by a mask, of one part all rows.
    MaskFifths,
    Detach,
    Attach,
    Truncate,
}

const STEPS: [Step; 13] = [
    Step::Insert(0),
    Step::MaskFifths,
    Step::Insert(10),
    Step::MaskFifths,
    Step::Merge,
    Step::Insert(20),
    Step::DeleteEven,
    Step::Merge,
    Step::Insert(30),
    Step::Detach,
    Step::Attach,
    Step::Truncate,
    Step::Insert(40),
];

fn table(disk: &FaultyDisk, lifetime: std::time::Duration) -> Arc<MergeTree> {
    let options = Options {
        old_parts_lifetime: lifetime,
        ..Options::default()
    };
    let table = MergeTree::new(PathBuf::from("/store/t"), layout());
    let table = table.on_disk(Arc::new(disk.clone())).with_options(options);
    table.own();
    Arc::new(table)
}

fn keys(table: &MergeTree) -> Result<Vec<i32>> {
    let mut keys = Vec::new();
    for part in table.parts()?.iter() {
        for group in 0..part.metadata().group_rows.len() {
            let values = part.read(0, group)?;
            assert_eq!(part.read(1, group)?.len(), values.len());
            keys.extend(values.as_primitive::<Int32Type>().values());
        }
    }
    keys.sort_unstable();
    Ok(keys)
}

fn run(table: &Arc<MergeTree>, step: Step) -> Result<()> {
    match step {
        Step::Insert(first) => {
            // Three parts, of which another thread writes one or two.
            let mut insert = table.insert()?.of_parts_of(4);
            insert.push(&batch(&(first..first + 10).collect::<Vec<_>>()))?;
            insert.finish()
        }
        Step::Merge => table.merge(None, true),
        Step::DeleteEven => {
            let change = table.mutate(None, &mut |part| {
                let part = Arc::clone(part);
                Ok(PartChange::Filter(Box::new(move |group| {
                    let keys = part.read(0, group)?;
                    let keys = keys.as_primitive::<Int32Type>().values().iter();
                    Ok(keys.map(|k| k % 2 == 1).collect::<Vec<bool>>().into())
                })))
            });
            change.map(|_| ())
        }
        Step::MaskFifths => {
            let change = table.mutate(None, &mut |part| {
                let keys = part.read(0, 0)?;
                let keys = keys.as_primitive::<Int32Type>().values().iter();
                let kept = keys.map(|k| k % 5 != 0).collect();
                Ok(PartChange::Mask(vec![Some(kept)]))
            });
            change.map(|_| ())
        }
        Step::Detach => table.detach_parts(&|_| true).map(|_| ()),
        Step::Attach => table.attach_parts(&|_, _| true).map(|_| ()),
        Step::Truncate => table.truncate(),
    }
}

/// The keys after a step.
fn after(mut keys: BTreeSet<i32>, detached: &mut BTreeSet<i32>, step: Step) -> BTreeSet<i32> {
    match step {
        Step::Insert(first) => keys.extend(first..first + 10),
        Step::Merge => {}
        Step::DeleteEven => keys.retain(|k| k % 2 == 1),
        Step::MaskFifths => keys.retain(|k| k % 5 != 0),
        Step::Detach => *detached = std::mem::take(&mut keys),
        Step::Attach => keys.append(detached),
        Step::Truncate => keys.clear(),
    }
    keys
}

#[test]
fn a_crash_at_any_moment_loses_nothing_that_was_acknowledged() {
    let lifetimes = [
        std::time::Duration::ZERO,
        std::time::Duration::from_secs(480),
    ];
    // Every moment once, each of them with one of several kinds of luck.
    for (luck, lifetime) in (0..6).map(|luck| (luck, lifetimes[luck as usize % 2])) {
        for moment in (1 + luck..).step_by(6) {
            let disk = FaultyDisk::new(Fault::Crash(moment));
            let crashed = table(&disk, lifetime);
            let (mut before, mut detached) = (BTreeSet::new(), BTreeSet::new());
            let failed = STEPS.into_iter().find(|step| {
                let result = run(&crashed, *step);
                if result.is_ok() {
                    before = after(std::mem::take(&mut before), &mut detached, *step);
                }
                result.is_err()
            });
            drop(crashed);
            let restarted = table(&disk.restarted(luck), lifetime);
            let there = keys(&restarted).unwrap();
            let place = format!("operation {moment}, luck {luck}, in {failed:?}");
            let mut wanted = vec![(before.clone(), detached.clone())];
            if let Some(step) = failed {
                let done = after(before, &mut detached, step);
                wanted.push((done, detached));
            }
            let as_keys = |keys: &BTreeSet<i32>| keys.iter().copied().collect::<Vec<_>>();
            let mut found = wanted.iter().filter(|(keys, _)| as_keys(keys) == there);
            let detached = found.next().map(|(_, detached)| detached);
            let detached = detached.unwrap_or_else(|| panic!("{place}: {there:?}, not {wanted:?}"));
            // What is detached comes back once, and what came back is not detached any more.
            run(&restarted, Step::Attach).unwrap();
            let there: Vec<i32> = there.iter().chain(detached).copied().collect();
            assert_eq!(keys(&restarted).unwrap().len(), there.len(), "{place}");
            run(&restarted, Step::Insert(100)).unwrap();
            run(&restarted, Step::Merge).unwrap();
            assert_eq!(keys(&restarted).unwrap().len(), there.len() + 10, "{place}");
            if !disk.has_failed() {
                break;
            }
        }
    }
}

#[test]
fn a_full_disk_leaves_the_table_as_it_was() {
    for moment in 1.. {
        let disk = FaultyDisk::new(Fault::Full(moment));
        let table = table(&disk, std::time::Duration::ZERO);
        let (mut before, mut detached) = (BTreeSet::new(), BTreeSet::new());
        for step in STEPS {
            let result = run(&table, step);
            let mut moved = detached.clone();
            let done = after(before.clone(), &mut moved, step);
            // The operation that fails may be one of reading.
            let there = keys(&table).or_else(|_| keys(&table)).unwrap();
            let (num_rows, there): (_, BTreeSet<i32>) = (there.len(), there.into_iter().collect());
            let place = format!("operation {moment}, {step:?}: {result:?}");
            assert_eq!(num_rows, there.len(), "{place}");
            assert!(
                there == done || (result.is_err() && there == before),
                "{place}: {there:?}"
            );
            if there == done {
                (before, detached) = (done, moved);
            }
        }
        let there = keys(&table).or_else(|_| keys(&table)).unwrap();
        assert_eq!(there.len(), before.len(), "operation {moment}");
        if !disk.has_failed() {
            break;
        }
    }
}
