//! Checks on generated texts that what the formatter writes parses to an equal tree, and that
//! nothing panics.

use basalt_parser::{
    column_name, explain_ast, format_data_type, format_one_line, format_statement, parse_data_type,
    parse_expr, parse_statement, parse_statements,
};
use proptest::prelude::{BoxedStrategy, Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// Parses, formats in both layouts, parses again. Texts that are no statements pass.
fn check_round_trip(sql: &str) {
    let Ok(parsed) = parse_statement(sql) else {
        return;
    };
    explain_ast(&parsed.statement);
    for text in [
        format_one_line(&parsed.statement),
        format_statement(&parsed.statement),
    ] {
        match parse_statement(&text) {
            Ok(again) => assert_eq!(again.statement, parsed.statement, "\n{sql}\n{text}"),
            Err(e) => panic!("\n{sql}\n{text}\n{e}"),
        }
    }
}

fn name() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "a", "b", "x", "t", "number", "select", "from", "case", "interval", "null", "date", "in",
        "not", "distinct", "end", "all", "values", "columns", "order", "limit", "final", "exists",
    ];
    prop_oneof![
        4 => select(&WORDS[..5]).prop_map(str::to_owned),
        1 => select(WORDS).prop_map(|w| format!("`{w}`")),
        1 => "[a-z0-9 .`'\"\\\\-]{1,5}".prop_map(|s| {
            format!("`{}`", s.replace('\\', "\\\\").replace('`', "\\`"))
        }),
    ]
}

fn constant() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<u64>().prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>()
            .prop_filter("finite", |f| f.is_finite())
            .prop_map(|f| format!("{f:e}")),
        "[ -~\u{e4}\u{4e2d}\n\t\0]{0,6}"
            .prop_map(|s| { format!("'{}'", s.replace('\\', "\\\\").replace('\'', "\\'")) }),
        select(vec![
            "NULL", "true", "0xff", "1.", ".5", "inf", "nan", "x'41ff'", "$$q'$$", "-0.0"
        ])
        .prop_map(str::to_owned),
    ]
}

fn data_type() -> BoxedStrategy<String> {
    let leaf = select(vec![
        "UInt8",
        "String",
        "Decimal(10, 2)",
        "DateTime64(3, 'UTC')",
        "Enum8('a' = 1, 'b' = -2)",
        "FixedString(4)",
        "DOUBLE PRECISION",
        "AggregateFunction(quantile(0.9), UInt8)",
        "JSON(max_dynamic_paths = 3, a.b UInt8, SKIP c)",
        "INT UNSIGNED",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(3, 8, 2, |inner| {
            prop_oneof![
                inner.clone().prop_map(|t| format!("Array({t})")),
                inner.clone().prop_map(|t| format!("Nullable({t})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("Map({a}, {b})")),
                (name(), inner.clone(), name(), inner)
                    .prop_map(|(n, a, m, b)| format!("Tuple({n} {a}, {m} {b})")),
            ]
        })
        .boxed()
}

/// Templates with operands for `@`.
const FORMS: &[&str] = &[
    "@ + @",
    "@ - @",
    "@ * @",
    "@ / @",
    "@ % @",
    "@ DIV @",
    "@ = @",
    "@ != @",
    "@ < @",
    "@ >= @",
    "@ <=> @",
    "@ IS DISTINCT FROM @",
    "@ AND @",
    "@ OR @",
    "@ AND @ AND @",
    "@ || @ || @",
    "NOT @",
    "- @",
    "+ @",
    "@ IS NULL",
    "@ IS NOT NULL",
    "@ IS TRUE",
    "@ BETWEEN @ AND @",
    "@ NOT BETWEEN @ AND @",
    "@ LIKE @",
    "@ NOT ILIKE @",
    "@ LIKE @ ESCAPE @",
    "@ REGEXP @",
    "@ AT TIME ZONE @",
    "@ AT LOCAL",
    "@ IN (@)",
    "@ IN (@, @)",
    "@ NOT IN @",
    "@ GLOBAL IN (@, @)",
    "@ IN (SELECT @)",
    "@[@]",
    "@.1",
    "@.x",
    "(@)",
    "(@, @)",
    "(@,)",
    "[@, @]",
    "[@]",
    "f(@)",
    "f(@, @)",
    "f(@)(@)",
    "f()",
    "count(DISTINCT @)",
    "sum(@) FILTER (WHERE @)",
    "any(@) RESPECT NULLS",
    "@ ? @ : @",
    "CASE WHEN @ THEN @ END",
    "CASE @ WHEN @ THEN @ ELSE @ END",
    "CAST(@ AS Array(UInt8))",
    "CAST(@, 'UInt8')",
    "@::UInt8",
    "(@ AS y)",
    "(@ AS y) + @",
    "x -> @",
    "(x, y) -> @",
    "f(x -> @, @)",
    "f(@, x -> @)",
    "(x -> @)",
    "INTERVAL @ DAY",
    "INTERVAL '1 day 2 hours'",
    "EXTRACT(year FROM @)",
    "TRIM(BOTH @ FROM @)",
    "SUBSTRING(@ FROM @ FOR @)",
    "POSITION(@ IN @)",
    "DATE_ADD(day, @, @)",
    "DATE '2020-01-01'",
    "EXISTS (SELECT @)",
    "(SELECT @)",
    "(SELECT @ UNION ALL SELECT @)",
    "t.*",
    "* EXCEPT (a, b)",
    "* REPLACE (@ AS a)",
    "* APPLY sum",
    "COLUMNS('a.*') APPLY (x -> @)",
    "t.a.b",
    "{p:UInt8}",
    "sum(@) OVER (PARTITION BY @ ORDER BY @ DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "lead(@) OVER w",
    "tuple(@)",
    "array(@)",
    "not(@)",
    "negate(@)",
    "plus(@, @)",
    "in(@, @)",
    "position(@, @)",
    "substring(@, @)",
    "a.^b.c",
    "a.b.:Int64",
    "@@version",
    "interval(@)",
];

fn fill(template: &str, operands: &[String]) -> String {
    let mut operands = operands.iter().cycle();
    template
        .chars()
        .map(|c| match c {
            '@' => operands.next().cloned().unwrap_or_default(),
            c => c.to_string(),
        })
        .collect()
}

fn expr() -> BoxedStrategy<String> {
    let leaf = prop_oneof![name(), constant()];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let operand = prop_oneof![3 => inner.clone(), 1 => inner.prop_map(|e| format!("({e})"))];
        (select(FORMS), proptest::collection::vec(operand, 3)).prop_map(|(t, ops)| fill(t, &ops))
    })
    .boxed()
}

const QUERIES: &[&str] = &[
    "SELECT @, @ AS y, @ z FROM t WHERE @ GROUP BY @, @ HAVING @ ORDER BY @ DESC NULLS FIRST, @ LIMIT 5",
    "WITH @ AS a, b AS (SELECT @) SELECT DISTINCT @ FROM t AS x FINAL SAMPLE 1/10 PREWHERE @",
    "SELECT @ FROM (SELECT @) AS a LEFT JOIN b USING (c) ANY JOIN d ON @ ARRAY JOIN @ AS e, f",
    "SELECT @ UNION ALL SELECT @ UNION DISTINCT (SELECT @ EXCEPT SELECT @)",
    "SELECT @ INTERSECT SELECT @ EXCEPT SELECT @ LIMIT 1",
    "SELECT @ FROM numbers(@) GROUP BY @, @ WITH ROLLUP WITH TOTALS LIMIT @, 3 BY @, @ LIMIT 1 OFFSET @",
    "SELECT @ GROUP BY GROUPING SETS ((@, @), (@), ()) ORDER BY @ WITH FILL FROM @ TO @ STEP @ INTERPOLATE (a AS @, b)",
    "SELECT @ FROM t WINDOW w AS (PARTITION BY @ ORDER BY @ RANGE UNBOUNDED PRECEDING) QUALIFY @ SETTINGS a = 1, b = 'x'",
    "SELECT TOP 3 @ FROM view(SELECT @), f(a = @, @) INTO OUTFILE 'x' FORMAT JSON",
    "SELECT DISTINCT ON (@, @) @ FROM t ORDER BY @ LIMIT 1 WITH TIES",
    "CREATE TABLE t (a UInt8 DEFAULT @, b String ALIAS @ TTL @, INDEX i @ TYPE minmax, CONSTRAINT c CHECK @) ENGINE = MergeTree PARTITION BY @ ORDER BY (@, @) TTL @ WHERE @ SETTINGS x = 1",
    "CREATE MATERIALIZED VIEW v TO w AS SELECT @, @",
    "CREATE TABLE t ENGINE = Memory AS SELECT @",
    "INSERT INTO t (a, b) SELECT @, @",
    "ALTER TABLE t ADD COLUMN c UInt8 DEFAULT @ AFTER b, UPDATE a = @ WHERE @, DELETE WHERE @, DROP PARTITION @",
    "EXPLAIN PIPELINE graph = 1 SELECT @ FORMAT TSV",
    "DELETE FROM t WHERE @",
    "CREATE FUNCTION f AS (x, y) -> @",
    "KILL QUERY WHERE @ SYNC",
    "SHOW TABLES FROM d LIKE 'x'",
];

/// What fuzzing found, once each.
#[test]
fn found_by_fuzzing() {
    check_round_trip(r#"UNDROP"UNDROP"z, z, b`#2`"#);
    check_round_trip("SYSTEM`SYStEM`C");
    check_round_trip("SYSTEM DROP `q` `q` MARK CACHE");
    check_round_trip("SELECT position(a, )");
    check_round_trip("SELECT 1CAST1(a, b)");
    check_round_trip("SELECT `exists`(a) + 1");
    check_round_trip("KILL QUERY WHERE NOT `order` SYNC");
    check_round_trip("CREATE TABLE t EMPTY AS ACCESS");
    check_round_trip("CREATE TABLE t (UInt8 `a b`) ENGINE = Memory");
    check_round_trip("show quota tables");
    check_round_trip("select * from left semi join t2 using a");
    check_round_trip("select * from t1 anti join right t2 on a");
    check_round_trip(
        "SELECT 1 GROUP BY GROUPING SETS ((INTERVAL '1 day 2 hours'), ((a, b)), ((1, 2), 3))",
    );
}

// The same texts in each run: others are for `PROPTEST_RNG_SEED=… PROPTEST_CASES=…` and `make fuzz`.
proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn expressions(e in expr()) {
        check_round_trip(&format!("SELECT {e}"));
        check_round_trip(&format!("SELECT {e}, 1, {e} FROM t WHERE {e}"));
        if let Ok(parsed) = parse_expr(&e) {
            column_name(&parsed);
        }
    }

    #[test]
    fn statements(
        template in select(QUERIES),
        operands in proptest::collection::vec(expr(), 4),
    ) {
        check_round_trip(&fill(template, &operands));
    }

    #[test]
    fn types(t in data_type()) {
        let parsed = parse_data_type(&t).unwrap();
        let text = format_data_type(&parsed);
        assert_eq!(parse_data_type(&text).unwrap(), parsed, "{}", text);
        check_round_trip(&format!("CREATE TABLE t (a {t}, b {t} DEFAULT 1)"));
        check_round_trip(&format!("SELECT x::{t}, CAST(x AS {t})"));
    }

    /// Words of the dialect in any order.
    #[test]
    fn token_soup(tokens in proptest::collection::vec(token(), 0..25)) {
        let text = tokens.join(" ");
        check_round_trip(&text);
        check_round_trip(&format!("SELECT {text}"));
        check_round_trip(&format!("CREATE {text}"));
        check_round_trip(&format!("ALTER TABLE t {text}"));
        for parsed in parse_statements(&text) {
            if parsed.is_err() { break; }
        }
    }

    #[test]
    fn mutated_statements(text in mutated()) {
        check_round_trip(&text);
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        if let Err(e) = parse_statement(&bytes) {
            assert!(!e.to_string().contains('\n'), "{}", e);
        }
    }
}

/// Statements of the recorded list with tokens left out, doubled, swapped or replaced.
fn mutated() -> BoxedStrategy<String> {
    let statements: Vec<&'static str> = include_str!("data/statements.sql")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("--"))
        .collect();
    let edits = proptest::collection::vec((any::<usize>(), 0..5u8, token()), 1..4);
    (select(statements), edits)
        .prop_map(|(statement, edits)| {
            let tokens = basalt_parser::lexer::Lexer::new(statement.as_bytes());
            let mut tokens: Vec<String> = tokens
                .map(|t| statement[t.span.start as usize..t.span.end as usize].to_owned())
                .filter(|t| !t.trim().is_empty())
                .collect();
            for (at, edit, token) in edits {
                let at = at % tokens.len().max(1);
                match edit {
                    0 if at < tokens.len() => drop(tokens.remove(at)),
                    1 if at < tokens.len() => tokens.insert(at, tokens[at].clone()),
                    2 if at + 1 < tokens.len() => tokens.swap(at, at + 1),
                    3 if at < tokens.len() => tokens[at] = token,
                    _ => tokens.insert(at.min(tokens.len()), token),
                }
            }
            tokens.join(" ")
        })
        .boxed()
}

fn token() -> BoxedStrategy<String> {
    let signs = vec![
        "(", ")", "[", "]", "{", "}", ",", ".", "*", "+", "-", "/", "%", "->", "?", ":", "::", "=",
        "!=", "<", ">", "<=", "||", ";", "@", "1", "0.5", "'a'", "a", "b", "t", "f", "(", ")", ",",
        "a", "1", "UInt8", "Array(", "SELECT", "FROM", "(SELECT",
    ];
    prop_oneof![
        1 => select(basalt_parser::keywords::KEYWORDS.to_vec()).prop_map(str::to_owned),
        2 => select(signs).prop_map(str::to_owned),
        1 => Just("`q`".to_owned()),
    ]
    .boxed()
}
