//! Compares what the formats write and read with what ClickHouse does, as `golden/record.py`
//! recorded it.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_formats::{Columns, FormatSettings, Statistics, infer, input, output};
use basalt_types::parse::parse_structure;
use basalt_types::text::escape::unescape;

fn golden(name: &str) -> PathBuf {
    // Asked at run time: a cached binary may come from another clone.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("tests are run by cargo");
    Path::new(&package).join("tests/golden").join(name)
}

fn read_batches(format: &str, columns: &Columns, text: &[u8]) -> Result<Vec<RecordBatch>> {
    let source = Box::new(Cursor::new(text.to_vec()));
    let mut reader = input(format, columns, &FormatSettings::default(), source)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_block()? {
        batches.push(batch);
    }
    Ok(batches)
}

fn write_batches(format: &str, columns: &Columns, batches: &[RecordBatch]) -> Vec<u8> {
    write_all(format, columns, batches, None)
}

fn write_all(
    format: &str,
    columns: &Columns,
    batches: &[RecordBatch],
    totals: Option<&RecordBatch>,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut sink = output(format, columns, &FormatSettings::default()).expect("a format");
    for batch in batches {
        sink.write_batch(batch, &mut out).expect("rows");
    }
    if let Some(totals) = totals {
        sink.totals(&totals.slice(0, 1), &mut out).expect("totals");
        sink.extremes(&totals.slice(1, 2), &mut out)
            .expect("extremes");
    }
    let statistics = Statistics {
        elapsed: 0.5,
        rows_read: 1,
        bytes_read: 1,
        rows_before_limit_at_least: None,
    };
    sink.finish(&statistics, &mut out).expect("an end");
    out
}

/// Name and content of each section.
fn sections(path: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = std::fs::read(path).expect("a golden file");
    let mut sections: Vec<(String, Vec<u8>)> = Vec::new();
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if let Some(name) = line.strip_prefix(b"=== ") {
            sections.push((
                String::from_utf8_lossy(name.trim_ascii()).into_owned(),
                Vec::new(),
            ));
        } else if let Some((_, content)) = sections.last_mut() {
            content.extend_from_slice(line);
        }
    }
    for (_, content) in &mut sections {
        content.pop();
    }
    sections
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|b| format!("{b:02x}").into_bytes())
        .collect()
}

fn check_writing(name: &str) {
    let sections = sections(&golden(&format!("writing_{name}.txt")));
    let section = |name: &str| {
        sections
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, content)| content.as_slice())
    };
    let structure =
        String::from_utf8(section("structure").expect("a structure").to_vec()).expect("UTF-8");
    let columns = parse_structure(&structure).expect("a structure");
    let batches = read_batches("TSV", &columns, section("input").expect("input")).expect("rows");
    let totals =
        section("totals").map(|t| read_batches("TSV", &columns, t).expect("rows").remove(0));
    for (format, expected) in &sections {
        let is_binary =
            ["Native", "RowBinary", "RowBinaryWithNamesAndTypes"].contains(&format.as_str());
        if ["structure", "input", "totals"].contains(&format.as_str()) {
            continue;
        }
        let mut written = write_all(format, &columns, &batches, totals.as_ref());
        if is_binary {
            let back = read_batches(format, &columns, &written).expect("own bytes");
            assert_eq!(
                write_batches("TSV", &columns, &back),
                write_batches("TSV", &columns, &batches),
                "{format} of {name}"
            );
            written = hex(&written);
        }
        assert!(
            written == *expected,
            "{format} of {name}\nexpected:\n{}\nwritten:\n{}",
            String::from_utf8_lossy(expected),
            String::from_utf8_lossy(&written)
        );
    }
}

#[test]
fn types_are_written_as_by_clickhouse() {
    for name in ["types", "more", "nested", "keys", "text"] {
        check_writing(name);
    }
}

#[test]
fn shapes_are_written_as_by_clickhouse() {
    for name in ["rows", "wide", "empty", "tips", "totals"] {
        check_writing(name);
    }
}

fn code<T>(result: Result<T>, ok: impl FnOnce(T) -> String) -> String {
    match result {
        Ok(value) => ok(value),
        Err(e) => format!("error {}", e.code().number),
    }
}

#[test]
fn rows_and_types_are_read_as_by_clickhouse() {
    let recorded = std::fs::read(golden("reading.tsv")).expect("a golden file");
    let mut wrong = Vec::new();
    for line in recorded.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        let field = |field: &[u8]| {
            let mut text = Vec::new();
            unescape(field, &mut text).expect("escapes");
            String::from_utf8(text).expect("UTF-8")
        };
        let fields: Vec<String> = line.split(|b| *b == b'\t').map(field).collect();
        let [format, structure, text, types, rows] = fields.as_slice() else {
            panic!("five fields: {}", String::from_utf8_lossy(line));
        };
        let settings = FormatSettings::default();
        let columns = if structure.is_empty() {
            infer(format, Box::new(Cursor::new(text.clone())), &settings)
        } else {
            parse_structure(structure)
        };
        let described = code(columns.clone(), |columns| {
            columns
                .iter()
                .map(|(n, t)| format!("{n} {t}"))
                .collect::<Vec<_>>()
                .join(", ")
        });
        let found = code(
            columns.and_then(|columns| {
                let batches = read_batches(format, &columns, text.as_bytes())?;
                Ok(write_batches("TSV", &columns, &batches))
            }),
            |out| String::from_utf8_lossy(&out).into_owned(),
        );
        if structure.is_empty() && described != *types {
            wrong.push(format!(
                "{format} {text:?}: expected {types}, got {described}"
            ));
        } else if found != *rows {
            wrong.push(format!(
                "{format} {structure} {text:?}: expected {rows:?}, got {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn small_blocks_and_reads_change_nothing() {
    let columns = parse_structure("a UInt32, b String").expect("a structure");
    let mut text = Vec::new();
    for i in 0..5000 {
        text.extend_from_slice(format!("{i},\"x\n\"\"{i}\"\n").as_bytes());
    }
    let settings = FormatSettings {
        max_insert_block_size: 7,
        ..FormatSettings::default()
    };
    let source = std::io::BufReader::with_capacity(3, Cursor::new(text.clone()));
    let mut reader = input("CSV", &columns, &settings, Box::new(source)).expect("a reader");
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_block().expect("rows") {
        assert!(batch.num_rows() <= 7);
        batches.push(batch);
    }
    let whole = read_batches("CSV", &columns, &text).expect("rows");
    assert_eq!(
        write_batches("TSV", &columns, &batches),
        write_batches("TSV", &columns, &whole)
    );
    assert_eq!(
        batches.iter().map(RecordBatch::num_rows).sum::<usize>(),
        5000
    );
}

#[test]
fn arrow_and_parquet_come_back() {
    let structure = "a UInt8, b Nullable(String), c Array(Int64), d Tuple(x Float64, y Date32), e Map(String, UInt16), f Decimal(9, 2), g DateTime64(3, 'UTC'), h Bool";
    let columns = parse_structure(structure).expect("a structure");
    let rows = b"1\tx\t[1,-2]\t(1.5,'2020-01-01')\t{'k':7}\t1.25\t2020-01-01 00:00:00.5\ttrue\n2\t\\N\t[]\t(0,'1970-01-01')\t{}\t-3\t1970-01-01 00:00:00\tfalse\n";
    let batches = read_batches("TSV", &columns, rows).expect("rows");
    for format in ["Arrow", "ArrowStream", "Parquet"] {
        let bytes = write_batches(format, &columns, &batches);
        let source = Box::new(Cursor::new(bytes.clone()));
        let found = infer(format, source, &FormatSettings::default()).expect("a schema");
        assert_eq!(found, columns, "{format}");
        let back = read_batches(format, &columns, &bytes).expect("own bytes");
        assert_eq!(
            write_batches("TSV", &columns, &back),
            write_batches("TSV", &columns, &batches),
            "{format}"
        );
    }
}

#[test]
fn damaged_bytes_are_errors() {
    let columns =
        parse_structure("a UInt32, b String, c Array(Nullable(UInt8)), d LowCardinality(String)")
            .expect("a structure");
    let batches =
        read_batches("TSV", &columns, b"1\tx\t[1,NULL]\tq\n2\tyy\t[]\tw\n").expect("rows");
    for format in [
        "Native",
        "RowBinaryWithNamesAndTypes",
        "Arrow",
        "ArrowStream",
        "Parquet",
        "JSON",
    ] {
        let bytes = write_batches(format, &columns, &batches);
        for len in 0..bytes.len() {
            // Either an error or fewer rows, never a panic.
            let _ = read_batches(format, &columns, &bytes[..len]);
        }
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 0x55;
            if format == "Native" || format == "RowBinaryWithNamesAndTypes" {
                let _ = read_batches(format, &columns, &damaged);
                let _ = infer(
                    format,
                    Box::new(Cursor::new(damaged)),
                    &FormatSettings::default(),
                );
            }
        }
    }
}
