//! Rows that are deleted by a mask are gone for all who read, change and merge a part, and its files stay.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryViewArray, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::Int32Type;

use super::{Folder, batch, cached_rows, insert, layout, opened, rows};
use crate::merge_tree::{
    ColumnSource, GROUP_ROWS, Index, IndexKind, IndexedValue, MergeTree, Part, PartChange, Relation,
};

/// Deletes the rows of all parts whose key is not `kept`.
fn mask(table: &MergeTree, kept: impl Fn(i32) -> bool) {
    let changed = table.mutate(None, &mut |part| {
        let mask = |group| {
            let keys = part.read(0, group)?;
            let keys = keys.as_primitive::<Int32Type>().values().iter();
            let mask: BooleanBuffer = keys.map(|key| kept(*key)).collect();
            Ok(Some(mask).filter(|mask| mask.count_set_bits() < mask.len()))
        };
        let groups = 0..part.metadata().group_rows.len();
        let masks = groups.map(mask).collect::<basalt_error::Result<_>>()?;
        Ok(PartChange::Mask(masks))
    });
    changed.unwrap();
}

fn only_part(table: &MergeTree) -> Arc<Part> {
    let parts = table.parts().unwrap();
    assert_eq!(parts.len(), 1);
    Arc::clone(&parts[0])
}

fn keys(range: std::ops::Range<i32>, kept: impl Fn(i32) -> bool) -> Vec<i32> {
    range.filter(|key| kept(*key)).collect()
}

#[test]
fn masked_rows_are_gone_and_groups_without_rows_too() {
    let folder = Folder::new("masks");
    let table = opened(&folder.0);
    let all = 3 * GROUP_ROWS as i32;
    insert(&table, &(0..all).collect::<Vec<_>>());
    let before = only_part(&table);
    assert_eq!(before.metadata().group_rows.len(), 3);
    // One group goes, one loses rows, one stays.
    let first = GROUP_ROWS as i32;
    let once = move |key: i32| key >= 2 * first || (key >= first && key % 3 == 0);
    mask(&table, once);
    let part = only_part(&table);
    let wanted = batch(&keys(0..all, once));
    assert_eq!(part.metadata().num_rows(), wanted.num_rows());
    let whole: Vec<bool> = (0..2)
        .map(|group| part.metadata().is_whole(group))
        .collect();
    assert_eq!(whole, [false, true]);
    assert_eq!(part.metadata().stored_rows(0), GROUP_ROWS);
    for read in [rows, cached_rows, cached_rows] {
        assert_eq!(read(&table).unwrap(), wanted);
    }
    // Files are shared, not written.
    let file = |part: &Part| std::fs::metadata(part.folder().join("1.blocks")).unwrap();
    assert_eq!(file(&part).len(), file(&before).len());
    drop(before);
    let twice = move |key: i32| once(key) && key % 5 != 0;
    mask(&table, twice);
    let wanted = batch(&keys(0..all, twice));
    assert_eq!(rows(&table).unwrap(), wanted);
    drop((part, table));
    let table = opened(&folder.0);
    assert_eq!(cached_rows(&table).unwrap(), wanted);
    assert!(table.check(&|_| true).unwrap()[0].error.is_none());
    table.merge(None, true).unwrap();
    assert_eq!(rows(&table).unwrap(), wanted);
    let part = only_part(&table);
    assert_eq!(part.metadata().num_stored_rows(), wanted.num_rows());
    mask(&table, |_| false);
    assert!(table.parts().unwrap().is_empty());
}

#[test]
fn a_change_of_columns_keeps_the_mask() {
    let folder = Folder::new("masked-columns");
    let table = opened(&folder.0);
    let all = GROUP_ROWS as i32 + 100;
    insert(&table, &(0..all).collect::<Vec<_>>());
    mask(&table, |key| key % 7 == 3);
    let texts = |part: &Part, group: usize| -> basalt_error::Result<ArrayRef> {
        let keys = part.read(0, group)?;
        let keys = keys.as_primitive::<Int32Type>().values().iter();
        let texts: Vec<String> = keys.map(|key| format!("new {key}")).collect();
        Ok(Arc::new(BinaryViewArray::from_iter_values(texts)))
    };
    let change = table.mutate(None, &mut |part| {
        let part = Arc::clone(part);
        let sources = vec![ColumnSource::Same(0), ColumnSource::New];
        let values = move |group| Ok(vec![texts(&part, group)?]);
        Ok(PartChange::Columns(sources, Box::new(values)))
    });
    change.unwrap();
    let found = cached_rows(&table).unwrap();
    let keys = keys(0..all, |key| key % 7 == 3);
    assert_eq!(
        found
            .column(0)
            .as_primitive::<Int32Type>()
            .values()
            .as_ref(),
        keys
    );
    let texts = found.column(1).as_binary_view();
    assert!(
        keys.iter()
            .zip(texts)
            .all(|(key, text)| text == Some(format!("new {key}").as_bytes()))
    );
    // Rows that are filtered are counted among those that are left.
    let change = table.mutate(None, &mut |part| {
        let part = Arc::clone(part);
        Ok(PartChange::Filter(Box::new(move |group| {
            let num_rows = part.metadata().group_rows[group] as usize;
            Ok(BooleanArray::from_iter(
                (0..num_rows).map(|row| Some(row == 1)),
            ))
        })))
    });
    change.unwrap();
    let left = rows(&table).unwrap();
    assert_eq!(
        left.column(0).as_primitive::<Int32Type>().values().as_ref(),
        [10, 65_481]
    );
    assert!(only_part(&table).metadata().kept.is_all());
}

#[test]
fn indexes_know_the_groups_that_are_left() {
    let folder = Folder::new("masked-indexes");
    let index = Index {
        name: "i".to_owned(),
        column: 0,
        kind: IndexKind::Set(0),
    };
    let layout = crate::merge_tree::Layout {
        indexes: vec![index],
        ..layout()
    };
    let table = Arc::new(MergeTree::new(folder.0.clone(), layout));
    table.own();
    let first = GROUP_ROWS as i32;
    insert(&table, &(0..2 * first).collect::<Vec<_>>());
    let can_hold = |group: usize, key: i32| {
        let key = IndexedValue::integer(i128::from(key));
        only_part(&table).can_hold((0, group), Relation::Equal, &key)
    };
    mask(&table, |key| key % 2 == 1);
    assert_eq!(
        [can_hold(0, 5), can_hold(1, 5), can_hold(1, first + 5)],
        [true, false, true]
    );
    mask(&table, |key| key >= first);
    assert_eq!([can_hold(0, 5), can_hold(0, first + 5)], [false, true]);
}
