//! Runs `basalt lab group-by`: every strategy of GROUP BY, and DataFusion's operator.
//!
//! Unlike the other experiments this one runs whole queries, over a Memory table.
//!
//! | module | owns |
//! |---|---|
//! | [`keys`] | distributions of generated keys |
//! | [`contestants`] | the session, the table and the queries |
//! | [`report`] | the comparison as text and as JSON |
//! | [`plot`] | time over size as SVG |

mod contestants;
pub(super) mod keys;
mod plot;
mod report;

use std::io::Write;

use basalt_adapt::Random;
use basalt_engine::settings::Kind;
use basalt_engine::settings::table::find;
use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;

use crate::lab::Setup;
use crate::lab::contest;
use contestants::Contest;
use keys::{Distribution, KeyType, Recipe};
use report::Comparison;

/// The strategy that factors are relative to.
const BASELINE: &str = "trivial";

/// Sizes that a plot has if none are given: equal steps.
const PLOT_SIZES: u64 = 5;

/// Where keys come from.
#[derive(Clone, Debug)]
enum Source {
    Generated(Recipe),
    File { path: String, column: String },
}

/// Runs the experiment and writes its tables.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let mut setup = Setup::from_options(options)?;
    let strategies = strategies(options)?;
    let sizes = sizes(options, setup.num_rows as u64)?;
    let largest = sizes.iter().max().copied().unwrap_or(0);
    setup.num_rows = usize::try_from(largest).unwrap_or(usize::MAX);
    let sources = sources(options, setup.seed)?;
    let num_runs = sources.len() * sizes.len() * strategies.len() * (setup.num_rounds + 1);
    let bar = contest::progress(num_runs);
    let mut random = Random::new(setup.seed);
    let mut comparisons: Vec<Comparison> = Vec::new();
    for source in &sources {
        for num_rows in &sizes {
            let contest = Contest::new(&setup, source, *num_rows, &bar)?;
            // A file that ends before the next size has nothing new to tell.
            let is_known = comparisons.last().is_some_and(|last| {
                last.input == contest.input() && last.num_rows == contest.num_rows()
            });
            if is_known {
                bar.inc((strategies.len() * (setup.num_rounds + 1)) as u64);
                continue;
            }
            comparisons.push(contest.run(&strategies, &mut random, &bar)?);
        }
    }
    bar.finish_and_clear();
    if let Some(path) = options.get_one::<String>("plot") {
        write_plot(path, &setup, &comparisons)?;
    }
    let text = if setup.is_json {
        format!("{:#}\n", report::as_json(&setup, &comparisons))
    } else {
        report::as_text(&setup, &comparisons)
    };
    let written = std::io::stdout().write_all(text.as_bytes());
    written.map_err(Error::from)
}

/// Every value of the setting that forces a strategy.
pub(super) fn all_strategies() -> &'static [&'static str] {
    match find("group_by_strategy").map(|setting| setting.kind) {
        Some(Kind::Word(words)) => words,
        _ => &[],
    }
}

/// The strategies that compete: the baseline first, what decides by itself and the peer last.
fn strategies(options: &ArgMatches) -> Result<Vec<&'static str>> {
    let wanted: Option<Vec<&String>> = options.get_many("strategies").map(Iterator::collect);
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|w| w.iter().any(|n| *n == name));
    let mut names: Vec<&str> = all_strategies().to_vec();
    names.retain(|name| is_wanted(name));
    names.sort_by_key(|name| match *name {
        BASELINE => 0,
        "auto" => 2,
        "datafusion" => 3,
        _ => 1,
    });
    if names.is_empty() {
        return Err(Error::bug("a contest without strategies"));
    }
    Ok(names)
}

fn sizes(options: &ArgMatches, num_rows: u64) -> Result<Vec<u64>> {
    let Some(given) = options.get_many::<String>("sizes") else {
        let steps = match options.get_one::<String>("plot") {
            Some(_) => PLOT_SIZES,
            None => 1,
        };
        let size = |step: u64| (u128::from(num_rows) * u128::from(step) / u128::from(steps)) as u64;
        return Ok((1..=steps).map(size).filter(|size| *size > 0).collect());
    };
    let size = |text: &String| {
        let normal = Kind::NonZeroUInt64.normalize("--sizes", text)?;
        normal
            .parse()
            .map_err(|_| Error::bug("a normal number that is none"))
    };
    let mut sizes: Vec<u64> = given.map(size).collect::<Result<_>>()?;
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

/// What `--keys` names: distributions, or else a file.
fn sources(options: &ArgMatches, seed: u64) -> Result<Vec<Source>> {
    let missing = || Error::bug("an option without its default");
    let keys = options.get_one::<String>("keys").ok_or_else(missing)?;
    if let Some(column) = options.get_one::<String>("column") {
        let (path, column) = (keys.clone(), column.clone());
        return Ok(vec![Source::File { path, column }]);
    }
    let number = |name: &str| options.get_one::<f64>(name).copied().ok_or_else(missing);
    let key_type = options.get_one::<String>("type").ok_or_else(missing)?;
    let recipe = Recipe {
        distribution: Distribution::Unique,
        key_type: KeyType::from_name(key_type),
        num_rows: 0,
        unique_share: number("unique-share")?,
        skew: number("skew")?,
        is_spread: options.get_flag("spread"),
        seed,
    };
    let source = |name: &str| match Distribution::from_name(name) {
        Some(distribution) => Ok(Source::Generated(Recipe {
            distribution,
            ..recipe
        })),
        None if name.contains(['.', '/', '*']) => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Name the column of {name} that has the keys: --column NAME"),
        )),
        None => {
            let names = Distribution::ALL.map(Distribution::name).join(", ");
            let text = format!("Give --keys some of {names}, or a file: {name}");
            Err(Error::new(ErrorCode::BAD_ARGUMENTS, text))
        }
    };
    keys.split(',').map(|name| source(name.trim())).collect()
}

fn write_plot(path: &str, setup: &Setup, comparisons: &[Comparison]) -> Result<()> {
    let place = |name: &str| all_strategies().iter().position(|s| *s == name);
    let panels = report::panels(comparisons, |name| place(name).unwrap_or(0));
    let caption = format!(
        "SELECT k, count() FROM t GROUP BY k; threads: {}, median of {} rounds",
        setup.num_threads, setup.num_rounds
    );
    let written = std::fs::write(path, plot::svg(&panels, &caption));
    written.map_err(|e| {
        let text = format!("Cannot write the plot {path}: {e}");
        Error::new(ErrorCode::CANNOT_OPEN_FILE, text)
    })
}
