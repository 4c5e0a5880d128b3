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
