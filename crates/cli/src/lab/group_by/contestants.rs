//! Runs the query of the comparison under every strategy, over one table of keys.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::BufReader;

use basalt_adapt::Random;
use basalt_engine::{Session, Summary};
use basalt_error::{Error, Result};
use indicatif::{HumanCount, ProgressBar};

use super::Source;
use super::keys::{KeyType, Recipe};
use crate::lab::Setup;
use crate::lab::comparison::Comparison;
use crate::lab::contest::{self, Entrant};
use crate::lab::queries::{number, query, session};

const QUERY: &str = "SELECT k, count() FROM keys GROUP BY k FORMAT Null";

/// Groups, rows, and a number that tells whether any group differs.
const CHECK: &str = "SELECT count(), sum(c), groupBitXor(cityHash64(k, c)) \
                     FROM (SELECT k, count() AS c FROM keys GROUP BY k) FORMAT TSV";

/// The peer's strategy.
const DATAFUSION: &str = "datafusion";

/// The strategy that chooses among ways.
const AUTO: &str = "auto";

/// Bytes of a batch that is made while keys are loaded.
const READ_BYTES: usize = 1 << 16;

/// A table of keys and the session that groups them.
pub(super) struct Contest<'a> {
    setup: &'a Setup,
    session: RefCell<Session>,
    input: String,
    description: String,
    num_rows: u64,
}

impl<'a> Contest<'a> {
    /// Loads `num_rows` keys, or as many as the source has.
    pub(super) fn new(
        setup: &'a Setup,
        source: &Source,
        num_rows: u64,
        bar: &ProgressBar,
    ) -> Result<Self> {
        let mut session = session(setup)?;
        let (input, description) = described(source);
        bar.set_message(format!("loading {} keys: {input}", HumanCount(num_rows)));
        match source {
            Source::Generated(recipe) => load_generated(&mut session, setup, recipe, num_rows)?,
            Source::File { path, column } => {
                let path = path.replace('\\', "\\\\").replace('\'', "\\'");
                let load = format!(
                    "CREATE TEMPORARY TABLE keys ENGINE = Memory AS \
                     SELECT ({column}) AS k FROM file('{path}') LIMIT {num_rows}"
                );
                query(&mut session, &load)?;
            }
        }
        let (_, counted) = query(&mut session, "SELECT count() FROM keys FORMAT TSV")?;
        bar.set_message(format!("{input}, {} rows", HumanCount(num_rows)));
        Ok(Self {
            setup,
            session: RefCell::new(session),
            input,
            description,
            num_rows: number(&counted)?,
        })
    }

    pub(super) fn input(&self) -> &str {
        &self.input
    }

    pub(super) fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// Checks that all strategies find the same groups, and lets them compete.
    pub(super) fn run(
        mut self,
        strategies: &[&'static str],
        random: &mut Random,
        bar: &ProgressBar,
    ) -> Result<Comparison> {
        let mut strategies = strategies.to_vec();
        let num_groups = self.checked(&mut strategies, bar)?;
        let peaks: RefCell<BTreeMap<&str, u64>> = RefCell::default();
        let entrants = strategies.iter().map(|name| Entrant {
            name: (*name).to_owned(),
            order: String::new(),
            run: Box::new(|| {
                let (summary, _) = self.forced(name, QUERY)?;
                let mut peaks = peaks.borrow_mut();
                let peak = peaks.entry(name).or_default();
                *peak = summary.peak_memory_bytes.max(*peak);
                Ok((summary.result_rows, None))
            }),
        });
        let standings = contest::compete(entrants.collect(), self.setup.num_rounds, random, bar)?;
        let peaks = peaks.into_inner();
        let peak = |name: &&str| peaks.get(name).copied().unwrap_or(0);
        let ruled_out = strategies.iter().map(|name| self.ruled_out(name));
        let is_auto = strategies.contains(&AUTO);
        let chosen = is_auto.then(|| self.chosen()).transpose()?;
        Ok(Comparison {
            peak_bytes: strategies.iter().map(peak).collect(),
            ruled_out: ruled_out.collect::<Result<_>>()?,
            input: self.input,
            description: self.description,
            num_rows: self.num_rows,
            num_groups: Some(num_groups),
            chosen,
            standings,
        })
    }

    /// The number of groups, if all strategies find the same ones. DataFusion's leaves a contest over floats where
    /// it does not: for it, 0 and -0 are one key.
    fn checked(&mut self, strategies: &mut Vec<&'static str>, bar: &ProgressBar) -> Result<u64> {
        let mut expected: Option<(&str, String)> = None;
        for name in strategies.clone() {
            let (_, found) = self.forced(name, CHECK)?;
            let (first, expected) = expected.get_or_insert_with(|| (name, found.clone()));
            if *expected != found && name == DATAFUSION && self.has_float_keys()? {
                let num_rounds = self.setup.num_rounds as u64;
                bar.inc(num_rounds);
                self.description += "; without datafusion, which finds other groups";
                strategies.retain(|name| *name != DATAFUSION);
            } else if *expected != found {
                return Err(Error::bug(format!(
                    "`{name}` found other groups than `{first}` (groups, rows, checksum): {} and {}",
                    found.trim(),
                    expected.trim()
                )));
            }
            bar.inc(1);
        }
        number(&expected.map_or_else(String::new, |(_, found)| found))
    }

    fn has_float_keys(&self) -> Result<bool> {
        let (_, types) = self.forced(AUTO, "SELECT toTypeName(k) FROM keys LIMIT 1 FORMAT TSV")?;
        Ok(types.contains("Float"))
    }

    /// What the operator did instead of a strategy that these keys rule out.
    fn ruled_out(&self, strategy: &str) -> Result<Option<String>> {
        if strategy != "dense" {
            return Ok(None);
        }
        let arms = self.arms(strategy, "NOT forced")?;
        Ok(arms
            .first()
            .map(|arm| format!("keys index no arrays: {arm}")))
    }

    /// What `auto` did with these rows; several ways if it changed its mind.
    fn chosen(&self) -> Result<String> {
        Ok(self.arms(AUTO, "true")?.join(", "))
    }

    /// The ways in which the query was run by a strategy, of those that are as `condition` says.
    fn arms(&self, strategy: &str, condition: &str) -> Result<Vec<String>> {
        let setting = format!("log_comment = 'asked {strategy}'");
        self.forced(strategy, &format!("{QUERY} SETTINGS {setting}"))?;
        let asked = format!(
            "SELECT arm FROM system.adaptive_choices WHERE name = 'group_by_way' AND chosen \
             AND endsWith(query, $text${setting}$text$) AND {condition} FORMAT TSV"
        );
        let (_, arms) = self.forced(strategy, &asked)?;
        Ok(arms.lines().map(str::to_owned).collect())
    }

    fn forced(&self, strategy: &str, text: &str) -> Result<(Summary, String)> {
        let mut session = self.session.borrow_mut();
        session.settings.set("group_by_strategy", strategy)?;
        query(&mut session, text)
    }
}

fn described(source: &Source) -> (String, String) {
    match source {
        Source::File { path, column } => (column.clone(), path.clone()),
        Source::Generated(recipe) => {
            let distribution = recipe.distribution;
            let spread = if recipe.is_spread { ", spread" } else { "" };
            let text = distribution
                .description()
                .replace("--unique-share", &recipe.unique_share.to_string())
                .replace("--skew", &recipe.skew.to_string());
            let key_type = recipe.key_type.sql();
            let text = format!("{text} ({key_type}{spread})");
            (distribution.name().to_owned(), text)
        }
    }
}

fn load_generated(
    session: &mut Session,
    setup: &Setup,
    recipe: &Recipe,
    num_rows: u64,
) -> Result<()> {
    let recipe = Recipe {
        num_rows,
        ..*recipe
    };
    let key_bytes = match recipe.key_type {
        KeyType::UInt32 => 4,
        KeyType::UInt64 => 8,
        KeyType::String => 36,
    };
    let num_rows = usize::try_from(num_rows).unwrap_or(usize::MAX);
    setup.check_memory(num_rows.checked_mul(key_bytes))?;
    let structure = format!("k {}", recipe.key_type.sql());
    let rows = BufReader::with_capacity(READ_BYTES, recipe.rows());
    session.load_table("keys", "RowBinary", Some(&structure), Box::new(rows))
}
