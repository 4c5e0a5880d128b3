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
    values_of(TEXT, format, header_len)
}

fn values_of(text: &'static str, format: &str, header_len: Option<usize>) -> Vec<String> {
    let source = Box::new(Cursor::new(text));
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
        assert_eq!(
            values(format, Some(0)),
            ["a", "String", "UInt8"],
            "{format}"
        );
        let len = header_len(
            format,
            &columns(),
            &FormatSettings::default(),
            TEXT.as_bytes(),
        );
        assert_eq!(len, Ok(9), "{format}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_names() {
    let settings = FormatSettings::default();
    for format in ["CSV", "TSV"] {
        let len = |text: &str| header_len(format, &columns(), &settings, text.as_bytes());
        // What later parts begin with: the mark and the names, or nothing.
        assert_eq!(len("\u{feff}a\nb\n"), Ok(5), "{format}");
        assert_eq!(len("\u{feff}b\na\n"), Ok(0), "{format}");
        let values = |text, len| values_of(text, format, Some(len));
        assert_eq!(values("\u{feff}a\na\nb\n", 5), ["a", "b"], "{format}");
        assert_eq!(values("\u{feff}a\nb\n", 0), ["a", "b"], "{format}");
    }
}
