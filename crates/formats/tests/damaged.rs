//! What is wrong with damaged bytes is told by the dialect's codes.

use std::io::Cursor;

use basalt_error::{Error, ErrorCode};
use basalt_formats::{Columns, FormatSettings, input};
use basalt_types::parse_data_type;

/// The code of the error that reading `bytes` as one column `a` ends with; none if they are read.
fn code(format: &str, data_type: &str, bytes: &[u8]) -> Option<ErrorCode> {
    let columns: Columns = vec![("a".to_owned(), parse_data_type(data_type).expect("a type"))];
    let source = Box::new(Cursor::new(bytes.to_vec()));
    let read = || {
        let mut reader = input(format, &columns, &FormatSettings::default(), source)?;
        while reader.next_block()?.is_some() {}
        Ok::<_, Error>(())
    };
    read().err().map(|e| e.code())
}

const ASSERTION: ErrorCode = ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED;

#[test]
fn values_that_are_skipped_are_json() {
    for value in [
        "zz",
        "1e",
        "-",
        "1.2.3",
        "NaN",
        "True",
        "[1,]",
        "[,]",
        "[1 2]",
        "[zz]",
        "[1}",
        "{a:1}",
        "{\"a\"}",
        "{\"a\" 1}",
        "{\"a\":zz}",
        "{,}",
        "[[1],{\"b\":[zz]}]",
        "[1",
    ] {
        let row = format!("{{\"b\":{value},\"a\":7}}");
        let found = code("JSONEachRow", "UInt8", row.as_bytes());
        assert_eq!(found, Some(ErrorCode::INCORRECT_DATA), "{value}");
    }
    for value in [
        "null",
        "true",
        "-inf",
        "+1",
        ".5",
        "01",
        "1e5",
        "[]",
        "[1,[2]]",
        "{}",
        "{\"a\":1,}",
        "{\"a\":{\"b\":[]}}",
        "\"x\\\"\"",
    ] {
        let row = format!("{{\"b\":{value},\"a\":7}}");
        assert_eq!(
            code("JSONEachRow", "UInt8", row.as_bytes()),
            None,
            "{value}"
        );
    }
    for value in ["nul", "tru", "nan", "1x"] {
        let row = format!("{{\"b\":{value},\"a\":7}}");
        assert_eq!(
            code("JSONEachRow", "UInt8", row.as_bytes()),
            Some(ASSERTION),
            "{value}"
        );
    }
}

const HEADER: &[u8] = b"a\nUInt8\tUInt8\n1\n";

/// A format, the type of its column, a text of it, and the code of its error.
const DAMAGED_TEXTS: &[(&str, &str, &[u8], ErrorCode)] = &[
    (
        "TSVWithNamesAndTypes",
        "UInt8",
        HEADER,
        ErrorCode::INCORRECT_DATA,
    ),
    (
        "JSONEachRow",
        "Int32",
        b"{\"a\":",
        ErrorCode::ATTEMPT_TO_READ_AFTER_EOF,
    ),
    (
        "JSONEachRow",
        "Bool",
        b"{\"a\":zz}",
        ErrorCode::CANNOT_PARSE_BOOL,
    ),
    (
        "JSONEachRow",
        "Float64",
        b"{\"a\":zz}",
        ErrorCode::CANNOT_PARSE_NUMBER,
    ),
    (
        "JSONEachRow",
        "Array(UInt8)",
        b"{\"a\":zz}",
        ErrorCode::CANNOT_READ_ARRAY_FROM_TEXT,
    ),
    (
        "JSONEachRow",
        "String",
        b"{\"a\":zz}",
        ErrorCode::INCORRECT_DATA,
    ),
    (
        "JSONEachRow",
        "UUID",
        b"{\"a\":\"61f0",
        ErrorCode::CANNOT_PARSE_UUID,
    ),
    (
        "JSONEachRow",
        "Int32",
        b"{zz:1}",
        ErrorCode::CANNOT_PARSE_QUOTED_STRING,
    ),
    ("CSV", "UInt8", b"\"12", ASSERTION),
    ("TSKV", "UInt8", b"a=1", ErrorCode::CANNOT_READ_ALL_DATA),
    ("TSKV", "UInt8", b"a=1\t\n", ErrorCode::INCORRECT_DATA),
    ("Values", "String", b"('a", ErrorCode::SYNTAX_ERROR),
    (
        "Values",
        "UInt8",
        b"(",
        ErrorCode::ATTEMPT_TO_READ_AFTER_EOF,
    ),
    (
        "TSV",
        "DateTime",
        b"2020-01-0z 03:04:05\n",
        ErrorCode::CANNOT_PARSE_DATETIME,
    ),
];

#[test]
fn codes_of_damaged_texts() {
    for (format, data_type, bytes, expected) in DAMAGED_TEXTS {
        assert_eq!(
            code(format, data_type, bytes),
            Some(*expected),
            "{format} {data_type}"
        );
    }
}

#[test]
fn codes_of_damaged_bytes() {
    let enumeration = "Enum8('a' = 1)";
    let in_native = b"\x01\x01\x01a\x0eEnum8('a' = 1)\x07";
    let too_long = b"\xff\xff\xff\xff\xff\x0f";
    assert_eq!(code("RowBinary", enumeration, b"\x01"), None);
    let unknown = Some(ErrorCode::UNKNOWN_ELEMENT_OF_ENUM);
    assert_eq!(code("RowBinary", enumeration, b"\x07"), unknown);
    assert_eq!(code("Native", enumeration, in_native), unknown);
    let too_large = Some(ErrorCode::TOO_LARGE_STRING_SIZE);
    assert_eq!(code("RowBinary", "String", too_long), too_large);
}
