//! Writes columns of every type as Parquet and Arrow and reads them back: types and values hold.

use std::io::Cursor;
use std::sync::Arc;

use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use basalt_formats::{Columns, FormatSettings, Statistics, infer, input, output};
use basalt_types::text::{ColumnText, Style, TextOptions};
use basalt_types::{ColumnBuilder, parse_data_type};

/// A type, values of it as text (`NULL` is one), and the types that Parquet and Arrow make of it.
type Case = (&'static str, [&'static str; 2], &'static str, &'static str);

const CASES: &[Case] = &[
    ("UInt8", ["0", "255"], "UInt8", "UInt8"),
    ("Int64", ["-9223372036854775808", "1"], "Int64", "Int64"),
    ("Float32", ["1.5", "nan"], "Float32", "Float32"),
    ("Bool", ["true", "false"], "Bool", "Bool"),
    ("String", ["", "a\\'b"], "String", "String"),
    (
        "FixedString(2)",
        ["ab", "cd"],
        "FixedString(2)",
        "FixedString(2)",
    ),
    ("Date", ["1970-01-01", "2149-06-06"], "Date32", "Date32"),
    ("Date32", ["1900-01-01", "2299-12-31"], "Date32", "Date32"),
    (
        "DateTime64(3, 'UTC')",
        ["1969-12-31 23:59:59.999", "2024-01-02 03:04:05.678"],
        "DateTime64(3, 'UTC')",
        "DateTime64(3, 'UTC')",
    ),
    (
        "Decimal(9, 2)",
        ["-1.25", "3"],
        "Decimal(9, 2)",
        "Decimal(9, 2)",
    ),
    (
        "Decimal(76, 4)",
        ["-1.25", "3"],
        "Decimal(76, 4)",
        "Decimal(76, 4)",
    ),
    (
        "UUID",
        [
            "61f0c404-5cb3-11e7-907b-a6006ad3dba0",
            "00000000-0000-0000-0000-000000000001",
        ],
        "UUID",
        "UUID",
    ),
    (
        "Nullable(Int16)",
        ["NULL", "7"],
        "Nullable(Int16)",
        "Nullable(Int16)",
    ),
    (
        "Array(Nullable(Date))",
        ["[]", "[NULL,'2024-01-02']"],
        "Array(Nullable(Date32))",
        "Array(Nullable(Date32))",
    ),
    (
        "Tuple(a UInt8, b String)",
        ["(1,'x')", "(2,'')"],
        "Tuple(a UInt8, b String)",
        "Tuple(a UInt8, b String)",
    ),
    (
        "Map(String, Array(UInt8))",
        ["{}", "{'k':[1,2]}"],
        "Map(String, Array(UInt8))",
        "Map(String, Array(UInt8))",
    ),
    ("Enum8('a b' = -1, 'c' = 2)", ["a b", "c"], "String", "Int8"),
    ("LowCardinality(String)", ["x", "y"], "String", "String"),
];

fn batch_of(header: &Columns, texts: [&str; 2]) -> RecordBatch {
    let data_type = &header[0].1;
    let mut column = ColumnBuilder::new(data_type, 2).expect("builder");
    for text in texts {
        if text == "NULL" {
            column.append_null();
        } else {
            column.append_text(text.as_bytes()).expect("a value");
        }
    }
    let schema = Arc::new(Schema::new(vec![data_type.field("c")]));
    RecordBatch::try_new(schema, vec![column.finish().expect("array")]).expect("batch")
}

fn written(format: &str, header: &Columns, batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let sink = output(format, header, &FormatSettings::default());
    let mut sink = sink.expect("the format is written");
    sink.write_batch(batch, &mut bytes).expect("rows");
    sink.finish(&Statistics::default(), &mut bytes)
        .expect("end");
    bytes
}

fn texts(header: &Columns, batch: &RecordBatch) -> Vec<String> {
    let text = ColumnText::new(&header[0].1, batch.column(0), TextOptions::default());
    let text = text.expect("text");
    let row = |row| {
        let mut out = Vec::new();
        text.write(row, Style::Plain, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    (0..batch.num_rows()).map(row).collect()
}

#[test]
fn types_and_values_come_back() {
    let settings = FormatSettings::default();
    for (name, values, in_parquet, in_arrow) in CASES {
        let data_type = parse_data_type(name).expect("a type");
        let header: Columns = vec![("c".to_owned(), data_type)];
        let batch = batch_of(&header, *values);
        for (format, expected) in [
            ("Parquet", in_parquet),
            ("Arrow", in_arrow),
            ("ArrowStream", in_arrow),
        ] {
            let bytes = written(format, &header, &batch);
            let found = infer(format, Box::new(Cursor::new(bytes.clone())), &settings);
            let found = found.expect("a structure");
            assert_eq!(found[0].1.to_string(), *expected, "{name} in {format}");
            let mut reader =
                input(format, &found, &settings, Box::new(Cursor::new(bytes))).expect("reader");
            let read = reader.next_block().expect("rows").expect("a block");
            if !name.starts_with("Enum") || format == "Parquet" {
                assert_eq!(
                    texts(&found, &read),
                    texts(&header, &batch),
                    "{name} in {format}"
                );
            }
        }
    }
}

#[test]
fn strings_may_be_any_bytes() {
    let settings = FormatSettings::default();
    let header: Columns = vec![("c".to_owned(), parse_data_type("String").expect("a type"))];
    let mut column = ColumnBuilder::new(&header[0].1, 1).expect("builder");
    column.append_raw(b"\xff\x00\xc3").expect("bytes");
    let schema = Arc::new(Schema::new(vec![header[0].1.field("c")]));
    let batch = RecordBatch::try_new(schema, vec![column.finish().expect("array")]);
    let batch = batch.expect("batch");
    for format in ["Parquet", "Arrow", "ArrowStream"] {
        let bytes = written(format, &header, &batch);
        let reader = input(format, &header, &settings, Box::new(Cursor::new(bytes)));
        let read = reader.expect("reader").next_block();
        let read = read.expect("rows").expect("a block");
        assert_eq!(
            read.column(0).as_ref(),
            batch.column(0).as_ref(),
            "{format}"
        );
    }
}

#[test]
fn sixteen_bytes_are_read_as_the_declared_type() {
    let settings = FormatSettings::default();
    for (name, values) in [
        ("IPv6", ["::1", "2001:db8::1"]),
        ("Nullable(IPv6)", ["NULL", "2001:db8::1"]),
        ("Array(IPv6)", ["[]", "['::1','2001:db8::1']"]),
        (
            "Map(String, Nullable(IPv6))",
            ["{}", "{'a':NULL,'b':'::1'}"],
        ),
        ("Tuple(a IPv6, b UInt8)", ["('::1',1)", "('2001:db8::1',2)"]),
        ("Array(Tuple(a Nullable(IPv6)))", ["[(NULL)]", "[('::1')]"]),
        (
            "UUID",
            [
                "61f0c404-5cb3-11e7-907b-a6006ad3dba0",
                "00000000-0000-0000-0000-000000000001",
            ],
        ),
    ] {
        let header: Columns = vec![("c".to_owned(), parse_data_type(name).expect("a type"))];
        let batch = batch_of(&header, values);
        for format in ["Arrow", "ArrowStream", "Parquet"] {
            let bytes = written(format, &header, &batch);
            let reader = input(format, &header, &settings, Box::new(Cursor::new(bytes)));
            let read = reader.expect("reader").next_block();
            let read = read.expect("rows").expect("a block");
            let found = texts(&header, &read);
            assert_eq!(found, texts(&header, &batch), "{name} in {format}");
        }
    }
}

#[test]
fn maps_of_nothing_are_written_as_arrow() {
    let settings = FormatSettings::default();
    let data_type = parse_data_type("Map(Nothing, Nothing)").expect("a type");
    let header: Columns = vec![("c".to_owned(), data_type)];
    let batch = batch_of(&header, ["{}", "{}"]);
    for format in ["Arrow", "ArrowStream"] {
        let bytes = written(format, &header, &batch);
        let reader = input(format, &header, &settings, Box::new(Cursor::new(bytes)));
        let read = reader.expect("reader").next_block();
        let read = read.expect("rows").expect("a block");
        assert_eq!(texts(&header, &read), ["{}", "{}"], "{format}");
    }
    let e = output("Parquet", &header, &settings).err();
    assert_eq!(e.map(|e| e.code().number), Some(50));
}
