//! Opens tables as an earlier build wrote them: `tests/golden/tables` is never written anew, or their format has changed
//! without a new version.

use std::fs;
use std::path::Path;

use basalt_engine::{Database, Session};

use crate::{Folder, run};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("golden files") {
        let entry = entry.expect("a golden file");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(from, to).expect("a copy")),
        }
    }
}

fn opened(folder: &Folder) -> Session {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tables");
    copy(&golden, &folder.0);
    Session::new(&Database::open(&folder.0).expect("a database"))
}

const QUERIES: [(&str, &str); 7] = [
    (
        "SELECT count(), sum(k), sum(m2), max(s), uniqExact(lc), count(n), sum(n), sum(f), max(t), \
         sum(i), sum(p), max(u), uniqExact(x), sum(length(a)), sum(m['k']), sum(tu.x), \
         countIf(e = 'b'), uniqExact(c) FROM sorted",
        "401\t84800\t169600\tstring 99\t4\t320\t16000\t9975\t2020-01-01 00:06:39.500\t79800000\t\
         4987.5\t00000000-0000-0000-0000-000000000399\t401\t800\t39800\t1197\t200\t3\n",
    ),
    (
        "SELECT k, d, s, lc, n, f, t, i, p, u, x, a, m, tu, e, c, m2 FROM sorted \
         WHERE k IN (7, 5000) ORDER BY k",
        "7\t2020-12-08\tstring 7\ttwo\t7\t0.875\t2020-01-01 00:00:07.500\t7000\t0.4375\t\
         00000000-0000-0000-0000-000000000007\t7\\0\\0\\0\\0\t['7',NULL]\t{'k':7}\t(0,'7')\tb\tother\t14\n\
         5000\t2021-05-05\t\t\t\\N\t0\t1970-01-01 00:00:00.000\t0\t0\t\
         00000000-0000-0000-0000-000000000000\t\\0\\0\\0\\0\\0\t[]\t{}\t(0,'')\ta\t\t10000\n",
    ),
    ("SELECT k FROM sorted WHERE s = 'string 123'", "123\n"),
    (
        "SELECT partition, sum(rows) FROM system.parts WHERE table = 'sorted' AND active \
         GROUP BY partition ORDER BY partition",
        "2020\t217\n2021\t184\n",
    ),
    (
        "SELECT * FROM replaced FINAL ORDER BY k",
        "1\tnew\t2\n2\tonly\t1\n",
    ),
    (
        "SELECT count(), sum(k), max(s), count(s), sum(length(a)), sum(m['k']), sum(d) FROM mapped",
        "101\t5950\tlast\t67\t100\t4950\t1236.5\n",
    ),
    (
        "SELECT * FROM mapped WHERE k > 98 ORDER BY k",
        "99\t\\N\t['99']\t{'k':99}\t24.75\n1000\tlast\t[]\t{}\t-1\n",
    ),
];

#[test]
fn tables_of_an_earlier_build_are_read_and_written() {
    let folder = Folder::new("earlier-tables");
    let mut session = opened(&folder);
    for (sql, expected) in QUERIES {
        assert_eq!(run(&mut session, sql).expect(sql), expected, "{sql}");
    }
    for table in ["sorted", "replaced", "mapped"] {
        let checked = format!("CHECK TABLE {table} SETTINGS check_query_single_value_result = 1");
        assert_eq!(
            run(&mut session, &checked).expect("checked"),
            "1\n",
            "{table}"
        );
        let insert = format!("INSERT INTO {table} (k) VALUES (200)");
        run(&mut session, &insert).expect("another row");
    }
    run(&mut session, "OPTIMIZE TABLE sorted FINAL").expect("merged parts");
    let count = "SELECT (SELECT count() FROM sorted), (SELECT count() FROM mapped)";
    assert_eq!(run(&mut session, count).expect("counts"), "402\t102\n");
}
