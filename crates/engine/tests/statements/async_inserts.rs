//! Runs small inserts of many sessions, which are written together.

use std::sync::Arc;
use std::thread;

use basalt_engine::{Database, Session};

use crate::{Folder, run};

fn created(folder: &Folder, engine: &str) -> (Arc<Database>, Session) {
    let database = Database::open(&folder.0).expect("a database");
    let mut session = Session::new(&database);
    let create = format!("CREATE TABLE t (a UInt32, s String) ENGINE = {engine}");
    run(&mut session, &create).expect("a table");
    (database, session)
}

/// Runs INSERTs of single rows in so many sessions at once.
fn insert(database: &Arc<Database>, num_sessions: usize, num_rows: usize) {
    thread::scope(|scope| {
        for i in 0..num_sessions {
            scope.spawn(move || {
                let mut session = Session::new(database);
                for row in 0..num_rows {
                    let row = i * num_rows + row;
                    let insert = format!("INSERT INTO t VALUES ({row}, 'row {row}')");
                    run(&mut session, &insert).expect("an insert");
                    // Who waits sees what it has inserted.
                    let own = format!("SELECT count() FROM t WHERE a = {row}");
                    assert_eq!(run(&mut session, &own).expect("a count"), "1\n");
                }
            });
        }
    });
}

#[test]
fn rows_of_many_sessions_are_written_together_and_once() {
    for engine in ["MergeTree ORDER BY a", "Mmap"] {
        let folder = Folder::new("async-many");
        let (database, mut session) = created(&folder, engine);
        insert(&database, 8, 25);
        let sums =
            "SELECT count(), uniqExact(a), sum(a), countIf(s = concat('row ', toString(a))) FROM t";
        let all = "200\t200\t19900\t200\n";
        assert_eq!(run(&mut session, sums).expect("sums"), all, "{engine}");
        let blocks = "SELECT max(max_block_number) < 200 FROM system.parts WHERE table = 't'";
        if engine != "Mmap" {
            assert_eq!(run(&mut session, blocks).expect("blocks"), "1\n");
        }
        drop((session, database));
        let mut again = Session::new(&Database::open(&folder.0).expect("a database"));
        assert_eq!(run(&mut again, sums).expect("sums"), all, "{engine}");
    }
}

#[test]
fn rows_that_nobody_waits_for_are_listed_and_written_at_the_latest_at_the_end() {
    let folder = Folder::new("async-ends");
    let (database, mut session) = created(&folder, "MergeTree ORDER BY a");
    let settings = "SET wait_for_async_insert = 0, async_insert_use_adaptive_busy_timeout = 0, \
        async_insert_busy_timeout_ms = 600000";
    run(&mut session, settings).expect("settings");
    let count = "SELECT count() FROM t";
    let listed = "SELECT count(), any(query), any(table), any(format), sum(total_bytes) > 0, \
        now() - any(first_update) < 600, any(length(`entries.query_id`)) FROM system.asynchronous_inserts";
    run(&mut session, "INSERT INTO t VALUES (1, 'x')").expect("an insert");
    run(&mut session, "INSERT INTO t (a) VALUES (2)").expect("an insert");
    assert_eq!(run(&mut session, count).expect("a count"), "0\n");
    let shown = "2\tINSERT INTO t FORMAT Values\tt\tValues\t1\t1\t1\n";
    assert_eq!(run(&mut session, listed).expect("a list"), shown);
    run(&mut session, "SYSTEM FLUSH ASYNC INSERT QUEUE").expect("a flush");
    assert_eq!(run(&mut session, count).expect("a count"), "2\n");
    assert!(
        run(&mut session, listed)
            .expect("a list")
            .starts_with("0\t")
    );
    // A change of the table comes behind the rows that were inserted before.
    run(&mut session, "INSERT INTO t VALUES (3, 'y')").expect("an insert");
    run(
        &mut session,
        "ALTER TABLE t ADD COLUMN b UInt8 DEFAULT a + 1",
    )
    .expect("a column");
    let rows = "SELECT a, s, b FROM t ORDER BY a";
    assert_eq!(
        run(&mut session, rows).expect("rows"),
        "1\tx\t2\n2\t\t3\n3\ty\t4\n"
    );
    run(&mut session, "INSERT INTO t VALUES (4, 'z', 0)").expect("an insert");
    run(&mut session, "TRUNCATE TABLE t").expect("no rows");
    assert_eq!(run(&mut session, count).expect("a count"), "0\n");
    run(&mut session, "INSERT INTO t VALUES (5, 'last', 0)").expect("an insert");
    drop((session, database));
    let mut again = Session::new(&Database::open(&folder.0).expect("a database"));
    assert_eq!(
        run(&mut again, "SELECT * FROM t").expect("rows"),
        "5\tlast\t0\n"
    );
}

#[test]
fn an_insert_that_fails_takes_no_other_with_it() {
    let folder = Folder::new("async-fails");
    let (database, _session) = created(&folder, "MergeTree PARTITION BY a ORDER BY a");
    let many: Vec<String> = (1000..1101).map(|a| format!("({a}, 'x')")).collect();
    let many = format!("INSERT INTO t VALUES {}", many.join(", "));
    let wait = "SET async_insert_use_adaptive_busy_timeout = 0, async_insert_busy_timeout_ms = 300";
    let results: Vec<_> = thread::scope(|scope| {
        let statements = [
            "INSERT INTO t VALUES (1, 'x')",
            &many,
            "INSERT INTO t VALUES (2, 'y')",
        ];
        let running: Vec<_> = statements
            .into_iter()
            .map(|statement| {
                let mut session = Session::new(&database);
                scope.spawn(move || {
                    run(&mut session, wait).expect("settings");
                    run(&mut session, statement)
                })
            })
            .collect();
        running
            .into_iter()
            .map(|r| r.join().expect("a thread"))
            .collect()
    });
    assert_eq!(results[0].as_deref(), Ok(""));
    assert!(
        results[1].as_ref().is_err_and(|e| e.contains("Code: 252")),
        "{results:?}"
    );
    assert_eq!(results[2].as_deref(), Ok(""));
    let mut session = Session::new(&database);
    assert_eq!(
        run(&mut session, "SELECT sum(a), count() FROM t").expect("a sum"),
        "3\t2\n"
    );
    let late = "INSERT INTO t SETTINGS wait_for_async_insert_timeout = 0.05, \
        async_insert_use_adaptive_busy_timeout = 0, async_insert_busy_timeout_ms = 400 VALUES (7, 'late')";
    let error = run(&mut session, late).expect_err("too late");
    assert!(error.contains("Code: 159"), "{error}");
    run(&mut session, "SYSTEM FLUSH ASYNC INSERT QUEUE").expect("a flush");
    assert_eq!(
        run(&mut session, "SELECT sum(a) FROM t").expect("a sum"),
        "10\n"
    );
}
