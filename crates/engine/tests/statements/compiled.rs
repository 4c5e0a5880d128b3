//! Which aggregations and expressions are compiled, as EXPLAIN ANALYZE tells it.

use basalt_engine::{Database, Session};

/// Lines that tell of compiled code when the query runs.
fn told(session: &mut Session, sql: &str) -> Vec<String> {
    let explained = crate::run(session, &format!("EXPLAIN ANALYZE {sql}")).expect(sql);
    let lines = explained.lines().filter(|line| line.contains("ompiled: "));
    lines.map(str::to_owned).collect()
}

/// A table, and settings that compile at once.
fn session() -> Option<Session> {
    if !basalt_jit::compiled::is_available_to_tests() {
        return None;
    }
    let database = Database::in_memory().expect("engine");
    let mut session = Session::new(&database);
    for sql in [
        "SET min_count_to_compile_aggregate_expression = 0, jit_verify = 1, max_threads = 1",
        "SET min_count_to_compile_expression = 0",
        "CREATE TABLE t (a UInt32, b Int16, x Float64, n Nullable(UInt8), d Date, s String) ENGINE = Memory",
        "INSERT INTO t SELECT number, number, number, number, number, 'x' FROM numbers(100)",
        "CREATE TABLE times (s DateTime, z DateTime('Asia/Tokyo')) ENGINE = Memory",
        "INSERT INTO times SELECT number * 12345678, number FROM numbers(100)",
        "SET session_timezone = 'UTC'",
    ] {
        crate::run(&mut session, sql).expect(sql);
    }
    Some(session)
}

#[test]
fn aggregations_of_numbers_are_compiled() {
    let Some(mut session) = session() else { return };
    for sql in [
        "SELECT sum(a * b + 1) FROM t WHERE a > 10 AND b < 90",
        "SELECT sum(a), avg(b), min(d), max(n), count(n), count() FROM t",
        "SELECT sum(x), avg(x * 2) FROM t",
        "SELECT sum(x), sum(a) FROM t WHERE a > 10",
        "SELECT sumIf(a, n > 5), countIf(b = 3) FROM t WHERE d > '1970-01-09' OR isNull(n)",
        "SELECT sum(if(a % 3 = 1, intDiv(a, 7), abs(b))), sum(toUInt8(a)), sum(a::UInt8) FROM t",
        "SELECT min(x), max(x * 2), max(toFloat32(a)), minIf(x, b > 5) FROM t",
        "SELECT sum(bitCount(a)), sum(bitShiftLeft(a, 3)), sum(bitTest(b, 2)), sum(greatest(a, b, n)) FROM t",
        "SELECT sum(toYear(d)), max(toStartOfMonth(d)), sum(toDayOfWeek(d + 1)), sum(sign(b)) FROM t",
        "SELECT sum(toHour(s)), max(toStartOfHour(s)), max(toDate(s)), sum(toYYYYMM(s)) FROM times",
        "SELECT max(toStartOfMinute(z)), max(z + 5) FROM times",
    ] {
        let lines = told(&mut session, sql);
        let is_all = matches!(lines.as_slice(), [line] if line.contains("Compiled: 100 rows") && line.contains("verified"));
        assert!(is_all, "{sql}: {lines:?}");
    }
}

#[test]
fn aggregations_by_few_small_keys_are_compiled() {
    let Some(mut session) = session() else { return };
    for sql in [
        "SELECT a % 10 AS k, sum(b * 2), max(d) FROM t GROUP BY k",
        "SELECT b % 10 AS k, count(), min(a + 1), avg(b) FROM t WHERE a > 10 AND s != 'y' GROUP BY k",
        "SELECT b % 10 AS k, count(), min(a + 1), avg(b) FROM t WHERE a > 10 GROUP BY k",
        "SELECT n, a % 3 AS k, sum(b) FROM t WHERE b > 3 GROUP BY n, k",
        "SELECT toDayOfWeek(d) AS k, toMonth(d) AS l, countIf(a > 7) FROM t GROUP BY k, l",
    ] {
        let lines = told(&mut session, sql);
        let is_all = matches!(lines.as_slice(), [line] if line.contains("Compiled: 100 rows") && line.contains("verified"));
        assert_eq!(is_all, !sql.contains("'y'"), "{sql}: {lines:?}");
    }
    for sql in [
        "SELECT a % 10 AS k, sum(x * 2) FROM t GROUP BY k",
        "SELECT a % 100000 AS k, sum(b + 1) FROM t GROUP BY k",
        "SELECT a % 10 AS k, uniqExact(b) FROM t GROUP BY k",
        "SELECT a % 10 AS k, sum(b + 1) FROM t GROUP BY k SETTINGS group_by_strategy = 'splitting'",
    ] {
        let sql = format!(
            "{sql}{} compile_expressions = 0",
            if sql.contains("SETTINGS") {
                ","
            } else {
                " SETTINGS"
            }
        );
        assert_eq!(told(&mut session, &sql), [""; 0], "{sql}");
    }
}

/// They are too short to measure which way is better.
#[test]
fn short_batches_are_compiled_once_there_is_code() {
    let Some(mut session) = session() else { return };
    let sql = "SELECT sum(a * 3 + b * 5 - 7), max(a * b + 1) FROM t";
    assert!(
        told(&mut session, sql)
            .concat()
            .contains("Compiled: 100 rows")
    );
    let usual = "SET min_count_to_compile_aggregate_expression = 1, jit_verify = 0";
    crate::run(&mut session, usual).expect(usual);
    let lines = told(&mut session, sql);
    assert!(lines.concat().contains("Compiled: 100 rows"), "{lines:?}");
}

/// Such floats are added in the order in which a filter leaves their rows: it stays a step of its own.
#[test]
fn computed_floats_are_one_loop_with_their_condition() {
    let Some(mut session) = session() else { return };
    for sql in [
        "SELECT sum(x * 2) FROM t WHERE a > 10",
        "SELECT sum(x) FROM t WHERE a > b + 10 OR a > 10",
    ] {
        let lines = told(&mut session, sql);
        assert!(
            lines.concat().contains("Compiled: 100 rows"),
            "{sql}: {lines:?}"
        );
    }
}

#[test]
fn other_aggregations_go_on_as_they_did() {
    let Some(mut session) = session() else { return };
    for sql in [
        // It could fail.
        "SELECT sum(intDiv(100, a + 1)) FROM t SETTINGS compile_expressions = 0",
        "SELECT sum(toUInt8(x)) FROM t",
        "SELECT sum(bitShiftLeft(a, b)) FROM t SETTINGS compile_expressions = 0",
        "SELECT sum(bitTest(a, a % 8)) FROM t SETTINGS compile_expressions = 0",
        "SELECT sum(toHour(z)) FROM times SETTINGS compile_expressions = 0",
        "SELECT max(toMonday(s)) FROM times SETTINGS compile_expressions = 0, session_timezone = 'Asia/Tokyo'",
        "SELECT sum(length(s)) FROM t",
        "SELECT uniqExact(a) FROM t",
        "SELECT count() FROM t",
        "SELECT a, sum(b) FROM t GROUP BY a",
        "SELECT sum(a) FROM t SETTINGS compile_aggregate_expressions = 0",
    ] {
        assert_eq!(told(&mut session, sql), [""; 0], "{sql}");
    }
}

#[test]
fn code_is_found_again() {
    let Some(mut session) = session() else { return };
    let sql = "SELECT sum(a + 12345) FROM t WHERE b != 77";
    assert!(told(&mut session, sql)[0].contains("compiled in"));
    assert!(told(&mut session, sql)[0].contains("found compiled"));
}

#[test]
fn expressions_of_several_functions_are_compiled() {
    let Some(mut session) = session() else { return };
    for (sql, num_parts) in [
        ("SELECT a + b * 3 FROM t", 1),
        ("SELECT toString(a * 2 + 1), s FROM t", 1),
        ("SELECT if(a > 5, b, a), x * 2 - 1 FROM t", 2),
        ("SELECT s FROM t WHERE a + b > 7", 1),
        (
            "SELECT s, sum(a * b + 1), max(intDiv(a, 7)) FROM t GROUP BY s",
            1,
        ),
        ("SELECT n + a * 2 FROM t ORDER BY 1", 1),
        ("SELECT toYear(d) * 100 + toMonth(d) FROM t", 1),
    ] {
        let lines = told(&mut session, sql);
        let all = lines.iter();
        let all = all.filter(|l| l.contains("Compiled: 100 rows") && l.contains("verified"));
        assert_eq!(all.count(), num_parts, "{sql}: {lines:?}");
        assert_eq!(lines.len(), num_parts, "{sql}: {lines:?}");
    }
}

#[test]
fn other_expressions_go_on_as_they_did() {
    let Some(mut session) = session() else { return };
    for sql in [
        // One function is one loop already.
        "SELECT bitNot(a), toYYYYMM(d), a FROM t",
        "SELECT intDiv(100, length(s)) FROM t",
        "SELECT length(s) + 1 FROM t",
        "SELECT a + b * 3 FROM t SETTINGS compile_expressions = 0",
    ] {
        assert_eq!(told(&mut session, sql), [""; 0], "{sql}");
    }
}

#[test]
fn compilations_are_counted() {
    let Some(mut session) = session() else { return };
    let lines = told(&mut session, "SELECT sum(a * 17 + b * 19) FROM t");
    assert!(lines.concat().contains("Compiled: 100 rows"), "{lines:?}");
    let sql = "SELECT min(value) > 0, count() FROM system.events WHERE event IN ('CompileFunction', 'CompileExpressionsMicroseconds', 'CompileExpressionsBytes')";
    assert_eq!(crate::run(&mut session, sql).expect(sql), "1\t3\n");
}
