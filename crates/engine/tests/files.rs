//! Runs statements that read and write files: what `tests/sql` cannot show, as it has none.

use std::fs;
use std::path::PathBuf;

use basalt_engine::{Database, Io, Session};

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("files-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn num_files(&self) -> usize {
        fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(sql: &str) -> Result<String, String> {
    let database = Database::in_memory().unwrap();
    let mut session = Session::new(&database);
    let mut out = Vec::new();
    let parsed = basalt_parser::parse_statement(sql).map_err(|e| e.to_string())?;
    let io = Io {
        out: &mut out,
        input: None,
    };
    let ran = session.run(sql.as_bytes(), &parsed, io);
    ran.map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A query that fails when rows have been written.
const FAILS: &str = "SELECT throwIf(number = 150000) FROM numbers(200000)";

#[test]
fn failed_outfiles_leave_nothing() {
    let folder = Folder::new("outfile");
    let path = folder.file("x.tsv");
    run(&format!("{FAILS} INTO OUTFILE '{path}'")).unwrap_err();
    assert_eq!(folder.num_files(), 0);
    run(&format!("SELECT 1 INTO OUTFILE '{path}'")).unwrap();
    for mode in ["TRUNCATE", "APPEND"] {
        run(&format!("{FAILS} INTO OUTFILE '{path}' {mode}")).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n", "{mode}");
    }
    run(&format!("SELECT 2 INTO OUTFILE '{path}' APPEND")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n");
    run(&format!("SELECT 3 INTO OUTFILE '{path}'")).unwrap_err();
    let shown = run(&format!(
        "SELECT 3 INTO OUTFILE '{path}' TRUNCATE AND STDOUT"
    ))
    .unwrap();
    assert_eq!((shown.as_str(), folder.num_files()), ("3\n", 1));
    assert_eq!(fs::read_to_string(&path).unwrap(), "3\n");
}

/// Files that are cut in parts, with a wrong value near the end.
#[test]
fn errors_count_rows_from_the_start_of_the_file() {
    let folder = Folder::new("rows");
    let row = |i: u32, quote: &str| match i {
        650_000 => format!("{quote}x{quote}"),
        i => format!("{}", i + 1_000_000),
    };
    let files = [
        ("CSVWithNames", "b\n", "", "\n"),
        ("TSV", "", "", "\n"),
        ("JSONEachRow", "", "{\"b\": ", "}\n"),
        ("JSONCompactEachRowWithNames", "[\"b\"]\n", "[", "]\n"),
    ];
    for (format, header, before, behind) in files {
        let path = folder.file(format);
        let quote = if format.starts_with("JSON") { "\"" } else { "" };
        let rows = (0..700_000).map(|i| format!("{before}{}{behind}", row(i, quote)));
        let text: String = std::iter::once(header.to_string()).chain(rows).collect();
        fs::write(&path, &text).unwrap();
        let e = run(&format!(
            "SELECT sum(b) FROM file('{path}', {format}, 'b UInt64')"
        ));
        let byte = header.len() + 650_000 * (before.len() + behind.len() + 7);
        let place = format!("(at row 650001, from byte {byte} on)");
        let e = e.unwrap_err();
        assert!(e.contains(&place), "{format}: {e}");
    }
}
