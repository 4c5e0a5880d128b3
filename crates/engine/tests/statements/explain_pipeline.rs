//! Which operators plans get.

use basalt_engine::{Database, Session};

/// Runs statements in one session of two threads and gives the output of the last.
fn last_output(statements: &[&str]) -> String {
    let database = Database::in_memory().expect("engine");
    let mut session = Session::new(&database);
    "TabSeparatedRaw".clone_into(&mut session.default_format);
    let mut last = String::new();
    for sql in ["SET max_threads = 2"].iter().chain(statements) {
        last = crate::run(&mut session, sql).expect(sql);
    }
    last
}

/// Columns of tables are renamed right above the scan, which is where sorts are pushed.
#[test]
fn one_sort_serves_all_threads_and_the_offset_below_renamed_columns() {
    let table = "CREATE TABLE t ENGINE = Memory AS \
                 SELECT number AS id, toUInt8(number % 50) AS age FROM numbers(100000)";
    for order in ["age", "age, id DESC"] {
        let sql =
            format!("EXPLAIN PIPELINE SELECT id FROM t ORDER BY {order} LIMIT 1 OFFSET 99990");
        let plan = last_output(&[table, &sql]);
        assert!(plan.contains("SortRowsExec"), "{plan}");
        assert!(plan.contains("skip=99990, fetch=1"), "{plan}");
        assert!(!plan.contains("Merge") && !plan.contains("Limit"), "{plan}");
        let rows = format!("SELECT id FROM t ORDER BY {order} LIMIT 3 OFFSET 99996");
        let expected = match order {
            "age" => None,
            _ => Some("199\n149\n99\n"),
        };
        let rows = last_output(&[table, &rows]);
        assert!(expected.is_none_or(|expected| rows == expected), "{rows}");
    }
}

#[test]
fn windows_and_merge_joins_are_sorted_by_the_same_operator() {
    let table = "CREATE TABLE t ENGINE = Memory AS \
                 SELECT number AS id, toUInt8(number % 50) AS age FROM numbers(1000)";
    for sql in [
        "SELECT sum(id) OVER (PARTITION BY age ORDER BY id DESC) FROM t",
        "SELECT a.id FROM t AS a JOIN t AS b ON a.id = b.id SETTINGS join_algorithm = 'full_sorting_merge'",
    ] {
        let plan = last_output(&[table, &format!("EXPLAIN PIPELINE {sql}")]);
        let is_ours = plan.contains("SortRowsExec") && !plan.contains("SortExec");
        assert!(is_ours, "{plan}");
    }
}
