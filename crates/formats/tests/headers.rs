//! Headers that formats without one may have: a row of names, and a row of types behind it.

use std::io::Cursor;

use arrow::array::AsArray;
use basalt_formats::{Columns, FormatSettings, header_len, input};
use basalt_types::DataType;

/// Names of types, which look like a row of types where a row of names stands in front.
const TEXT: &str = "a\nString\nUInt8\n";

fn columns() -> Columns {
    vec![("a".to_owned(), DataType::String)]
}

/// The values of column `a`; `header_len` is known where the text is not the first part of a file.
fn values(format: &str, header_len: Option<usize>) -> Vec<String> {
    let source = Box::new(Cursor::new(TEXT));
    let reader = input(format, &columns(), &FormatSettings::default(), source);
    let mut reader = reader.expect("a reader");
    if let Some(len) = header_len {
        reader.begins_with_header(len);
    }
    let batch = reader.next_block().expect("rows").expect("a block");
    let values = batch.column(0).as_binary_view();
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    values.iter().flatten().map(text).collect()
}

#[test]
fn only_the_first_part_of_a_file_finds_types() {
    for format in ["CSV", "TSV", "TSVRaw"] {
        assert_eq!(values(format, None), ["UInt8"], "{format}");
        assert_eq!(values(format, Some(9)), ["UInt8"], "{format}");
        assert_eq!(values(format, Some(2)), ["String", "UInt8"], "{format}");
        let len = header_len(
            format,
            &columns(),
            &FormatSettings::default(),
            TEXT.as_bytes(),
        );
        assert_eq!(len, Ok(9), "{format}");
    }
}
