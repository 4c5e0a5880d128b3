//! Kills processes in the middle of inserts, merges and changes: what was acknowledged is there, once.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How many processes are killed; the environment may ask for more.
const NUM_KILLS: u64 = 12;

/// Variable of the environment that says how many.
const NUM_KILLS_VARIABLE: &str = "BASALT_TEST_KILLS";

/// Rows of an insert.
const ROWS: u64 = 500;

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn basalt(folder: &Path, sql: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    command
        .arg("local")
        .arg("--path")
        .arg(folder)
        .arg("-q")
        .arg(sql);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn answer(folder: &Path, sql: &str) -> String {
    let output = basalt(folder, sql).output().expect("a process");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{sql}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Inserts that a process tells of, with merges and changes between them.
fn script(round: u64) -> String {
    let mut script = String::new();
    for i in 0..40 {
        let first = (round * 1000 + i) * ROWS;
        script.push_str(&format!(
            "INSERT INTO t SELECT number + {first}, 'x' FROM numbers({ROWS}); SELECT {first}; "
        ));
        match i % 8 {
            3 => script.push_str("OPTIMIZE TABLE t FINAL; "),
            5 => script.push_str("ALTER TABLE t UPDATE s = 'y' WHERE k % 2 = 0; "),
            7 => script.push_str("ALTER TABLE t DELETE WHERE s = 'never'; "),
            _ => {}
        }
    }
    script
}

#[test]
fn killed_processes_leave_whole_inserts() {
    let path = std::env::temp_dir().join(format!("kill-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    let folder = Folder(path);
    let create = "CREATE TABLE t (k UInt64, s String) ENGINE = MergeTree ORDER BY k";
    answer(&folder.0, create);
    let asked = std::env::var(NUM_KILLS_VARIABLE).ok();
    let num_kills = asked.map_or(NUM_KILLS, |text| text.parse().expect("a number of kills"));
    for round in 0..num_kills {
        let mut process = basalt(&folder.0, &script(round))
            .spawn()
            .expect("a process");
        std::thread::sleep(Duration::from_millis(150 + 131 * round % 700));
        process.kill().expect("a kill");
        let mut told = String::new();
        let mut out = process.stdout.take().expect("its output");
        out.read_to_string(&mut told).expect("text");
        process.wait().expect("its end");
        let there = answer(&folder.0, "SELECT k FROM t WHERE k % 500 = 0 ORDER BY k");
        for first in told.lines() {
            assert!(
                there.lines().any(|k| k == first),
                "round {round}: {first} is gone"
            );
        }
        let check = "SELECT count() FROM (SELECT intDiv(k, 500) AS i, count() AS c, uniqExact(k) \
                     AS u FROM t GROUP BY i HAVING c != 500 OR u != 500)";
        assert_eq!(
            answer(&folder.0, check),
            "0\n",
            "round {round}: half or twice"
        );
    }
    assert_ne!(answer(&folder.0, "SELECT count() FROM t"), "0\n");
}
