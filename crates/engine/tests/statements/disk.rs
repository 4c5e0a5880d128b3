//! Runs statements over tables on disk: restarts, processes that share a folder, what is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basalt_engine::{Database, Session};

use crate::Folder;

fn open(path: &Path) -> Session {
    session(&Database::open(path).expect("a database"))
}

fn session(database: &Arc<Database>) -> Session {
    Session::new(database)
}

/// The result of a statement, or its error.
fn run(session: &mut Session, sql: &str) -> String {
    crate::run(session, sql).unwrap_or_else(|error| error)
}

fn num_tables(path: &Path) -> usize {
    fs::read_dir(path.join("store")).map_or(0, Iterator::count)
}

const CREATE: &str = "CREATE TABLE t (a Int32, s String) ENGINE = MergeTree ORDER BY (a % 3, a)";

#[test]
fn rows_are_there_after_a_restart() {
    let folder = Folder::new("restart");
    let mut first = open(&folder.0);
    assert_eq!(run(&mut first, CREATE), "");
    assert_eq!(
        run(
            &mut first,
            "INSERT INTO t VALUES (2, 'b'), (3, 'c'), (1, 'a')"
        ),
        ""
    );
    assert_eq!(run(&mut first, "RENAME TABLE t TO u"), "");
    drop(first);
    let mut second = open(&folder.0);
    assert_eq!(run(&mut second, "SELECT * FROM u"), "3\tc\n1\ta\n2\tb\n");
    assert_eq!(run(&mut second, "INSERT INTO u VALUES (6, 'f')"), "");
    assert_eq!(run(&mut second, "OPTIMIZE TABLE u"), "");
    assert_eq!(
        run(&mut second, "SELECT count(), min(a), max(s) FROM u"),
        "4\t1\tf\n"
    );
    drop(second);
    let mut third = open(&folder.0);
    assert_eq!(run(&mut third, "SELECT a FROM u"), "3\n6\n1\n2\n");
    assert_eq!(num_tables(&folder.0), 1);
    assert_eq!(run(&mut third, "DROP TABLE u"), "");
    assert_eq!(num_tables(&folder.0), 0);
}

#[test]
fn readers_see_what_the_writer_has_written() {
    let folder = Folder::new("shared");
    let mut writer = open(&folder.0);
    assert_eq!(run(&mut writer, CREATE), "");
    let (mut one, mut two) = (open(&folder.0), open(&folder.0));
    for reader in [&mut one, &mut two] {
        assert_eq!(run(reader, "SELECT count() FROM t"), "0\n");
    }
    assert_eq!(run(&mut writer, "INSERT INTO t VALUES (1, 'x')"), "");
    assert_eq!(run(&mut writer, "INSERT INTO t VALUES (2, 'y')"), "");
    for reader in [&mut one, &mut two] {
        assert_eq!(run(reader, "SELECT a, s FROM t ORDER BY a"), "1\tx\n2\ty\n");
    }
    let folders = || {
        let table = fs::read_dir(folder.0.join("store")).expect("tables").next();
        let table = table.expect("a table").expect("its folder").path();
        fs::read_dir(table).expect("parts").count()
    };
    let before = folders();
    assert_eq!(run(&mut writer, "OPTIMIZE TABLE t FINAL"), "");
    assert_eq!(folders(), before + 1, "merged parts stay for readers");
    assert_eq!(run(&mut one, "SELECT a FROM t ORDER BY a"), "1\n2\n");
    let refused = run(&mut two, "INSERT INTO t VALUES (3, 'z')");
    assert!(refused.contains("Wait until process"), "{refused}");
    drop(writer);
    assert_eq!(run(&mut two, "INSERT INTO t VALUES (3, 'z')"), "");
    assert_eq!(run(&mut one, "SELECT count() FROM t"), "3\n");
}

#[test]
fn a_killed_process_leaves_no_rows_and_its_remains_go() {
    let folder = Folder::new("killed");
    let mut first = open(&folder.0);
    assert_eq!(run(&mut first, CREATE), "");
    assert_eq!(run(&mut first, "INSERT INTO t VALUES (1, 'x')"), "");
    drop(first);
    let store = folder.0.join("store");
    let table = fs::read_dir(&store).expect("tables").next();
    let table = table.expect("a table").expect("its folder").path();
    let part = table.join("tmp_0");
    let dropped = store.join("61f0c404-5cb3-11e7-907b-a6006ad3dba0");
    for path in [&part, &dropped] {
        fs::create_dir(path).expect("a folder");
        fs::write(path.join("0.blocks"), "half").expect("a file");
    }
    fs::write(dropped.join("unfinished"), "").expect("a mark");
    let unknown = store.join("61f0c404-5cb3-11e7-907b-a6006ad3dba1");
    fs::create_dir(&unknown).expect("a folder");
    let mut second = open(&folder.0);
    assert_eq!(run(&mut second, "SELECT * FROM t"), "1\tx\n");
    assert!(part.exists() && dropped.exists(), "readers remove nothing");
    assert_eq!(run(&mut second, "INSERT INTO t VALUES (2, 'y')"), "");
    assert!(!part.exists() && !dropped.exists());
    assert!(unknown.exists(), "nothing says that it may go");
    assert_eq!(
        run(&mut second, "SELECT * FROM t ORDER BY a"),
        "1\tx\n2\ty\n"
    );
}

#[test]
fn changes_are_there_after_a_restart() {
    let folder = Folder::new("changes");
    let mut first = open(&folder.0);
    for sql in [
        CREATE,
        "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')",
        "INSERT INTO t VALUES (4, 'w')",
        "ALTER TABLE t ADD COLUMN n UInt8 DEFAULT a * 2, MODIFY COLUMN s LowCardinality(String)",
        "ALTER TABLE t UPDATE s = 'u' WHERE a = 2",
        "ALTER TABLE t DELETE WHERE a = 3",
        "ALTER TABLE t RENAME COLUMN n TO m",
        "ALTER TABLE t DETACH PART 'all_2_2_0_5'",
        "ALTER TABLE t ADD COLUMN x UInt8",
        "ALTER TABLE t DROP COLUMN x",
    ] {
        assert_eq!(run(&mut first, sql), "", "{sql}");
    }
    let all = "SELECT * FROM t ORDER BY a";
    let rows = run(&mut first, all);
    drop(first);
    let mut second = open(&folder.0);
    assert_eq!(run(&mut second, all), rows);
    let folders = fs::read_dir(folder.0.join("store")).expect("tables");
    let folders = folders.map(|folder| folder.expect("a table").path());
    let (old, new): (Vec<_>, Vec<_>) = folders.partition(|table| table.join("retired").exists());
    assert_eq!((old.len(), new.len()), (4, 1), "old folders wait to go");
    let detached = "SELECT count() FROM system.detached_parts";
    assert_eq!(run(&mut second, detached), "1\n");
    assert_eq!(run(&mut second, "ALTER TABLE t ATTACH PARTITION ALL"), "");
    assert_eq!(run(&mut second, "DELETE FROM t WHERE a = 4"), "");
    assert_eq!(run(&mut second, "INSERT INTO t (a, s) VALUES (9, 'v')"), "");
    assert_eq!(run(&mut second, "OPTIMIZE TABLE t FINAL"), "");
    let columns = "SELECT a, s, m FROM t ORDER BY a";
    assert_eq!(run(&mut second, columns), "1\tx\t2\n2\tu\t4\n9\tv\t18\n");
}

#[test]
fn a_reader_takes_over_new_columns() {
    let folder = Folder::new("altered");
    let mut writer = open(&folder.0);
    assert_eq!(run(&mut writer, CREATE), "");
    assert_eq!(run(&mut writer, "INSERT INTO t VALUES (1, 'x')"), "");
    let mut reader = open(&folder.0);
    assert_eq!(run(&mut reader, "SELECT a FROM t"), "1\n");
    assert_eq!(run(&mut writer, "ALTER TABLE t DROP COLUMN s"), "");
    for session in [&mut reader, &mut writer] {
        assert_eq!(run(session, "SELECT * FROM t"), "1\n");
    }
}

#[test]
fn a_damaged_table_does_not_keep_others_from_answering() {
    let folder = Folder::new("damaged");
    let mut first = open(&folder.0);
    assert_eq!(run(&mut first, CREATE), "");
    assert_eq!(run(&mut first, "INSERT INTO t VALUES (1, 'x')"), "");
    let path = run(
        &mut first,
        "SELECT path FROM system.parts WHERE table = 't'",
    );
    drop(first);
    let file = Path::new(path.trim_end()).join("1.blocks");
    let mut bytes = fs::read(&file).expect("blocks");
    bytes[100] ^= 1;
    fs::write(&file, bytes).expect("a write");
    let mut second = open(&folder.0);
    assert_eq!(run(&mut second, "SELECT count(), sum(a) FROM t"), "1\t1\n");
    let error = run(&mut second, "SELECT s FROM t");
    assert!(
        error.contains("part all_1_1_0, column `s`, block 0"),
        "{error}"
    );
    assert_eq!(run(&mut second, "SELECT 1"), "1\n");
}

#[test]
fn definitions_of_earlier_versions_are_loaded() {
    let folder = Folder::new("earlier_definitions");
    let script = "CREATE TABLE default.a ON CLUSTER c (x UInt8) ENGINE = Memory SETTINGS nosuch = 1;\n\
                  CREATE TABLE default.b (x UInt8 AUTO_INCREMENT) ENGINE = Memory;\n\
                  CREATE VIEW default.v DEFINER = nobody SQL SECURITY DEFINER AS SELECT 1 AS x;\n";
    fs::create_dir_all(&folder.0).expect("a folder");
    fs::write(folder.0.join("definitions.sql"), script).expect("a write");
    let mut session = open(&folder.0);
    assert_eq!(run(&mut session, "SHOW TABLES"), "a\nb\nv\n");
}

#[test]
fn without_a_folder_nothing_is_left() {
    let database = Database::in_memory().expect("a database");
    let mut session = session(&database);
    assert_eq!(run(&mut session, CREATE), "");
    assert_eq!(run(&mut session, "INSERT INTO t VALUES (1, 'x')"), "");
    let path = run(
        &mut session,
        "SELECT path FROM system.parts WHERE table = 't'",
    );
    let path = PathBuf::from(path.trim_end());
    assert!(path.is_dir());
    drop((session, database));
    assert!(!path.exists());
    assert!(!path.parent().is_some_and(Path::exists));
}

#[test]
fn what_a_table_on_disk_cannot_do_is_said() {
    let database = Database::in_memory().expect("a database");
    let mut session = session(&database);
    assert_eq!(run(&mut session, CREATE), "");
    for (sql, construct) in [
        (
            "CREATE TABLE b (a Int32, INDEX i a % 2 TYPE minmax) ENGINE = MergeTree ORDER BY a",
            "INDEX of an expression",
        ),
        (
            "CREATE TABLE b (a Int32, d Date TTL d) ENGINE = MergeTree ORDER BY a",
            "TTL of a column",
        ),
        (
            "CREATE TABLE b (a Int32, d Date) ENGINE = MergeTree ORDER BY a TTL d TO DISK 'x'",
            "TTL that does not delete",
        ),
        (
            "CREATE TABLE b (a UInt32) ENGINE = MergeTree ORDER BY a SAMPLE BY a",
            "SAMPLE BY",
        ),
        (
            "CREATE TABLE b (a Int32) ENGINE = MergeTree ORDER BY a DESC",
            "DESC",
        ),
        (
            "CREATE TABLE b (a Int32, s Int8) ENGINE = CollapsingMergeTree(s) ORDER BY a",
            "CollapsingMergeTree",
        ),
        (
            "CREATE TABLE b (a Float32 CODEC(AES_128_GCM_SIV)) ENGINE = MergeTree ORDER BY tuple()",
            "AES_128_GCM_SIV",
        ),
        ("ALTER TABLE t FREEZE", "ALTER"),
        ("OPTIMIZE TABLE t DEDUPLICATE", "DEDUPLICATE"),
        ("EXPLAIN ESTIMATE SELECT a FROM t", "EXPLAIN ESTIMATE"),
    ] {
        let error = run(&mut session, sql);
        assert!(
            error.contains("NOT_IMPLEMENTED") && error.contains(construct),
            "{sql}: {error}"
        );
    }
}

#[test]
fn names_that_were_changed_are_kept() {
    let folder = Folder::new("names");
    let mut first = open(&folder.0);
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a UInt8) ENGINE = Memory",
        "CREATE TABLE d.u (b String) ENGINE = Memory",
        "EXCHANGE TABLES d.t AND d.u",
        "RENAME DATABASE d TO e",
        "RENAME TABLE e.u TO e.w",
    ] {
        assert_eq!(run(&mut first, sql), "", "{sql}");
    }
    drop(first);
    let mut second = open(&folder.0);
    assert_eq!(run(&mut second, "SHOW TABLES FROM e"), "t\nw\n");
    let columns = "SELECT table, name FROM system.columns WHERE database = 'e' ORDER BY table";
    assert_eq!(run(&mut second, columns), "t\tb\nw\ta\n");
    assert!(!run(&mut second, "SHOW DATABASES").contains("d\n"));
}

#[test]
fn a_view_whose_source_is_gone_fails_alone() {
    let folder = Folder::new("views");
    let mut first = open(&folder.0);
    for sql in [
        "CREATE TABLE t (a UInt8) ENGINE = Memory",
        "CREATE VIEW v AS SELECT a, a + 1 AS b FROM t",
        "CREATE VIEW w AS SELECT 1 AS one",
        "DROP TABLE t",
    ] {
        assert_eq!(run(&mut first, sql), "", "{sql}");
    }
    drop(first);
    let mut second = open(&folder.0);
    assert_eq!(run(&mut second, "SELECT one FROM w"), "1\n");
    assert!(run(&mut second, "SELECT * FROM v").contains("UNKNOWN_TABLE"));
    assert_eq!(run(&mut second, "DESCRIBE v FORMAT CSV").lines().count(), 2);
    assert_eq!(
        run(&mut second, "CREATE TABLE t (a UInt8) ENGINE = Memory"),
        ""
    );
    assert_eq!(run(&mut second, "INSERT INTO t VALUES (4)"), "");
    assert_eq!(run(&mut second, "SELECT * FROM v"), "4\t5\n");
    assert_eq!(run(&mut second, "DROP VIEW v"), "");
}

#[test]
fn views_with_parameters_and_with_names_are_there_again() {
    let folder = Folder::new("views-with-parameters");
    let mut first = open(&folder.0);
    for sql in [
        "CREATE TABLE t (a UInt8, b UInt8) ENGINE = MergeTree ORDER BY a",
        "INSERT INTO t VALUES (1, 2), (3, 4)",
        "CREATE VIEW p AS SELECT b FROM t WHERE a = {x:UInt8}",
        "CREATE VIEW q (c UInt16) AS SELECT b AS c FROM t WHERE a = {x:UInt8}",
        "CREATE VIEW v (x, y) AS SELECT b, a FROM t",
        "CREATE VIEW n (z) AS SELECT b FROM t WHERE a = {x:UInt8}",
    ] {
        assert_eq!(run(&mut first, sql), "", "{sql}");
    }
    let check = |session: &mut Session| {
        assert_eq!(run(session, "SELECT b FROM p(x = 3)"), "4\n");
        let typed = "SELECT c, toTypeName(c) FROM q(x = 3)";
        assert_eq!(run(session, typed), "4\tUInt16\n");
        assert_eq!(
            run(session, "SELECT x, y FROM v ORDER BY y"),
            "2\t1\n4\t3\n"
        );
        assert_eq!(run(session, "SELECT z FROM n(x = 3)"), "4\n");
        run(session, "SHOW CREATE TABLE n")
    };
    let shown = check(&mut first);
    drop(first);
    for _ in 0..2 {
        assert_eq!(check(&mut open(&folder.0)), shown);
    }
}

#[test]
fn columns_of_conditions_are_read_before_the_others() {
    let folder = Folder::new("filters-first");
    let mut session = open(&folder.0);
    let create = "CREATE TABLE t (a UInt32, s String) ENGINE = MergeTree ORDER BY a";
    assert_eq!(run(&mut session, create), "");
    let insert = "INSERT INTO t SELECT number, multiIf(number = 70000, 'needle', number % 2 = 0, 'hay', 'straw') FROM numbers(200000)";
    assert_eq!(run(&mut session, insert), "");
    let rows = "SELECT * FROM t WHERE s = 'needle'";
    assert_eq!(run(&mut session, rows), "70000\tneedle\n");
    let told = run(&mut session, &format!("EXPLAIN ANALYZE {rows}"));
    assert!(
        told.contains("Filter first: in 4 row groups, 200.00 thousand rows left out")
            && told.contains("of 3 no other column is read"),
        "{told}"
    );
}

#[test]
fn few_different_strings_are_grouped_by_numbers() {
    let folder = Folder::new("numbered-keys");
    let mut session = open(&folder.0);
    let create = "CREATE TABLE t (k UInt32, few String, many String) ENGINE = MergeTree ORDER BY k";
    assert_eq!(run(&mut session, create), "");
    let insert =
        "INSERT INTO t SELECT number, toString(number % 7), toString(number) FROM numbers(100000)";
    assert_eq!(run(&mut session, insert), "");
    let explain = |key: &str, more: &str| {
        format!(
            "EXPLAIN PIPELINE SELECT {key}, count() FROM t WHERE {key} != '3' GROUP BY {key} {more}"
        )
    };
    let (numbers, column) = ("strings of 1 column as numbers", "string_of(");
    let told = run(&mut session, &explain("few", ""));
    // The scan does what the filter did.
    let is_numbered = told.contains(numbers) && told.contains(column);
    assert!(is_numbered && !told.contains("FilterRowsExec"), "{told}");
    for (key, more) in [
        ("many", ""),
        ("few", "SETTINGS group_by_numbered_keys = 'never'"),
    ] {
        let told = run(&mut session, &explain(key, more));
        assert!(
            !told.contains(numbers) && told.contains("FilterRowsExec"),
            "{told}"
        );
    }
    let told = run(
        &mut session,
        &explain("many", "SETTINGS group_by_numbered_keys = 'always'"),
    );
    assert!(told.contains(numbers), "{told}");
}

#[test]
fn the_first_rows_of_parquet_files_are_those_of_memory() {
    let folder = Folder::new("top-of-parquet");
    let mut session = open(&folder.0);
    let path = folder.0.join("t.parquet");
    let file = format!("file('{}', Parquet)", path.display());
    let rows = "SELECT number AS k, toInt16(number * 7919 % 601) - 300 AS j, \
                if(number % 11 = 3, NULL, toInt32(number * 104729 % 1009)) AS n, \
                concat('s', toString(number * 31 % 977)) AS s, number * 2654435761 % 1000003 AS u \
                FROM numbers(6000)";
    let table = format!("CREATE TABLE t ENGINE = Memory AS {rows}");
    assert_eq!(run(&mut session, &table), "");
    let write = format!(
        "INSERT INTO FUNCTION {file} {rows} SETTINGS output_format_parquet_row_group_size = 500"
    );
    assert_eq!(run(&mut session, &write), "");
    let queries = [
        "SELECT j FROM {} WHERE s LIKE '%7%' ORDER BY j LIMIT 10",
        "SELECT u, k, s FROM {} WHERE s LIKE '%7%' ORDER BY u LIMIT 5",
        "SELECT u, k, s FROM {} WHERE s LIKE '%7%' ORDER BY u DESC LIMIT 5 OFFSET 3",
        "SELECT u, k, s FROM {} ORDER BY u LIMIT 5",
        "SELECT j, u, s FROM {} WHERE s LIKE '%9%' AND k > 50 ORDER BY j DESC, u LIMIT 70",
        "SELECT n, u, s FROM {} WHERE s LIKE '%8%' ORDER BY n NULLS FIRST, u LIMIT 6 OFFSET 90",
        "SELECT n, u, s FROM {} WHERE s LIKE '%8%' ORDER BY n NULLS LAST, u LIMIT 6",
        "SELECT count(), sum(u) FROM (SELECT j, u, s FROM {} WHERE k > 9 ORDER BY j LIMIT 20 WITH TIES)",
        "SELECT count(), sum(u) FROM (SELECT u, s FROM {} WHERE k % 13 != 5 ORDER BY u LIMIT 4000)",
        "SELECT i, u, s FROM (SELECT j + 1 AS i, u, s FROM {} WHERE s LIKE '%7%') WHERE i > 2 ORDER BY u LIMIT 4",
    ];
    for query in queries {
        let of_memory = run(&mut session, &query.replace("{}", "t"));
        let of_file = run(&mut session, &query.replace("{}", &file));
        assert_eq!(of_file, of_memory, "{query}");
    }
    // Five rows of each group at most come out of the scan, although the filter above it has not seen any yet.
    let explained = queries[1].replace("{}", &file);
    let told = run(&mut session, &format!("EXPLAIN ANALYZE {explained}"));
    let kept = told.lines().find_map(|line| line.split("Kept: ").nth(1));
    let kept = kept.and_then(|kept| kept.split(' ').next()?.parse::<u64>().ok());
    assert!(kept.is_some_and(|kept| kept < 60), "{told}");
}
