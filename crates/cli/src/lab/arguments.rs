//! Declares the experiments of `basalt lab` and their options.

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Arg, ArgAction, Command};

use crate::lab::keys::Distribution;

const READING: &str = "How to read the table:
  form     a way to write the loop; all of them compute the same thing
  order    in which order a sum takes its values. Forms of equal order give results that are equal
           to the last bit; between orders the last bits may differ, as always with floats
  factor   how many times faster than the first form, the baseline
  at best  millions of rows a second in the fastest round: look here when other programs run
  auto     chooses while it runs: it tries the forms on the first batches and goes on with the fastest.
           Its rate includes what the trying costs; the form that it chose is named beside it

Forms take turns in random order, and medians count, so that a disturbance hits all alike. Every
result is compared with the baseline's. Close other programs before you trust a difference of a few percent.";

const AVERAGE_EXAMPLES: &str = "Examples:
  basalt lab average                                 all distributions of keys
  basalt lab average --keys trips,uniform            two of them
  basalt lab average --missing 10 --value float64    a tenth of the values is NULL
  basalt lab average --simd scalar                   as on a processor without wide registers
  basalt lab average --rows 100000000 --threads 2 --json";

const SUM_EXAMPLES: &str = "Examples:
  basalt lab sum                                     without and with missing values
  basalt lab sum --missing 50 --rounds 15
  basalt lab sum --rows 4000                         what fits into the nearest cache";

/// The command with its experiments.
pub(crate) fn command() -> Command {
    Command::new("lab")
        .about("Measures the forms of one loop against each other on this processor")
        .long_about(
            "Measures the forms of one loop against each other on this processor.\n\n\
             Where several ways do the same work, the fastest depends on the processor and on the \
             data, so Basalt has all of them and chooses while a query runs. Here they compete in \
             the open.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(average())
        .subcommand(sum())
}

fn average() -> Command {
    let command = Command::new("average")
        .about("avg(value) by a UInt8 key: tables, buffers, sorting, masks")
        .after_help(AVERAGE_EXAMPLES)
        .after_long_help(format!(
            "{READING}\n\n{}\n\n{AVERAGE_EXAMPLES}",
            Distribution::explained()
        ))
        .arg(
            Arg::new("keys")
                .long("keys")
                .value_name("LIST")
                .help("Distributions of the keys, separated by commas [all]")
                .value_delimiter(',')
                .value_parser(PossibleValuesParser::new(
                    Distribution::ALL.map(Distribution::name),
                ))
                .hide_possible_values(true),
        )
        .arg(
            Arg::new("value")
                .long("value")
                .value_name("TYPE")
                .help("Type of the values")
                .default_value("float32")
                .value_parser(["float32", "float64"]),
        )
        .arg(missing("0"));
    with_setup(command, "10000000")
}

fn sum() -> Command {
    let command = Command::new("sum")
        .about("sum(x) of Float64 and Nullable(Float64): loops, lanes, masks, compensation")
        .after_help(SUM_EXAMPLES)
        .after_long_help(format!("{READING}\n\n{SUM_EXAMPLES}"))
        .arg(missing("10"));
    with_setup(command, "20000000")
}

fn missing(default: &'static str) -> Arg {
    Arg::new("missing")
        .long("missing")
        .value_name("PERCENT")
        .help("How many of the values are NULL")
        .default_value(default)
        .value_parser(RangedU64ValueParser::<u64>::new().range(0..=100))
}

fn number(name: &'static str, help: &'static str, default: &'static str, most: u64) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("N")
        .help(help)
        .default_value(default)
        .value_parser(RangedU64ValueParser::<u64>::new().range(1..=most))
}

fn with_setup(command: Command, num_rows: &'static str) -> Command {
    command
        .arg(number("rows", "Number of rows", num_rows, 1 << 40))
        .arg(number(
            "rounds",
            "How often every form runs; the median counts",
            "5",
            1000,
        ))
        .arg(number("threads", "Threads that share the rows", "1", 1024))
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .help("Another seed gives other rows")
                .default_value("0")
                .value_parser(clap::value_parser!(u64)),
        )
        .arg(
            Arg::new("simd")
                .long("simd")
                .value_name("LEVEL")
                .help("Widest instructions to use")
                .default_value("auto")
                .value_parser(["auto", "scalar", "sse42", "avx2", "avx512"]),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .help("Print one JSON object instead of tables")
                .action(ArgAction::SetTrue),
        )
}
