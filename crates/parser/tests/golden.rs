//! Compares formatting and trees with what ClickHouse gave for the same statements.
//!
//! `data/statements.golden` is recorded by `data/record.py`; `data/differences.txt` lists the
//! statements where the result is another one on purpose, with the reason.

use basalt_parser::{explain_ast, format_one_line, format_statement, parse_statement};

const GOLDEN: &str = include_str!("data/statements.golden");
const DIFFERENCES: &str = include_str!("data/differences.txt");

/// A statement and what ClickHouse made of it; `None` where it gave an error.
struct Case {
    sql: String,
    expected: [Option<String>; 3],
}

const KINDS: [&str; 3] = ["one line", "lines", "tree"];

fn cases() -> Vec<Case> {
    let blocks = GOLDEN.split("### ").skip(1);
    blocks
        .map(|block| {
            let (sql, rest) = block.split_once('\n').expect("a statement is a line");
            let section = |i: usize| {
                let start = format!("--- {}\n", KINDS[i]);
                let from = rest.find(&start).expect("all sections are there") + start.len();
                let text = &rest[from..];
                let end = text.find("\n--- ").unwrap_or(text.trim_end().len());
                let text = text[..end].trim_end_matches('\n').to_owned();
                (!text.starts_with("!!")).then_some(text)
            };
            Case {
                sql: sql.to_owned(),
                expected: [section(0), section(1), section(2)],
            }
        })
        .collect()
}

/// Whether the statement is listed as different in this respect.
fn differs(sql: &str, kind: &str) -> bool {
    DIFFERENCES.lines().any(|line| {
        let mut fields = line.splitn(3, '\t');
        fields
            .next()
            .is_some_and(|kinds| kinds.split(',').any(|k| k == kind))
            && fields.next() == Some(sql)
    })
}

#[test]
fn as_clickhouse() {
    let mut failures = Vec::new();
    let mut num_checked = 0;
    for case in cases() {
        let accepted = case.expected.iter().any(Option::is_some);
        let parsed = match parse_statement(&case.sql) {
            Ok(parsed) => parsed.statement,
            Err(e) => {
                if accepted && !differs(&case.sql, "parse") {
                    failures.push(format!("{}\n  {e}", case.sql));
                }
                continue;
            }
        };
        let ours = [
            format_one_line(&parsed),
            format_statement(&parsed),
            explain_ast(&parsed),
        ];
        for ((kind, ours), expected) in KINDS.iter().zip(&ours).zip(&case.expected) {
            let Some(expected) = expected else { continue };
            num_checked += 1;
            if ours.trim_end() != expected.trim_end() && !differs(&case.sql, kind) {
                failures.push(format!(
                    "{} ({kind})\n--- ClickHouse\n{expected}\n--- ours\n{ours}",
                    case.sql
                ));
            }
        }
    }
    assert!(num_checked > 900, "only {num_checked} checked");
    assert!(
        failures.is_empty(),
        "{} differ\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

#[test]
fn formatted_statements_parse_to_the_same_tree() {
    let mut failures = Vec::new();
    for case in cases() {
        let Ok(parsed) = parse_statement(&case.sql) else {
            continue;
        };
        for text in [
            format_one_line(&parsed.statement),
            format_statement(&parsed.statement),
        ] {
            match parse_statement(&text) {
                Ok(again) if again.statement == parsed.statement => {}
                Ok(_) => failures.push(format!("{}\n{text}\nis another tree", case.sql)),
                Err(e) => failures.push(format!("{}\n{text}\n{e}", case.sql)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn clickbench_parses() {
    let script = include_str!("data/clickbench.sql");
    let parsed: Result<Vec<_>, _> = basalt_parser::parse_statements(script).collect();
    assert_eq!(parsed.unwrap().len(), 43);
}

#[test]
fn statements_of_a_script_know_where_they_begin() {
    let script =
        "SELECT 1;\n\n  SELECT 'ä\nö'; SELECT 2;\nINSERT INTO t FORMAT CSV 1\n2\n\nSELECT 3";
    let statements = basalt_parser::parse_statements(script);
    let places: Vec<_> = statements
        .map(|parsed| {
            let parsed = parsed.expect("parses");
            let place = basalt_parser::position_of(script.as_bytes(), parsed.span.start);
            assert_eq!(parsed.position, place);
            (place.line, place.column)
        })
        .collect();
    assert_eq!(places, [(1, 1), (3, 3), (4, 5), (5, 1), (8, 1)]);
}
