//! Checks where errors say that they are: `tests/sql` compares their codes alone.

use std::fs;

use basalt_engine::{Database, Session};

use crate::{Folder, run, run_alone};

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

/// The mark `^` stands before what an error is about; `prelude` runs before.
fn check_marked(prelude: &str, marked: &str, start: &str) {
    let database = Database::in_memory().expect("a database");
    let mut session = Session::new(&database);
    if !prelude.is_empty() {
        run(&mut session, prelude).expect(prelude);
    }
    let (before, behind) = marked.split_once('^').expect(marked);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let sql = format!("{before}{behind}");
    let error = run(&mut session, &sql).expect_err(&sql);
    let place = format!("(line {line}, column {column})");
    assert!(error.contains(&place), "{marked}: {error}");
    let message = error.split_once("DB::Exception: ").expect(&sql).1;
    assert!(message.starts_with(start), "{sql}: {error}");
}

#[test]
fn faults_of_expressions_have_the_place_of_the_innermost() {
    for (marked, start) in [
        ("SELECT 1,\n  length(^upper(1))", ""),
        ("SELECT 1 + (SELECT ^intDiv(1, 0))", ""),
        ("SELECT 1, ^intDiv(number, 0) FROM numbers(3)", ""),
        ("SELECT 2 * ^[number][0] FROM numbers(3)", ""),
        ("SELECT max(^intDiv(1, number)) FROM numbers(3)", ""),
        ("SELECT arrayMap(x -> ^x % 0, [number]) FROM numbers(3)", ""),
        (
            "SELECT number FROM numbers(3) WHERE ^throwIf(number = 2)",
            "",
        ),
        ("SELECT ^x + 'a' AS y FROM (SELECT 1 AS x)", ""),
    ] {
        check_marked("", marked, start);
    }
}

#[test]
fn aggregates_and_columns_in_wrong_clauses_have_a_place() {
    for (marked, start) in [
        (
            "SELECT number FROM numbers(3) WHERE 1 AND ^sum(number) > 1",
            "Use HAVING",
        ),
        (
            "SELECT sum(number) AS s FROM numbers(3) WHERE ^s > 1",
            "Use HAVING",
        ),
        (
            "SELECT 1 FROM numbers(3) WHERE ^row_number() OVER () = 1",
            "Use QUALIFY",
        ),
        (
            "SELECT 1 FROM numbers(3) GROUP BY 1 + ^sum(number)",
            "Group by",
        ),
        (
            "SELECT 1 FROM numbers(3) AS a JOIN numbers(3) AS b ON a.number = ^sum(b.number)",
            "Compute it in a subquery",
        ),
        ("SELECT count(),\n ^number FROM numbers(3)", "Add `number`"),
        (
            "SELECT sum(number), 1 + ^number FROM numbers(3) GROUP BY number % 2",
            "Add `number`",
        ),
        (
            "SELECT sum(number) FROM numbers(3) GROUP BY number % 2 HAVING ^number > 1",
            "Add `number`",
        ),
        (
            "SELECT sum(number) FROM numbers(3) GROUP BY number % 2 ORDER BY ^number",
            "Add `number`",
        ),
        (
            "SELECT ^* FROM numbers(3) GROUP BY number % 2",
            "Add `number`",
        ),
        ("SELECT number FROM numbers(3) GROUP BY ^7", ""),
        ("SELECT number FROM numbers(3) ORDER BY ^7", ""),
        ("SELECT 1 UNION ALL ^SELECT 1, 2", "Select 1 column"),
        ("SELECT 1 UNION ^SELECT 2", "Write UNION ALL"),
        ("SELECT 1 EXCEPT (^SELECT 1, 2)", "Select 1 column"),
    ] {
        check_marked("", marked, start);
    }
}

/// What was written in another text has the place of its name.
#[test]
fn faults_in_views_and_functions_have_the_place_of_the_call() {
    for (prelude, marked) in [
        (
            "CREATE VIEW v AS SELECT 1,                intDiv(1, number) AS x FROM numbers(3)",
            "SELECT x FROM ^v",
        ),
        (
            "CREATE FUNCTION f AS x ->                          intDiv(x, 0)",
            "SELECT 1, ^f(number) FROM numbers(2)",
        ),
        (
            "CREATE FUNCTION f AS x ->                          length(x)",
            "SELECT 1, ^f(1)",
        ),
    ] {
        check_marked(prelude, marked, "");
    }
}

#[test]
fn faults_of_definitions_have_a_place() {
    const TABLE: &str = "CREATE TABLE t (a UInt8, b String) ENGINE = Memory";
    const ON_DISK: &str = "CREATE TABLE t (a UInt8, b String) ENGINE = MergeTree ORDER BY a";
    for (marked, start) in [
        ("ALTER TABLE t DROP COLUMN ^bb", "Maybe you meant `b`?"),
        ("ALTER TABLE t DROP COLUMN b, DROP COLUMN ^c", ""),
        (
            "ALTER TABLE t ADD COLUMN IF NOT EXISTS c UInt8 AFTER ^aa",
            "Maybe you meant `a`?",
        ),
        ("ALTER TABLE t ADD COLUMN ^a UInt8", "Choose another name"),
        ("ALTER TABLE t MODIFY COLUMN ^c UInt8", ""),
        ("ALTER TABLE t RENAME COLUMN ^c TO d", ""),
        ("ALTER TABLE t COMMENT COLUMN ^c 'x'", ""),
        ("ALTER TABLE t UPDATE ^c = 1 WHERE 1", ""),
        ("ALTER TABLE t UPDATE b = 'x' WHERE ^nosuch", ""),
        ("ALTER TABLE t DELETE WHERE 1 AND ^nosuch", ""),
        ("INSERT INTO t (a, ^c) VALUES (1)", ""),
        ("INSERT INTO t (a, ^a) VALUES (1)", "Leave it out"),
        ("INSERT INTO ^t (a, b) SELECT 1", ""),
        ("DROP VIEW ^t", "Use DROP TABLE"),
        (
            "CREATE TABLE ^t (a UInt8) ENGINE = Memory",
            "Add IF NOT EXISTS",
        ),
    ] {
        check_marked(TABLE, marked, start);
        check_marked(ON_DISK, marked, start);
    }
    for (marked, start) in [
        ("ALTER TABLE t DROP COLUMN ^a", "Leave it as it is"),
        ("ALTER TABLE t MODIFY COLUMN ^a String", "Leave it as it is"),
        ("ALTER TABLE t MODIFY SETTING ^nosuch = 1", "Leave it out"),
        ("ALTER TABLE t DROP INDEX ^nosuch", ""),
    ] {
        check_marked(ON_DISK, marked, start);
    }
}

#[test]
fn faults_of_new_tables_have_a_place() {
    for (marked, start) in [
        (
            "CREATE TABLE t (a UInt8, ^a Int8) ENGINE = Memory",
            "Name it differently",
        ),
        ("CREATE TABLE t (a UInt8 DEFAULT ^'x') ENGINE = Memory", ""),
        (
            "CREATE TABLE t (b Int8, ^a UInt8 CODEC(Foo)) ENGINE = Memory",
            "",
        ),
        (
            "CREATE TABLE t (a UInt8) ENGINE = ^Memory(1)",
            "Write ENGINE = Memory",
        ),
        (
            "CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a PRIMARY KEY ^b",
            "",
        ),
        (
            "CREATE TABLE t (a Nullable(Int8)) ENGINE = MergeTree ORDER BY ^a",
            "Add SETTINGS",
        ),
        (
            "CREATE TABLE t (a Int8) ENGINE = MergeTree ORDER BY a TTL ^a",
            "",
        ),
        (
            "CREATE TABLE t (a Int8) ENGINE = MergeTree ORDER BY a SETTINGS ^x = 1",
            "Leave it out",
        ),
        (
            "CREATE TABLE t (a Int8, INDEX i ^b TYPE minmax) ENGINE = MergeTree ORDER BY a",
            "",
        ),
        ("CREATE DATABASE ^default", "Add IF NOT EXISTS"),
        ("KILL QUERY WHERE ^nosuch = 1", ""),
        ("EXPLAIN PLAN ^nosuch = 1 SELECT 1", ""),
    ] {
        check_marked("", marked, start);
    }
}

#[test]
fn values_that_cannot_be_read_name_the_function_that_goes_on() {
    for (sql, place, start) in [
        (
            "SELECT toInt32(materialize('abc'))",
            "(line 1, column 8)",
            "Use toInt32OrNull, toInt32OrZero or toInt32OrDefault",
        ),
        (
            "SELECT 1,\n 'x'::Date",
            "(line 2, column 2)",
            "Use accurateCastOrNull",
        ),
        (
            "SELECT intDiv(number, 0) FROM numbers(2)",
            "(line 1, column 8)",
            "Use intDivOr",
        ),
    ] {
        check(sql, place, start);
    }
}

#[test]
fn names_of_definitions_and_files_have_a_place_and_a_hint() {
    for (sql, place, start) in [
        (
            "CREATE FUNCTION plus AS (x) -> x",
            "(line 1, column 17)",
            "Choose another name: ",
        ),
        (
            "SHOW TABLES\nFROM systen",
            "(line 2, column 6)",
            "Maybe you meant system?",
        ),
        (
            "CREATE TABLE t ENGINE = Memory AS SELECT 1, 1",
            "(line 1, column 14)",
            "Name it differently: ",
        ),
        (
            "SELECT 1 INTO OUTFILE '/no such folder/f.csv'",
            "(line 1, column 23)",
            "Make its folder first: ",
        ),
        (
            "SELECT * FROM (SELECT [1, 2] AS a, [1] AS b)\nARRAY JOIN a, b",
            "(line 2, column 12)",
            "Use arrays of one length",
        ),
        (
            "SELECT CAST(1 AS Foo)",
            "(line 1, column 8)",
            "See system.data_type_families",
        ),
    ] {
        check(sql, place, start);
    }
    let folder = Folder::new("near_names");
    let wanted = folder.file("trips.csv");
    fs::write(&wanted, "1\n").expect("file");
    let sql = format!("SELECT * FROM file('{}')", folder.file("trip.csv"));
    check(
        &sql,
        "(line 1, column 15)",
        &format!("Maybe you meant {wanted}? "),
    );
}

#[test]
fn rows_and_parentheses_that_do_not_end_begin_with_a_hint() {
    for (sql, place, start) in [
        (
            "SELECT * FROM format(CSV, 'a Int8, b Int8', '1,2\n3\n')",
            "at row 2",
            "Leave such rows out by input_format_allow_errors_num: ",
        ),
        (
            "SELECT sum(number FROM numbers(3)",
            "expected one of ',', ')'",
            "Maybe a ')' is missing: ",
        ),
        (
            "SELECT (1 + 2",
            "(line 1, column 14)",
            "Maybe a ')' is missing: ",
        ),
        (
            "SELECT [1, 2 FROM numbers(3)",
            "expected one of ',', ']'",
            "Maybe a ']' is missing: ",
        ),
        (
            "SELECT (1, [2, 3)",
            "(line 1, column 17)",
            "Maybe a ']' is missing: ",
        ),
        (
            "SELECT CASE WHEN 1 THEN 2 FROM numbers(3)",
            "(line 1, column 27)",
            "Maybe END is missing: ",
        ),
        (
            "SELECT 1 + 'a'",
            "(line 1, column 8)",
            "Cast the text, for example by toFloat64OrNull: ",
        ),
    ] {
        check(sql, place, start);
    }
}

#[test]
fn faults_of_from_and_of_names_have_a_place_and_a_hint() {
    for (sql, start) in [
        (
            "SELECT * FROM numbers(1) ARRAY JOIN ^number",
            "ARRAY JOIN requires an array",
        ),
        (
            "SELECT * FROM (SELECT 1 AS a) AS x JOIN (SELECT 1 AS b) AS y USING ^a",
            "Write ON: the right side of the join has no column of this name. ",
        ),
        (
            "SELECT * FROM (SELECT 1 AS a) AS x JOIN (SELECT 1 AS b) AS y USING (^b)",
            "Write ON: the left side of the join has no column of this name. ",
        ),
        (
            "SELECT * FROM (SELECT 1 AS aa) AS x JOIN (SELECT 1 AS aa) AS y USING ^ab",
            "Maybe you meant: ['aa']. ",
        ),
        (
            "SELECT * FROM (SELECT 1 AS a) AS x JOIN (SELECT 1 AS a) AS y USING (a, ^a)",
            "Write a once: ",
        ),
        (
            "SELECT 1 AS a, ^2 AS a",
            "Different expressions with the same alias `a`",
        ),
        (
            "SELECT number FROM numbers(3) PREWHERE ^number > 1",
            "Write WHERE: ",
        ),
        ("SELECT ^least(1, 'a')", "Cast them to one type: "),
        ("SELECT ^[1, 'a'] = 1", "Cast one of them: "),
        (
            "SELECT ^toInt128OrZero('1')",
            "Use Decimal(38, 0): there is no type Int128",
        ),
        (
            "SELECT ^CAST(1 AS UInt256)",
            "Use Decimal(76, 0): there is no type UInt256",
        ),
    ] {
        check_marked("", sql, start);
    }
}

#[test]
fn faults_of_select_lists_and_inserts_tell_where() {
    for (marked, start) in [
        (
            "SELECT 1,\n  ^COLUMNS(zz) FROM (SELECT 1 AS a)",
            "Unknown expression",
        ),
        (
            "SELECT 1,\n  ^* EXCEPT STRICT (zzz) FROM (SELECT 1 AS a)",
            "Columns transformer",
        ),
        ("SELECT 1, ^* APPLY (nofunc) FROM (SELECT 1 AS a)", ""),
        ("SELECT 1, ^t.* FROM numbers(1)", "Unknown table `t`"),
        ("SELECT 1, ^untuple(1)", "The argument of untuple"),
        (
            "SELECT 1, ^COLUMNS('(') FROM (SELECT 1 AS a)",
            "Cannot compile regular expression: (, error: unclosed group (",
        ),
        (
            "SELECT number FROM numbers(3) GROUP BY ROLLUP(number) ^WITH CUBE",
            "Write all sets as GROUPING SETS: ",
        ),
        ("SELECT ^grouping(number) FROM numbers(3)", "Add GROUP BY: "),
    ] {
        check_marked("", marked, start);
    }
    let folder = Database::in_memory().expect("a database");
    let mut session = Session::new(&folder);
    run(
        &mut session,
        "CREATE TABLE t (a UInt8, b String) ENGINE = Memory",
    )
    .expect("a table");
    let error = |session: &mut Session, sql: &str| run(session, sql).expect_err(sql);
    let of_rows = error(&mut session, "INSERT INTO t VALUES ('x', 'y')");
    assert!(
        of_rows.contains("DB::Exception: Leave such rows out by input_format_allow_errors_num: Cannot parse string 'x'"),
        "{of_rows}"
    );
    for select in [
        "SELECT 'abc', 'd'",
        "SELECT toString(number) || 'x', 'd' FROM numbers(3)",
    ] {
        let of_query = error(&mut session, &format!("INSERT INTO t {select}"));
        assert!(
            of_query.contains("go on past such values: While converting column `a`: "),
            "{of_query}"
        );
    }
}
