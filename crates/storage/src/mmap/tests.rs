//! Tests of tables of mapped files: what is there after restarts, failures and damage.

mod damage;
mod faults;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{
    ArrayRef, BinaryViewArray, BinaryViewBuilder, Decimal256Array, FixedSizeBinaryArray,
    Float64Array, Int32Array, ListArray, NullArray, RecordBatch, StructArray, UInt8Array,
    UInt64Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType as ArrowType, i256};
use basalt_error::ErrorCode;
use basalt_types::{DataType, parse_data_type};

use super::MmapTable;
use crate::MAX_BATCH_ROWS;

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mmap-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A column of each physical form.
fn columns() -> Vec<(String, DataType)> {
    let types = [
        "UInt8",
        "Nullable(Int32)",
        "Float64",
        "Nullable(Decimal(60, 3))",
        "UUID",
        "Nullable(String)",
        "Array(Array(Nullable(String)))",
        "Map(String, UInt64)",
        "Tuple(a Int32, b Nullable(String))",
        "LowCardinality(String)",
        "Nothing",
    ];
    let typed = types.iter().enumerate();
    let typed = typed.map(|(i, t)| (format!("c{i}"), parse_data_type(t).unwrap()));
    typed.collect()
}

fn text(i: usize) -> Option<String> {
    (!i.is_multiple_of(3)).then(|| format!("{}{i}", "text ".repeat(i % 7)))
}

fn texts(range: std::ops::Range<usize>) -> ArrayRef {
    let mut texts = BinaryViewBuilder::new();
    range.for_each(|i| texts.append_option(text(i)));
    Arc::new(texts.finish())
}

fn list(field: ArrowType, lengths: impl IntoIterator<Item = usize>, values: ArrayRef) -> ArrayRef {
    let ArrowType::List(item) = field else {
        panic!("no list");
    };
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(item, offsets, values, None))
}

/// Rows of all types, a slice of others.
fn batch(first: usize, num_rows: usize) -> RecordBatch {
    let (start, len) = (first.saturating_sub(3), num_rows + 3 + first.min(3));
    let rows = start..start + len;
    let schema = Arc::clone(MmapTable::new(PathBuf::new(), &columns()).schema());
    let physical = |i: usize| schema.field(i).data_type().clone();
    let ints = Int32Array::from_iter(rows.clone().map(|i| (i % 4 != 1).then_some(i as i32)));
    let big = rows
        .clone()
        .map(|i| (i % 5 != 0).then_some(i256::from_i128(i as i128)));
    let big = Decimal256Array::from_iter(big)
        .with_precision_and_scale(60, 3)
        .unwrap();
    let ids = rows.clone().map(|i| (i as u128).to_le_bytes());
    let inner_type = match physical(6) {
        ArrowType::List(item) => item.data_type().clone(),
        other => other,
    };
    let inner = list(inner_type, (0..2 * len).map(|i| i % 2), texts(rows.clone()));
    let keys = BinaryViewArray::from_iter_values(rows.clone().map(|i| format!("key {i}")));
    let counts = UInt64Array::from_iter_values(rows.clone().map(|i| i as u64));
    let ArrowType::List(item) = physical(7) else {
        panic!("no map");
    };
    let entries = vec![Arc::new(keys) as ArrayRef, Arc::new(counts)];
    let ArrowType::Struct(fields) = item.data_type() else {
        panic!("no entries");
    };
    let entries = StructArray::new(fields.clone(), entries, None);
    let ArrowType::Struct(fields) = physical(8) else {
        panic!("no tuple");
    };
    let numbers = Int32Array::from_iter_values(rows.clone().map(|i| i as i32));
    let tuple = StructArray::new(fields, vec![Arc::new(numbers), texts(rows.clone())], None);
    let words = BinaryViewArray::from_iter_values(rows.clone().map(|i| ["a", "b"][i % 2]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt8Array::from_iter_values(rows.clone().map(|i| i as u8))),
        Arc::new(ints),
        Arc::new(Float64Array::from_iter_values(
            rows.clone().map(|i| i as f64 / 8.0),
        )),
        Arc::new(big),
        Arc::new(FixedSizeBinaryArray::try_from_iter(ids).unwrap()),
        texts(rows.clone()),
        list(physical(6), (0..len).map(|_| 2), inner),
        list(physical(7), (0..len).map(|_| 1), Arc::new(entries)),
        Arc::new(tuple),
        Arc::new(words),
        Arc::new(NullArray::new(len)),
    ];
    let whole = RecordBatch::try_new(schema, columns).unwrap();
    whole.slice(first - start, num_rows)
}

/// The table of a folder, which is made if there is none, to be written.
fn opened(folder: &Path, columns: &[(String, DataType)]) -> Arc<MmapTable> {
    let table = MmapTable::new(folder.to_owned(), columns);
    if !folder.exists() {
        table.create().unwrap();
    }
    table.own();
    Arc::new(table)
}

/// Waits as long as it takes.
fn waits() -> basalt_error::Result<()> {
    Ok(())
}

fn insert(table: &Arc<MmapTable>, batches: &[RecordBatch]) {
    let mut insert = table.insert(&waits);
    batches.iter().for_each(|b| insert.push(b.clone()).unwrap());
    insert.finish().unwrap();
}

/// All rows as one batch.
fn rows(table: &Arc<MmapTable>) -> basalt_error::Result<RecordBatch> {
    let snapshot = table.snapshot()?;
    let mut batches = Vec::new();
    for batch in 0..snapshot.num_batches() {
        let columns = 0..snapshot.schema().fields().len();
        let columns = columns.map(|column| snapshot.array(batch, column));
        let columns = columns.collect::<basalt_error::Result<Vec<_>>>()?;
        let schema = Arc::clone(snapshot.schema());
        let batch = RecordBatch::try_new(schema, columns).unwrap();
        assert!(batch.num_rows() <= MAX_BATCH_ROWS);
        batches.push(batch);
    }
    Ok(concat_batches(snapshot.schema(), &batches).unwrap())
}

#[test]
fn rows_of_every_type_are_there_after_a_restart() {
    let folder = Folder::new("types");
    let table = opened(&folder.0, &columns());
    let pieces = [batch(0, 10), batch(50, 1), batch(7, 200)];
    insert(&table, &pieces[..2]);
    assert_eq!(table.num_rows(), Some(11));
    insert(&table, &pieces[2..]);
    let expected = concat_batches(&pieces[0].schema(), &pieces).unwrap();
    assert_eq!(rows(&table).unwrap(), expected);
    let reopened = opened(&folder.0, &columns());
    assert_eq!(rows(&reopened).unwrap(), expected);
    assert_eq!(reopened.size_bytes(), table.size_bytes());
    assert!(
        table
            .checked(&waits)
            .unwrap()
            .iter()
            .all(|c| c.error.is_none())
    );
}

#[test]
fn many_rows_lie_in_maps_and_small_batches_are_joined() {
    let folder = Folder::new("maps");
    let columns = &columns()[..3];
    let table = opened(&folder.0, columns);
    let batch = |first| {
        let columns = batch(first, 1000).columns()[..3].to_vec();
        RecordBatch::try_new(Arc::clone(table.schema()), columns).unwrap()
    };
    let pieces: Vec<RecordBatch> = (0..300).map(|i| batch(i * 1000)).collect();
    insert(&table, &pieces[..200]);
    assert_eq!(table.snapshot().unwrap().num_batches(), 4);
    let before = table.snapshot().unwrap();
    let values = before.array(3, 2).unwrap();
    insert(&table, &pieces[200..]);
    let expected = concat_batches(table.schema(), &pieces).unwrap();
    assert_eq!(rows(&table).unwrap(), expected);
    assert_eq!(before.num_rows(), 200_000);
    assert!(Arc::ptr_eq(&before.array(3, 2).unwrap(), &values));
    let bytes = table.size_bytes().unwrap();
    assert!((1 + 4 + 8) * 300_000 < bytes && bytes < 14 * 300_000);
}

#[test]
fn rows_go_for_queries_that_begin_later() {
    let folder = Folder::new("truncate");
    let columns = columns();
    let table = opened(&folder.0, &columns);
    insert(&table, &[]);
    table.truncate(&waits).unwrap();
    assert_eq!(table.num_rows(), Some(0));
    insert(&table, &[batch(0, 10)]);
    let reader = Arc::new(MmapTable::new(folder.0.clone(), &columns));
    assert_eq!(reader.num_rows(), Some(10));
    let before = table.snapshot().unwrap();
    table.truncate(&waits).unwrap();
    assert_eq!((table.num_rows(), reader.num_rows()), (Some(0), Some(0)));
    assert_eq!(before.array(0, 0).unwrap().len(), 10);
    insert(&table, &[batch(5, 20)]);
    assert_eq!(rows(&reader).unwrap(), batch(5, 20));
    assert!(folder.0.join("1").exists());
    drop(before);
    assert!(!folder.0.join("1").exists());
    table.set_removed(true);
    drop(table);
    assert!(!folder.0.exists());
    let error = reader.snapshot().unwrap_err();
    assert_eq!(error.code(), ErrorCode::TABLE_IS_DROPPED, "{error}");
    // Another one in the same place is another one.
    insert(&opened(&folder.0, &columns), &[batch(0, 20)]);
    assert_eq!(rows(&reader).unwrap(), batch(0, 20));
    let lost = opened(&folder.0, &columns);
    fs::remove_dir_all(&folder.0).unwrap();
    let error = lost.snapshot().unwrap_err();
    assert_eq!(error.code(), ErrorCode::CORRUPTED_DATA, "{error}");
}

#[test]
fn other_columns_are_no_table() {
    let folder = Folder::new("columns");
    insert(&opened(&folder.0, &columns()), &[batch(0, 10)]);
    let mut others = columns();
    others[0].1 = DataType::Int8;
    let error = opened(&folder.0, &others).snapshot().unwrap_err();
    assert!(error.message().contains("other columns"), "{error}");
}

#[test]
fn readers_see_inserts_and_do_not_write() {
    let folder = Folder::new("readers");
    let columns = columns();
    let table = opened(&folder.0, &columns);
    let reader = Arc::new(MmapTable::new(folder.0.clone(), &columns));
    assert_eq!(reader.num_rows(), Some(0));
    for i in 0..3 {
        insert(&table, &[batch(i * 10, 10)]);
        assert_eq!(rows(&reader).unwrap(), batch(0, i * 10 + 10));
    }
    let mut refused = reader.insert(&waits);
    refused.push(batch(0, 1)).unwrap();
    assert!(refused.finish().is_err());
}

#[test]
fn readers_of_a_table_that_comes_and_goes_see_whole_inserts() {
    let folder = Folder::new("changing");
    let columns = columns();
    let table = opened(&folder.0, &columns);
    insert(&table, &[batch(0, 10)]);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let reader = Arc::new(MmapTable::new(folder.0.clone(), &columns));
            while !is_done.load(Ordering::Relaxed) {
                let snapshot = reader.snapshot().unwrap();
                assert_eq!(snapshot.num_rows() % 10, 0);
                for extent in 0..snapshot.num_batches() {
                    match snapshot.array(extent, 5) {
                        Ok(texts) => assert_eq!(texts.as_ref(), batch(0, 10).column(5).as_ref()),
                        // Truncated behind the snapshot.
                        Err(e) => assert_eq!(e.code(), ErrorCode::CANNOT_OPEN_FILE, "{e}"),
                    }
                }
            }
        });
        for i in 0..100 {
            insert(&table, &[batch(0, 10)]);
            if i % 3 == 0 {
                table.truncate(&waits).unwrap();
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
}
