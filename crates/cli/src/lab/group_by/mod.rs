//! Runs `basalt lab group-by`: every strategy of GROUP BY, and DataFusion's operator.
//!
//! Unlike the other experiments this one runs whole queries, over a Memory table.
//!
//! | module | owns |
//! |---|---|
//! | [`keys`] | distributions of generated keys |
//! | [`contestants`] | the session, the table and the queries |

mod contestants;
pub(super) mod keys;

use basalt_adapt::Random;
use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::lab::Setup;
use crate::lab::comparison::{Comparison, Experiment};
use crate::lab::{contest, queries};
use contestants::Contest;
use keys::{Distribution, KeyType, Recipe};

/// The strategy that factors are relative to.
const BASELINE: &str = "trivial";

/// Where keys come from.
#[derive(Clone, Debug)]
enum Source {
    Generated(Recipe),
    File { path: String, column: String },
}

/// Runs the experiment and writes its tables.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let mut setup = Setup::from_options(options)?;
    let strategies = queries::competing(all_strategies(), options, BASELINE)?;
    let sizes = setup.sizes(options);
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
    let experiment = Experiment {
        name: "group-by",
        query: "SELECT k, count() FROM t GROUP BY k",
        strategies: all_strategies(),
    };
    experiment.write(options, &setup, &comparisons)
}

/// Every value of the setting that forces a strategy.
pub(super) fn all_strategies() -> &'static [&'static str] {
    queries::words("group_by_strategy")
}

/// What `--keys` names: distributions, or else a file.
fn sources(options: &ArgMatches, seed: u64) -> Result<Vec<Source>> {
    let missing = || Error::bug("an option without its default");
    let keys = options.get_one::<String>("keys").ok_or_else(missing)?;
    if let Some(column) = options.get_one::<String>("column") {
        if options.value_source("keys") == Some(ValueSource::DefaultValue) {
            let text = format!("Name the file that has {column}: --keys FILE");
            return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
        }
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
    if keys == "all" {
        return Distribution::ALL
            .map(Distribution::name)
            .map(source)
            .into_iter()
            .collect();
    }
    keys.split(',').map(|name| source(name.trim())).collect()
}
