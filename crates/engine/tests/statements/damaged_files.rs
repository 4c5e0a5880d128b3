//! Cuts files at every kind of place: none of them may pass as a whole one.

use std::fs;

use crate::{Folder, run_alone};

/// Reads the bytes as a file of that name; an error names the file.
fn read(folder: &Folder, name: &str, format: &str, bytes: &[u8]) -> Result<String, String> {
    let path = folder.file(name);
    fs::write(&path, bytes).expect("a file");
    let structure = "number UInt64, hash UInt64";
    let sql = format!("SELECT count() FROM file('{path}', '{format}', '{structure}')");
    let result = run_alone(&sql);
    if let Err(e) = &result {
        assert!(e.contains(&path), "{name}: {e}");
    }
    result
}

fn whole(folder: &Folder, name: &str, format: &str) -> Vec<u8> {
    let path = folder.file(name);
    let rows = "SELECT number, cityHash64(number) AS hash FROM numbers(30000)";
    run_alone(&format!("{rows} INTO OUTFILE '{path}' FORMAT {format}")).expect("written");
    fs::read(path).expect("a file")
}

fn cuts(len: usize) -> [usize; 5] {
    // One byte behind halves and thirds, which may be ends of rows.
    [len - 1, len - 10, len / 2 + 1, len / 3 + 1, 3]
}

#[test]
fn compressed_files_are_whole_or_an_error() {
    let folder = Folder::new("compressed");
    let methods = [
        ("gz", "Code: 354"),
        ("zst", "Code: 561"),
        ("lz4", "Code: 618"),
        ("bz2", "Code: 33"),
        ("xz", "Code: 554"),
        ("br", "Code: 448"),
        ("deflate", "Code: 354"),
    ];
    for (ending, code) in methods {
        let bytes = whole(&folder, &format!("whole.tsv.{ending}"), "TSV");
        let name = format!("x.tsv.{ending}");
        assert_eq!(read(&folder, &name, "TSV", &bytes).unwrap(), "30000\n");
        assert_eq!(read(&folder, &name, "TSV", b"").unwrap(), "0\n", "{ending}");
        let garbage = b"no stream of any method, at all".repeat(10);
        let error = read(&folder, &name, "TSV", &garbage).unwrap_err();
        assert!(error.starts_with(code), "{ending}: {error}");
        // A frame of LZ4 that lacks a byte of its end mark has all of its blocks.
        let is_bare_end = |len: &usize| ending == "lz4" && *len + 4 > bytes.len();
        for len in cuts(bytes.len()).into_iter().filter(|l| !is_bare_end(l)) {
            let error = read(&folder, &name, "TSV", &bytes[..len]);
            let error = error.expect_err(&format!("{ending} cut at {len}"));
            assert!(error.starts_with(code), "{ending} cut at {len}: {error}");
        }
    }
}

#[test]
fn binary_files_are_whole_or_an_error() {
    let folder = Folder::new("binary");
    for format in ["Parquet", "Arrow", "ArrowStream", "Native", "RowBinary"] {
        let bytes = whole(&folder, &format!("whole.{format}"), format);
        let name = format!("x.{format}");
        assert_eq!(read(&folder, &name, format, &bytes).unwrap(), "30000\n");
        for len in cuts(bytes.len()) {
            let result = read(&folder, &name, format, &bytes[..len]);
            assert!(result.is_err(), "{format} cut at {len}: {result:?}");
        }
    }
}

#[test]
fn documents_are_whole_or_an_error() {
    let folder = Folder::new("documents");
    let formats = [
        "JSON",
        "JSONCompact",
        "JSONColumns",
        "JSONCompactColumns",
        "JSONColumnsWithMetadata",
        "JSONObjectEachRow",
    ];
    for format in formats {
        let bytes = whole(&folder, &format!("whole.{format}"), format);
        let bytes = bytes.trim_ascii_end();
        let name = format!("x.{format}");
        assert_eq!(read(&folder, &name, format, bytes).unwrap(), "30000\n");
        let commas = (bytes.len() / 2..bytes.len()).filter(|i| bytes[*i] == b',');
        let behind_commas = commas.step_by(997).map(|i| i + 1);
        for len in behind_commas.chain(cuts(bytes.len())) {
            let result = read(&folder, &name, format, &bytes[..len]);
            assert!(result.is_err(), "{format} cut at {len}: {result:?}");
        }
    }
}

/// Lengths that are not there: an error before memory of that length is wanted.
#[test]
fn arrows_lengths_are_checked() {
    let folder = Folder::new("lengths");
    // Stands behind the length of decompressed bytes.
    let lz4_magic = [0x04, 0x22, 0x4d, 0x18];
    for format in ["Arrow", "ArrowStream"] {
        let mut bytes = whole(&folder, &format!("whole.{format}"), format);
        let frame = bytes.windows(4).position(|w| w == lz4_magic);
        let length = frame.expect("a compressed buffer") - 8;
        bytes[length..length + 8].copy_from_slice(&(1_i64 << 40).to_le_bytes());
        let error = read_number(&folder, format, &bytes);
        assert!(error.contains("a length in it is wrong"), "{error}");
    }
    let mut file = whole(&folder, "footer.arrow", "Arrow");
    let footer = file.len() - 10;
    file[footer..footer + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    let error = read_number(&folder, "Arrow", &file);
    assert!(error.contains("a length in it is wrong"), "{error}");
    let stream = [[0xff; 4], i32::MAX.to_le_bytes()].concat();
    let error = read_number(&folder, "ArrowStream", &stream);
    assert!(error.contains("Code: 33"), "{error}");
    // A block of no columns may not have rows.
    let error = read_number(&folder, "Native", b"\x00\xff\xff\xff\x7f");
    assert!(error.contains("rows of no columns"), "{error}");
}

fn read_number(folder: &Folder, format: &str, bytes: &[u8]) -> String {
    let path = folder.file("x");
    fs::write(&path, bytes).expect("a file");
    let sql = format!("SELECT sum(number) FROM file('{path}', '{format}', 'number UInt64')");
    run_alone(&sql).expect_err(format)
}

/// Rows are counted without looking at their values, unless the settings ask for these.
#[test]
fn rows_are_counted_without_their_values() {
    let folder = Folder::new("counted");
    for (format, text, rows) in [
        ("CSV", "1,a\nx,b\n3,\"q\nr\"\n4,d", "4\n"),
        ("CSVWithNames", "a,b\n1,a\nx,b\n", "2\n"),
        ("TSV", "1\ta\nx\tb\n\n4\td", "4\n"),
        (
            "TSVWithNamesAndTypes",
            "a\tb\nUInt8\tString\n1\ta\nx\tb\n",
            "2\n",
        ),
        (
            "JSONEachRow",
            "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":[],\"c\":{}}",
            "3\n",
        ),
        ("JSONCompactEachRow", "[1,\"a\"]\n[\"x\",\"b\"]\n[3]", "3\n"),
        (
            "JSONObjectEachRow",
            "{\"r1\":{\"a\":1},\"r2\":{\"a\":\"x\"}}",
            "2\n",
        ),
        ("TSKV", "a=1\tb=x\na=x\tb=y", "2\n"),
        ("Values", "(1,'a'),('x','b')", "2\n"),
        ("CustomSeparated", "1\ta\nx\tb\n", "2\n"),
    ] {
        let path = folder.file("x");
        fs::write(&path, text).expect("a file");
        let file = format!("file('{path}', '{format}', 'a UInt8, b String')");
        let count = format!("SELECT count() FROM {file}");
        assert_eq!(run_alone(&count).as_deref(), Ok(rows), "{format}");
        let by_file = format!("SELECT count() FROM {file} GROUP BY _file");
        assert_eq!(run_alone(&by_file).as_deref(), Ok(rows), "{format}");
        let read = format!("{count} SETTINGS optimize_count_from_files = 0");
        run_alone(&read).expect_err(format);
    }
}

/// A last row that does not end may be left out as any other.
#[test]
fn a_wrong_last_row_is_left_out() {
    let folder = Folder::new("last_row");
    for (format, text) in [
        ("CSV", "1\n2\nx"),
        ("TSV", "1\n2\nx"),
        ("JSONEachRow", "{\"a\":1}\n{\"a\":2}\n{\"a\":\"x\""),
    ] {
        let path = folder.file("x");
        fs::write(&path, text).expect("a file");
        let sql = format!(
            "SELECT * FROM file('{path}', '{format}', 'a UInt8') \
             SETTINGS input_format_allow_errors_num = 1"
        );
        assert_eq!(run_alone(&sql).as_deref(), Ok("1\n2\n"), "{format}");
    }
}
