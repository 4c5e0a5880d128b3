//! Runs the project's own chores: `cargo xtask tidy`, `cargo xtask record`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

mod record;
mod tidy;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy             check the house rules of docs/STYLE.md that neither rustfmt nor clippy knows
  record [FILE…]   take the expected output of tests/sql from ClickHouse (chDB) again
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("tidy") => tidy::run(),
        Some("record") => record::run(&args.collect::<Vec<_>>()),
        Some("help" | "--help" | "-h") => {
            eprint!("{USAGE}");
            Ok(())
        }
        Some(unknown) => Err(format!("there is no command `{unknown}`\n\n{USAGE}")),
        None => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace's `Cargo.toml`.
fn workspace_root() -> std::path::PathBuf {
    // Read at run time: clones that share a build folder share this binary, too.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| "./xtask".into());
    let xtask = std::path::Path::new(&xtask);
    xtask.parent().unwrap_or(xtask).to_path_buf()
}
