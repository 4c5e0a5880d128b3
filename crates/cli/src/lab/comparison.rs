//! Writes comparisons of strategies, which run whole queries, as tables, as JSON and as a plot.

use std::io::Write;

use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;
use serde_json::{Value, json};

use crate::lab::Setup;
use crate::lab::contest::Standing;
use crate::lab::plot::{self, Line, Panel, rows_text};
use crate::lab::report;

/// The strategies over one input of one size.
pub(super) struct Comparison {
    pub(super) input: String,
    pub(super) description: String,
    pub(super) num_rows: u64,
    /// Groups that were found, if the queries group.
    pub(super) num_groups: Option<u64>,
    /// What `auto` chose, if it is known.
    pub(super) chosen: Option<String>,
    /// The baseline first.
    pub(super) standings: Vec<Standing>,
    /// Most memory that the query of each standing reserved.
    pub(super) peak_bytes: Vec<u64>,
    /// What a standing did instead of its strategy, if the input rules that out.
    pub(super) ruled_out: Vec<Option<String>>,
}

impl Comparison {
    fn factor(&self, standing: &Standing) -> f64 {
        let baseline = self.standings.first().map_or(f64::NAN, |s| s.seconds);
        baseline / standing.seconds
    }

    fn rows_per_second(&self, standing: &Standing) -> f64 {
        self.num_rows as f64 / standing.seconds
    }

    /// The least median, over all strategies that could do as their names say.
    fn least_seconds(&self) -> f64 {
        let standings = self.standings.iter().zip(&self.ruled_out);
        let seconds = standings.filter(|(_, note)| note.is_none());
        let seconds = seconds.map(|(standing, _)| standing.seconds);
        seconds.fold(f64::INFINITY, f64::min)
    }
}

/// An experiment that compares strategies.
pub(super) struct Experiment<'a> {
    pub(super) name: &'a str,
    pub(super) query: &'a str,
    /// All strategies: the place of one gives its line the same look in every plot.
    pub(super) strategies: &'a [&'a str],
}

impl Experiment<'_> {
    /// Writes the tables, and the plot if the options ask for one.
    pub(super) fn write(
        &self,
        options: &ArgMatches,
        setup: &Setup,
        comparisons: &[Comparison],
    ) -> Result<()> {
        if let Some(path) = options.get_one::<String>("plot") {
            self.write_plot(path, setup, comparisons)?;
        }
        let text = if setup.is_json {
            format!("{:#}\n", as_json(self.name, setup, comparisons))
        } else {
            as_text(setup, comparisons)
        };
        let written = std::io::stdout().write_all(text.as_bytes());
        written.map_err(Error::from)
    }

    fn write_plot(&self, path: &str, setup: &Setup, comparisons: &[Comparison]) -> Result<()> {
        let place = |name: &str| self.strategies.iter().position(|s| *s == name);
        let panels = panels(comparisons, |name| place(name).unwrap_or(0));
        let caption = format!(
            "{}; threads: {}, median of {} rounds",
            self.query, setup.num_threads, setup.num_rounds
        );
        let written = std::fs::write(path, plot::svg(&panels, &caption));
        written.map_err(|e| {
            let text = format!("Cannot write the plot {path}: {e}");
            Error::new(ErrorCode::CANNOT_OPEN_FILE, text)
        })
    }
}

/// Tables for a terminal: one for each input and size, and one of all sizes of an input.
fn as_text(setup: &Setup, comparisons: &[Comparison]) -> String {
    let mut text = report::heading(setup, "");
    for comparison in comparisons {
        text += &table(comparison);
    }
    for of_input in comparisons.chunk_by(|a, b| a.input == b.input) {
        if of_input.len() > 1 {
            text += &sizes_table(of_input);
        }
    }
    text
}

fn table(comparison: &Comparison) -> String {
    let count = indicatif::HumanCount;
    let groups = comparison.num_groups;
    let groups = groups.map_or_else(String::new, |groups| format!(", {} groups", count(groups)));
    let mut text = format!(
        "\n{}: {}\n{} rows{groups}\n  {:24} {:>9} {:>9} {:>9} {:>8} {:>9}\n",
        comparison.input,
        comparison.description,
        count(comparison.num_rows),
        "strategy",
        "seconds",
        "at best",
        "Mrows/s",
        "factor",
        "MiB"
    );
    let least = comparison.least_seconds();
    let notes = comparison.peak_bytes.iter().zip(&comparison.ruled_out);
    for (standing, (peak_bytes, ruled_out)) in comparison.standings.iter().zip(notes) {
        let mut note = match ruled_out {
            Some(ruled_out) => format!("  {ruled_out}"),
            None if standing.seconds <= least => "  fastest".to_owned(),
            None => String::new(),
        };
        if let Some(chosen) = comparison
            .chosen
            .as_ref()
            .filter(|_| standing.name == "auto")
        {
            note += &format!("  chose {chosen}");
        }
        text += &format!(
            "  {:24} {:>9.4} {:>9.4} {:>9.1} {:>7.2}x {:>9.1}{note}\n",
            standing.name,
            standing.seconds,
            standing.best_seconds,
            comparison.rows_per_second(standing) / 1e6,
            comparison.factor(standing),
            *peak_bytes as f64 / f64::from(1 << 20),
        );
    }
    text
}

fn sizes_table(comparisons: &[Comparison]) -> String {
    let Some(first) = comparisons.first() else {
        return String::new();
    };
    let mut text = format!("\n{}: seconds by rows\n  {:24}", first.input, "strategy");
    for comparison in comparisons {
        text += &format!(" {:>9}", rows_text(comparison.num_rows as f64));
    }
    text.push('\n');
    let most = comparisons.iter().max_by_key(|c| c.standings.len());
    for standing in &most.unwrap_or(first).standings {
        text += &format!("  {:24}", standing.name);
        for comparison in comparisons {
            let mut standings = comparison.standings.iter();
            // A strategy may have left the contest over one of the sizes.
            let found = standings.find(|found| found.name == standing.name);
            text += &found.map_or_else(
                || format!(" {:>9}", "-"),
                |found| format!(" {:>9.4}", found.seconds),
            );
        }
        text.push('\n');
    }
    text
}

/// One object with everything.
fn as_json(experiment: &str, setup: &Setup, comparisons: &[Comparison]) -> Value {
    let each = comparisons.iter().map(|comparison| {
        let notes = comparison.peak_bytes.iter().zip(&comparison.ruled_out);
        let standings = comparison.standings.iter().zip(notes);
        let strategies = standings.map(|(standing, (peak_bytes, ruled_out))| {
            json!({
                "strategy": standing.name,
                "seconds": standing.seconds,
                "best_seconds": standing.best_seconds,
                "rows_per_second": comparison.rows_per_second(standing),
                "factor": comparison.factor(standing),
                "peak_bytes": peak_bytes,
                "ruled_out": ruled_out,
            })
        });
        json!({
            "input": comparison.input,
            "description": comparison.description,
            "rows": comparison.num_rows,
            "groups": comparison.num_groups,
            "auto_chose": comparison.chosen,
            "strategies": strategies.collect::<Vec<_>>(),
        })
    });
    let mut object = report::conditions(experiment, setup);
    // Files have as many rows as they have.
    object["rows"] = comparisons.iter().map(|c| c.num_rows).max().into();
    object["inputs"] = each.collect();
    object
}

/// The same for a plot; `place` gives a strategy its look.
fn panels(comparisons: &[Comparison], place: impl Fn(&str) -> usize) -> Vec<Panel> {
    let of_inputs = comparisons.chunk_by(|a, b| a.input == b.input);
    let panel = |of_input: &[Comparison]| {
        let first = of_input.first()?;
        let line = |(i, standing): (usize, &Standing)| Line {
            name: standing.name.clone(),
            place: place(&standing.name),
            points: of_input
                .iter()
                .filter_map(|c| Some((c.num_rows as f64, c.standings.get(i)?.seconds)))
                .collect(),
        };
        Some(Panel {
            title: format!("{}: {}", first.input, first.description),
            lines: first.standings.iter().enumerate().map(line).collect(),
        })
    };
    of_inputs.filter_map(panel).collect()
}
