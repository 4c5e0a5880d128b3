//! Tells what a grouping did: shape of the key, way to work and why, tables, files, times.

use std::sync::PoisonError;
use std::time::Duration;

use basalt_functions::aggregate::Shortcut;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::MetricsSet;

use super::group_by_exec::GroupByExec;
use super::grouping::AggregateSpec;
use super::observed::{Change, GROUPING_TIME, MERGING_TIME, Observed, Way};
use super::strategy::Strategy;
use crate::compile::compiled_facts;
use crate::memory::PEAK_MEMORY;
use crate::report::{Account, figures, sql_of};
use crate::spill::spilled;

impl GroupByExec {
    /// What it did in its last run.
    pub(crate) fn account(&self) -> Account {
        let metrics = self.metrics().unwrap_or_default();
        let observed = self.observed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut account = Account {
            name: if self.grouping.keys.is_empty() {
                "Aggregate".to_owned()
            } else {
                "GROUP BY".to_owned()
            },
            facts: self.plan_facts(),
            outputs: self.outputs(),
            stages: stages(&metrics),
            peak_memory_bytes: sum(&metrics, PEAK_MEMORY).map(|bytes| bytes as u64),
            ..Account::default()
        };
        let Some(run) = observed.as_ref() else {
            return account;
        };
        account.summary = self.summary(run, &metrics);
        account.facts.extend(self.run_facts(run, &metrics));
        let args = self.grouping.aggregates.iter().flat_map(|a| &a.args);
        account.facts.extend(args.flat_map(compiled_facts));
        account.decisions = self.decisions(run, &metrics);
        account
    }

    /// Keys and aggregates as SQL has them.
    fn expressions(&self) -> (Vec<String>, Vec<String>) {
        let call = |aggregate: &AggregateSpec| {
            let args = match aggregate.bound.shortcut {
                Some(Shortcut::CountAll) => Vec::new(),
                _ => aggregate.args.iter().map(sql_of).collect(),
            };
            format!("{}({})", aggregate.bound.name, args.join(", "))
        };
        let keys = self.grouping.keys.iter().map(sql_of).collect();
        (keys, self.grouping.aggregates.iter().map(call).collect())
    }

    fn plan_facts(&self) -> Vec<(&'static str, String)> {
        let (keys, calls) = self.expressions();
        let mut facts = Vec::new();
        if let Some(predicate) = &self.predicate {
            facts.push(("Condition", sql_of(predicate.whole())));
        }
        if !keys.is_empty() {
            facts.push(("Keys", keys.join(", ")));
            facts.push(("Key shape", self.form.describe()));
        }
        if !calls.is_empty() {
            facts.push(("Aggregates", calls.join(", ")));
        }
        facts
    }

    /// Columns of the result, with the keys and aggregates that they are.
    fn outputs(&self) -> Vec<(String, String)> {
        let (keys, calls) = self.expressions();
        let names = self.grouping.schema.fields().iter();
        let names = names.map(|field| field.name().clone());
        names.zip(keys.into_iter().chain(calls)).collect()
    }

    fn summary(&self, run: &Observed, metrics: &MetricsSet) -> String {
        let mut words = Vec::new();
        if !self.grouping.keys.is_empty() {
            words.extend(Some(self.ended_in(run)).filter(|way| !way.is_empty()));
            let groups = metrics.output_rows().unwrap_or(0) as u64;
            words.push(figures::counted(groups, "group"));
        }
        if metrics.spilled_bytes().is_some_and(|bytes| bytes > 0) {
            words.push("spilled".to_owned());
        }
        let own = metrics.elapsed_compute().unwrap_or(0);
        let (num_rows, _) = run.total();
        if num_rows > 0 {
            words.push(figures::ns_per_row(own as f64 / num_rows as f64));
        }
        words.join(", ")
    }

    /// The ways that tasks ended in, or the strategy that is none of several.
    fn ended_in(&self, run: &Observed) -> String {
        if !self.adapts() {
            return self.options.strategy.name().to_owned();
        }
        let ways = Way::ALL.into_iter().filter(|way| run.ended_in(*way));
        let names: Vec<&str> = ways.map(Way::name).collect();
        names.join(" and ")
    }

    pub(super) fn adapts(&self) -> bool {
        matches!(self.options.strategy, Strategy::Auto | Strategy::Dense)
    }

    fn run_facts(&self, run: &Observed, metrics: &MetricsSet) -> Vec<(&'static str, String)> {
        if self.grouping.keys.is_empty() {
            return self.facts_without_keys(run, metrics);
        }
        let mut facts = Vec::new();
        let strategy = self.options.strategy.name();
        let tasks = figures::counted(run.num_tasks() as u64, "task");
        facts.push(("Strategy", format!("{strategy}, {tasks} with rows")));
        if self.adapts() {
            for way in Way::ALL {
                let (num_rows, elapsed) = run.tally(way);
                if num_rows > 0 {
                    let rows = figures::counted(num_rows, "row");
                    let ns = figures::ns_per_row(elapsed.as_nanos() as f64 / num_rows as f64);
                    facts.push(("Way", format!("{}: {rows}, {ns}", way.name())));
                }
            }
            facts.extend(changed(&run.changes(), run.num_tasks()));
            if self.is_dense_in_vain(run) || run.changes().is_empty() {
                facts.push(("Why", self.why(run)));
            }
        }
        facts.extend(self.compiled_facts());
        facts.extend(merged(run));
        facts.extend(spilled(metrics));
        facts
    }

    /// What of the last run was compiled.
    fn compiled_facts(&self) -> Vec<(&'static str, String)> {
        let switch = self.switch.lock().unwrap_or_else(PoisonError::into_inner);
        switch
            .as_ref()
            .map_or_else(Vec::new, |switch| switch.told().facts())
    }

    fn facts_without_keys(
        &self,
        run: &Observed,
        metrics: &MetricsSet,
    ) -> Vec<(&'static str, String)> {
        let facts = self.compiled_facts().into_iter();
        facts.chain(merged(run)).chain(spilled(metrics)).collect()
    }

    /// Whether arrays are wanted for keys that cannot index any.
    pub(super) fn is_dense_in_vain(&self, run: &Observed) -> bool {
        let changes = run.changes();
        self.options.strategy == Strategy::Dense
            && run.total().0 > 0
            && run.tally(Way::Dense).0 == 0
            && !changes.iter().any(|change| change.to == Way::Dense)
    }

    /// Why tasks ended in the way that they did.
    pub(super) fn why(&self, run: &Observed) -> String {
        let last = run.changes().last().map(|change| change.reason.clone());
        if self.is_dense_in_vain(run) {
            let why = "the setting group_by_strategy cannot hold: \
                       keys are no integers of a range that arrays can have";
            return match last {
                Some(reason) => format!("{why}; {reason}"),
                None => why.to_owned(),
            };
        }
        if let Some(reason) = last {
            return reason;
        }
        let is_forced = self.options.strategy == Strategy::Dense;
        let why = if run.total().0 == 0 {
            "no rows came"
        } else if is_forced {
            "the setting group_by_strategy"
        } else if run.ended_in(Way::Dense) {
            "keys are integers of a small range"
        } else {
            "keys are no integers of a small range; tables stayed small, or keys were found again"
        };
        why.to_owned()
    }
}

/// A fact for each way that tasks changed to, in the order of time: one task's reason stands for all.
fn changed(changes: &[Change], num_tasks: usize) -> Vec<(&'static str, String)> {
    let fact = |way: Way| {
        let mut same = changes.iter().filter(|change| change.to == way);
        let first = same.next()?;
        let others = match 1 + same.count() {
            1 => String::new(),
            n if n <= num_tasks => format!(", so in {n} tasks"),
            n => format!(", {n} times in all tasks"),
        };
        let (to, at) = (way.name(), figures::quantity(first.at_rows));
        let text = format!("to {to} after {at} rows in all: {}{others}", first.reason);
        Some((first.at_rows, text))
    };
    let mut facts: Vec<(u64, String)> = Way::ALL.into_iter().filter_map(fact).collect();
    facts.sort_by_key(|(at_rows, _)| *at_rows);
    facts
        .into_iter()
        .map(|(_, text)| ("Changed", text))
        .collect()
}

/// How the groups of all tasks became one result.
fn merged(run: &Observed) -> Option<(&'static str, String)> {
    let merging = run.merging()?;
    Some(("Merge", format!("{}: {}", merging.way, merging.reason)))
}

fn stages(metrics: &MetricsSet) -> Vec<(&'static str, Duration)> {
    let time = |ns: usize| Duration::from_nanos(ns as u64);
    let grouping = sum(metrics, GROUPING_TIME).unwrap_or(0);
    let merging = sum(metrics, MERGING_TIME).unwrap_or(0);
    let all = metrics.elapsed_compute().unwrap_or(0);
    vec![
        ("grouping", time(grouping)),
        ("merging", time(merging)),
        ("result", time(all.saturating_sub(grouping + merging))),
    ]
}

pub(super) fn sum(metrics: &MetricsSet, name: &str) -> Option<usize> {
    metrics.sum_by_name(name).map(|value| value.as_usize())
}
