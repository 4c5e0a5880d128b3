//! Runs statements that read and write files: what `tests/sql` cannot show, as it has none.

use std::fs;

use basalt_engine::{Database, Io, Session};

use crate::{Folder, run_alone};

/// A query that fails when rows have been written.
const FAILS: &str = "SELECT throwIf(number = 150000) FROM numbers(200000)";

#[test]
fn failed_outfiles_leave_nothing() {
    let folder = Folder::new("outfile");
    let path = folder.file("x.tsv");
    run_alone(&format!("{FAILS} INTO OUTFILE '{path}'")).unwrap_err();
    assert_eq!(folder.num_files(), 0);
    run_alone(&format!("SELECT 1 INTO OUTFILE '{path}'")).unwrap();
    for mode in ["TRUNCATE", "APPEND"] {
        run_alone(&format!("{FAILS} INTO OUTFILE '{path}' {mode}")).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n", "{mode}");
    }
    run_alone(&format!("SELECT 2 INTO OUTFILE '{path}' APPEND")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n");
    run_alone(&format!("SELECT 3 INTO OUTFILE '{path}'")).unwrap_err();
    let shown = run_alone(&format!(
        "SELECT 3 INTO OUTFILE '{path}' TRUNCATE AND STDOUT"
    ))
    .unwrap();
    assert_eq!((shown.as_str(), folder.num_files()), ("3\n", 1));
    assert_eq!(fs::read_to_string(&path).unwrap(), "3\n");
}

/// Runs statements over a database whose temporary files lie in a folder of its own; gives how many files were
/// left behind.
fn left_behind(name: &str, statements: &[&str]) -> (Vec<bool>, usize) {
    let folder = Folder::new(name);
    let database = Database::open(&folder.0).expect("a database");
    let mut session = Session::new(&database);
    let run = |sql: &&str| {
        let parsed = basalt_parser::parse_statement(sql).expect("a statement");
        let io = Io {
            out: &mut std::io::sink(),
            input: None,
        };
        session.run(sql.as_bytes(), &parsed, io).is_ok()
    };
    let ended_well = statements.iter().map(run).collect();
    // Tasks of a query that was left end soon, not at once.
    let num_files = || fs::read_dir(folder.0.join("tmp")).map_or(0, Iterator::count);
    for _ in 0..200 {
        if num_files() == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    (ended_well, num_files())
}

#[test]
fn sorts_leave_no_temporary_files() {
    let rows = "FROM numbers(300000) ORDER BY sipHash64(number)";
    let many = "FROM numbers(1000000000) ORDER BY sipHash64(number)";
    let list = "FROM numbers(1000000) ORDER BY [sipHash64(number)]";
    let limit = "SETTINGS max_bytes_before_external_sort = 1000000";
    let statements = [
        format!("SELECT number {rows} {limit}"),
        format!("SELECT throwIf(r = 200000) FROM (SELECT number AS r {rows}) {limit}"),
        format!("SELECT number {rows} LIMIT 10 OFFSET 100000 {limit}"),
        // More rows than any processor sorts in that time.
        format!("SELECT number {many} {limit}, max_execution_time = 0.3"),
        format!("SELECT number {list} SETTINGS max_memory_usage = 40000000, max_threads = 1"),
    ];
    let statements = statements.each_ref().map(String::as_str);
    let (ended_well, num_files) = left_behind("sorts", &statements);
    assert_eq!(ended_well, [true, false, true, false, true]);
    assert_eq!(num_files, 0);
}

/// Rows that no more memory is given for go to files, and sorting them asks for none.
#[test]
fn sorts_do_with_little_memory() {
    for megabytes in [9, 11, 20] {
        let sql = format!(
            "SELECT number, toString(number) FROM numbers(1000000) ORDER BY sipHash64(number) FORMAT Null \
             SETTINGS max_memory_usage = {megabytes}000000, max_threads = 2"
        );
        run_alone(&sql).expect("sorted in files");
    }
}

#[test]
fn group_bys_leave_no_temporary_files() {
    let limit = "SETTINGS max_bytes_before_external_group_by = 1000000";
    let groups = |rows: u64| {
        format!("SELECT sipHash64(number) AS k, count() AS c FROM numbers({rows}) GROUP BY k")
    };
    let strategies = [
        "auto",
        "trivial_parallel",
        "local_buffered_shared",
        "local_splitting_queues",
        "splitting",
    ];
    let mut statements: Vec<String> = strategies
        .into_iter()
        .map(|strategy| {
            format!(
                "{} {limit}, group_by_strategy = '{strategy}'",
                groups(300_000)
            )
        })
        .collect();
    statements.extend([
        format!("SELECT uniqExact(number) FROM numbers(300000) {limit}"),
        format!("SELECT * FROM ({}) LIMIT 10 {limit}", groups(300_000)),
        format!(
            "SELECT throwIf(k % 100000 = 7) FROM ({}) {limit}",
            groups(1_000_000)
        ),
        // More rows than any processor groups in that time.
        format!(
            "{} {limit}, max_execution_time = 0.3",
            groups(1_000_000_000)
        ),
    ]);
    let num_good = statements.len() - 2;
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let (ended_well, num_files) = left_behind("groups", &statements);
    let expected: Vec<bool> = (0..statements.len()).map(|i| i < num_good).collect();
    assert_eq!(ended_well, expected);
    assert_eq!(num_files, 0);
}

/// Files that are cut in parts, with a wrong value near the end.
#[test]
fn errors_count_rows_from_the_start_of_the_file() {
    let folder = Folder::new("rows");
    let row = |i: u32, quote: &str| match i {
        650_000 => format!("{quote}x{quote}"),
        i => format!("{}", i + 1_000_000),
    };
    let files = [
        ("CSVWithNames", "b\n", "", "\n"),
        ("TSV", "", "", "\n"),
        ("JSONEachRow", "", "{\"b\": ", "}\n"),
        ("JSONCompactEachRowWithNames", "[\"b\"]\n", "[", "]\n"),
    ];
    for (format, header, before, behind) in files {
        let path = folder.file(format);
        let quote = if format.starts_with("JSON") { "\"" } else { "" };
        let rows = (0..700_000).map(|i| format!("{before}{}{behind}", row(i, quote)));
        let text: String = std::iter::once(header.to_string()).chain(rows).collect();
        fs::write(&path, &text).unwrap();
        let e = run_alone(&format!(
            "SELECT sum(b) FROM file('{path}', {format}, 'b UInt64')"
        ));
        let byte = header.len() + 650_000 * (before.len() + behind.len() + 7);
        let place = format!("(at row 650001, from byte {byte} on)");
        let e = e.unwrap_err();
        assert!(e.contains(&place), "{format}: {e}");
    }
}

/// Conditions on the columns of the file below: selective ones and such that all rows fulfil.
const CONDITIONS: &[&str] = &[
    "n = 777",
    "n BETWEEN 300 AND 420",
    "n IN (3, 555, 999)",
    "n < 100 OR n > 950",
    "n >= 0",
    "n > 5000",
    "s = 's000000000017'",
    "s > 's0000000009'",
    "s = 'none of them'",
    "maybe = 5",
    "maybe IS NULL",
    "maybe > 90 AND s != ''",
    "f > 900",
    "isNaN(f)",
    "d >= '2020-12-01'",
    "t < '2021-01-01 00:10:00'",
    "has(list, 12)",
    "length(s) > 3 AND n % 97 = 3",
    "low = 'b'",
    "flag AND n < 50",
    "dec = toDecimal64(77.5, 2)",
    "big = 18446744073709551000",
    "small = -7",
    "u = toUUID('00000000-0000-0000-0000-000000000309')",
];

/// Whatever the filters can skip (row groups, pages, single rows) and in whatever way the rest is read.
#[test]
fn filters_skip_nothing_that_passes() {
    let folder = Folder::new("skip");
    let rows = "SELECT toUInt32(number) AS n, concat('s', leftPad(toString(number), 12, '0')) AS s, \
        if(number % 7 = 0, NULL, toInt64(number % 101)) AS maybe, \
        if(number % 50 = 0, nan, number + 0.5) AS f, toDate('2020-01-01') + number AS d, \
        toDateTime64('2021-01-01 00:00:00', 3, 'UTC') + number AS t, [number % 13, number] AS list, \
        toLowCardinality(if(number > 800, 'a', if(number = 400, 'b', 'c'))) AS low, \
        number % 3 = 0 AS flag, toDecimal64(number / 2, 2) AS dec, \
        18446744073709550616 + number AS big, toInt8(number % 20 - 10) AS small, \
        toUUID(concat('00000000-0000-0000-0000-000000000', leftPad(toString(number), 3, '0'))) AS u \
        FROM numbers(1000)";
    for (i, settings) in [
        "output_format_parquet_row_group_size = 130, output_format_parquet_data_page_size = 60, \
         output_format_parquet_batch_size = 7, output_format_parquet_write_bloom_filter = 1",
        "output_format_parquet_row_group_size = 400, output_format_parquet_batch_size = 50, \
         output_format_parquet_data_page_size = 200, output_format_parquet_max_dictionary_size = 0",
        "output_format_parquet_row_group_size = 100, output_format_parquet_write_page_index = 0",
    ]
    .iter()
    .enumerate()
    {
        let path = folder.file(&format!("{i}.parquet"));
        let insert =
            format!("INSERT INTO FUNCTION file('{path}', Parquet) SETTINGS {settings} {rows}");
        run_alone(&insert).unwrap();
        for condition in CONDITIONS {
            let select = |columns: &str, from: &str| {
                run_alone(&format!(
                    "SELECT {columns} FROM {from} WHERE {condition} ORDER BY n"
                ))
                .unwrap_or_else(|e| panic!("{condition}: {e}"))
            };
            for columns in ["*", "n, s", "n", "count() OVER (), n, f"] {
                let found = select(columns, &format!("file('{path}')"));
                let wanted = select(columns, &format!("({rows})"));
                assert_eq!(found, wanted, "{condition} with {settings}");
            }
        }
    }
}

/// What the first rows have ruled out is not read, and nothing else is missing.
#[test]
fn first_rows_are_those_of_all_row_groups() {
    let folder = Folder::new("top");
    let path = folder.file("rows.parquet");
    let rows = "SELECT toUInt32(number) AS n, toInt16(number * 7 % 1000 - 500) AS i, \
        if(number % 90 = 5, NULL, toInt64(number * 13 % 1000)) AS maybe, \
        toDate('2020-01-01') + number * 3 % 1000 AS d, toString(number) AS s FROM numbers(1000)";
    let settings =
        "output_format_parquet_row_group_size = 130, output_format_parquet_batch_size = 7";
    run_alone(&format!(
        "INSERT INTO FUNCTION file('{path}', Parquet) SETTINGS {settings} {rows}"
    ))
    .unwrap();
    for order in [
        "n",
        "n DESC",
        "i DESC, n",
        "d, s",
        "maybe NULLS FIRST, n",
        "maybe DESC NULLS LAST, n",
        "maybe DESC NULLS FIRST, n DESC",
    ] {
        for condition in ["1", "n % 3 = 1", "s LIKE '%7%'", "i > 400 AND n < 900"] {
            for limit in ["1", "7 OFFSET 20", "300"] {
                let select = |from: &str| {
                    run_alone(&format!(
                        "SELECT * FROM {from} WHERE {condition} ORDER BY {order} LIMIT {limit} \
                         SETTINGS max_block_size = 50"
                    ))
                    .unwrap_or_else(|e| panic!("{order}: {e}"))
                };
                let found = select(&format!("file('{path}')"));
                assert_eq!(
                    found,
                    select(&format!("({rows})")),
                    "{condition} {order} {limit}"
                );
            }
        }
    }
}

/// Parts, row groups and filters do not change what a row's number in its file is.
#[test]
fn rows_have_numbers_in_their_file() {
    let folder = Folder::new("numbers");
    for (format, rows) in [("Parquet", 1000), ("CSVWithNames", 900_000)] {
        let path = folder.file(format);
        run_alone(&format!(
            "INSERT INTO FUNCTION file('{path}', {format}) \
             SETTINGS output_format_parquet_row_group_size = 130 \
             SELECT number AS n, toString(number) AS s FROM numbers({rows})"
        ))
        .unwrap();
        let found = run_alone(&format!(
            "SELECT count(), countIf(_row_number = n) FROM file('{path}', {format}, 'n UInt64, s String')"
        ));
        assert_eq!(found.unwrap(), format!("{rows}\t{rows}\n"), "{format}");
        let found = run_alone(&format!(
            "SELECT s, _row_number FROM file('{path}', {format}, 'n UInt64, s String') WHERE n = 777"
        ));
        assert_eq!(found.unwrap(), "777\t777\n", "{format}");
    }
}

#[test]
fn a_file_that_is_not_compressed_is_not_called_empty() {
    let folder = Folder::new("not-compressed");
    for ending in ["gz", "zst", "lz4", "bz2", "xz", "br", "deflate", "lzma"] {
        let path = folder.file(&format!("x.csv.{ending}"));
        fs::write(&path, "a,b\n1,2\n").unwrap();
        let error = run_alone(&format!("SELECT * FROM file('{path}')")).unwrap_err();
        assert!(error.contains("Code: 636"), "{error}");
        assert!(
            error.contains("damaged") && error.contains(&path),
            "{error}"
        );
        assert!(!error.contains("empty"), "{error}");
    }
    let path = folder.file("x.csv.gz");
    let error = run_alone(&format!("SELECT * FROM file('{path}', CSV, 'a String')")).unwrap_err();
    assert!(
        error.contains("Code: 354") && error.contains(&path),
        "{error}"
    );
}

#[test]
fn infile_takes_the_compression_it_is_told() {
    let folder = Folder::new("infile");
    let path = folder.file("y.bin");
    let written = format!("SELECT 1, 2 INTO OUTFILE '{path}' COMPRESSION 'gzip' FORMAT CSV");
    run_alone(&written).unwrap();
    let database = Database::in_memory().unwrap();
    let mut session = Session::new(&database);
    let insert = format!("INSERT INTO f FROM INFILE '{path}' COMPRESSION 'gzip' FORMAT CSV");
    let create = "CREATE TABLE f (a Int32, b Int32) ENGINE = Memory";
    for sql in [create, insert.as_str()] {
        crate::run(&mut session, sql).unwrap();
    }
    let rows = crate::run(&mut session, "SELECT * FROM f").unwrap();
    assert_eq!(rows, "1\t2\n");
}

#[test]
fn snappy_files_have_blocks_as_in_hadoop() {
    let folder = Folder::new("snappy");
    let path = folder.file("z.csv.snappy");
    // What ClickHouse writes for the numbers 0, 1 and 2.
    let bytes = b"\0\0\0\x06\0\0\0\x08\x06\x140\n1\n2\n";
    let write = |rows: u32| {
        run_alone(&format!(
            "SELECT number AS n FROM numbers({rows}) INTO OUTFILE '{path}' TRUNCATE"
        ))
    };
    write(3).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let read = || run_alone(&format!("SELECT count(), sum(c1) FROM '{path}'"));
    assert_eq!(read().unwrap(), "3\t3\n");
    write(300_000).unwrap();
    assert_eq!(read().unwrap(), "300000\t44999850000\n");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let given = format!("SELECT sum(a) FROM file('{path}', CSV, 'a UInt32')");
    let error = run_alone(&given).unwrap_err();
    assert!(
        error.contains("Code: 638") && error.contains(&path),
        "{error}"
    );
    fs::write(&path, "1,2\n3,4\n").unwrap();
    let error = run_alone(&given).unwrap_err();
    assert!(error.contains("Code: 638"), "{error}");
}

#[test]
fn brotli_files_are_read_and_written() {
    let folder = Folder::new("brotli");
    for ending in ["br", "brotli", "BR"] {
        let path = folder.file(&format!("z.csv.{ending}"));
        // What ClickHouse writes for the numbers 0, 1 and 2.
        fs::write(&path, b"\x8f\x02\x80\x30\x0a\x31\x0a\x32\x0a\x03").unwrap();
        let read = || run_alone(&format!("SELECT count(), sum(c1) FROM '{path}'"));
        assert_eq!(read().unwrap(), "3\t3\n");
        let insert =
            format!("SELECT number AS n FROM numbers(300000) INTO OUTFILE '{path}' TRUNCATE");
        run_alone(&insert).unwrap();
        assert_eq!(read().unwrap(), "300000\t44999850000\n");
        let whole = fs::read(&path).unwrap();
        assert!(whole.len() < 1_000_000, "{}", whole.len());
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let error = run_alone(&format!(
            "SELECT sum(a) FROM file('{path}', CSV, 'a UInt32')"
        ));
        let error = error.unwrap_err();
        assert!(
            error.contains("Code: 448") && error.contains(&path),
            "{error}"
        );
    }
}

#[test]
fn names_of_no_file_are_unknown_tables() {
    let folder = Folder::new("no-file");
    let path = folder.file("nothing.csv");
    let error = run_alone(&format!("SELECT * FROM '{path}'")).unwrap_err();
    assert!(
        error.contains("Code: 60") && error.contains(&path),
        "{error}"
    );
    let error = run_alone(&format!("SELECT * FROM file('{path}')")).unwrap_err();
    assert!(error.contains("Code: 400"), "{error}");
    let path = folder.file("x.md");
    fs::write(&path, "# x\n").unwrap();
    let error = run_alone(&format!("SELECT * FROM '{path}'")).unwrap_err();
    assert!(
        error.contains("Code: 36") && error.contains("structure"),
        "{error}"
    );
}

/// Types whose values are numbers or bytes in files, with a value's text.
const BY_NUMBER: &[(&str, &str)] = &[
    ("DateTime('UTC')", "1970-08-23 06:15:02"),
    ("Date", "2024-01-02"),
    ("IPv4", "1.2.3.4"),
    ("IPv6", "2001:db8::1"),
    ("UUID", "61f0c404-5cb3-11e7-907b-a6006ad3dba0"),
    ("Array(IPv6)", "['::1']"),
    ("Nullable(IPv6)", "::1"),
];

/// No text of a value stands in such a file: it must not be read as one.
#[test]
fn columns_are_read_as_the_types_declared() {
    let folder = Folder::new("declared");
    for (data_type, value) in BY_NUMBER {
        for format in ["Arrow", "ArrowStream", "Parquet", "Native"] {
            let path = folder.file(&format!("x.{format}"));
            let (quoted, text) = (data_type.replace('\'', "''"), value.replace('\'', "''"));
            let file = format!("file('{path}', {format}, 'x {quoted}')");
            run_alone(&format!(
                "INSERT INTO FUNCTION {file} SELECT CAST('{text}', '{quoted}')"
            ))
            .unwrap();
            let found = run_alone(&format!("SELECT x FROM {file}"));
            assert_eq!(found, Ok(format!("{value}\n")), "{data_type} in {format}");
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn parquet_files_may_be_compressed_as_a_whole() {
    let folder = Folder::new("parquet_gz");
    let file = folder.file("rows.parquet.gz");
    let write =
        format!("INSERT INTO FUNCTION file('{file}') SELECT number AS a FROM numbers(1000)");
    run_alone(&write).expect(&write);
    assert_eq!(fs::read(&file).expect("a file")[..2], [0x1F, 0x8B]);
    let read = format!("SELECT count(), sum(a) FROM file('{file}') WHERE a > 9");
    assert_eq!(run_alone(&read).expect(&read), "990\t499455\n");
}

#[test]
fn formats_are_guessed_where_no_name_tells_them() {
    let folder = Folder::new("guessed");
    for (name, rows, expected) in [
        ("json", "{\"a\":1,\"b\":\"x\"}\n", "1\tx\n"),
        ("csv", "1,x\n2,y\n", "1\tx\n2\ty\n"),
        ("values", "(1,'x'),(2,'y')", "1\tx\n2\ty\n"),
        ("tsv", "1\tx,y\n", "1\tx,y\n"),
    ] {
        let file = folder.file(&format!("{name}_rows"));
        fs::write(&file, rows).expect("a file");
        let sql = format!("SELECT * FROM file('{file}')");
        assert_eq!(run_alone(&sql).expect(&sql), expected, "{name}");
    }
}

#[test]
fn files_of_values_hold_expressions() {
    let folder = Folder::new("values");
    let path = folder.file("x.values");
    fs::write(
        &path,
        "('x', 1 + 1, array('y')), (5, '1e1', ['z']), (lower('A'), 7, [])",
    )
    .unwrap();
    let columns = "a String, b Float64, c Array(String)";
    let rows = run_alone(&format!(
        "SELECT * FROM file('{path}', Values, '{columns}')"
    ));
    assert_eq!(rows.unwrap(), "x\t2\t['y']\n5\t10\t['z']\na\t7\t[]\n");
    run_alone(&format!(
        "SELECT * FROM file('{path}', Values, '{columns}') SETTINGS input_format_values_interpret_expressions = 0"
    ))
    .unwrap_err();
}

#[test]
fn formats_of_files_are_told_by_their_bytes() {
    let folder = Folder::new("detected");
    for format in [
        "Native",
        "ArrowStream",
        "JSONColumns",
        "JSONCompactColumns",
        "JSONObjectEachRow",
        "TSKV",
        "TSVWithNamesAndTypes",
    ] {
        let path = folder.file(format);
        run_alone(&format!(
            "SELECT number AS c1, 'x' AS c2 FROM numbers(3) INTO OUTFILE '{path}' FORMAT {format}"
        ))
        .unwrap();
        let rows = run_alone(&format!("SELECT * FROM file('{path}')"));
        assert_eq!(rows.unwrap(), "0\tx\n1\tx\n2\tx\n", "{format}");
    }
}
