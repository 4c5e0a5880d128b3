//! Notes what a sort does while it runs, and tells it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{
    ExecutionPlanMetricsSet, MetricBuilder, MetricValue, MetricsSet, Time,
};

use super::Strategy;
use super::layout::Layout;
use super::parts::Part;
use super::rows::Rows;
use super::sort_exec::SortRowsExec;
use super::word::Word;
use crate::report::clock::Listener;
use crate::report::memory::PEAK_MEMORY;
use crate::report::{Account, DecidedArm, Decision, figures};

/// Names of metrics: time with the input's rows, and time of packing and splitting words.
const READING_TIME: &str = "reading_time";
const SPLITTING_TIME: &str = "splitting_time";

/// Ways to put rows in order.
const WAYS: [&str; 3] = ["in_order", "radix", "comparison"];

/// What all partitions of a sort note.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<Mutex<Option<Outcome>>>);

/// How the rows were put in order.
#[derive(Clone, Debug)]
struct Outcome {
    way: &'static str,
    num_rows: usize,
    num_parts: usize,
    key_bits: u32,
    place_bits: u32,
    word_bits: u32,
    is_exact: bool,
}

impl Notes {
    /// Notes the parts that rows were split into.
    pub(super) fn split<W: Word>(
        &self,
        strategy: Strategy,
        (rows, layout): (&Rows, &Layout),
        parts: &[Part<W>],
    ) {
        let is_run = |part: &Part<W>| matches!(part, Part::Batch { .. });
        let way = match strategy {
            _ if !parts.is_empty() && parts.iter().all(is_run) => "in_order",
            Strategy::Auto | Strategy::Radix => "radix",
            Strategy::Comparison => "comparison",
        };
        let outcome = Outcome {
            way,
            num_rows: rows.num_rows(),
            num_parts: parts.len(),
            key_bits: layout.key_bits(),
            place_bits: layout.place_bits(),
            word_bits: 8 * size_of::<W>() as u32,
            is_exact: layout.is_exact,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    fn outcome(&self) -> Option<Outcome> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Times of the steps before rows come out.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    reading: Time,
    /// Packing and splitting words.
    pub(super) splitting: Time,
}

impl Clocks {
    /// Clocks that are metrics of one partition.
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let time = |name| {
            let time = MetricBuilder::new(metrics).subset_time(name, partition);
            let own = MetricValue::ElapsedCompute(time.clone());
            let metric = MetricBuilder::new(metrics).with_partition(partition);
            metric.build(own);
            time
        };
        Self {
            reading: time(READING_TIME),
            splitting: time(SPLITTING_TIME),
        }
    }
}

impl Listener for Clocks {
    fn worked(&self, _num_rows: usize, elapsed: Duration) {
        self.reading.add_duration(elapsed);
    }
}

impl SortRowsExec {
    /// What it did in its last run.
    pub(crate) fn account(&self) -> Account {
        let metrics = self.metrics().unwrap_or_default();
        let mut facts = vec![("Order", self.ordering().to_string())];
        let limit = self.limit();
        if limit.skip > 0 || limit.fetch.is_some() {
            let fetch = limit.fetch.map_or("all".to_owned(), |f| f.to_string());
            facts.push(("Limit", format!("{fetch} rows after {}", limit.skip)));
        }
        let mut account = Account {
            name: "ORDER BY".to_owned(),
            stages: stages(&metrics),
            peak_memory_bytes: sum(&metrics, PEAK_MEMORY).map(|bytes| bytes as u64),
            facts,
            ..Account::default()
        };
        let Some(outcome) = self.notes.outcome() else {
            return account;
        };
        let own = metrics.elapsed_compute().unwrap_or(0);
        let rows = figures::counted(outcome.num_rows as u64, "row");
        let ns = own as f64 / outcome.num_rows.max(1) as f64;
        account.summary = format!("{}, {rows}, {}", outcome.way, figures::ns_per_row(ns));
        account.facts.extend(outcome.facts());
        let elapsed = Duration::from_nanos(own as u64);
        account.decisions = vec![outcome.decision(self.strategy, elapsed)];
        account
    }
}

impl Outcome {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let tied = if self.is_exact {
            ""
        } else {
            "; rows decide where these are equal"
        };
        let (key, place, word) = (self.key_bits, self.place_bits, self.word_bits);
        let bits = format!("{key} bits of keys and {place} of places in words of {word}{tied}");
        vec![
            ("Key bits", bits),
            ("Parts", figures::quantity(self.num_parts as u64)),
        ]
    }

    fn decision(&self, strategy: Strategy, elapsed: Duration) -> Decision {
        let is_forced = strategy != Strategy::Auto;
        let reason = match self.way {
            _ if is_forced => "the setting sort_strategy",
            "in_order" => "every batch is in order, and they follow each other",
            _ => "rows are in no order",
        };
        let arm = |name| {
            let is_chosen = name == self.way;
            DecidedArm {
                name,
                is_chosen,
                num_rows: if is_chosen { self.num_rows as u64 } else { 0 },
                elapsed: is_chosen.then_some(elapsed),
                changed_at_rows: None,
            }
        };
        Decision {
            name: "sort_way",
            description: "how rows are put in order",
            reason: reason.to_owned(),
            is_forced,
            arms: WAYS.into_iter().map(arm).collect(),
        }
    }
}

fn stages(metrics: &MetricsSet) -> Vec<(&'static str, Duration)> {
    let time = |ns: usize| Duration::from_nanos(ns as u64);
    let reading = sum(metrics, READING_TIME).unwrap_or(0);
    let splitting = sum(metrics, SPLITTING_TIME).unwrap_or(0);
    let all = metrics.elapsed_compute().unwrap_or(0);
    vec![
        ("reading", time(reading)),
        ("splitting", time(splitting)),
        ("sorting", time(all.saturating_sub(reading + splitting))),
    ]
}

fn sum(metrics: &MetricsSet, name: &str) -> Option<usize> {
    metrics.sum_by_name(name).map(|value| value.as_usize())
}
