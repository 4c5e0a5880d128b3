//! Checks functions of strings against values from ClickHouse, and how their results are built.

mod characters;
mod edits;

use arrow::array::AsArray;

use crate::strings_testing::check_table;
use basalt_functions::Column;
use basalt_functions::scalar::strings::output::{Slicer, StringWriter};

#[test]
fn strings_are_measured_cut_and_joined() {
    check_table(include_str!("strings/strings.tsv"));
}

#[test]
fn sizes_times_and_character_sets_are_written() {
    check_table(include_str!("strings/readable.tsv"));
}

#[test]
fn pieces_share_the_buffers_of_their_source() {
    let mut writer = StringWriter::default();
    writer
        .push(b"a string that is long enough to lie in a buffer")
        .expect("fits");
    writer.push(b"short").expect("fits");
    let column = Column::new(writer.finish().expect("valid"));
    let mut slicer = Slicer::new(&column, 3).expect("binary");
    slicer.push(0, 2..30);
    slicer.push(0, 2..8);
    slicer.push(1, 1..99);
    let pieces = slicer.finish().expect("valid");
    let pieces = pieces.as_binary_view();
    assert_eq!(pieces.value(0), b"string that is long enough t");
    assert_eq!(pieces.value(1), b"string");
    assert_eq!(pieces.value(2), b"hort");
    let source = column.array.as_binary_view().data_buffers();
    assert_eq!(pieces.data_buffers()[0].as_ptr(), source[0].as_ptr());
}
