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

/// The folders of tables.
fn tables(folder: &Folder) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder.0.join("store")).expect("tables");
    entries
        .map(|entry| entry.expect("a table").path())
        .collect()
}

#[test]
fn damaged_definitions_are_an_error_and_cost_no_table() {
    let folder = Folder::new("definitions-damaged");
    let mut session = open(&folder);
    for (table, engine) in ["t", "u"].into_iter().zip(ENGINES) {
        let create = format!("CREATE TABLE {table} (a UInt8) ENGINE = {engine}");
        run(&mut session, &create).expect("a table");
        run(&mut session, &format!("INSERT INTO {table} VALUES (1)")).expect("a row");
    }
    drop(session);
    let file = folder.0.join("definitions.sql");
    let script = fs::read(&file).expect("definitions");
    let is_refused = |bytes: Option<&[u8]>, what: &str| {
        match bytes {
            Some(bytes) => fs::write(&file, bytes).expect("other definitions"),
            None => fs::remove_file(&file).expect("no definitions"),
        }
        let error = Database::open(&folder.0).err();
        let error = error.unwrap_or_else(|| panic!("{what} is no error"));
        assert_eq!(
            error.code(),
            basalt_error::ErrorCode::CORRUPTED_DATA,
            "{what}: {error}"
        );
        assert_eq!(tables(&folder).len(), 2, "{what}");
    };
    let checksum = script.trim_ascii_end().iter().rposition(|b| *b == b'\n');
    for at in (0..checksum.expect("a checksum")).step_by(3) {
        let mut damaged = script.clone();
        damaged[at] ^= 1;
        is_refused(Some(&damaged), &format!("byte {at}"));
    }
    let first = script.iter().position(|b| *b == b'\n').expect("a line") + 1;
    is_refused(Some(&script[..first]), "one table");
    is_refused(Some(b""), "nothing");
    is_refused(None, "no file");
    // Whoever changes it by hand takes the checksum away.
    let text = String::from_utf8(script).expect("a text");
    let end = text.find("-- checksum").expect("a checksum");
    let text = text[..end].replace("UInt8", "UInt8 COMMENT 'by hand'");
    fs::write(&file, &text).expect("definitions");
    let mut session = open(&folder);
    assert_eq!(counts(&mut session, &["t", "u"]), ["1\n"; 2]);
    run(&mut session, "DROP TABLE u").expect("one table less");
    assert_eq!(tables(&folder).len(), 1);
}

#[test]
fn readers_take_over_what_a_writer_changes_and_queries_end_that_have_begun() {
    let folder = Folder::new("definitions-readers");
    let mut writer = open(&folder);
    run(
        &mut writer,
        "CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a",
    )
    .expect("a table");
    run(&mut writer, "INSERT INTO t VALUES (1)").expect("a row");
    let mut reader = open(&folder);
    assert_eq!(run(&mut reader, "SELECT * FROM t").expect("rows"), "1\n");
    run(&mut writer, "ALTER TABLE t ADD COLUMN b UInt8 DEFAULT 7").expect("a column");
    assert_eq!(run(&mut reader, "SELECT * FROM t").expect("rows"), "1\t7\n");
    run(&mut writer, "CREATE VIEW v AS SELECT b FROM t").expect("a view");
    assert_eq!(run(&mut reader, "SELECT * FROM v").expect("rows"), "7\n");
    // The files of the table as it was are there for queries of other processes.
    let retired = || {
        tables(&folder)
            .iter()
            .filter(|t| t.join("retired").exists())
            .count()
    };
    assert_eq!((tables(&folder).len(), retired()), (2, 1));
    run(
        &mut writer,
        "ALTER TABLE t MODIFY SETTING old_parts_lifetime = 0",
    )
    .expect("a setting");
    run(&mut writer, "ALTER TABLE t DROP COLUMN a").expect_err("a key");
    run(&mut writer, "ALTER TABLE t ADD COLUMN c UInt8").expect("a column");
    assert_eq!((tables(&folder).len(), retired()), (2, 1));
    run(&mut writer, "DROP VIEW v").expect("no view");
    assert!(run(&mut reader, "SELECT * FROM v").is_err());
    // Their time over, they go.
    let old = tables(&folder)
        .into_iter()
        .find(|t| t.join("retired").exists())
        .expect("a table");
    fs::write(old.join("retired"), "0").expect("a mark");
    run(&mut writer, "DROP TABLE t").expect("no table");
    assert_eq!(tables(&folder).len(), 0);
}

#[test]
fn an_old_copy_of_the_definitions_costs_no_table() {
    let folder = Folder::new("definitions-old");
    let mut session = open(&folder);
    run(
        &mut session,
        "CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a",
    )
    .expect("a table");
    run(&mut session, "INSERT INTO t VALUES (1)").expect("a row");
    let file = folder.0.join("definitions.sql");
    let old = fs::read(&file).expect("definitions");
    run(&mut session, "ALTER TABLE t ADD COLUMN b UInt8").expect("a column");
    run(&mut session, "CREATE TABLE u (a UInt8) ENGINE = Mmap").expect("a table");
    run(&mut session, "INSERT INTO u VALUES (1)").expect("a row");
    drop(session);
    let new = fs::read(&file).expect("definitions");
    fs::write(&file, old).expect("an old copy");
    let mut session = open(&folder);
    run(&mut session, "CREATE TABLE n (a UInt8) ENGINE = Null").expect("a table");
    assert_eq!(counts(&mut session, &["t"]), ["1\n"]);
    drop(session);
    fs::write(&file, new).expect("the new definitions");
    assert_eq!(counts(&mut open(&folder), &["t", "u"]), ["1\n"; 2]);
}

#[test]
fn what_a_setting_allowed_is_there_again_without_it() {
    let folder = Folder::new("definitions-allowed");
    let mut session = open(&folder);
    run(
        &mut session,
        "SET allow_suspicious_low_cardinality_types = 1",
    )
    .expect("a setting");
    let create = "CREATE TABLE t (a LowCardinality(Int32)) ENGINE = MergeTree ORDER BY a";
    run(&mut session, create).expect("a table");
    run(&mut session, "INSERT INTO t VALUES (1), (2)").expect("rows");
    drop(session);
    let mut again = open(&folder);
    assert_eq!(counts(&mut again, &["t"]), ["2\n"]);
    let other = create.replace("TABLE t", "TABLE other");
    let error = run(&mut again, &other).expect_err("a setting is needed");
    assert!(
        error.contains("allow_suspicious_low_cardinality_types"),
        "{error}"
    );
}
