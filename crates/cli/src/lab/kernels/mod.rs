//! Runs `basalt lab kernels`: every loop of the kernels at every level of instructions.
//!
//! | module | owns |
//! |---|---|
//! | [`work`] | what a kernel is, the rows that it goes over, and how a run begins anew |
//! | [`folds`] | the kernels that leave a few numbers |
//! | [`columns`] | the kernels that write something for each row |
//! | [`report`] | the table, as text and as JSON |
//!
//! A level is forced for the whole process, as the setting `simd_level` does it, and the kernels choose
//! their widest form for it as they do in queries. Averages by a key have many forms at each level, which
//! compete in [`average`](super::average). Tests: below, and `tests/lab.rs` for the results of all kernels.

mod columns;
mod folds;
mod report;
mod work;

use std::cell::RefCell;

use basalt_adapt::{Random, SimdLevel};
use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;
use indicatif::ProgressBar;

use super::contest::{self, Entrant};
use super::{Setup, forced_level, is_available, number};
use report::{Line, Table, Time};
use work::{Kernel, MOST_ROW_BYTES, Rows, Work};

/// Rows that a run goes over at least, so that the clock's ticks do not count.
const RUN_ROWS: usize = 1 << 21;

/// Most passes of a run: over a handful of rows, calls are what takes the time.
const MOST_PASSES: usize = 1 << 11;

/// Every kernel, in the order of the table.
fn all() -> impl Iterator<Item = &'static Kernel> {
    folds::FOLDS.iter().chain(&columns::COLUMNS)
}

/// One line for each kernel.
pub(super) fn explained() -> String {
    let lines = all().map(|kernel| format!("\n  {:<14}{}", kernel.name, kernel.description));
    format!("Kernels:{}", lines.collect::<String>())
}

/// Runs the experiment and writes its tables.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let mut setup = Setup {
        num_rows: number(options, "rows")?,
        num_rounds: number(options, "rounds")?,
        num_threads: 1,
        seed: number(options, "seed")?,
        level: forced_level(options)?,
        is_json: options.get_flag("json"),
    };
    let kernels = wanted(options)?;
    let sizes = setup.sizes(options);
    setup.check_memory(setup.num_rows.checked_mul(MOST_ROW_BYTES))?;
    let levels = levels(&setup);
    let bar = contest::progress(sizes.len() * kernels.len() * levels.len() * setup.num_rounds);
    let mut random = Random::new(setup.seed);
    let mut tables = Vec::new();
    for size in sizes {
        let setup = Setup {
            num_rows: usize::try_from(size).unwrap_or(usize::MAX),
            ..setup
        };
        let lines = kernels
            .iter()
            .map(|kernel| measured(kernel, &setup, &mut random, &bar));
        tables.push(Table {
            num_rows: size,
            lines: lines.collect::<Result<_>>()?,
        });
    }
    bar.finish_and_clear();
    report::write(&setup, &levels, &tables)
}

/// The kernels whose names have one of the parts that the options give; all if they give none.
fn wanted(options: &ArgMatches) -> Result<Vec<&'static Kernel>> {
    let parts: Vec<&String> = options.get_many("names").into_iter().flatten().collect();
    let has = |kernel: &Kernel, part: &String| kernel.name.contains(part.as_str());
    if let Some(part) = parts.iter().find(|part| !all().any(|k| has(k, part))) {
        let names: Vec<&str> = all().map(|kernel| kernel.name).collect();
        let text = format!(
            "Use one of {}, or a part of them: no kernel has '{part}' in its name",
            names.join(", ")
        );
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    let is_wanted =
        |kernel: &Kernel| parts.is_empty() || parts.iter().any(|part| has(kernel, part));
    Ok(all().filter(|kernel| is_wanted(kernel)).collect())
}

/// The levels of this processor up to the one that the options allow, the narrowest first.
fn levels(setup: &Setup) -> Vec<SimdLevel> {
    let widest = setup.level.unwrap_or_else(SimdLevel::detected);
    let levels = SimdLevel::ALL.into_iter();
    let levels = levels.filter(|level| is_available(*level) && *level <= widest);
    levels.collect()
}

/// Checks that a kernel gives the same at all levels, and lets these compete.
fn measured(
    kernel: &'static Kernel,
    setup: &Setup,
    random: &mut Random,
    bar: &ProgressBar,
) -> Result<Line> {
    bar.set_message(kernel.name);
    let mut work = (kernel.make)(&mut Rows::new(setup))?;
    let levels = levels(setup);
    let times = check(kernel.name, &mut *work, &levels)
        .and_then(|()| compete(work, &levels, setup, (random, bar)));
    SimdLevel::force(setup.level);
    Ok(Line {
        kernel,
        times: times?,
    })
}

/// Fails if a level gives another result than the first one.
fn check(name: &str, work: &mut dyn Work, levels: &[SimdLevel]) -> Result<()> {
    let mut expected = None;
    for level in levels {
        SimdLevel::force(Some(*level));
        let found = work.checksum();
        let (first, expected) = *expected.get_or_insert((level, found));
        if found != expected {
            let text = format!("`{name}` gave another result with {level} than with {first}");
            return Err(Error::bug(text));
        }
    }
    Ok(())
}

/// Times the work at each level.
fn compete(
    work: Box<dyn Work>,
    levels: &[SimdLevel],
    setup: &Setup,
    (random, bar): (&mut Random, &ProgressBar),
) -> Result<Vec<Time>> {
    let num_passes = (RUN_ROWS / setup.num_rows.max(1)).clamp(1, MOST_PASSES);
    let work = RefCell::new(work);
    let entrants = levels.iter().map(|level| Entrant {
        name: level.name().to_owned(),
        order: String::new(),
        run: Box::new(|| {
            SimdLevel::force(Some(*level));
            let mut work = work.borrow_mut();
            (0..num_passes).for_each(|_| work.run());
            Ok(((), None))
        }),
    });
    let standings = contest::compete(entrants.collect(), setup.num_rounds, random, bar)?;
    let row_ns = |seconds: f64| seconds * 1e9 / (num_passes as f64 * setup.num_rows as f64);
    let times = levels.iter().zip(standings).map(|(level, standing)| Time {
        level: *level,
        row_ns: row_ns(standing.seconds),
        best_row_ns: row_ns(standing.best_seconds),
    });
    Ok(times.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use basalt_adapt::SimdLevel;

    use super::work::work;
    use super::{all, check, explained};

    #[test]
    fn kernels_have_names_of_their_own() {
        let names: BTreeSet<&str> = all().map(|kernel| kernel.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.iter().all(|name| name.len() < 14), "{}", explained());
    }

    #[test]
    fn a_level_with_another_result_fails() {
        // One level twice, so that no other test is told another one than it had.
        let levels = [SimdLevel::current(); 2];
        let mut num_runs = 0;
        let mut changing = work(0, move |out: &mut u32| {
            num_runs += 1;
            *out = num_runs;
        });
        let e = check("counter", &mut *changing, &levels).unwrap_err();
        assert!(e.message().contains("`counter` gave another result with"));
        let mut steady = work(0, |out: &mut u32| *out = 3);
        check("steady", &mut *steady, &levels).unwrap();
        SimdLevel::force(None);
    }
}
