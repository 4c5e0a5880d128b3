//! Runs `basalt lab`: measures ways to do the same work against each other on this processor.
//!
//! | module | owns |
//! |---|---|
//! | [`arguments`] | the experiments and their options |
//! | [`average`] | `lab average`: averages by a key of eight bits |
//! | [`sum`] | `lab sum`: sums of Float64 |
//! | [`group_by`] | `lab group-by`: strategies of GROUP BY over a table of keys |
//! | [`limits`] | `lab limits`: how fast plain memory is |
//! | [`lz4`] | `lab lz4`: decompression of the blocks of files |
//! | [`sort`] | `lab sort`: ways of ORDER BY over a table of keys |
//! | [`kernels`] | `lab kernels`: every loop at every level of instructions |
//! | [`keys`] | distributions of keys of eight bits |
//! | [`contest`] | rounds in random order, medians, and the check that all results agree |
//! | [`report`] | the table, as text and as JSON |
//! | [`queries`] | whole queries under values of a setting |
//! | [`comparison`], [`plot`] | how these did: tables, JSON, and time over size as SVG |

pub(crate) mod arguments;
mod average;
mod comparison;
mod contest;
mod group_by;
mod kernels;
mod keys;
mod limits;
mod lz4;
mod plot;
mod queries;
mod report;
mod sort;
mod sum;

use std::ops::Range;

use basalt_adapt::SimdLevel;
use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;

/// Sizes that a plot has if none are given: equal steps.
const PLOT_SIZES: u64 = 5;

/// Runs the experiment that the options name.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    match options.subcommand() {
        Some(("average", options)) => average::run(options),
        Some(("sum", options)) => sum::run(options),
        Some(("sort", options)) => sort::run(options),
        Some(("kernels", options)) => kernels::run(options),
        Some(("group-by", options)) => group_by::run(options),
        Some(("limits", options)) => limits::run(options),
        Some(("lz4", options)) => lz4::run(options),
        _ => Err(Error::bug("a laboratory without an experiment")),
    }
}

/// The number that an option with a default has.
fn number<T: TryFrom<u64>>(options: &ArgMatches, name: &str) -> Result<T> {
    let number = options.get_one::<u64>(name).copied();
    let number = number.ok_or_else(|| Error::bug("an option without its default"))?;
    let too_large = |_| Error::new(ErrorCode::BAD_ARGUMENTS, format!("Take a smaller --{name}"));
    T::try_from(number).map_err(too_large)
}

/// Forces the level of instructions that the options name.
fn forced_level(options: &ArgMatches) -> Result<Option<SimdLevel>> {
    let level = options
        .get_one::<String>("simd")
        .map_or("auto", String::as_str);
    let level = SimdLevel::parse_setting(level)
        .map_err(|e| Error::new(ErrorCode::BAD_ARGUMENTS, e.to_string()))?;
    if let Some(level) = level.filter(|level| !is_available(*level)) {
        let detected = SimdLevel::detected();
        let text = format!("Take another --simd: this processor has {detected}, not {level}");
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    SimdLevel::force(level);
    Ok(level)
}

/// Whether this processor has the level.
fn is_available(level: SimdLevel) -> bool {
    let detected = SimdLevel::detected();
    // Families of several processors are not parts of each other.
    level <= detected && (level != SimdLevel::Neon || detected == SimdLevel::Neon)
}

/// What experiments over rows have in common.
#[derive(Clone, Copy, Debug)]
struct Setup {
    num_rows: usize,
    num_rounds: usize,
    num_threads: usize,
    seed: u64,
    level: Option<SimdLevel>,
    is_json: bool,
}

impl Setup {
    /// Reads the options, and forces the level of instructions.
    fn from_options(options: &ArgMatches) -> Result<Self> {
        Ok(Self {
            num_rows: number(options, "rows")?,
            num_rounds: number(options, "rounds")?,
            num_threads: match options.get_one::<u64>("threads") {
                Some(_) => number(options, "threads")?,
                None => std::thread::available_parallelism().map_or(1, usize::from),
            },
            seed: number(options, "seed")?,
            level: forced_level(options)?,
            is_json: options.get_flag("json"),
        })
    }

    /// The same with so many threads.
    fn with_threads(self, num_threads: usize) -> Self {
        Self {
            num_threads,
            ..self
        }
    }

    /// The numbers of rows that `--sizes` asks for; the largest is the number of rows from now on.
    fn sizes(&mut self, options: &ArgMatches) -> Vec<u64> {
        let sizes = sizes(options, self.num_rows as u64);
        let largest = sizes.iter().max().copied().unwrap_or(0);
        self.num_rows = usize::try_from(largest).unwrap_or(usize::MAX);
        sizes
    }

    /// Runs `work` over equal ranges of the rows, one for each thread.
    fn in_parallel<R: Send>(&self, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        let range = |thread: usize| {
            let bound = |thread: usize| self.num_rows * thread / self.num_threads;
            bound(thread)..bound(thread + 1)
        };
        if self.num_threads == 1 {
            return vec![work(range(0))];
        }
        std::thread::scope(|scope| {
            let work = &work;
            let threads =
                (0..self.num_threads).map(|thread| scope.spawn(move || work(range(thread))));
            let threads: Vec<_> = threads.collect();
            threads
                .into_iter()
                .filter_map(|thread| thread.join().ok())
                .collect()
        })
    }

    /// Memory for `len` values, or an error that says how to need less.
    fn allocate<T>(&self, len: usize) -> Result<Vec<T>> {
        self.check_memory(len.checked_mul(size_of::<T>()))?;
        let mut values = Vec::new();
        let reserved = values.try_reserve_exact(len);
        reserved.map_err(|_| self.too_large())?;
        Ok(values)
    }

    /// An error that says how to need less, if there is no memory for so many bytes.
    fn check_memory(&self, size_bytes: Option<usize>) -> Result<()> {
        // Systems promise more memory than there is and end whoever believes them.
        let available = available_bytes().map(|available| available / 4 * 3);
        match size_bytes {
            Some(size_bytes) if available.is_none_or(|most| size_bytes <= most) => Ok(()),
            _ => Err(self.too_large()),
        }
    }

    fn too_large(&self) -> Error {
        let text = format!("Take fewer --rows: no memory for {}", self.num_rows);
        Error::new(ErrorCode::MEMORY_LIMIT_EXCEEDED, text)
    }
}

fn sizes(options: &ArgMatches, num_rows: u64) -> Vec<u64> {
    let Some(given) = options.get_many::<u64>("sizes") else {
        // Not every experiment has plots.
        let steps = match options.try_get_one::<String>("plot") {
            Ok(Some(_)) => PLOT_SIZES,
            _ => 1,
        };
        let size = |step: u64| (u128::from(num_rows) * u128::from(step) / u128::from(steps)) as u64;
        return (1..=steps).map(size).filter(|size| *size > 0).collect();
    };
    let mut sizes: Vec<u64> = given.copied().collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Memory that can be used without taking it from others, where Linux tells.
fn available_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
