//! Tests of tables on disk: what is there after restarts, crashes and damage.

mod faults;
mod masks;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray, Int32Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Schema, SchemaRef};
use basalt_types::DataType;

use super::{
    BackgroundMerges, BlockCache, ColumnCodec, ColumnSource, Layout, MergeTree, Options, Part,
    PartChange, StoredColumn, flat,
};

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("parts-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn layout() -> Layout {
    let column = |name: &str, data_type: DataType| StoredColumn {
        name: name.to_owned(),
        data_type,
        codec: ColumnCodec::Auto,
    };
    Layout {
        columns: vec![
            column("k", DataType::Int32),
            column("s", DataType::String.to_nullable()),
        ],
        num_visible: 2,
        sorting_key: vec![0],
        ..Layout::default()
    }
}

fn schema() -> SchemaRef {
    let columns = layout().columns;
    let fields: Vec<_> = columns.iter().map(|c| c.data_type.field(&c.name)).collect();
    Arc::new(Schema::new(fields))
}

fn batch(keys: &[i32]) -> RecordBatch {
    let text = |k: &i32| (k % 3 != 0).then(|| format!("the text of row {k}"));
    let texts: Vec<Option<String>> = keys.iter().map(text).collect();
    let texts = BinaryViewArray::from_iter(texts.iter().map(|t| t.as_ref().map(String::as_bytes)));
    let columns: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(keys.to_vec())), Arc::new(texts)];
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn opened(folder: &Path) -> Arc<MergeTree> {
    let options = Options {
        old_parts_lifetime: std::time::Duration::ZERO,
        ..Options::default()
    };
    let table = MergeTree::new(folder.to_owned(), layout()).with_options(options);
    table.own();
    Arc::new(table)
}

fn insert(table: &Arc<MergeTree>, keys: &[i32]) {
    let mut insert = table.insert().unwrap();
    insert.push(&batch(keys)).unwrap();
    insert.finish().unwrap();
}

fn rows(table: &MergeTree) -> basalt_error::Result<RecordBatch> {
    rows_read_by(table, &Part::read)
}

/// The rows as queries read them.
fn cached_rows(table: &MergeTree) -> basalt_error::Result<RecordBatch> {
    rows_read_by(table, &|part, column, group| {
        flat(&part.read_encoded((column, group), true)?.0)
    })
}

fn rows_read_by(
    table: &MergeTree,
    read: &dyn Fn(&Part, usize, usize) -> basalt_error::Result<ArrayRef>,
) -> basalt_error::Result<RecordBatch> {
    let mut batches = Vec::new();
    for part in table.parts()?.iter() {
        for group in 0..part.metadata().group_rows.len() {
            let columns = (0..2).map(|c| read(part, c, group));
            let columns = columns.collect::<basalt_error::Result<Vec<_>>>()?;
            batches.push(RecordBatch::try_new(schema(), columns).unwrap());
        }
    }
    Ok(concat_batches(&schema(), &batches).unwrap())
}

#[test]
fn rows_are_there_after_a_restart_and_a_merge() {
    let folder = Folder::new("restart");
    let table = opened(&folder.0);
    insert(&table, &[3, 1, 2]);
    insert(&table, &[5, 0]);
    assert_eq!(rows(&table).unwrap(), batch(&[1, 2, 3, 0, 5]));
    let reader = MergeTree::new(folder.0.clone(), layout());
    let before = reader.parts().unwrap();
    assert_eq!(before.len(), 2);
    table.merge(None, false).unwrap();
    assert_eq!(rows(&table).unwrap(), batch(&[0, 1, 2, 3, 5]));
    assert_eq!(rows(&reader).unwrap(), batch(&[0, 1, 2, 3, 5]));
    drop(table);
    let table = opened(&folder.0);
    assert_eq!(rows(&table).unwrap(), batch(&[0, 1, 2, 3, 5]));
    assert_eq!(table.parts().unwrap()[0].name(), "all_1_2_1");
    table.truncate().unwrap();
    assert_eq!(table.num_rows(), Some(0));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "the list");
}

#[test]
fn parts_are_merged_while_rows_are_inserted() {
    let folder = Folder::new("background");
    let merges = Arc::new(BackgroundMerges::default());
    let table = Arc::new(opened(&folder.0));
    table.merged_by(&merges);
    for i in 0..60 {
        insert(&table, &[i * 2, i * 2 + 1]);
    }
    let started = std::time::Instant::now();
    while table.parts().unwrap().len() > 20 && started.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(table.parts().unwrap().len() <= 20);
    let keys: Vec<i32> = (0..120).collect();
    let there = rows(&table).unwrap();
    assert_eq!(there, batch(&keys));
    drop(merges);
    assert!(table.running_merges().is_empty());
}

#[test]
fn an_insert_merges_itself_or_fails_when_there_are_too_many_parts() {
    let folder = Folder::new("pressure");
    let options = Options {
        parts_to_delay_insert: 8,
        parts_to_throw_insert: 10,
        max_delay_to_insert: std::time::Duration::from_millis(20),
        ..Options::default()
    };
    let table = MergeTree::new(folder.0.clone(), layout()).with_options(options);
    let table = Arc::new(table);
    table.own();
    for i in 0..30 {
        insert(&table, &[i]);
    }
    assert!(table.parts().unwrap().len() <= 9);
    table.stop_merges(true);
    let refused = (0..20).find_map(|_| {
        let mut insert = table.insert().err();
        if insert.is_none() {
            let mut more = table.insert().unwrap();
            more.push(&batch(&[1])).unwrap();
            insert = more.finish().err();
        }
        insert
    });
    let code = refused.map(|e| e.code());
    assert_eq!(code, Some(basalt_error::ErrorCode::TOO_MANY_PARTS));
}

#[test]
fn rows_that_are_dropped_while_they_are_merged_stay_away() {
    let folder = Folder::new("dropped");
    let table = opened(&folder.0);
    insert(&table, &[1]);
    insert(&table, &[2]);
    let result = table.mutate(None, &mut |_| {
        table.truncate().unwrap();
        Ok(PartChange::Columns(
            vec![ColumnSource::Same(0), ColumnSource::Same(1)],
            Box::new(|_| Ok(Vec::new())),
        ))
    });
    assert!(result.is_err());
    assert_eq!(table.num_rows(), Some(0));
}

#[test]
fn what_a_killed_process_leaves_is_no_row() {
    let folder = Folder::new("killed");
    let table = opened(&folder.0);
    insert(&table, &[1]);
    // Not finished: what was written goes.
    let mut unfinished = table.insert().unwrap().of_parts_of(10);
    // Two parts wait and another thread has one: the fourth is written here.
    unfinished.push(&batch(&[7; 45])).unwrap();
    let parts = || {
        let names = fs::read_dir(&folder.0)
            .unwrap()
            .map(|e| e.unwrap().file_name());
        names
            .filter(|name| name.to_string_lossy().starts_with("tmp_"))
            .count()
    };
    assert!(parts() > 0);
    drop(unfinished);
    assert_eq!(parts(), 0);
    // Killed: a part that is not complete, and one that has its name and is not listed.
    for name in ["tmp_9", "all_2_2_0"] {
        fs::create_dir(folder.0.join(name)).unwrap();
        fs::write(folder.0.join(name).join("0.blocks"), "half").unwrap();
    }
    fs::write(folder.0.join("parts.txt.new"), "half").unwrap();
    let reader = MergeTree::new(folder.0.clone(), layout());
    assert_eq!(rows(&reader).unwrap(), batch(&[1]));
    assert!(folder.0.join("tmp_9").exists(), "a reader removes nothing");
    drop(table);
    let table = opened(&folder.0);
    assert_eq!(rows(&table).unwrap(), batch(&[1]));
    assert!(!folder.0.join("tmp_9").exists() && !folder.0.join("all_2_2_0").exists());
    insert(&table, &[2]);
    assert_eq!(rows(&table).unwrap(), batch(&[1, 2]));
}

#[test]
fn rows_of_an_insert_of_many_parts_stay_in_their_order() {
    let folder = Folder::new("parts");
    let table = opened(&folder.0);
    table.stop_merges(true);
    let keys: Vec<i32> = (0..95).collect();
    let mut insert = table.insert().unwrap().of_parts_of(10);
    for keys in keys.chunks(7) {
        insert.push(&batch(keys)).unwrap();
    }
    insert.finish().unwrap();
    assert_eq!(table.parts().unwrap().len(), 10);
    assert_eq!(rows(&table).unwrap(), batch(&keys));
}

#[test]
fn what_is_cached_is_what_is_read() {
    let folder = Folder::new("cached");
    let cache = Arc::new(BlockCache::new(64 << 20));
    let table = MergeTree::new(folder.0.clone(), layout()).with_cache(&cache);
    let table = Arc::new(table);
    table.own();
    // Keys that no encoding makes smaller are read from a mapped file, and texts are decoded.
    let keys: Vec<i32> = (0..300_000_i32)
        .map(|i| i.wrapping_mul(-1_640_531_527))
        .collect();
    insert(&table, &keys);
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    for time in 0..3 {
        assert_eq!(cached_rows(&table).unwrap(), batch(&sorted));
        let is_kept = cache.held_bytes() > 0;
        assert_eq!(is_kept, time > 0, "what was read {time} times before");
    }
    assert_eq!(rows(&table).unwrap(), batch(&sorted));
    table.truncate().unwrap();
    drop(table);
    assert_eq!(cache.held_bytes(), 0, "the part is gone");
}

#[test]
fn every_changed_byte_is_an_error_that_says_where() {
    let folder = Folder::new("damage");
    let table = opened(&folder.0);
    insert(&table, &(0..50).collect::<Vec<_>>());
    drop(table);
    let part = folder.0.join("all_1_1_0");
    let files = [
        (part.join("0.blocks"), "part all_1_1_0, column `k`, block 0"),
        (part.join("1.blocks"), "part all_1_1_0, column `s`, block "),
        (part.join("part.meta"), "Part all_1_1_0"),
        (folder.0.join("parts.txt"), "list of parts"),
    ];
    for (file, place) in files {
        let bytes = fs::read(&file).unwrap();
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 0xFF;
            fs::write(&file, &damaged).unwrap();
            let table = MergeTree::new(folder.0.clone(), layout());
            let errors = [rows(&table), cached_rows(&table)].map(Result::unwrap_err);
            for error in errors {
                assert!(error.to_string().contains(place), "byte {i}: {error}");
            }
        }
        for len in 0..bytes.len() {
            fs::write(&file, &bytes[..len]).unwrap();
            let table = MergeTree::new(folder.0.clone(), layout());
            for read in [rows(&table), cached_rows(&table)] {
                match read {
                    Ok(rows) => assert!(len == 0 && rows.num_rows() == 0, "{place}, {len} bytes"),
                    Err(error) => assert!(error.to_string().contains(place), "{len}: {error}"),
                }
            }
        }
        fs::write(&file, &bytes).unwrap();
    }
    let whole = rows(&opened(&folder.0)).unwrap();
    assert_eq!(whole, batch(&(0..50).collect::<Vec<_>>()));
}

#[test]
fn parts_without_their_list_are_damage_and_stay() {
    let folder = Folder::new("no-list");
    insert(&opened(&folder.0), &[1]);
    let list = folder.0.join("parts.txt");
    let bytes = fs::read(&list).unwrap();
    fs::remove_file(&list).unwrap();
    let table = opened(&folder.0);
    let error = rows(&table).unwrap_err();
    assert!(
        error.message().contains("list of parts is missing"),
        "{error}"
    );
    assert!(table.insert().is_err());
    assert!(table.truncate().is_err());
    fs::write(&list, bytes).unwrap();
    assert_eq!(rows(&opened(&folder.0)).unwrap(), batch(&[1]));
}
