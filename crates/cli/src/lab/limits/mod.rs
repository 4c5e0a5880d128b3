//! Runs `basalt lab limits`: how fast plain memory is read, written and sorted on this machine.
//!
//! | module | owns |
//! |---|---|
//! | [`memory`] | reading and writing rows in order, and reading them in any order |
//! | [`packed_sort`] | sorting words of 64 bits |

mod memory;
mod packed_sort;

use std::io::Write;

use basalt_adapt::Random;
use basalt_error::{Error, Result};
use clap::ArgMatches;
use indicatif::ProgressBar;
use serde_json::json;

use crate::lab::contest;
use crate::lab::{Setup, report};

/// Bytes of a row.
const ROW_BYTES: usize = size_of::<u64>();

/// One thing that was done with rows.
struct Limit {
    what: &'static str,
    num_threads: usize,
    /// How many rows that were.
    num_rows: usize,
    /// The fastest of the rounds.
    seconds: f64,
}

/// Runs things several times.
struct Rounds<'a> {
    setup: &'a Setup,
    bar: &'a ProgressBar,
}

impl Rounds<'_> {
    /// The least of the seconds that `run` gives.
    fn run(&self, what: &'static str, num_threads: usize, run: impl FnMut() -> f64) -> Limit {
        self.bar.set_message(what);
        let seconds = std::iter::repeat_with(run).take(self.setup.num_rounds);
        let seconds = seconds.fold(f64::INFINITY, f64::min);
        self.bar.inc(1);
        Limit {
            what,
            num_threads,
            num_rows: self.setup.num_rows,
            seconds,
        }
    }
}

/// Runs the experiment and writes its table.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let setup = Setup::from_options(options)?;
    let limits = measure(&setup)?;
    let text = if setup.is_json {
        format!("{:#}\n", as_json(&setup, &limits))
    } else {
        as_text(&setup, &limits)
    };
    let written = std::io::stdout().write_all(text.as_bytes());
    written.map_err(Error::from)
}

fn measure(setup: &Setup) -> Result<Vec<Limit>> {
    let mut random = Random::new(setup.seed);
    // Words, where they are split to, where they are sorted: checked at once, before any is filled.
    setup.check_memory(setup.num_rows.checked_mul(3 * ROW_BYTES))?;
    let bar = contest::progress(5);
    bar.set_message("write for the first time");
    let (mut rows, first_seconds) = memory::first_written(setup)?;
    let mut limits = vec![Limit {
        what: "write for the first time",
        num_threads: 1,
        num_rows: setup.num_rows,
        seconds: first_seconds,
    }];
    let rounds = Rounds { setup, bar: &bar };
    let all = setup.num_threads;
    limits.push(rounds.run("write", all, || memory::write(setup, &mut rows)));
    let alone = setup.with_threads(1);
    limits.push(rounds.run("read", 1, || memory::read(&alone, &rows)));
    if all > 1 {
        limits.push(rounds.run("read", all, || memory::read(setup, &rows)));
    }
    memory::link(&mut rows, &mut random);
    let num_rows = rows.len().min(memory::MAX_STEPS);
    let random_order = rounds.run("read in random order", 1, || {
        memory::follow(&rows, num_rows)
    });
    limits.push(Limit {
        num_rows,
        ..random_order
    });
    packed_sort::fill(&mut rows, &mut random);
    let mut sorter = packed_sort::Sorter::new(setup)?;
    limits.push(rounds.run("sort packed keys", all, || sorter.sort(setup, &rows)));
    bar.finish_and_clear();
    sorter.check(&rows)?;
    Ok(limits)
}

fn as_text(setup: &Setup, limits: &[Limit]) -> String {
    let num_rows = indicatif::HumanCount(setup.num_rows as u64);
    let mut text = report::heading(setup, &format!("{num_rows} rows of {ROW_BYTES} bytes, "));
    text += &format!(
        "\n  {:26} {:>7} {:>9} {:>8} {:>7}\n",
        "what", "threads", "seconds", "ns/row", "GB/s"
    );
    for limit in limits {
        let nanoseconds = limit.seconds * 1e9 / limit.num_rows as f64;
        text += &format!(
            "  {:26} {:>7} {:>9.4} {nanoseconds:>8.3} {:>7.2}\n",
            limit.what,
            limit.num_threads,
            limit.seconds,
            ROW_BYTES as f64 / nanoseconds,
        );
    }
    text
}

fn as_json(setup: &Setup, limits: &[Limit]) -> serde_json::Value {
    let limit = |limit: &Limit| {
        json!({
            "what": limit.what,
            "threads": limit.num_threads,
            "rows": limit.num_rows,
            "seconds": limit.seconds,
            "bytes_per_second": (limit.num_rows * ROW_BYTES) as f64 / limit.seconds,
        })
    };
    let mut object = report::conditions("limits", setup);
    object["limits"] = limits.iter().map(limit).collect();
    object
}
