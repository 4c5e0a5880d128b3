//! Declares the commands of `basalt` and their options.

use basalt_engine::settings::{Kind, declared};
use clap::{Arg, ArgAction, Command};

use crate::{compressor, lab};

const EXAMPLES: &str = "Examples:
  basalt local -q \"SELECT count() FROM 'hits.parquet'\"
  basalt local -q \"SELECT Age, count() FROM file('*.csv') GROUP BY Age ORDER BY 2 DESC\"
  cat data.tsv | basalt local --structure 'a UInt8, b String' -q 'SELECT sum(a) FROM table'
  basalt local --multiquery --time < script.sql
  basalt local                                          an interactive shell";

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("basalt")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A column-store SQL engine for analytics that speaks ClickHouse's dialect")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(local())
        .subcommand(datagen())
        .subcommand(lab::arguments::command())
        .subcommand(compressor::command())
        .subcommand(
            Command::new("format")
                .about("Lays out the query on standard input")
                .arg(flag("oneline", "On one line"))
                .arg(option("query", "SQL", "The query, instead of standard input").short('q')),
        )
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .help(help)
        .action(ArgAction::SetTrue)
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn local() -> Command {
    let command = Command::new("local")
        .about("Runs queries over files and over tables in memory, without a server")
        .after_help(EXAMPLES)
        .arg(
            option(
                "query",
                "SQL",
                "Run this and leave; several statements are separated by ;",
            )
            .short('q')
            .allow_hyphen_values(true)
            .action(ArgAction::Append),
        )
        .arg(
            flag(
                "multiquery",
                "Run the statements of standard input (or of --query)",
            )
            .short('n'),
        )
        .arg(
            option(
                "queries-file",
                "FILE",
                "Run the statements of a file, or of several",
            )
            .alias("queries_file")
            .action(ArgAction::Append),
        )
        .arg(
            option(
                "format",
                "FORMAT",
                "Format of results [PrettyCompact on a terminal, else TabSeparated]",
            )
            .alias("output-format"),
        );
    with_settings(with_session(with_standard_input(command)))
}

/// Options of the table that standard input is.
fn with_standard_input(command: Command) -> Command {
    command
        .arg(option(
            "input-format",
            "FORMAT",
            "Format of standard input, the table `table`; guessed by its first bytes if not given",
        ))
        .arg(
            option(
                "structure",
                "COLUMNS",
                "Columns of standard input: 'a UInt8, b String'",
            )
            .short('S'),
        )
        .arg(
            option("table", "NAME", "Name of the table of standard input")
                .short('N')
                .default_value("table"),
        )
        .arg(
            option(
                "file",
                "FILE",
                "Read the table `table` from a file instead of standard input",
            )
            .short('f'),
        )
}

/// Options of the session and of how it reports.
fn with_session(command: Command) -> Command {
    command
        .arg(flag("time", "Print each statement's seconds on standard error").short('t'))
        .arg(flag("progress", "Show a progress bar on standard error"))
        .arg(flag(
            "ignore-error",
            "Go on with the next statement after an error",
        ))
        .arg(
            option("database", "NAME", "Current database")
                .short('d')
                .default_value("default"),
        )
        .arg(option(
            "path",
            "DIR",
            "Keep databases, tables on disk and views in this folder",
        ))
        .arg(
            Arg::new("param")
                .long("param")
                .value_name("NAME=VALUE")
                .help("Value of a query parameter {NAME:Type}; also --param_NAME=VALUE")
                .action(ArgAction::Append),
        )
}

/// One option per setting.
fn with_settings(mut command: Command) -> Command {
    for setting in declared() {
        let mut flag = option(setting.name, "VALUE", setting.description)
            .help_heading("Settings (any of system.settings)")
            .hide_short_help(true);
        if setting.kind == Kind::Bool {
            flag = flag.num_args(0..=1).default_missing_value("1");
        }
        command = command.arg(flag);
    }
    for name in basalt_formats::FormatSettings::NAMES {
        command = command.arg(
            option(name, "VALUE", "Shapes formats, see system.settings")
                .help_heading("Settings (any of system.settings)")
                .hide(true),
        );
    }
    command
}

fn datagen() -> Command {
    let kinds = basalt_datagen::Kind::ALL.iter().map(|k| k.name());
    Command::new("datagen")
        .about("Writes a Parquet file of generated data, the same for the same seed")
        .arg(
            Arg::new("kind")
                .required(true)
                .value_parser(clap::builder::PossibleValuesParser::new(kinds))
                .help("What to generate"),
        )
        .arg(
            option("rows", "N", "Number of rows")
                .default_value("1000000")
                .value_parser(clap::value_parser!(u64)),
        )
        .arg(option("out", "FILE", "The file to write").required(true))
        .arg(
            option("seed", "N", "Another seed gives other data")
                .default_value("0")
                .value_parser(clap::value_parser!(u64)),
        )
        .arg(
            option(
                "threads",
                "N",
                "Threads that generate [one for each processor]",
            )
            .value_parser(clap::value_parser!(usize)),
        )
}

/// `--param_NAME=VALUE` as `--param NAME=VALUE`, which clap can declare.
pub(crate) fn with_parameters(
    args: impl Iterator<Item = std::ffi::OsString>,
) -> Vec<std::ffi::OsString> {
    let mut rewritten = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy().into_owned();
        match text.strip_prefix("--param_") {
            Some(parameter) if parameter.contains('=') => {
                rewritten.push("--param".into());
                rewritten.push(parameter.to_owned().into());
            }
            Some(parameter) => {
                let value = args.next().unwrap_or_default();
                rewritten.push("--param".into());
                rewritten.push(format!("{parameter}={}", value.to_string_lossy()).into());
            }
            None => rewritten.push(arg),
        }
    }
    rewritten
}
