//! Checks the functions of arrays against answers recorded from ClickHouse.

use crate::testing::{Input, call, check_table, column, texts};
use basalt_functions::Column;

#[test]
fn construct() {
    check_table(include_str!("arrays/construct.tsv"));
}

#[test]
fn range() {
    check_table(include_str!("arrays/range.tsv"));
}

#[test]
fn grow() {
    check_table(include_str!("arrays/grow.tsv"));
}

#[test]
fn cut() {
    check_table(include_str!("arrays/cut.tsv"));
}

#[test]
fn search() {
    check_table(include_str!("arrays/search.tsv"));
}

#[test]
fn distinct() {
    check_table(include_str!("arrays/distinct.tsv"));
}

#[test]
fn sets() {
    check_table(include_str!("arrays/sets.tsv"));
}

#[test]
fn vectors() {
    check_table(include_str!("arrays/vectors.tsv"));
}

#[test]
fn zip() {
    check_table(include_str!("arrays/zip.tsv"));
}

#[test]
fn reduce() {
    check_table(include_str!("arrays/reduce.tsv"));
}

#[test]
fn element() {
    check_table(include_str!("arrays/element.tsv"));
}

/// Rows of a sliced column give what they give in the whole one.
#[test]
fn slices() {
    let arrays = column(
        "Array(Nullable(UInt8))",
        &["[9]", "[3,1,NULL,3]", "[]", "[2]"],
    );
    let numbers = column("Int64", &["7", "2", "-1", "1"]);
    let unary = [
        "arrayReverse",
        "arrayPopBack",
        "arrayDistinct",
        "arrayUniq",
        "arrayEnumerateDense",
        "arrayZip",
    ];
    let with_number = [
        "arrayElement",
        "has",
        "arraySlice",
        "arrayResize",
        "arrayPushBack",
        "arrayRotateLeft",
        "countEqual",
    ];
    let calls = unary.map(|name| (name, vec![arrays.clone()]));
    let more = with_number.map(|name| (name, vec![arrays.clone(), numbers.clone()]));
    let sets = ["arrayConcat", "arrayIntersect", "hasAny"]
        .map(|name| (name, vec![arrays.clone(), arrays.clone()]));
    for (name, args) in calls.into_iter().chain(more).chain(sets) {
        let whole = call(name, &args, 4).expect(name);
        let parts: Vec<Input> = args
            .iter()
            .map(|a| Input {
                data_type: a.data_type.clone(),
                column: Column::new(a.column.array.slice(1, 2)),
            })
            .collect();
        let part = call(name, &parts, 2).expect(name);
        let whole = texts(&whole.data_type, &whole.column.array);
        assert_eq!(
            texts(&part.data_type, &part.column.array),
            whole[1..3],
            "{name}"
        );
    }
}
