//! Temporary files of a GROUP BY that does not fit its memory are gone, however its process ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Groups of some ten times the memory from which on they go to files.
const SPILLING: &str = "SELECT cityHash64(number) AS k, count() FROM numbers(10000000) GROUP BY k \
                        FORMAT Null SETTINGS max_bytes_before_external_group_by = 20000000";

/// The same of so many rows that nobody waits for the end.
const ENDLESS: &str = "SELECT cityHash64(number) AS k, count() FROM numbers(100000000000) GROUP BY k \
                       FORMAT Null SETTINGS max_bytes_before_external_group_by = 20000000";

/// The same, with an error at its end.
const FAILING: &str = "SELECT cityHash64(number) AS k, throwIf(count() = 1, 'at the end') \
                       FROM numbers(10000000) GROUP BY k FORMAT Null \
                       SETTINGS max_bytes_before_external_group_by = 20000000";

/// How long a process may take to write its first file.
const PATIENCE: Duration = Duration::from_secs(120);

/// The folder of a database, which is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("spill-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    /// Temporary files, beside locks and what becomes one, of all processes.
    fn files(&self) -> Vec<PathBuf> {
        let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
        let folders = entries(&self.0.join("tmp")).map(|entry| entry.path());
        let files = folders.flat_map(|folder| entries(&folder).map(|entry| entry.path()));
        let is_lock = |file: &PathBuf| {
            let name = file.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("lock"))
        };
        files.filter(|file| !is_lock(file)).collect()
    }

    fn is_clean(&self) -> bool {
        fs::read_dir(self.0.join("tmp")).is_ok_and(|mut entries| entries.next().is_none())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn start(folder: &Folder, sql: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    command.arg("local").arg("--path").arg(&folder.0);
    command.arg("-q").arg(sql);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("a process")
}

/// A process that has written files and is not at its end.
fn start_spilling(folder: &Folder) -> Child {
    let mut process = start(folder, ENDLESS);
    let begin = Instant::now();
    while folder.files().is_empty() {
        assert!(begin.elapsed() < PATIENCE, "no file is written");
        let is_running = process.try_wait().expect("its state").is_none();
        assert!(is_running, "it ended without a file");
        std::thread::sleep(Duration::from_millis(1));
    }
    process
}

#[test]
fn a_query_that_ends_leaves_no_files() {
    let folder = Folder::new("success");
    let status = start(&folder, SPILLING).wait().expect("its end");
    assert!(status.success());
    assert!(folder.is_clean());
}

#[test]
fn a_query_that_fails_leaves_no_files() {
    let folder = Folder::new("error");
    let code = start(&folder, FAILING).wait().expect("its end").code();
    // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, of which a process can tell eight bits.
    assert_eq!(code, Some(395 % 256));
    assert!(folder.is_clean());
}

#[cfg(unix)]
#[test]
fn a_query_that_is_cancelled_leaves_no_files() {
    let folder = Folder::new("cancel");
    let mut process = start_spilling(&folder);
    let id = process.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.expect("kill").success());
    assert!(!process.wait().expect("its end").success());
    assert!(folder.is_clean());
}

#[test]
fn the_next_start_removes_the_files_of_a_killed_process() {
    let folder = Folder::new("kill");
    let mut process = start_spilling(&folder);
    process.kill().expect("a kill");
    process.wait().expect("its end");
    assert!(!folder.files().is_empty());
    assert!(
        start(&folder, "SELECT 1")
            .wait()
            .expect("its end")
            .success()
    );
    assert!(folder.is_clean());
}
