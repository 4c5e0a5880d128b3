//! Writes columns of every type in every nesting into one file of each binary format and reads them back.

use basalt_engine::{Database, Io, Session};

/// Whether a type may be in `LowCardinality`, and be a map's key, is told by the list it is in.
const KEYS: &[&str] = &[
    "UInt8",
    "UInt64",
    "Int16",
    "String",
    "FixedString(3)",
    "FixedString(5)",
    "FixedString(16)",
    "Date",
    "Date32",
    "DateTime('UTC')",
    "UUID",
    "IPv4",
    "IPv6",
];

const OTHERS: &[&str] = &[
    "Float32",
    "Float64",
    "Bool",
    "Decimal(9, 2)",
    "Decimal(38, 5)",
    "Decimal(76, 6)",
    "DateTime64(3, 'UTC')",
    "DateTime64(6, 'Asia/Tokyo')",
    "Enum8('a' = 1, 'b' = 2)",
    "Enum16('x' = 1000, 'y' = -2)",
];

const NESTINGS: &[&str] = &[
    "@",
    "Nullable(@)",
    "Array(@)",
    "Array(Array(Nullable(@)))",
    "Tuple(a @, b Nullable(@))",
    "Tuple(Array(@), UInt8)",
    "Map(String, @)",
    "Map(UInt8, Array(@))",
];

const NESTINGS_OF_KEYS: &[&str] = &[
    "LowCardinality(@)",
    "LowCardinality(Nullable(@))",
    "Array(LowCardinality(@))",
    "Tuple(LowCardinality(@), LowCardinality(Nullable(@)))",
    "Map(String, LowCardinality(@))",
    "Map(LowCardinality(@), UInt8)",
    "Map(@, UInt8)",
    "Array(Tuple(k LowCardinality(@), v Map(String, LowCardinality(@))))",
];

const FORMATS: &[&str] = &[
    "Arrow",
    "ArrowStream",
    "Parquet",
    "Native",
    "RowBinaryWithNamesAndTypes",
];

fn run(session: &mut Session, sql: &str) -> String {
    let parsed = basalt_parser::parse_statement(sql).expect("a statement");
    let mut out = Vec::new();
    let io = Io {
        out: &mut out,
        input: None,
    };
    if let Err(e) = session.run(sql.as_bytes(), &parsed, io) {
        panic!("{e}\n{sql}");
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The columns of one file: a nesting of each type.
fn structure(nesting: &str, types: &[&[&str]]) -> String {
    let columns = types.iter().copied().flatten().enumerate();
    let columns = columns.map(|(i, t)| format!("c{i} {}", nesting.replace('@', t)));
    columns.collect::<Vec<_>>().join(", ")
}

fn check_round_trips(nesting: &str, types: &[&[&str]]) {
    let database = Database::in_memory().expect("a database");
    let mut session = Session::new(&database);
    let structure = structure(nesting, types);
    let quoted = structure.replace('\'', "\\'");
    run(
        &mut session,
        &format!(
            "CREATE TABLE t ENGINE = Memory AS SELECT * FROM generateRandom('{quoted}', 7, 9, 3) LIMIT 40 \
             SETTINGS allow_suspicious_low_cardinality_types = 1"
        ),
    );
    let expected = run(&mut session, "SELECT * FROM t");
    assert_eq!(expected.lines().count(), 40);
    let file = format!(
        "round-trip-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    );
    let path = std::env::temp_dir().join(file.replace(['(', ')'], ""));
    for format in FORMATS {
        for is_dictionary in [0, 1] {
            let path = path.display();
            let settings =
                format!("output_format_arrow_low_cardinality_as_dictionary = {is_dictionary}");
            run(
                &mut session,
                &format!(
                    "SELECT * FROM t INTO OUTFILE '{path}' TRUNCATE FORMAT {format} SETTINGS {settings}"
                ),
            );
            let read = format!("SELECT * FROM file('{path}', {format}, '{quoted}')");
            let found = run(&mut session, &read);
            assert_eq!(found, expected, "{nesting} in {format}");
            // The types that the file itself tells are read, too.
            run(
                &mut session,
                &format!("SELECT * FROM file('{path}', {format}) FORMAT Null"),
            );
        }
    }
    let _ = std::fs::remove_file(path);
}

#[test]
fn files_give_back_variants() {
    let database = Database::in_memory().expect("a database");
    let mut session = Session::new(&database);
    let rows = "SELECT multiIf(number = 0, 1::Variant(UInt64, String, UUID), number = 1, NULL, \
                's'::Variant(UInt64, String, UUID)) AS v, [v, v] AS a, map('k', v) AS m FROM numbers(4)";
    let expected = run(&mut session, rows);
    let path = std::env::temp_dir().join(format!("variants-{}", std::process::id()));
    for format in FORMATS.iter().filter(|f| **f != "Parquet") {
        let path = path.display();
        run(
            &mut session,
            &format!("{rows} INTO OUTFILE '{path}' TRUNCATE FORMAT {format}"),
        );
        let found = run(
            &mut session,
            &format!("SELECT * FROM file('{path}', {format})"),
        );
        assert_eq!(found, expected, "{format}");
    }
    let _ = std::fs::remove_file(path);
}

#[test]
fn files_give_back_what_was_written() {
    for nesting in NESTINGS {
        check_round_trips(nesting, &[KEYS, OTHERS]);
    }
}

#[test]
fn files_give_back_low_cardinality_in_any_nesting() {
    for nesting in NESTINGS_OF_KEYS {
        check_round_trips(nesting, &[KEYS]);
    }
}
