//! Checks error messages and the depth limit.

use basalt_error::Error;
use basalt_parser::{
    explain_ast, format_one_line, format_statement, parse_statement, parse_statements,
};

fn error(sql: &str) -> Error {
    match parse_statement(sql) {
        Ok(parsed) => panic!("{sql} parses: {}", format_one_line(&parsed.statement)),
        Err(e) => e,
    }
}

fn check(sql: &str, position: (u32, u32), parts: &[&str]) {
    let e = error(sql);
    assert_eq!(e.code().number, 62, "{e}");
    let found = e.position().map(|p| (p.line, p.column));
    assert_eq!(found, Some(position), "{sql}: {e}");
    let text = e.to_string();
    assert_eq!(text.lines().count(), 1);
    for part in parts {
        assert!(text.contains(part), "{sql}: {text} lacks {part}");
    }
}

#[test]
fn messages_name_place_expectation_and_nearest_word() {
    check("SELEC 1", (1, 1), &["Maybe you meant SELECT: ", "'SELEC'"]);
    check(
        "SELECT a FORM t",
        (1, 15),
        &["Maybe you meant FROM instead of 'FORM'", "'t'"],
    );
    check(
        "SELECT a FROM t WEHRE x = 1",
        (1, 23),
        &["Maybe you meant WHERE"],
    );
    check(
        "SELECT a\nFROM t\nGRUOP BY a",
        (3, 7),
        &["Maybe you meant GROUP", "'BY'"],
    );
    check(
        "SELECT a FROM t GROUP BY a HAVNG b",
        (1, 28),
        &["Maybe you meant HAVING", "expected"],
    );
    check("SELECT (1", (1, 10), &["the end of the query", ")"]);
    check("SELECT 1 +", (1, 11), &["expression"]);
    check("SELECT 'abc", (1, 8), &["a quote is not closed"]);
    check("SELECT /* abc", (1, 8), &["the comment is not closed"]);
    check(
        "CREATE TABEL t (a UInt8)",
        (1, 8),
        &["Maybe you meant TABLE"],
    );
    check("DROP TABLE", (1, 11), &["expected"]);
    check("SELECT 1; SELECT 2", (1, 11), &["script"]);
    check("", (1, 1), &["the end of the query"]);
    check("SELECT * FROM t JION u", (1, 22), &["Maybe you meant JOIN"]);
    check("SELECT ä FROM t", (1, 8), &[]);
}

/// Runs on a thread with the smallest stack that anything here may have.
fn with_small_stack(body: fn()) {
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(body)
        .expect("a thread starts")
        .join()
        .expect("the thread does not panic");
}

#[test]
fn depth_is_limited() {
    with_small_stack(|| {
        let texts = [
            format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
            format!("SELECT {}", "(".repeat(100_000)),
            format!("SELECT {}1", "- ".repeat(100_000)),
            format!("SELECT {}1", "NOT ".repeat(100_000)),
            format!("SELECT 1{}", " + 1".repeat(100_000)),
            format!("SELECT a{}", ".1".repeat(100_000)),
            format!("SELECT a{}", "[1]".repeat(100_000)),
            format!("SELECT a{}", "::Int8".repeat(100_000)),
            format!("SELECT {}1{}", "[".repeat(100_000), "]".repeat(100_000)),
            format!("SELECT {}1{}", "f(".repeat(100_000), ")".repeat(100_000)),
            format!("SELECT {}1", "x -> ".repeat(100_000)),
            format!(
                "SELECT {}1{}",
                "1 ? ".repeat(100_000),
                " : 1".repeat(100_000)
            ),
            format!(
                "SELECT {}1{}",
                "(SELECT ".repeat(100_000),
                ")".repeat(100_000)
            ),
            format!("{}SELECT 1", "(".repeat(100_000)),
            format!("SELECT 1 FROM {}t", "(".repeat(100_000)),
            format!("SELECT 1 FROM {}", "(SELECT 1 FROM ".repeat(100_000)),
            format!(
                "SELECT 1 {}",
                "EXCEPT SELECT 1 UNION ALL SELECT 1 ".repeat(100_000)
            ),
            format!("SELECT x::{}Int8", "Array(".repeat(100_000)),
            format!("{}SELECT 1", "EXPLAIN ".repeat(100_000)),
            format!("SELECT {}1", "CASE WHEN ".repeat(100_000)),
            format!("SELECT {}1", "CAST(".repeat(100_000)),
            format!("SELECT {}1", "position(".repeat(100_000)),
            format!("SELECT {}1", "interval (".repeat(100_000)),
            format!("SELECT {}1", "* REPLACE (".repeat(100_000)),
            format!("SELECT 1{}", " BETWEEN 1 AND 1".repeat(100_000)),
            format!("SELECT 1 SETTINGS a = {}", "{'a': ".repeat(100_000)),
        ];
        for text in texts {
            let e = error(&text);
            assert!([306, 62].contains(&e.code().number), "{e}");
        }
    });
}

#[test]
fn deep_trees_below_the_limit_are_safe_to_walk() {
    with_small_stack(|| {
        for levels in (50..1000).step_by(50) {
            let texts = [
                format!("SELECT {}1{}", "(".repeat(levels), ")".repeat(levels)),
                format!("SELECT 1{}", " + 1".repeat(levels)),
                format!("SELECT {}1{}", "f(".repeat(levels), ")".repeat(levels)),
                format!("SELECT {}1{}", "[".repeat(levels), "]".repeat(levels)),
                format!(
                    "SELECT {}1{}",
                    "(SELECT ".repeat(levels),
                    ")".repeat(levels)
                ),
                format!(
                    "SELECT 1 FROM {}t{}",
                    "(SELECT 1 FROM ".repeat(levels),
                    ")".repeat(levels)
                ),
                format!("SELECT {}1", "NOT ".repeat(levels)),
                format!("SELECT {}1", "x -> ".repeat(levels)),
                format!(
                    "SELECT {}1{}",
                    "CASE WHEN ".repeat(levels),
                    " THEN 1 END".repeat(levels)
                ),
                format!(
                    "SELECT {}1{}",
                    "CAST(".repeat(levels),
                    " AS UInt8)".repeat(levels)
                ),
                format!(
                    "SELECT x::{}Int8{}",
                    "Array(".repeat(levels),
                    ")".repeat(levels)
                ),
                format!("{}SELECT 1", "EXPLAIN ".repeat(levels)),
                format!(
                    "SELECT 1 {}",
                    "EXCEPT SELECT 1 UNION ALL SELECT 1 ".repeat(levels)
                ),
                format!("{}SELECT 1{}", "(".repeat(levels), ")".repeat(levels)),
            ];
            for text in texts {
                let Ok(parsed) = parse_statement(&text) else {
                    continue;
                };
                let copy = parsed.statement.clone();
                assert_eq!(copy, parsed.statement);
                format_statement(&copy);
                explain_ast(&copy);
            }
        }
    });
    let chain = format!("SELECT 1{}", " + 1".repeat(400));
    assert!(parse_statement(&chain).is_ok());
    let flat = format!("SELECT a{}", " AND a".repeat(100_000));
    assert!(parse_statement(&flat).is_ok());
    let nested = format!("SELECT {}1{}", "(".repeat(150), ")".repeat(150));
    assert!(parse_statement(&nested).is_ok());
}

#[test]
fn scripts_go_on_after_an_error() {
    let mut statements = parse_statements("SELEC 'a;b'; SELECT 2; SELECT (");
    assert!(statements.next().unwrap().is_err());
    statements.skip_failed();
    assert!(statements.next().unwrap().is_ok());
    assert!(statements.next().unwrap().is_err());
    statements.skip_failed();
    assert!(statements.next().is_none());
}

#[test]
fn scripts_and_inline_data() {
    let data_of = |text: &str| -> Vec<Option<String>> {
        let parsed: Result<Vec<_>, _> = parse_statements(text).collect();
        parsed
            .unwrap()
            .into_iter()
            .map(|p| p.data.map(|r| text[r].to_owned()))
            .collect()
    };
    assert_eq!(data_of("SELECT 1; SELECT 2;;"), [None, None]);
    assert_eq!(
        data_of("INSERT INTO t VALUES (1, 'a;b'), (2, ''';');\nSELECT 1"),
        [Some(" (1, 'a;b'), (2, ''';')".to_owned()), None]
    );
    let infile =
        "INSERT INTO t FROM INFILE 'y.gz' COMPRESSION 'gzip' FORMAT CSV\n; SELECT 1; SELECT 2";
    assert_eq!(data_of(infile), [None, None, None]);
    assert_eq!(
        data_of("EXPLAIN AST INSERT INTO t VALUES (1); SELECT 1; SELECT 2"),
        [Some(" (1)".to_owned()), None, None]
    );
    assert_eq!(
        data_of("INSERT INTO t FORMAT CSV\n1,2\n3;4\n\nSELECT 1"),
        [Some("1,2\n3;4\n".to_owned()), None]
    );
    assert_eq!(
        data_of("INSERT INTO t FORMAT CSV 'x"),
        [Some("'x".to_owned())]
    );
    let sql = "INSERT INTO t (a) FORMAT JSONEachRow {\"a\": 1}\n{\"a\": 2}";
    let parsed = parse_statement(sql).unwrap();
    assert_eq!(&sql[parsed.data.unwrap()], "{\"a\": 1}\n{\"a\": 2}");
    assert_eq!(&sql[parsed.span], "INSERT INTO t (a) FORMAT JSONEachRow");
    assert!(parse_statement("SELECT 1\\G").unwrap().vertical);
}
