//! What EXPLAIN ANALYZE prints, with times and amounts of memory masked.

use basalt_engine::{Database, Session};

/// Runs a statement and gives its output.
fn output(session: &mut Session, sql: &str) -> String {
    crate::run(session, sql).expect(sql)
}

/// A session of one thread whose settings no environment changes.
fn session() -> Session {
    let database = Database::in_memory().expect("engine");
    let mut session = Session::new(&database);
    "TabSeparatedRaw".clone_into(&mut session.default_format);
    output(&mut session, "SET max_threads = 1");
    session
}

/// Lines whose figures differ from run to run.
const VOLATILE: [&str; 8] = [
    "time ",
    "Time:",
    "Work:",
    "Read:",
    "Peak memory:",
    "Memory:",
    "Way:",
    " in GROUP BY (",
];

/// The text with `N` for the figures of such lines.
fn masked(text: &str) -> String {
    let line = |line: &str| {
        if VOLATILE.iter().any(|mark| line.contains(mark)) {
            line.split(' ').map(word).collect::<Vec<_>>().join(" ")
        } else {
            line.to_owned()
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// `N` for a number or a unit; the punctuation around it stays.
fn word(word: &str) -> String {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_number = inner.starts_with(|c: char| c.is_ascii_digit());
    let is_unit = [
        "ns", "us", "ms", "s", "B", "KiB", "MiB", "KB", "MB", "MB/s", "GB/s", "rows/s",
    ]
    .contains(&inner);
    let is_quantity = ["thousand", "million", "billion"].contains(&inner);
    if is_number || is_unit || is_quantity {
        word.replace(inner, "N")
    } else {
        word.to_owned()
    }
}

/// Compares the tree, from the first line without an indent on.
fn check_tree(sql: &str, expected: &str) {
    let all = masked(&output(&mut session(), sql));
    // Which operator is the most expensive is a matter of time.
    let all = all.replace("  ◄ most expensive", "");
    let (_, tree) = all.split_once("\n\nQuery summary:").expect("a summary");
    let (_, tree) = tree.split_once("\n\n").expect("a tree");
    assert_eq!(tree.trim_end(), expected.trim_matches('\n'), "{sql}\n{all}");
}

#[test]
fn the_first_line_says_where_the_time_went() {
    let sql =
        "EXPLAIN ANALYZE SELECT sipHash64(number) AS k, count() FROM numbers(300000) GROUP BY k";
    let all = masked(&output(&mut session(), sql));
    let first = all.lines().next().expect("a line");
    let hint = first.split("; ").last().expect("a hint");
    assert_eq!(
        hint, "N % in GROUP BY (staging, N N groups, N N a row)",
        "{all}"
    );
    let summary = [
        "Query summary:",
        "  Time: ",
        "  Work: ",
        "  Read: ",
        "  Result: ",
        "  Peak memory: ",
    ];
    for line in summary {
        assert!(all.contains(line), "{line} in {all}");
    }
}

const TREE: &str = "
ORDER BY
│  Order: count() ASC NULLS LAST, intDiv(number, 2) DESC NULLS LAST
│  Way: in_order
│  Why: rows come in stretches that are in order and follow each other
│  Parts: 1
│  Reversed: 1
│  Memory: N N at most
│  I/O: rows 20.00 thousand → 20.00 thousand · 479.88 KB → 479.88 KB
│    time N N (N %) · N N a row
│      Stage (reading): time N N (N %)
│      Stage (sorting): time N N (N %)
└──GROUP BY
   │  Keys: intDiv(number, 2)
   │  Key shape: u64 from UInt64
   │  Aggregates: count(), sum(number)
   │  Strategy: auto, 1 task with rows
   │  Way: dense: N N rows, N N a row
   │  Why: keys are integers of a small range
   │  Merge: dense: arrays of 20.00 thousand values in 1 task
   │  Memory: N N at most
   │  I/O: rows 39.99 thousand → 20.00 thousand · 319.92 KB → 479.88 KB
   │    time N N (N %) · N N a row
   │      Stage (grouping): time N N (N %)
   │      Stage (merging): time N N (N %)
   │      Stage (result): time N N (N %)
   └──Filter
      │  Condition: number >= 10
      │  I/O: rows 39.99 thousand → 39.99 thousand · 319.92 KB → 319.92 KB
      │    time N N (N %) · N N a row
      └──Read
            Source: numbers, 39990 rows
            Columns: number
            Morsels: 1
            Bytes: 319.92 KB
            I/O: rows 0 → 39.99 thousand · 0 B → 319.92 KB
              time N N (N %) · N N a row
";

#[test]
fn every_operator_is_a_node_of_the_tree() {
    let sql = "EXPLAIN ANALYZE SELECT intDiv(number, 2) AS k, count() AS c, sum(number) FROM numbers(40000) \
               WHERE number >= 10 GROUP BY k ORDER BY c, k DESC";
    check_tree(sql, TREE);
}

/// What a plan says of itself: the lines that begin with one of these words.
fn said(sql: &str, marks: &[&str]) -> Vec<String> {
    let all = output(&mut session(), &format!("EXPLAIN ANALYZE {sql}"));
    let lines = all.lines().map(|line| line.trim_start_matches("│  "));
    let said = lines.filter(|line| marks.iter().any(|mark| line.starts_with(mark)));
    said.map(str::to_owned).collect()
}

#[test]
fn a_change_of_mind_is_told_with_its_reason() {
    let sql = "SELECT sipHash64(number) AS k, count() FROM numbers(300000) GROUP BY k";
    let expected = [
        "Key shape: u64 from UInt64",
        "Changed: to staging after 65.41 thousand rows in all: 65.41 thousand groups in 65.41 thousand rows \
         of a task, few of the last rows found theirs",
        "Merge: partitions: 65.41 thousand groups in 1 table of 3.00 MiB, and staged rows: 256 partitions",
    ];
    assert_eq!(said(sql, &["Key shape:", "Changed:", "Merge:"]), expected);
}

/// The first rows look as if all keys were different.
#[test]
fn keys_that_come_again_bring_the_table_back() {
    let sql = "SELECT sipHash64(number % 60000) AS k, count() FROM numbers(1500000) GROUP BY k";
    let expected = [
        "Changed: to staging after 65.41 thousand rows in all: 60.00 thousand groups in 65.41 thousand rows \
         of a task, few of the last rows found theirs",
        "Changed: to table after 1.11 million rows in all: only about 60.00 thousand groups in 1.11 \
         million rows of a task",
        "Merge: table: 60.00 thousand groups in 1 table of 2.98 MiB",
    ];
    assert_eq!(said(sql, &["Changed:", "Merge:"]), expected);
}

/// The first rows look as if there were a handful of keys.
#[test]
fn new_keys_after_few_end_the_table() {
    let sql = "SELECT sipHash64(if(number < 500000, number % 10, number)) AS k, count() \
               FROM numbers(1000000) GROUP BY k";
    let said = said(sql, &["Changed:", "Merge:"]);
    assert!(said[0].starts_with("Changed: to staging after"), "{said:?}");
    assert!(said[1].contains("and staged rows"), "{said:?}");
}

#[test]
fn what_goes_to_files_is_told() {
    let sql = "EXPLAIN ANALYZE SELECT number AS k, count() FROM numbers(1000000) GROUP BY k \
               SETTINGS max_bytes_before_external_group_by = 100000";
    let all = output(&mut session(), sql);
    assert!(
        all.contains("Merge: files: some groups or rows are in files"),
        "{all}"
    );
    let spilled = all.lines().find(|line| line.contains("Spilled: "));
    let spilled = spilled.unwrap_or_else(|| panic!("{all}"));
    assert!(
        spilled.contains(" file") && spilled.contains(" blocks, "),
        "{spilled}"
    );
}

#[test]
fn subqueries_and_rows_that_plans_share_have_their_place() {
    let sql = "EXPLAIN ANALYZE SELECT number % 2 AS k, count() FROM numbers(100) \
               WHERE number > (SELECT min(number) FROM numbers(3)) GROUP BY k WITH TOTALS";
    let all = output(&mut session(), sql);
    let plans = all.lines().filter(|line| line.starts_with("Plan "));
    assert_eq!(plans.count(), 3, "{all}");
    assert!(all.contains("(not run)"), "{all}");
}

#[test]
fn json_has_the_same_tree() {
    let sql =
        "EXPLAIN ANALYZE json = 1 SELECT number % 10 AS k, count() FROM numbers(1000) GROUP BY k";
    let text = output(&mut session(), sql);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["result_rows"], 10);
    assert_eq!(json["rows_read"], 1000);
    let node = &json["runs"][0]["plan"];
    assert_eq!(node["name"], "GROUP BY");
    assert_eq!(
        (&node["rows_in"], &node["rows_out"]),
        (&1000.into(), &10.into())
    );
    let way = &node["decisions"][1];
    assert_eq!(way["name"], "group_by_way");
    assert_eq!(way["arms"][0]["name"], "dense");
    assert_eq!(way["arms"][0]["chosen"], true);
    assert_eq!(way["arms"][0]["rows"], 1000);
    assert!(
        way["arms"][0]["ns_per_row"]
            .as_f64()
            .is_some_and(|ns| ns > 0.0)
    );
}

/// Groups of rows that are not read, over a table on disk.
#[test]
fn groups_that_need_not_be_read_are_told() {
    let mut session = session();
    for sql in [
        "CREATE TABLE t (k UInt64, v UInt8, s String) ENGINE = MergeTree ORDER BY tuple()",
        "INSERT INTO t SELECT intHash64(number), number % 3, toString(number) FROM numbers(1000000)",
        "OPTIMIZE TABLE t FINAL",
    ] {
        output(&mut session, sql);
    }
    let mut groups = |sql: &str| {
        let all = output(&mut session, &format!("EXPLAIN ANALYZE {sql}"));
        let line = all.lines().find(|line| line.contains("Row groups: "));
        line.unwrap_or_else(|| panic!("{all}")).trim().to_owned()
    };
    for sql in [
        "SELECT * FROM t ORDER BY k LIMIT 1",
        "SELECT * FROM t WHERE v = 1 ORDER BY k DESC LIMIT 1",
    ] {
        let told = groups(sql);
        assert!(
            told.contains("by the rows that a LIMIT above has"),
            "{sql}: {told}"
        );
    }
    let counted = "Row groups: 0 read, 0 ruled out by filters, of 16 it is known how many rows fulfil the condition";
    assert_eq!(groups("SELECT count() FROM t WHERE v != 0"), counted);
    let told = groups("SELECT count() FROM t WHERE v = 1");
    assert_eq!(told, "Row groups: 16 read, 0 ruled out by filters");
}

#[test]
fn blocks_that_are_kept_are_told() {
    let mut session = session();
    for sql in [
        "CREATE TABLE t (r UInt64, s String CODEC(ZSTD(1))) ENGINE = MergeTree ORDER BY tuple()",
        "INSERT INTO t SELECT cityHash64(number), hex(cityHash64(number)) FROM numbers(200000)",
        "OPTIMIZE TABLE t FINAL",
    ] {
        output(&mut session, sql);
    }
    let mut blocks = |sql: &str| {
        let all = output(&mut session, &format!("EXPLAIN ANALYZE {sql}"));
        let line = all.lines().find(|line| line.contains("Blocks: "));
        line.unwrap_or_else(|| panic!("{all}")).trim().to_owned()
    };
    let sql = "SELECT max(length(s)), min(r + 1) FROM t";
    let first = "Blocks: 4 where they lie in mapped files, 4 read and decoded";
    let second = "Blocks: 4 from the cache, 4 where they lie in mapped files";
    // What is decoded twice is kept.
    assert_eq!(blocks(sql), first);
    assert_eq!(blocks(sql), first);
    assert_eq!(blocks(sql), second);
    let uncached = format!("{sql} SETTINGS use_uncompressed_cache = 0");
    assert_eq!(blocks(&uncached), first);
    output(&mut session, "SYSTEM CLEAR UNCOMPRESSED CACHE");
    let again = output(&mut session, &format!("EXPLAIN ANALYZE {sql}"));
    assert!(again.contains(first), "{again}");
}
