//! Writes how the forms did: a line for each file, and one over all files for each form.

use std::io::Write;

use basalt_error::{Error, Result};
use serde_json::{Value, json};

use crate::lab::lz4::{ADAPTIVE, Cost, Outcome, Setup};
use crate::lab::report::{processor_json, processor_text};

/// The columns of the table, as the article about ClickHouse's LZ4 has them.
#[derive(Clone, Debug)]
struct Line<'a> {
    name: &'a str,
    ratio: f64,
    /// Gigabytes a second.
    reference: f64,
    adaptive: f64,
    max: f64,
    best: &'a str,
}

impl<'a> Line<'a> {
    fn of(name: &'a str, ratio: f64, costs: &'a [Cost]) -> Option<Self> {
        let (reference, rest) = costs.split_first()?;
        let (adaptive, fixed) = rest.split_last()?;
        let best = fixed
            .iter()
            .min_by(|a, b| a.byte_ns.total_cmp(&b.byte_ns))?;
        Some(Self {
            name,
            ratio,
            reference: 1.0 / reference.byte_ns,
            adaptive: 1.0 / adaptive.byte_ns,
            max: 1.0 / best.byte_ns,
            best: &best.name,
        })
    }

    fn text(&self) -> String {
        format!(
            "{:24.24} {:>7.2} {:>6.2} {:>6.2} {:>6.2} {:15} {:>11.2} {:>9.2} {:>14.2}\n",
            self.name,
            self.ratio,
            self.reference,
            self.adaptive,
            self.max,
            self.best,
            self.adaptive / self.reference,
            self.max / self.reference,
            self.adaptive / self.max,
        )
    }

    fn json(&self) -> Value {
        json!({
            "file": self.name,
            "ratio": self.ratio,
            "ref": self.reference,
            "adapt": self.adaptive,
            "max": self.max,
            "best": self.best,
            "adapt_boost": self.adaptive / self.reference,
            "max_boost": self.max / self.reference,
            "adapt_over_max": self.adaptive / self.max,
        })
    }
}

/// Mean costs over all files, each of which counts the same.
fn mean_costs(outcomes: &[Outcome], of: impl Fn(&Outcome) -> &[Cost]) -> Vec<Cost> {
    let Some(first) = outcomes.first() else {
        return Vec::new();
    };
    let mean = |(form, cost): (usize, &Cost)| {
        let costs = outcomes.iter().filter_map(|outcome| of(outcome).get(form));
        Cost {
            byte_ns: costs.map(|cost| cost.byte_ns).sum::<f64>() / outcomes.len() as f64,
            ..cost.clone()
        }
    };
    of(first).iter().enumerate().map(mean).collect()
}

fn total_ratio(outcomes: &[Outcome]) -> f64 {
    let sum = |bytes: fn(&Outcome) -> usize| outcomes.iter().map(bytes).sum::<usize>() as f64;
    sum(|outcome| outcome.size_bytes) / sum(|outcome| outcome.stored_bytes)
}

fn line(outcome: &Outcome) -> Option<Line<'_>> {
    let ratio = outcome.size_bytes as f64 / outcome.stored_bytes as f64;
    Line::of(&outcome.name, ratio, &outcome.costs)
}

/// Writes the table to standard output.
pub(super) fn write(setup: &Setup, outcomes: &[Outcome]) -> Result<()> {
    let text = if setup.is_json {
        format!("{:#}\n", as_json(setup, outcomes))
    } else {
        as_text(setup, outcomes)
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::from)
}

fn as_text(setup: &Setup, outcomes: &[Outcome]) -> String {
    let mut text = processor_text();
    text += &format!(
        "blocks: {} bytes, rounds: {}, at least {} MiB a round\n\n",
        setup.block_bytes,
        setup.num_rounds,
        setup.least_bytes >> 20,
    );
    text += &format!(
        "{:24} {:>7} {:>6} {:>6} {:>6} {:15} {:>11} {:>9} {:>14}\n",
        "file",
        "ratio",
        "ref",
        "adapt",
        "max",
        "best",
        "adapt_boost",
        "max_boost",
        "adapt_over_max"
    );
    text.extend(outcomes.iter().filter_map(line).map(|line| line.text()));
    let costs = mean_costs(outcomes, |outcome| &outcome.costs);
    let libraries = mean_costs(outcomes, |outcome| &outcome.libraries);
    text.extend(Line::of("all", total_ratio(outcomes), &costs).map(|line| line.text()));
    text += "\nGB/s over all files, each counting the same:\n";
    for cost in costs.iter().chain(&libraries) {
        let factor = costs.first().map_or(1.0, |reference| reference.byte_ns) / cost.byte_ns;
        let rate = 1.0 / cost.byte_ns;
        text += &format!("  {:15} {rate:>6.2} {factor:>6.2}x\n", cost.name);
    }
    text
}

fn as_json(setup: &Setup, outcomes: &[Outcome]) -> Value {
    let rates = |costs: &[Cost], libraries: &[Cost]| -> Value {
        let rates = costs
            .iter()
            .chain(libraries)
            .map(|cost| (cost.name.clone(), json!(1.0 / cost.byte_ns)));
        Value::Object(rates.collect())
    };
    let file = |outcome: &Outcome| {
        let mut object = line(outcome).map_or(Value::Null, |line| line.json());
        object["size_bytes"] = json!(outcome.size_bytes);
        object["compressed_bytes"] = json!(outcome.stored_bytes);
        object["gb_per_second"] = rates(&outcome.costs, &outcome.libraries);
        let adaptive = outcome.costs.iter().find(|cost| cost.name == ADAPTIVE);
        object["chose"] = json!(adaptive.and_then(|cost| cost.picked));
        object
    };
    let costs = mean_costs(outcomes, |outcome| &outcome.costs);
    let libraries = mean_costs(outcomes, |outcome| &outcome.libraries);
    let mut all =
        Line::of("all", total_ratio(outcomes), &costs).map_or(Value::Null, |line| line.json());
    all["gb_per_second"] = rates(&costs, &libraries);
    json!({
        "experiment": "lz4",
        "processor": processor_json(),
        "block_bytes": setup.block_bytes,
        "rounds": setup.num_rounds,
        "files": outcomes.iter().map(file).collect::<Vec<_>>(),
        "all": all,
    })
}

#[cfg(test)]
mod tests {
    use super::{Line, mean_costs};
    use crate::lab::lz4::{Cost, Outcome};

    fn outcome(costs: [f64; 4]) -> Outcome {
        let names = ["reference", "copy8", "copy16", "adaptive"];
        let costs = names.iter().zip(costs).map(|(name, byte_ns)| Cost {
            name: (*name).to_owned(),
            byte_ns,
            picked: None,
        });
        Outcome {
            name: String::new(),
            size_bytes: 10,
            stored_bytes: 5,
            costs: costs.collect(),
            libraries: Vec::new(),
        }
    }

    #[test]
    fn over_all_files_times_are_averaged_and_not_rates() {
        let outcomes = [
            outcome([1.0, 0.5, 0.2, 0.25]),
            outcome([1.0, 0.5, 1.0, 0.55]),
        ];
        let costs = mean_costs(&outcomes, |outcome| &outcome.costs);
        let line = Line::of("all", 2.0, &costs).unwrap();
        assert_eq!((line.reference, line.best, line.max), (1.0, "copy8", 2.0));
        assert!((line.adaptive - 2.5).abs() < 1e-9);
        let line = Line::of("first", 2.0, &outcomes[0].costs).unwrap();
        assert_eq!((line.best, line.max), ("copy16", 5.0));
    }
}
