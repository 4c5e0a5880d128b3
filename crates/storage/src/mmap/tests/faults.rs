//! Ends the process at every operation on files, and fills the disk at every one: what was acknowledged is there,
//! once, and nothing half.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt8Type;
use basalt_error::Result;

use super::{batch, columns, rows};
use crate::faulty_disk::{Fault, FaultyDisk};
use crate::mmap::MmapTable;

/// What a table goes through: rows from the first on, or none.
const STEPS: [Option<usize>; 5] = [Some(0), Some(10), None, Some(20), Some(30)];

fn table(disk: &FaultyDisk) -> Arc<MmapTable> {
    // A number, a string and a list.
    let columns = columns();
    let columns = [0, 5, 6].map(|i| columns[i].clone());
    let table = MmapTable::new(PathBuf::from("/store/t"), &columns);
    let table = table.on_disk(Arc::new(disk.clone()));
    table.own();
    Arc::new(table)
}

fn run(table: &Arc<MmapTable>, step: Option<usize>) -> Result<()> {
    let Some(first) = step else {
        return table.truncate();
    };
    let columns = batch(first, 10);
    let columns = [0, 5, 6].map(|i| Arc::clone(columns.column(i)));
    let schema = Arc::clone(table.schema());
    let mut insert = table.insert();
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
                    .checked()
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

#[test]
fn a_full_disk_leaves_the_table_as_it_was() {
    for moment in 1.. {
        let disk = FaultyDisk::new(Fault::Full(moment));
        let table = table(&disk);
        let mut before = Vec::new();
        for step in STEPS {
            let result = run(&table, step);
            let done = after(before.clone(), step);
            // The operation that fails may be one of reading.
            let there = keys(&table).or_else(|_| keys(&table)).unwrap();
            let place = format!("operation {moment}, {step:?}: {result:?}");
            match result {
                Ok(()) => assert_eq!(there, done, "{place}"),
                // A new log that the system cannot tell to be kept is in its place.
                Err(_) if step.is_none() => assert!(there == before || there == done, "{place}"),
                Err(_) => assert_eq!(there, before, "{place}"),
            }
            before = there;
        }
        if !disk.has_failed() {
            break;
        }
        run(&table, Some(100)).unwrap();
        assert_eq!(keys(&table).unwrap(), after(before, Some(100)));
    }
}
