//! Runs `basalt lab sort`: every way of ORDER BY over generated keys with a payload.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};

use basalt_adapt::Random;
use basalt_engine::Session;
use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;
use indicatif::{HumanCount, ProgressBar};

use super::Setup;
use super::comparison::{Comparison, Experiment};
use super::contest::{self, Entrant};
use super::queries::{self, query, query_into, session, words};

/// The strategy that factors are relative to.
const BASELINE: &str = "comparison";

/// Keys in the order and as often as they come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distribution {
    pub(super) name: &'static str,
    description: &'static str,
    /// The key of row `number` of `{rows}`, as SQL; `random` is a number from 0 to 2^64 - 1.
    sql: &'static str,
}

/// Every distribution.
pub(super) const DISTRIBUTIONS: [Distribution; 9] = [
    Distribution {
        name: "random",
        description: "64 random bits",
        sql: "random",
    },
    Distribution {
        name: "few",
        description: "100 keys at random, equally often",
        sql: "toUInt8(random % 100)",
    },
    Distribution {
        name: "zipf",
        description: "the n-th key is n times rarer than the first",
        sql: "toUInt64(pow({rows}, (random % 1000003) / 1000003))",
    },
    Distribution {
        name: "sorted",
        description: "in order already",
        sql: "number * 3",
    },
    Distribution {
        name: "reversed",
        description: "in the opposite order",
        sql: "{rows} - number",
    },
    Distribution {
        name: "runs",
        description: "a hundred runs that are in order",
        sql: "number % (intDiv({rows}, 100) + 1)",
    },
    Distribution {
        name: "disorder",
        description: "in order, but for one row of a hundred",
        sql: "if(random % 100 = 0, random % {rows}, number)",
    },
    Distribution {
        name: "urls",
        description: "strings that begin with the same 40 bytes",
        sql: "concat('https://www.example.com/catalogue/items/', toString(random % {rows}))",
    },
    Distribution {
        name: "phrases",
        description: "strings, half of which are empty",
        sql: "if(random % 2 = 0, '', concat('number ', toString(intDiv(random, 2) % 100000)))",
    },
];

/// One line for each distribution.
pub(super) fn explained() -> String {
    let lines = DISTRIBUTIONS.map(|d| format!("\n  {:<12}{}", d.name, d.description));
    format!("Keys:{}", lines.concat())
}

/// Every value of the setting that forces a strategy.
pub(super) fn all_strategies() -> &'static [&'static str] {
    words("sort_strategy")
}

/// Runs the experiment and writes its tables.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let mut setup = Setup::from_options(options)?;
    let limit = options.get_one::<u64>("limit").copied();
    let mut strategies = queries::competing(all_strategies(), options, BASELINE)?;
    // Without a limit there are no first rows.
    strategies.retain(|name| limit.is_some() || *name != "top");
    if strategies.is_empty() {
        let text = "Add --limit: top keeps the first rows only";
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    let sizes = setup.sizes(options);
    let wanted: Option<Vec<&String>> = options.get_many("keys").map(Iterator::collect);
    let is_wanted = |d: &Distribution| {
        wanted
            .as_ref()
            .is_none_or(|w| w.iter().any(|n| *n == d.name))
    };
    let distributions: Vec<_> = DISTRIBUTIONS.into_iter().filter(is_wanted).collect();
    let num_runs = distributions.len() * sizes.len() * strategies.len() * (setup.num_rounds + 1);
    let bar = contest::progress(num_runs);
    let mut random = Random::new(setup.seed);
    let mut comparisons = Vec::new();
    for distribution in &distributions {
        for num_rows in &sizes {
            let contest = Contest::new(&setup, distribution, (*num_rows, limit), &bar)?;
            comparisons.push(contest.run(&strategies, &mut random, &bar)?);
        }
    }
    bar.finish_and_clear();
    let experiment = Experiment {
        name: "sort",
        query: &sorting("k, p", limit),
        strategies: all_strategies(),
    };
    experiment.write(options, &setup, &comparisons)
}

fn sorting(columns: &str, limit: Option<u64>) -> String {
    let limit = limit.map_or_else(String::new, |limit| format!(" LIMIT {limit}"));
    format!("SELECT {columns} FROM keys ORDER BY k{limit}")
}

/// A table of keys and the session that sorts them.
struct Contest<'a> {
    setup: &'a Setup,
    session: RefCell<Session>,
    distribution: Distribution,
    num_rows: u64,
    limit: Option<u64>,
}

impl<'a> Contest<'a> {
    fn new(
        setup: &'a Setup,
        distribution: &Distribution,
        (num_rows, limit): (u64, Option<u64>),
        bar: &ProgressBar,
    ) -> Result<Self> {
        let input = distribution.name;
        bar.set_message(format!("loading {} keys: {input}", HumanCount(num_rows)));
        // A string of a distribution has about 48 bytes, a payload 8.
        let size_bytes = num_rows.checked_mul(56).map(usize::try_from);
        setup.check_memory(size_bytes.and_then(std::result::Result::ok))?;
        let mut session = session(setup)?;
        let key = distribution.sql.replace("{rows}", &num_rows.to_string());
        let seed = setup.seed;
        // One thread, which keeps the order of the rows.
        let load = format!(
            "CREATE TEMPORARY TABLE keys ENGINE = Memory AS SELECT {key} AS k, number AS p \
             FROM (SELECT number, sipHash64(number, {seed}) AS random FROM numbers({num_rows})) \
             SETTINGS max_threads = 1"
        );
        query(&mut session, &load)?;
        bar.set_message(format!("{input}, {} rows", HumanCount(num_rows)));
        Ok(Self {
            setup,
            session: RefCell::new(session),
            distribution: *distribution,
            num_rows,
            limit,
        })
    }

    /// Checks that all strategies give the same keys, and lets them compete.
    fn run(
        self,
        strategies: &[&'static str],
        random: &mut Random,
        bar: &ProgressBar,
    ) -> Result<Comparison> {
        self.check(strategies, bar)?;
        let text = format!("{} FORMAT Null", sorting("k, p", self.limit));
        let peaks = RefCell::new(vec![0; strategies.len()]);
        let entrants = strategies.iter().enumerate().map(|(place, name)| Entrant {
            name: (*name).to_owned(),
            order: String::new(),
            run: Box::new({
                let (contest, text, peaks) = (&self, &text, &peaks);
                move || {
                    let mut session = contest.session.borrow_mut();
                    session.settings.set("sort_strategy", name)?;
                    let (summary, _) = query(&mut session, text)?;
                    let peak = &mut peaks.borrow_mut()[place];
                    *peak = summary.peak_memory_bytes.max(*peak);
                    Ok((summary.result_rows, None))
                }
            }),
        });
        let standings = contest::compete(entrants.collect(), self.setup.num_rounds, random, bar)?;
        let chosen = if strategies.contains(&"auto") {
            Some(self.chosen(&text)?)
        } else {
            None
        };
        Ok(Comparison {
            input: self.distribution.name.to_owned(),
            description: self.distribution.description.to_owned(),
            num_rows: self.num_rows,
            num_groups: None,
            chosen,
            standings,
            peak_bytes: peaks.into_inner(),
            ruled_out: vec![None; strategies.len()],
        })
    }

    /// Fails if not all strategies give the same keys in the same order.
    fn check(&self, strategies: &[&'static str], bar: &ProgressBar) -> Result<()> {
        let text = format!("{} FORMAT RowBinary", sorting("k", self.limit));
        let mut expected: Option<(&str, u64)> = None;
        for name in strategies {
            let mut session = self.session.borrow_mut();
            session.settings.set("sort_strategy", name)?;
            let mut out = Checksum(DefaultHasher::new());
            query_into(&mut session, &text, &mut out)?;
            let found = out.0.finish();
            let (first, expected) = *expected.get_or_insert((name, found));
            if found != expected {
                let text = format!("`{name}` gave other keys than `{first}`");
                return Err(Error::bug(text));
            }
            bar.inc(1);
        }
        Ok(())
    }

    /// What `auto` does with these rows.
    fn chosen(&self, text: &str) -> Result<String> {
        let mut session = self.session.borrow_mut();
        session.settings.set("sort_strategy", "auto")?;
        query(
            &mut session,
            &format!("{text} SETTINGS log_comment = 'chosen'"),
        )?;
        let asked = "SELECT arm FROM system.adaptive_choices WHERE chosen AND name = 'sort_way' \
                     AND query LIKE '%log_comment = \\'chosen\\'' FORMAT TSV";
        let (_, arm) = query(&mut session, asked)?;
        Ok(arm.trim().to_owned())
    }
}

/// Takes an output and keeps nothing but a number that tells it from others.
struct Checksum(DefaultHasher);

impl Write for Checksum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.0.write_u8(*byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use basalt_adapt::Random;
    use indicatif::ProgressBar;

    use super::{Contest, DISTRIBUTIONS, all_strategies};
    use crate::lab::Setup;

    #[test]
    fn all_strategies_agree_on_all_distributions() {
        let setup = Setup {
            num_rows: 5000,
            num_rounds: 1,
            num_threads: 2,
            seed: 1,
            level: None,
            is_json: false,
        };
        let bar = ProgressBar::hidden();
        for limit in [None, Some(70)] {
            for distribution in &DISTRIBUTIONS {
                let contest = Contest::new(&setup, distribution, (5000, limit), &bar).unwrap();
                let comparison = contest
                    .run(all_strategies(), &mut Random::new(1), &bar)
                    .unwrap();
                let chosen = comparison.chosen.unwrap();
                let expected = match distribution.name {
                    _ if limit.is_some() => "top",
                    "sorted" | "reversed" => "in_order",
                    "disorder" => "nearly_in_order",
                    _ => "radix",
                };
                // Of a hundred keys, there are not enough rows to count them.
                assert_eq!(chosen, expected, "{}", distribution.name);
            }
        }
    }
}
