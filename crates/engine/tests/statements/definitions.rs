//! Runs statements whose definitions cannot be kept: no row is lost, whatever is acknowledged later.

use std::fs;

use basalt_engine::{Database, Session};

use crate::{Folder, run};

fn open(folder: &Folder) -> Session {
    Session::new(&Database::open(&folder.0).expect("a database"))
}

const ENGINES: [&str; 2] = ["MergeTree ORDER BY a", "Mmap"];

fn counts(session: &mut Session, tables: &[&str]) -> Vec<String> {
    let count = |table: &&str| run(session, &format!("SELECT count() FROM {table}"));
    tables
        .iter()
        .map(count)
        .map(|count| count.unwrap_or_else(|e| e))
        .collect()
}

#[test]
fn rows_go_when_it_is_kept_that_their_table_is_gone() {
    for (i, engine) in ENGINES.into_iter().enumerate() {
        let folder = Folder::new(&format!("definitions-drop-{i}"));
        let mut session = open(&folder);
        for table in ["dropped", "replaced", "renamed"] {
            let create = format!("CREATE TABLE {table} (a UInt8) ENGINE = {engine}");
            run(&mut session, &create).expect("a table");
            let insert = format!("INSERT INTO {table} VALUES (1), (2), (3)");
            run(&mut session, &insert).expect("rows");
        }
        // The file that is to become the definitions cannot be written.
        let new = folder.0.join("definitions.sql.new");
        fs::create_dir(&new).expect("a folder in the way");
        let replace =
            format!("CREATE OR REPLACE TABLE replaced ENGINE = {engine} AS SELECT 1 AS a");
        for statement in [
            "DROP TABLE dropped",
            &replace,
            "RENAME TABLE renamed TO other",
        ] {
            let error = run(&mut session, statement).expect_err("no definitions");
            assert!(error.contains("Cannot keep definitions"), "{error}");
        }
        drop(session);
        let mut again = open(&folder);
        let rows = counts(&mut again, &["dropped", "replaced", "renamed"]);
        assert_eq!(rows, ["3\n"; 3], "{engine}");
        fs::remove_dir(&new).expect("no folder in the way");
        run(&mut again, "DROP TABLE dropped").expect("one table less");
        run(&mut again, &replace).expect("another table");
        drop(again);
        let mut last = open(&folder);
        let rows = counts(&mut last, &["replaced", "renamed"]);
        assert_eq!(rows, ["1\n", "3\n"], "{engine}");
        let tables = fs::read_dir(folder.0.join("store")).map_or(0, Iterator::count);
        assert_eq!(tables, 2, "{engine}");
    }
}

#[test]
fn rows_are_not_taken_by_a_table_that_is_not_kept() {
    for (i, engine) in ENGINES.into_iter().enumerate() {
        let folder = Folder::new(&format!("definitions-create-{i}"));
        let mut session = open(&folder);
        run(&mut session, "CREATE TABLE first (a UInt8) ENGINE = Memory").expect("a table");
        let new = folder.0.join("definitions.sql.new");
        fs::create_dir(&new).expect("a folder in the way");
        let create = format!("CREATE TABLE t (a UInt8) ENGINE = {engine}");
        run(&mut session, &create).expect_err("no definitions");
        let insert = "INSERT INTO t VALUES (1), (2)";
        let error = run(&mut session, insert).expect_err("no definitions");
        assert!(error.contains("Cannot keep definitions"), "{error}");
        fs::remove_dir(&new).expect("no folder in the way");
        run(&mut session, insert).expect("rows");
        drop(session);
        assert_eq!(counts(&mut open(&folder), &["t"]), ["2\n"], "{engine}");
    }
}

#[test]
fn a_statement_that_fails_in_the_middle_keeps_what_it_did() {
    let folder = Folder::new("definitions-middle");
    let mut session = open(&folder);
    for table in ["a", "b"] {
        let create = format!("CREATE TABLE {table} (a UInt8) ENGINE = Mmap");
        run(&mut session, &create).expect("a table");
    }
    run(&mut session, "DROP TABLE a, nothing, b").expect_err("no such table");
    drop(session);
    let mut again = open(&folder);
    assert_eq!(run(&mut again, "SHOW TABLES").expect("tables"), "b\n");
    assert_eq!(counts(&mut again, &["b"]), ["0\n"]);
}
