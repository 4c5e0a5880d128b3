//! Tables of mapped files: every type, damage, and disks that fail.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Decimal128Array, FixedSizeBinaryArray, Float64Array,
    Int32Array, ListArray, RecordBatch, StructArray, UInt8Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, Int32Type, Schema};
use basalt_error::ErrorCode;

use super::MmapTable;
use crate::disk::Disk;
use crate::faulty_disk::{Fault, FaultyDisk};

const FOLDER: &str = "/store/t";

fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
    let field = |(i, c): (usize, &ArrayRef)| Field::new(i.to_string(), c.data_type().clone(), true);
    let fields: Vec<_> = columns.iter().enumerate().map(field).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Rows of every shape that tables have, some of them NULL.
fn of_all_types(num_rows: i32) -> RecordBatch {
    let rows = || 0..num_rows;
    let value = |i: i32| (i % 3 > 0).then_some(i);
    let text = |i: i32| (i % 5 > 0).then(|| "long text ".repeat(i as usize % 4));
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter(rows().map(value)));
    let texts: ArrayRef = Arc::new(BinaryViewArray::from_iter(rows().map(text)));
    let bytes = rows().map(|i| (i % 2 > 0).then(|| i.to_le_bytes()));
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes, 4).unwrap();
    let decimals = Decimal128Array::from_iter(rows().map(|i| value(i).map(i128::from)));
    let decimals = decimals.with_precision_and_scale(20, 3).unwrap();
    let pair: ArrayRef = Arc::new(StructArray::from(vec![
        (
            Arc::new(Field::new("a", numbers.data_type().clone(), true)),
            Arc::clone(&numbers),
        ),
        (
            Arc::new(Field::new("b", texts.data_type().clone(), true)),
            Arc::clone(&texts),
        ),
    ]));
    let lengths = rows().map(|i| i as usize % 2).collect::<Vec<_>>();
    let elements = pair.slice(0, lengths.iter().sum());
    let field = Arc::new(Field::new("item", pair.data_type().clone(), true));
    let lists = ListArray::new(field, OffsetBuffer::from_lengths(lengths), elements, None);
    let floats = Float64Array::from_iter_values(rows().map(|i| f64::from(i).sqrt()));
    batch(vec![
        numbers,
        texts,
        Arc::new(fixed),
        Arc::new(decimals),
        pair,
        Arc::new(lists),
        Arc::new(floats),
        Arc::new(UInt8Array::from_iter_values(rows().map(|i| i as u8))),
    ])
}

fn table(disk: &FaultyDisk, like: &RecordBatch) -> MmapTable {
    let table = MmapTable::new(PathBuf::from(FOLDER), like.schema());
    table.on_disk(Arc::new(disk.clone()))
}

fn rows(table: &MmapTable) -> basalt_error::Result<RecordBatch> {
    let batches = table.snapshot()?;
    Ok(concat_batches(table.schema(), batches.iter()).unwrap())
}

#[test]
fn rows_of_all_types_come_back() {
    let disk = FaultyDisk::new(Fault::None);
    let all = of_all_types(1000);
    let first = table(&disk, &all);
    let second = table(&disk, &all);
    assert_eq!(rows(&second).unwrap().num_rows(), 0);
    // Slices that begin in the middle of bytes, words and texts.
    for (start, len) in [(0, 1), (1, 0), (1, 12), (13, 700), (713, 287)] {
        first.insert(vec![all.slice(start, len)]).unwrap();
        assert_eq!(rows(&second).unwrap(), all.slice(0, start + len));
        second.check().unwrap();
    }
    assert_eq!(rows(&first).unwrap(), all);
    assert_eq!(first.num_rows(), Some(1000));
    assert_eq!(rows(&table(&disk, &all)).unwrap(), all);
    let before = first.snapshot().unwrap();
    first.truncate().unwrap();
    assert_eq!(rows(&second).unwrap().num_rows(), 0);
    second.insert(vec![all.slice(3, 5)]).unwrap();
    assert_eq!(rows(&first).unwrap(), all.slice(3, 5));
    assert_eq!(
        before.iter().map(RecordBatch::num_rows).sum::<usize>(),
        1000
    );
}

#[test]
fn many_inserts_and_large_ones() {
    let all = batch(vec![Arc::new(Int32Array::from_iter_values(0..2_500_000))]);
    let folder = std::env::temp_dir().join(format!("basalt-mmap-{}", std::process::id()));
    let table = MmapTable::new(folder.clone(), all.schema());
    for i in 0..200 {
        table.insert(vec![all.slice(i, 1)]).unwrap();
        if i % 2 == 0 {
            assert_eq!(rows(&table).unwrap(), all.slice(0, i + 1));
        }
    }
    table.insert(vec![all.slice(200, 2_499_800)]).unwrap();
    assert_eq!(rows(&table).unwrap(), all);
    assert!(table.size_bytes().unwrap() >= 10_000_000);
    let mapped = MmapTable::new(folder.clone(), all.schema());
    assert_eq!(rows(&mapped).unwrap(), all);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What a process did before the disk failed: rows that it was told are there, and what was going on.
fn until_the_fault(disk: &FaultyDisk, all: &RecordBatch) -> (Vec<i32>, Vec<i32>) {
    let table = table(disk, all);
    let mut acknowledged = Vec::new();
    for (start, len) in [(0, 3), (3, 4), (0, 0), (7, 2), (9, 30)] {
        let mut next = acknowledged.clone();
        let done = match len {
            0 => {
                next.clear();
                table.truncate()
            }
            _ => {
                next.extend(start..start + len);
                table.insert(vec![all.slice(start as usize, len as usize)])
            }
        };
        match done {
            Ok(()) => acknowledged = next,
            Err(_) => return (acknowledged, next),
        }
    }
    (acknowledged.clone(), acknowledged)
}

fn keys(table: &MmapTable) -> Vec<i32> {
    let rows = rows(table).unwrap();
    rows.column(0).as_primitive::<Int32Type>().values().to_vec()
}

#[test]
fn acknowledged_rows_survive_every_fault() {
    let keys_only = (0..40).map(Some).collect::<Int32Array>();
    let texts = (0..40).map(|i| Some("text of more than twelve bytes ".repeat(i % 3)));
    let texts = BinaryViewArray::from_iter(texts);
    let all = batch(vec![Arc::new(keys_only), Arc::new(texts)]);
    for operation in 1.. {
        let disk = FaultyDisk::new(Fault::Crash(operation));
        let (before, after) = until_the_fault(&disk, &all);
        for luck in 0..20 {
            let disk = disk.restarted(luck);
            let table = table(&disk, &all);
            let found = keys(&table);
            assert!(found == before || found == after, "{operation}: {found:?}");
            table.check().unwrap();
            table.insert(vec![all.slice(39, 1)]).unwrap();
            assert_eq!(keys(&table), [&found[..], &[39]].concat());
        }
        let disk_full = FaultyDisk::new(Fault::Full(operation));
        let (before, after) = until_the_fault(&disk_full, &all);
        if !disk_full.has_failed() {
            return;
        }
        let table = table(&disk_full, &all);
        let found = keys(&table);
        assert!(found == before || found == after, "{operation}: {found:?}");
        table.insert(vec![all.slice(39, 1)]).unwrap();
        assert_eq!(keys(&table), [&found[..], &[39]].concat());
    }
}

#[test]
fn damage_is_an_error_or_changes_nothing() {
    let disk = FaultyDisk::new(Fault::None);
    let all = of_all_types(30);
    table(&disk, &all).insert(vec![all.slice(0, 20)]).unwrap();
    table(&disk, &all).insert(vec![all.slice(20, 10)]).unwrap();
    for entry in disk.list(Path::new(FOLDER)).unwrap() {
        let path = Path::new(FOLDER).join(&entry.name);
        let bytes = disk.read(&path).unwrap();
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 1 << (i % 8);
            disk.create(&path).unwrap().write_all(&damaged).unwrap();
            let table = table(&disk, &all);
            let is_of_a_column = entry.name.ends_with(".bin");
            match (rows(&table), table.check()) {
                // Values are read where they lie: only a check compares them with their checksums.
                (Ok(rows), Ok(())) => assert_eq!(rows, all, "{path:?} {i}"),
                (Ok(_), Err(e)) => assert!(is_of_a_column, "{path:?} {i}: {e}"),
                (Err(e), _) => assert_eq!(e.code(), ErrorCode::CORRUPTED_DATA, "{path:?} {i}: {e}"),
            }
        }
        for len in 0..bytes.len() {
            disk.create(&path)
                .unwrap()
                .write_all(&bytes[..len])
                .unwrap();
            let table = table(&disk, &all);
            assert!(
                rows(&table).is_err() || table.check().is_ok(),
                "{path:?} cut at {len}"
            );
        }
        disk.create(&path).unwrap().write_all(&bytes).unwrap();
    }
    assert_eq!(rows(&table(&disk, &all)).unwrap(), all);
}
