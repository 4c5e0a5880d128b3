//! Runs `tests/record/record.py` in a Python environment of its own, made on first use.
//!
//! The environment lies outside the clone (`$BASALT_ORACLE`, or `oracle` in Basalt's cache folder)
//! and holds chDB, the real ClickHouse as a Python package.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

const SCRIPT: &str = "tests/record/record.py";

/// The release that the recorded answers come from; `record.py` refuses another one.
const ORACLE: &str = "chdb==4.4.0";

/// Records the expected output of `files`, or of all SQL tests when none is named.
pub(crate) fn run(files: &[String]) -> Result<(), String> {
    let root = crate::workspace_root();
    let python = environment()?;
    let mut record = Command::new(python);
    run_to_end(record.arg(root.join(SCRIPT)).args(files).current_dir(&root))
}

/// The Python of an environment that can import chDB.
fn environment() -> Result<PathBuf, String> {
    let folder = oracle_folder()?;
    let python = folder.join("bin/python");
    if !succeeds(Command::new(&python).args(["-m", "pip", "--version"])) {
        make_environment(&folder)?;
    }
    if !succeeds(Command::new(&python).args(["-c", "import chdb"])) {
        eprintln!("installing chDB into {}", folder.display());
        run_to_end(Command::new(&python).args(["-m", "pip", "install", "--quiet", ORACLE]))?;
    }
    Ok(python)
}

fn oracle_folder() -> Result<PathBuf, String> {
    let from = |name: &str| env::var_os(name).map(PathBuf::from);
    from("BASALT_ORACLE")
        .or_else(|| from("BASALT_CACHE").map(|cache| cache.join("oracle")))
        .or_else(|| from("HOME").map(|home| home.join(".cache/basalt/oracle")))
        .ok_or_else(|| "set BASALT_ORACLE to a folder for the Python environment".to_owned())
}

fn make_environment(folder: &Path) -> Result<(), String> {
    // Debian's smallest Python lacks what makes environments.
    if !succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
        install_python()?;
    }
    eprintln!("making a Python environment in {}", folder.display());
    run_to_end(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )
}

fn install_python() -> Result<(), String> {
    const INSTALL: &str = "\
        set -e; as_root=; [ \"$(id -u)\" = 0 ] || as_root=sudo; \
        $as_root apt-get update -qq; $as_root apt-get install -y -qq python3 python3-venv";
    eprintln!("installing python3 and python3-venv");
    run_to_end(Command::new("sh").args(["-c", INSTALL])).map_err(|e| {
        format!("{e}\nrecording needs Python: install python3 and python3-venv, then try again")
    })
}

/// Whether the command can be started and ends well; it prints nothing.
fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn run_to_end(command: &mut Command) -> Result<(), String> {
    let name = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} ended with {status}")),
        Err(e) => Err(format!("cannot start {name}: {e}")),
    }
}
