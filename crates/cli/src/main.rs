//! The `basalt` binary: reads the command line and runs one of its commands.
//!
//! | module | owns |
//! |---|---|
//! | [`arguments`] | the commands and their options |
//! | [`usage`] | what is wrong with a command line |
//! | [`input_table`] | whether statements name the table that standard input is |
//! | [`local`] | `basalt local`: queries over files and memory |
//! | [`open_files`] | how many files the process may open |
//! | [`progress`] | the bar of a running query |
//! | [`shell`] | the interactive shell |
//! | [`datagen`] | `basalt datagen`: files of generated data |
//! | [`termination`] | the end of the process when it is asked to end |
//! | [`format`] | `basalt format`: lays a query out |
//! | [`compressor`] | `basalt compressor`: streams of compressed blocks |
//! | [`lab`] | `basalt lab`: forms of a loop against each other |

#![forbid(unsafe_code)]

mod arguments;
mod compressor;
mod datagen;
mod format;
mod input_table;
mod lab;
mod local;
mod open_files;
mod progress;
mod shell;
mod termination;
mod usage;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use basalt_error::{Error, Result};

#[global_allocator]
static ALLOCATOR: basalt_profile::Counting<mimalloc::MiMalloc> =
    basalt_profile::Counting(mimalloc::MiMalloc);

/// How long memory that queries have freed waits for the next one.
const KEPT_FREE: Duration = Duration::from_secs(30);

/// Stack of the thread that parses and plans: expressions may be nested a thousand deep.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    // A panic ends its query with an error that says so; the hook's own text would only confuse.
    if std::env::var_os("BASALT_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    basalt_profile::keep_freed_memory(KEPT_FREE);
    open_files::allow_as_many_as_possible();
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(run);
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(None))) => ExitCode::SUCCESS,
        Ok(Ok(Ok(Some(e)))) => exit_code(&e),
        Ok(Ok(Err(e))) => {
            say(&e);
            exit_code(&e)
        }
        Ok(Err(_)) => {
            say(&Error::bug(
                "Please report this: the program broke an assumption",
            ));
            ExitCode::FAILURE
        }
        Err(e) => {
            say(&Error::from(e));
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to standard error; if nobody reads that, there is nobody to tell.
pub(crate) fn say(line: &dyn std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The error's number where it fits into an exit code, as ClickHouse's programs do.
fn exit_code(e: &Error) -> ExitCode {
    match u8::try_from(e.code().number % 256) {
        Ok(code) if code != 0 => ExitCode::from(code),
        _ => ExitCode::FAILURE,
    }
}

/// Runs the command; returns the first of the errors that it has printed and gone on after.
fn run() -> Result<Option<Error>> {
    basalt_parser::use_stack(STACK_BYTES);
    let args = arguments::with_parameters(std::env::args_os());
    let matches = usage::matches(arguments::command(), &args)?;
    match matches.subcommand() {
        Some(("local", options)) => local::run(options),
        Some(("datagen", options)) => datagen::run(options).map(|()| None),
        Some(("format", options)) => format::run(options).map(|()| None),
        Some(("compressor", options)) => compressor::run(options).map(|()| None),
        Some(("lab", options)) => lab::run(options).map(|()| None),
        _ => Err(Error::bug("a command line without a command")),
    }
}
