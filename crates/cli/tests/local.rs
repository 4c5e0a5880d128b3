//! Runs `basalt local` as a process: its options, its exit status and what it prints where.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Output, Stdio};

fn basalt(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    command.arg("local").args(args).stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> (i32, String, String) {
    shown(&basalt(args).output().expect("a process"))
}

fn shown(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn unknown_databases_are_refused() {
    let (code, out, err) = run(&["-d", "defualt", "-q", "SELECT 1"]);
    assert_eq!((code, out.as_str()), (81, ""));
    assert!(
        err.starts_with("Code: 81. DB::Exception: Maybe you meant"),
        "{err}"
    );
    assert_eq!(run(&["-d", "system", "-q", "SELECT * FROM one"]).1, "0\n");
}

/// Choices are of the whole process, so their arms can be counted in one alone.
#[test]
fn forced_arms_do_the_work() {
    let arms =
        "SELECT arm FROM system.adaptive_choices WHERE name = 'average_by_byte_key' AND pulls > 0;";
    for arm in ["table_x8", "runs"] {
        let average = format!(
            "SELECT toUInt8(number % 3) AS k, avg(toFloat32(number)) FROM numbers(300000) GROUP BY k FORMAT Null \
             SETTINGS force_choice = 'average_by_byte_key={arm}';"
        );
        let (code, out, err) = run(&["--multiquery", "-q", &format!("{average} {arms}")]);
        assert_eq!((code, out, err), (0, format!("{arm}\n"), String::new()));
    }
}

#[test]
fn a_query_and_a_file_of_queries_are_too_much() {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("queries-{}.sql", std::process::id()));
    std::fs::write(&path, "SELECT 2;").expect("a file");
    let path = path.display().to_string();
    let (code, out, err) = run(&["-q", "SELECT 1", "--queries-file", &path]);
    assert_eq!((code, out.as_str()), (36, ""), "{err}");
    let twice = ["--queries-file", &path, "--queries-file", &path];
    assert_eq!(run(&twice).1, "2\n2\n");
    std::fs::remove_file(&path).expect("the file is there");
    let (code, _, err) = run(&["--queries-file", &path]);
    assert_eq!(code, 107);
    assert!(err.contains(&path), "{err}");
}

#[test]
fn nobody_reads_and_nothing_is_said() {
    let mut command = basalt(&["-q", "SELECT number FROM system.numbers"]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut first).expect("a line");
    drop(out);
    let status = child.wait().expect("an end");
    let mut err = String::new();
    let pipe = child.stderr.as_mut().expect("a pipe");
    pipe.read_to_string(&mut err).expect("text");
    assert_eq!((first.as_str(), err.as_str()), ("0\n", ""));
    assert_eq!(status.code(), Some(141));
}

#[test]
fn standard_input_is_a_table() {
    let mut command = basalt(&[
        "-S",
        "a UInt8, b String",
        "-q",
        "SELECT sum(a), max(b) FROM table",
    ]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"1\tx\n2\ty\n").expect("a reader");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    assert_eq!(shown(&output).1, "3\ty\n");
}

/// Input that breaks any reader of it: whoever reads it fails.
#[test]
fn standard_input_is_left_alone_by_strings_and_comments() {
    let broken = b"\"\xff\t\\x";
    let (status, out, _) = over_rows("SELECT 'rows from table x' -- FROM table", broken);
    assert_eq!((status, out.as_str()), (0, "rows from table x\n"));
    let (status, out, _) = over_rows("SELECT 1 IN `table`", b"1\n");
    assert_eq!((status, out.as_str()), (0, "1\n"));
}

#[test]
fn the_format_of_standard_input_is_guessed() {
    for (rows, expected) in [
        ("{\"a\":1}\n{\"a\":2}\n", "3\n"),
        ("[{\"a\":1}, {\"a\":5}]", "6\n"),
        ("a,b\n3,x\n4,y\n", "7\n"),
        ("a\tb\n3\tx,\n5\ty,\n", "8\n"),
    ] {
        let (status, out, err) = over_rows("SELECT sum(a) FROM table", rows.as_bytes());
        assert_eq!(
            (status, out.as_str(), err.as_str()),
            (0, expected, ""),
            "{rows}"
        );
    }
}

#[test]
fn settings_that_are_on_or_off_need_no_value() {
    let query = "SELECT b FROM (SELECT 1 AS a) AS x LEFT JOIN (SELECT 2 AS a, 3 AS b) AS y USING a";
    let output = basalt(&["--join_use_nulls", "-q", query]).output();
    assert_eq!(shown(&output.expect("a process")).1, "\\N\n");
    let output = basalt(&["--join_use_nulls", "0", "-q", query]).output();
    assert_eq!(shown(&output.expect("a process")).1, "0\n");
}

/// What `basalt local -q` prints for a query over lines of TSV.
fn over_rows(query: &str, rows: &[u8]) -> (i32, String, String) {
    let mut command = basalt(&["-q", query]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    let mut input = child.stdin.take().expect("a pipe");
    // A query that does not read its input may be gone.
    let _ = input.write_all(rows);
    drop(input);
    shown(&child.wait_with_output().expect("an end"))
}

#[test]
fn statements_over_standard_input_may_ask_only_what_it_is() {
    let rows = b"1\tx\n2\ty\n";
    let columns = "c1\tNullable(Int64)\t\t\t\t\t\nc2\tNullable(String)\t\t\t\t\t\n";
    for query in ["DESC table", "DESCRIBE TABLE table"] {
        let (code, out, err) = over_rows(query, rows);
        assert_eq!((code, out.as_str()), (0, columns), "{err}");
    }
    let query = "SHOW CREATE TABLE table FORMAT TSVRaw";
    let made = "CREATE TEMPORARY TABLE `table`\n(\n    `c1` Nullable(Int64),\n    `c2` Nullable(String)\n)\nENGINE = Memory\n";
    assert_eq!(over_rows(query, rows).1, made);
    // Another table is asked about: nobody reads the input.
    assert_eq!(over_rows("DESC table one", b"\t\n\n").0, 60);
}

#[test]
fn statements_behind_an_infile_run() {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("infile-{}.csv", std::process::id()));
    std::fs::write(&path, "1\n2\n").expect("a file");
    let script = format!(
        "CREATE TABLE f (a UInt8) ENGINE = Memory; INSERT INTO f FROM INFILE '{}' FORMAT CSV;\nSELECT sum(a) FROM f; SELECT 5",
        path.display()
    );
    let (code, out, err) = run(&["-q", &script]);
    assert_eq!((code, out.as_str()), (0, "3\n5\n"), "{err}");
    std::fs::remove_file(&path).expect("the file is there");
}

/// The process may end while LLVM works in the background.
#[test]
fn the_end_waits_for_code_that_is_compiled() {
    for round in 0..20 {
        let query = format!(
            "SELECT sum(number * 3 + {round}), min(number % 7), avg(number) FROM numbers(1000) WHERE number % 5 != 2"
        );
        let (code, _, err) = run(&[
            "--compile_aggregate_expressions=1",
            "--min_count_to_compile_aggregate_expression=1",
            "-q",
            &query,
        ]);
        assert_eq!((code, err.as_str()), (0, ""));
    }
}

#[test]
fn slices_of_the_same_strings_are_not_counted_again_and_again() {
    let file = std::env::temp_dir().join(format!("slices-{}.parquet", std::process::id()));
    let name = file.display();
    let load = format!(
        "INSERT INTO FUNCTION file('{name}') SELECT number AS id, toString(cityHash64(number)) AS s, \
         hex(number) AS z FROM numbers(400000)"
    );
    assert_eq!(run(&["-q", &load]).0, 0);
    // Fewer morsels than threads, so that batches are dealt out to these.
    let count = format!(
        "CREATE TABLE t ENGINE = Memory AS SELECT * FROM file('{name}'); \
         SELECT uniqExact(s), uniqExact(z), uniqExact(id) FROM t SETTINGS max_block_size = 100, \
         max_threads = 7, max_memory_usage = 150000000"
    );
    let found = run(&["--multiquery", "-q", &count]);
    let _ = std::fs::remove_file(&file);
    assert_eq!(found.1, "400000\t400000\t400000\n", "{}", found.2);
}
