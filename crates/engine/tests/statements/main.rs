//! Runs statements in ways that `tests/sql` has no words for: over files, restarts, several sessions.

mod async_inserts;
mod compiled;
mod damaged_files;
mod definitions;
mod disk;
mod earlier_tables;
mod explain_analyze;
mod explain_pipeline;
mod files;
mod mmap;
mod partitions_of_files;
mod positions;
mod sharing;
mod speed;

use std::fs;
use std::path::PathBuf;

use basalt_engine::{Database, Io, Session};

#[global_allocator]
static ALLOCATOR: basalt_profile::Counting<std::alloc::System> =
    basalt_profile::Counting(std::alloc::System);

/// What a statement prints, or its error.
fn run(session: &mut Session, sql: &str) -> Result<String, String> {
    let mut out = Vec::new();
    let parsed = basalt_parser::parse_statement(sql).map_err(|e| e.to_string())?;
    let io = Io {
        out: &mut out,
        input: None,
    };
    let ran = session.run(sql.as_bytes(), &parsed, io);
    ran.map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// What a statement prints in a session of its own, or its error.
fn run_alone(sql: &str) -> Result<String, String> {
    let database = Database::in_memory().map_err(|e| e.to_string())?;
    run(&mut Session::new(&database), sql)
}

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    /// An empty one; no two tests may give the same name.
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("statements-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn num_files(&self) -> usize {
        fs::read_dir(&self.0).map_or(0, Iterator::count)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
