//! Runs statements over tables of mapped files: restarts, processes that share a folder, damage.

use std::fs;
use std::path::{Path, PathBuf};

use basalt_engine::{Database, Session};

use crate::Folder;

fn open(path: &Path) -> Session {
    Session::new(&Database::open(path).expect("a database"))
}

/// The result of a statement, or its error.
fn run(session: &mut Session, sql: &str) -> String {
    crate::run(session, sql).unwrap_or_else(|error| error)
}

/// The folder of the only table.
fn table(folder: &Folder) -> PathBuf {
    let tables = fs::read_dir(folder.0.join("store")).expect("tables").next();
    tables.expect("a table").expect("its folder").path()
}

const CREATE: &str = "CREATE TABLE t (a Int32, s String, l Array(Nullable(String))) ENGINE = Mmap";

const ROWS: &str = "INSERT INTO t SELECT number, concat('a string of some length ', toString(number)), \
    [toString(number), NULL] FROM numbers(100000)";

const SUMS: &str = "SELECT count(), sum(a), max(s), sum(length(l)), countIf(l[2] IS NULL) FROM t";

const OF_ROWS: &str = "100000\t4999950000\ta string of some length 99999\t200000\t100000\n";

#[test]
fn rows_are_there_after_a_restart() {
    let folder = Folder::new("mmap-restart");
    let mut first = open(&folder.0);
    assert_eq!(run(&mut first, CREATE), "");
    assert_eq!(run(&mut first, ROWS), "");
    assert_eq!(run(&mut first, SUMS), OF_ROWS);
    assert_eq!(run(&mut first, "RENAME TABLE t TO u"), "");
    drop(first);
    let mut second = open(&folder.0);
    assert_eq!(run(&mut second, &SUMS.replace(" t", " u")), OF_ROWS);
    let shown = run(&mut second, "SHOW CREATE TABLE u");
    assert!(
        shown.contains("ENGINE = Mmap") && !shown.contains("UUID"),
        "{shown}"
    );
    assert_eq!(run(&mut second, "RENAME TABLE u TO t"), "");
    assert_eq!(run(&mut second, "INSERT INTO t VALUES (-1, 'z', [])"), "");
    drop(second);
    let mut third = open(&folder.0);
    assert_eq!(
        run(&mut third, "SELECT count(), min(a), max(s) FROM t"),
        "100001\t-1\tz\n"
    );
    assert_eq!(run(&mut third, "TRUNCATE TABLE t"), "");
    assert_eq!(
        run(&mut third, "INSERT INTO t VALUES (5, 'five', ['x'])"),
        ""
    );
    drop(third);
    let mut fourth = open(&folder.0);
    assert_eq!(run(&mut fourth, "SELECT * FROM t"), "5\tfive\t['x']\n");
    let path = table(&folder);
    assert_eq!(run(&mut fourth, "DROP TABLE t"), "");
    assert!(!path.exists());
}

#[test]
fn readers_see_what_the_writer_has_written() {
    let folder = Folder::new("mmap-shared");
    let mut writer = open(&folder.0);
    assert_eq!(run(&mut writer, CREATE), "");
    let mut reader = open(&folder.0);
    assert_eq!(run(&mut reader, "SELECT count() FROM t"), "0\n");
    for i in 1..4 {
        assert_eq!(run(&mut writer, "INSERT INTO t VALUES (1, 'x', [])"), "");
        assert_eq!(run(&mut reader, "SELECT sum(a) FROM t"), format!("{i}\n"));
    }
    let refused = run(&mut reader, "INSERT INTO t VALUES (3, 'z', [])");
    assert!(refused.contains("Wait until process"), "{refused}");
    assert_eq!(run(&mut writer, "TRUNCATE TABLE t"), "");
    assert_eq!(run(&mut reader, "SELECT count() FROM t"), "0\n");
    drop(writer);
    assert_eq!(run(&mut reader, "INSERT INTO t VALUES (3, 'z', [])"), "");
    assert_eq!(run(&mut reader, "SELECT a, s FROM t"), "3\tz\n");
}

#[test]
fn a_failed_create_or_insert_leaves_nothing() {
    let folder = Folder::new("mmap-failed");
    let mut session = open(&folder.0);
    let create = "CREATE TABLE t ENGINE = Mmap AS SELECT throwIf(number = 3000000, 'no') AS n \
        FROM numbers(4000000)";
    assert!(run(&mut session, create).contains("Code: 395"));
    let store = folder.0.join("store");
    assert_eq!(fs::read_dir(&store).map_or(0, Iterator::count), 0);
    assert_eq!(run(&mut session, CREATE), "");
    assert_eq!(run(&mut session, ROWS), "");
    let bytes = || -> u64 {
        let files = fs::read_dir(table(&folder).join("1")).expect("columns");
        files
            .map(|f| f.expect("a file").metadata().expect("its length").len())
            .sum()
    };
    let before = bytes();
    let insert = "INSERT INTO t (a) SELECT throwIf(number = 3000000, 'no') FROM numbers(4000000)";
    assert!(run(&mut session, insert).contains("Code: 395"));
    assert_eq!(run(&mut session, SUMS), OF_ROWS);
    assert_eq!(bytes(), before);
}

#[test]
fn damage_is_told() {
    let folder = Folder::new("mmap-damage");
    let mut session = open(&folder.0);
    assert_eq!(run(&mut session, CREATE), "");
    assert_eq!(run(&mut session, ROWS), "");
    assert_eq!(
        run(&mut session, "CHECK TABLE t"),
        "1/0.column\t1\t\n1/1.column\t1\t\n1/2.column\t1\t\n"
    );
    drop(session);
    let path = table(&folder).join("1/1.column");
    let mut bytes = fs::read(&path).expect("a column");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("a damaged column");
    let mut session = open(&folder.0);
    let error = run(&mut session, SUMS);
    assert!(
        error.contains("Code: 246") && error.contains("Column `s`"),
        "{error}"
    );
    assert_eq!(run(&mut session, "SELECT sum(a) FROM t"), "4999950000\n");
    let checked = "CHECK TABLE t SETTINGS check_query_single_value_result = 1";
    assert_eq!(run(&mut session, checked), "0\n");
    assert!(run(&mut session, "CHECK TABLE t").contains("1/1.column\t0\tColumn `s`"));
}
