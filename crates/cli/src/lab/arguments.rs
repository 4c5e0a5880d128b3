//! Declares the experiments of `basalt lab` and their options.

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Arg, ArgAction, Command};

use crate::lab::group_by::all_strategies;
use crate::lab::group_by::keys::{Distribution as KeyDistribution, KeyType};
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

const GROUP_BY_READING: &str = "What runs: SELECT k, count() FROM keys GROUP BY k, over a table in memory, under each value of the
setting group_by_strategy. All of them must find the same groups, or the experiment fails.

How to read the table:
  strategy  how threads share the work; see below
  seconds   median of the rounds; `at best` is the fastest one
  factor    how many times faster than `trivial`
  MiB       memory that the query reserved for its tables

Strategies:
  trivial                 one thread, one table
  trivial_parallel        a table for each thread, merged by one thread
  two_level               256 small tables for each thread, merged in parallel
  splitting               all rows first; each thread groups a range of hashes
  splitting_fast_range    as splitting, with ranges of equal width
  local_shared            frequent keys in small own tables, others in a shared one
  local_splitting_queues  frequent keys in small own tables, others handed to their owner
  local_buffered_shared   as local_shared, with buffers for each part of the shared table
  dense                   integer keys index arrays
  auto                    decides while it runs: what queries use
  datafusion              the operator of that library";

const GROUP_BY_EXAMPLES: &str = "Examples:
  basalt lab group-by                                            unique keys
  basalt lab group-by --keys uniform,zipf --unique-share 0.01
  basalt lab group-by --keys misleading,mirrored                 what the first block does not tell
  basalt lab group-by --keys hits.parquet --column WatchID       a column of a file
  basalt lab group-by --keys unique --sizes 1M,2M,5M,10M --plot unique.svg
  basalt lab group-by --type string --strategies trivial,auto --threads 4 --json";

/// The command with its experiments.
pub(crate) fn command() -> Command {
    Command::new("lab")
        .about("Measures ways to do the same work against each other on this processor")
        .long_about(
            "Measures ways to do the same work against each other on this processor.\n\n\
             Where several ways do the same work, the fastest depends on the processor and on the \
             data, so Basalt has all of them and chooses while a query runs. Here they compete in \
             the open.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(average())
        .subcommand(sum())
        .subcommand(group_by())
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

fn group_by() -> Command {
    let command = Command::new("group-by")
        .about("GROUP BY: all strategies over generated keys or a column of a file")
        .after_help(GROUP_BY_EXAMPLES)
        .after_long_help(format!(
            "{GROUP_BY_READING}\n\n{}\n\n{GROUP_BY_EXAMPLES}",
            KeyDistribution::explained()
        ))
        .arg(
            text(
                "keys",
                "LIST|FILE",
                "What to group: kinds of keys, or a file",
            )
            .default_value("unique"),
        )
        .arg(text(
            "column",
            "NAME",
            "The file's column or expression to group by",
        ))
        .arg(
            text("type", "TYPE", "Type of generated keys")
                .default_value("uint64")
                .value_parser(KeyType::NAMES),
        )
        .arg(fraction(
            "unique-share",
            "Keys for each row, from 0 to 1",
            "0.1",
        ))
        .arg(fraction("skew", "How much rarer keys of zipf get", "1"))
        .arg(
            Arg::new("spread")
                .long("spread")
                .help("Spread keys over all values, also those that would be small numbers")
                .action(ArgAction::SetTrue),
        )
        .arg(
            text("strategies", "LIST", "Strategies that compete [all]")
                .value_delimiter(',')
                .value_parser(PossibleValuesParser::new(all_strategies()))
                .hide_possible_values(true),
        )
        .arg(text("sizes", "LIST", "Numbers of rows, as 1M,2M,5M [--rows]").value_delimiter(','))
        .arg(text("plot", "FILE", "Draw time over size into an SVG file"));
    with_setup(command, "10000000")
        .mut_arg("rounds", |arg| arg.default_value("3"))
        .mut_arg("threads", |arg| {
            arg.default_value(None).help("Threads of a query [all]")
        })
}

fn text(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn fraction(name: &'static str, help: &'static str, default: &'static str) -> Arg {
    let parse = |text: &str| match text.parse::<f64>() {
        Ok(number) if (0.0..=10.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 up"),
    };
    text(name, "X", help)
        .default_value(default)
        .value_parser(parse)
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
