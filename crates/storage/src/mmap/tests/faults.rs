//! Ends the process at every operation on files, and fills the disk at every one: what was acknowledged is there,
//! once, and nothing half.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt8Type;
use basalt_error::Result;

use super::{batch, columns, rows, waits};
use crate::faulty_disk::{Fault, FaultyDisk};
use crate::mmap::MmapTable;

/// What a table goes through: rows from the first on, or none.
const STEPS: [Option<usize>; 5] = [Some(0), Some(10), None, Some(20), Some(30)];

/// The table as a process sees it that does not write.
fn reader(disk: &FaultyDisk) -> Arc<MmapTable> {
    // A number, a string and a list.
    let columns = columns();
    let columns = [0, 5, 6].map(|i| columns[i].clone());
    let table = MmapTable::new(PathBuf::from("/store/t"), &columns);
    Arc::new(table.on_disk(Arc::new(disk.clone())))
}

fn table(disk: &FaultyDisk) -> Arc<MmapTable> {
    let table = reader(disk);
    table.own();
    table
}

fn run(table: &Arc<MmapTable>, step: Option<usize>) -> Result<()> {
    let Some(first) = step else {
        return table.truncate(&waits);
    };
    let columns = batch(first, 10);
    let columns = [0, 5, 6].map(|i| Arc::clone(columns.column(i)));
    let schema = Arc::clone(table.schema());
    let mut insert = table.insert(&waits);
    insert.push(RecordBatch::try_new(schema, columns.to_vec()).unwrap())?;
    insert.finish()
}

fn keys(table: &Arc<MmapTable>) -> Result<Vec<u8>> {
    let rows = rows(table)?;
    let keys = rows.column(0).as_primitive::<UInt8Type>();
    Ok(keys.values().to_vec())
}

/// The keys after a step.
fn after(mut keys: Vec<u8>, step: Option<usize>) -> Vec<u8> {
    match step {
        Some(first) => keys.extend((first..first + 10).map(|i| i as u8)),
        None => keys.clear(),
    }
    keys
}

#[test]
fn a_crash_at_any_moment_loses_nothing_that_was_acknowledged() {
    for luck in 0..6 {
        for moment in 1.. {
            let disk = FaultyDisk::new(Fault::Crash(moment));
            let crashed = table(&disk);
            if crashed.create().is_err() {
                continue;
            }
            let mut before = Vec::new();
            let failed = STEPS.into_iter().find(|step| {
                let result = run(&crashed, *step);
                if result.is_ok() {
                    before = after(std::mem::take(&mut before), *step);
                }
                result.is_err()
            });
            drop(crashed);
            let restarted = table(&disk.restarted(luck));
            let there = keys(&restarted).unwrap();
            let place = format!("operation {moment}, luck {luck}, in {failed:?}");
            let done = failed.map(|step| after(before.clone(), step));
            let is_right = there == before || Some(&there) == done.as_ref();
            assert!(is_right, "{place}: {there:?}, not {before:?}");
            run(&restarted, Some(100)).unwrap();
            assert_eq!(
                keys(&restarted).unwrap(),
                after(there, Some(100)),
                "{place}"
            );
            assert!(
                restarted
                    .checked(&waits)
                    .unwrap()
                    .iter()
                    .all(|c| c.error.is_none())
            );
            if !disk.has_failed() {
                break;
            }
        }
    }
}

/// The disk fails, once or until it is mended: what a statement did that gave an error is there whole or not at all, and
/// other processes see the same, then and later.
fn check_failures(fault: fn(u64) -> Fault) {
    for moment in 1.. {
        let disk = FaultyDisk::new(Fault::None);
        let (table, reader) = (table(&disk), reader(&disk));
        table.create().unwrap();
        disk.set(fault(moment));
        let (mut before, mut has_failed) = (Vec::new(), false);
        for step in STEPS {
            let result = run(&table, step);
            if disk.has_failed() {
                disk.set(Fault::None);
                has_failed = true;
            }
            let done = after(before.clone(), step);
            let there = disk.unharmed(|| keys(&table).unwrap());
            let place = format!("operation {moment}, {step:?}: {result:?}");
            match &result {
                Ok(()) => assert_eq!(there, done, "{place}"),
                Err(e) if e.message().contains("Look whether") => {
                    assert!(there == before || there == done, "{place}");
                }
                Err(_) => assert_eq!(there, before, "{place}"),
            }
            assert_eq!(disk.unharmed(|| keys(&reader).unwrap()), there, "{place}");
            // What was acknowledged stays, and so does what others have seen.
            let restarted = disk.restarted(0);
            let kept = keys(&self::reader(&restarted)).unwrap();
            assert!(
                kept == there || result.is_err() && kept == before,
                "{place}"
            );
            before = there;
        }
        disk.set(Fault::None);
        run(&table, Some(100)).unwrap();
        let all = after(before, Some(100));
        assert_eq!(keys(&table).unwrap(), all);
        assert_eq!(keys(&reader).unwrap(), all);
        assert_eq!(keys(&self::reader(&disk.restarted(0))).unwrap(), all);
        if !has_failed {
            break;
        }
    }
}

#[test]
fn a_disk_that_fails_once_leaves_whole_statements() {
    check_failures(Fault::Full);
}

#[test]
fn a_disk_that_fails_for_a_while_leaves_whole_statements() {
    check_failures(Fault::Broken);
}
