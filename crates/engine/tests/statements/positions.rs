//! Checks where errors say that they are: `tests/sql` compares their codes alone.

use std::fs;

use crate::{Folder, run_alone};

fn check(sql: &str, place: &str, start: &str) {
    let error = run_alone(sql).expect_err(sql);
    assert!(error.contains(place), "{sql}: {error}");
    let message = error.split_once("DB::Exception: ").expect(sql).1;
    assert!(message.starts_with(start), "{sql}: {error}");
}

#[test]
fn unknown_words_have_a_place_and_a_suggestion() {
    for (sql, place, start) in [
        (
            "SELECT 1 FORMAT JSONEachRaw",
            "(line 1, column 17)",
            "Maybe you meant: ['JSONEachRow",
        ),
        (
            "SELECT 1\n  FORMAT CVS",
            "(line 2, column 10)",
            "Maybe you meant: ['CSV'",
        ),
        (
            "SHOW DATABASES FORMAT Jsn",
            "(line 1, column 23)",
            "Maybe you meant: ['JSON'",
        ),
        (
            "CREATE TABLE t (a Int8) ENGINE = Memroy",
            "(line 1, column 34)",
            "Maybe you meant: ['Memory']",
        ),
        (
            "CREATE TABLE t (a Int8)\nENGINE = MergTree() ORDER BY a",
            "(line 2, column 10)",
            "Maybe you meant: ['MergeTree']",
        ),
        (
            "CREATE TABLE t (a Int8) ENGINE = Foo",
            "(line 1, column 34)",
            "Use ENGINE = MergeTree",
        ),
        (
            "SELECT * FROM numbres(3)",
            "(line 1, column 15)",
            "Maybe you meant: ['numbers']",
        ),
    ] {
        check(sql, place, start);
    }
}

#[test]
fn statements_of_one_name_have_a_place() {
    for (sql, place, start) in [
        (
            "USE systen",
            "(line 1, column 5)",
            "Maybe you meant system?",
        ),
        ("CHECK TABLE nosuch", "(line 1, column 13)", ""),
        (
            "SELECT 1\nLIMIT 'a'",
            "(line 2, column 7)",
            "The number in LIMIT",
        ),
        (
            " BACKUP TABLE t TO Disk('a', 'b')",
            "(line 1, column 2)",
            "",
        ),
    ] {
        check(sql, place, start);
    }
}

#[test]
fn faults_of_with_fill_have_a_place() {
    let select = "SELECT number FROM numbers(3) ORDER BY number WITH FILL";
    for (rest, column) in [
        ("STEP 0", 62),
        ("FROM 5 TO 1", 67),
        ("FROM number", 62),
        ("STEP INTERVAL 1 DAY", 62),
        ("INTERPOLATE (x)", 70),
    ] {
        let place = format!("(line 1, column {column})");
        let error = run_alone(&format!("{select} {rest}")).expect_err(rest);
        assert!(error.contains(&place), "{rest}: {error}");
    }
    let error = run_alone("SELECT 'a' AS s ORDER BY s WITH FILL").expect_err("a String");
    assert!(error.contains("(line 1, column 26)"), "{error}");
}

/// Several threads read the parts of a file; which of them fails first does not matter.
#[test]
fn the_first_wrong_row_of_a_file_is_named() {
    let folder = Folder::new("first-wrong-row");
    let path = folder.file("x.tsv");
    // The first wrong row stands far behind in the first part, others early in those that follow.
    let is_wrong = |row: usize| row == 310_000 || row > 330_000 && row.is_multiple_of(1000);
    let line = |row: usize| match is_wrong(row) {
        true => "wrong\n".to_owned(),
        false => format!("{:012}\n", row % 7),
    };
    let text: String = (0..2_000_000).map(line).collect();
    fs::write(&path, text).expect("a file");
    for threads in [1, 2, 7] {
        let sql = format!(
            "SELECT sum(a) FROM file('{path}', 'TSV', 'a UInt64') SETTINGS max_threads = {threads}"
        );
        let error = run_alone(&sql).expect_err(&sql);
        assert!(
            error.contains("(at row 310001"),
            "{threads} threads: {error}"
        );
    }
}
