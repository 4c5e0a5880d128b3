//! Declares the experiments of `basalt lab` and their options.

use basalt_engine::settings::Kind;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, RangedU64ValueParser};
use clap::{Arg, ArgAction, Command};

use crate::lab::group_by::all_strategies;
use crate::lab::group_by::keys::{Distribution as KeyDistribution, KeyType};
use crate::lab::keys::Distribution;
use crate::lab::{kernels, sort};

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
A strategy that these keys rule out is not the fastest: a note says what it did instead.

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

const LZ4_READING: &str = "How to read the table: all rates are gigabytes of decompressed bytes a second
  ratio           how many times smaller the compressed file is
  ref             the C library's decoder that checks what it reads
  adapt           chooses a form for each block by measuring, as queries do. It begins each run without
                  knowledge, so its rate includes what the trying costs
  max, best       the fastest fixed form, and which one it is
  adapt_boost     how many times faster `adapt` is than `ref`; max_boost: the same of `max`
  adapt_over_max  how many times faster `adapt` is than `max`; below 1 is what trying and erring costs

Forms: copyN moves N bytes at once; _shuffle repeats near bytes by an instruction that shuffles
registers (_permute: by that of AVX-512), _avx2 has registers of 32 bytes. In the line `all` every file counts the same: rates
are the reciprocals of mean times, and `best` is the form that is best over all files.

Forms take turns in random order, and medians count. Every form must give the file's bytes.";

const LZ4_EXAMPLES: &str = "Examples:
  basalt lab lz4 column.bin                          blocks of 64 KiB
  basalt lab lz4 --block 1048576 --hc 9 *.bin        larger blocks, compressed thoroughly
  basalt lab lz4 --simd scalar --json *.bin
  basalt lab lz4 --library /lib/x86_64-linux-gnu/liblz4.so.1 *.bin

A column of a table as a file:
  basalt local -q \"SELECT UserID FROM 'hits.parquet' INTO OUTFILE 'UserID.bin' FORMAT RowBinary\"";

const SORT_READING: &str = "What runs: SELECT k, p FROM keys ORDER BY k over a table in memory, under each value of the
setting sort_strategy; p is a UInt64 that is no key. All of them must give the same keys, or the experiment fails.

How to read the table:
  strategy  how rows are put in order; see below
  seconds   median of the rounds; `at best` is the fastest one
  factor    how many times faster than `comparison`
  MiB       memory that the query reserved

Strategies:
  comparison       packed keys are compared
  in_order         stretches that are in order are taken apart, also short ones; what is in no order as radix
  nearly_in_order  rows that are out of order are taken out and merged in again, also many
  counting         keys of few bits are counted and rows written to their places; others as radix
  radix            packed keys are split by their highest bits, and sorted by counting digits
  ranks            strings are numbered first, however rarely they repeat; others as radix
  top              with --limit: the best rows are kept, and no others
  auto             decides by the rows: what queries use; its choice is named beside it
  datafusion       the operator of that library";

const SORT_EXAMPLES: &str = "Examples:
  basalt lab sort                                      all kinds of keys
  basalt lab sort --keys random,sorted,urls --threads 2
  basalt lab sort --keys few --sizes 1M,5M,10M --plot few.svg
  basalt lab sort --limit 100 --strategies top,radix,datafusion --json";

const KERNELS_READING: &str = "How to read the table: nanoseconds that a kernel takes for a row, median of the rounds
  scalar, ...  the level: the widest instructions that the kernel may use, as the setting simd_level has them
  fastest      the narrowest level that takes at most 3 % longer than the fastest one
  factor       how many times faster than `scalar` that is
  GB/s         gigabytes of its input that it goes over a second

At each level a kernel runs the widest form that it has there. None has one of its own for SSE4.2 or NEON: these
columns are the form of `scalar` once more, and tell how much of a difference is noise. So are all columns of
count_codes, order and gather, which have one form, and nearly all of radix_sort, of which only the first step has more.

Levels take turns in random order, and medians count. Every level must give the result of `scalar`, to the last
bit, before it is timed. How averages by a key are computed is an experiment of its own: basalt lab average.";

const KERNELS_EXAMPLES: &str = "Examples:
  basalt lab kernels                                 rows that stay in the cache
  basalt lab kernels sum filter                      those with one of these in their names
  basalt lab kernels --sizes 64Ki,16Mi               in the cache, and beyond it
  basalt lab kernels --simd avx2 --rounds 51 --json";

const LIMITS_READING: &str = "How to read the table: rows are numbers of 8 bytes in memory, seconds those of the fastest round
  write for the first time  by one thread, to memory that nobody has used: the system clears its pages
  write, read               in order, by all threads. Tables lie in larger pages, which are read up to a quarter faster
  read in random order      each row says where the next one is: what a look-up outside of all caches waits
  sort packed keys          60 bits of keys in a word: split by the highest bits, sorted in the caches of the cores";

const LIMITS_EXAMPLES: &str = "Examples:
  basalt lab limits
  basalt lab limits --rows 1M                        what fits into the last cache of many processors
  basalt lab limits --threads 1 --json";

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
        .subcommand(lz4())
        .subcommand(sort())
        .subcommand(kernels())
        .subcommand(limits())
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
                "What to group: kinds of keys, all of them, or a file",
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
        .arg(decimal(
            "unique-share",
            "Keys for each row, from 0 to 1",
            "0.1",
            1,
        ))
        .arg(decimal(
            "skew",
            "How much rarer keys of zipf get, from 0 to 10",
            "1",
            10,
        ))
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
        .arg(sizes())
        .arg(plot());
    with_setup(command, "10000000")
        .mut_arg("rounds", |arg| arg.default_value("3"))
        .mut_arg("threads", |arg| {
            arg.default_value(None).help("Threads of a query [all]")
        })
}

fn lz4() -> Command {
    let command = Command::new("lz4")
        .about("Decompression of LZ4: copies of 8, 16 and 32 bytes, with and without shuffling")
        .after_help(LZ4_EXAMPLES)
        .after_long_help(format!("{LZ4_READING}\n\n{LZ4_EXAMPLES}"))
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .help("Files of any bytes, best raw columns")
                .required(true)
                .num_args(1..)
                .value_parser(clap::value_parser!(std::path::PathBuf)),
        )
        .arg(number("block", "Bytes of a block", "65536", 1 << 30))
        .arg(number(
            "mebibytes",
            "Least MiB that a round decompresses, going through small files several times",
            "32",
            1 << 20,
        ))
        .arg(
            text(
                "hc",
                "LEVEL",
                "Compress thoroughly: levels 1 to 12 [fast compression]",
            )
            .value_parser(RangedU64ValueParser::<u64>::new().range(1..=12)),
        )
        .arg(
            Arg::new("library")
                .long("library")
                .value_name("FILE")
                .help("Another version of the C library, to compete as well; may be given again")
                .action(ArgAction::Append)
                .value_parser(clap::value_parser!(std::path::PathBuf)),
        )
        .arg(rounds());
    with_report(command)
}

fn rounds() -> Arg {
    number(
        "rounds",
        "How often every form runs; the median counts",
        "5",
        1000,
    )
}

fn sort() -> Command {
    let command = Command::new("sort")
        .about("ORDER BY: all strategies over generated keys")
        .after_help(SORT_EXAMPLES)
        .after_long_help(format!(
            "{SORT_READING}\n\n{}\n\n{SORT_EXAMPLES}",
            sort::explained()
        ))
        .arg(
            text("keys", "LIST", "Kinds of keys [all]")
                .value_delimiter(',')
                .value_parser(PossibleValuesParser::new(
                    sort::DISTRIBUTIONS.map(|d| d.name),
                ))
                .hide_possible_values(true),
        )
        .arg(
            text("strategies", "LIST", "Strategies that compete [all]")
                .value_delimiter(',')
                .value_parser(PossibleValuesParser::new(sort::all_strategies()))
                .hide_possible_values(true),
        )
        .arg(
            text("limit", "N", "Ask for the first rows only")
                .value_parser(RangedU64ValueParser::<u64>::new().range(1..)),
        )
        .arg(sizes())
        .arg(plot());
    with_setup(command, "5000000")
        .mut_arg("rounds", |arg| arg.default_value("3"))
        .mut_arg("threads", |arg| {
            arg.default_value(None).help("Threads of a query [all]")
        })
}

fn kernels() -> Command {
    let command = Command::new("kernels")
        .about("Every kernel at every level of instructions: scalar, SSE4.2, AVX2, AVX-512")
        .after_help(KERNELS_EXAMPLES)
        .after_long_help(format!(
            "{KERNELS_READING}\n\n{}\n\n{KERNELS_EXAMPLES}",
            kernels::explained()
        ))
        .arg(
            Arg::new("names")
                .value_name("NAME")
                .help("Names of kernels, or parts of them [all]")
                .num_args(1..)
                .value_parser(NonEmptyStringValueParser::new()),
        )
        .arg(rows("65536"))
        .arg(sizes())
        .arg(rounds().default_value("15"));
    with_report(command)
}

fn limits() -> Command {
    let command = Command::new("limits")
        .about("How fast plain memory is read, written and sorted: a yardstick for queries")
        .after_help(LIMITS_EXAMPLES)
        .after_long_help(format!("{LIMITS_READING}\n\n{LIMITS_EXAMPLES}"));
    with_setup(command, "50000000").mut_arg("threads", |arg| {
        arg.default_value(None)
            .help("Threads that share the rows [all]")
    })
}

fn text(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// A number from 0 to `most`.
fn decimal(name: &'static str, help: &'static str, default: &'static str, most: u8) -> Arg {
    let parse = move |text: &str| match text.parse::<f64>() {
        Ok(number) if (0.0..=f64::from(most)).contains(&number) => Ok(number),
        _ => Err(format!("expected a number from 0 to {most}")),
    };
    text(name, "X", help)
        .default_value(default)
        .value_parser(parse)
}

fn plot() -> Arg {
    text("plot", "FILE", "Draw time over size into an SVG file")
        .value_parser(NonEmptyStringValueParser::new())
}

fn sizes() -> Arg {
    text("sizes", "LIST", "Numbers of rows, as 1M,2M,5M [--rows]")
        .value_delimiter(',')
        .value_parser(row_count)
        .conflicts_with("rows")
}

fn rows(default: &'static str) -> Arg {
    text("rows", "N", "Number of rows, as 5000000 or 5M")
        .default_value(default)
        .value_parser(row_count)
}

/// A number of rows that memory could hold, written as the numbers of settings.
fn row_count(text: &str) -> Result<u64, &'static str> {
    const MOST: u64 = 1 << 40;
    let normal = Kind::NonZeroUInt64.normalize("rows", text);
    let number = normal.ok().and_then(|number| number.parse().ok());
    match number {
        Some(number) if number <= MOST => Ok(number),
        Some(_) => Err("expected at most 1Ti, 2 to the power of 40"),
        None => Err("expected a number of rows, as 5000000 or 5M"),
    }
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

/// Options of experiments over rows.
fn with_setup(command: Command, num_rows: &'static str) -> Command {
    let threads = number("threads", "Threads that share the rows", "1", 1024);
    with_report(command.arg(rows(num_rows)).arg(rounds()).arg(threads))
}

/// Options of all experiments.
fn with_report(command: Command) -> Command {
    command
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .help("Another seed gives other rows and another order of runs")
                .default_value("0")
                .value_parser(clap::value_parser!(u64)),
        )
        .arg(
            Arg::new("simd")
                .long("simd")
                .value_name("LEVEL")
                .help("Widest instructions to use")
                .default_value("auto")
                .value_parser(["auto", "scalar", "neon", "sse42", "avx2", "avx512"]),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .help("Print one JSON object instead of tables")
                .action(ArgAction::SetTrue),
        )
}
