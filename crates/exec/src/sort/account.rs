//! Notes what a sort does while it runs, and tells it.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use basalt_analyzer::FloatOrder;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{
    ExecutionPlanMetricsSet, MetricBuilder, MetricValue, MetricsSet, Time,
};

use super::Strategy;
use super::codes::Codes;
use super::in_order::Ordered;
use super::key_counts::KeyCounts;
use super::layout::Layout;
use super::nearly::Nearly;
use super::rows::Rows;
use super::sort_exec::SortRowsExec;
use crate::memory::PEAK_MEMORY;
use crate::report::clock::Listener;
use crate::report::{Account, DecidedArm, Decision, figures, sql_of};
use crate::spill::spilled;

/// Names of metrics: time with the input's rows, and time of packing and splitting words.
const READING_TIME: &str = "reading_time";
const SPLITTING_TIME: &str = "splitting_time";

/// What is told of strings that have become numbers.
const RANKED: &str = "Keys as ranks";

/// A way to put rows in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Rows already are, in stretches that follow each other.
    InOrder,
    /// Rows are but for a few, which are sorted and merged in.
    NearlyInOrder,
    /// The best rows are kept, and no others.
    Top,
    /// Keys are counted.
    Counting,
    /// Digits of packed keys are counted.
    Radix,
    /// Packed keys are compared.
    Comparison,
    /// Sorted runs in files are merged.
    Merge,
}

impl Way {
    const ALL: [Self; 7] = [
        Self::InOrder,
        Self::NearlyInOrder,
        Self::Top,
        Self::Counting,
        Self::Radix,
        Self::Comparison,
        Self::Merge,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::InOrder => "in_order",
            Self::NearlyInOrder => "nearly_in_order",
            Self::Top => "top",
            Self::Counting => "counting",
            Self::Radix => "radix",
            Self::Comparison => "comparison",
            Self::Merge => "merge",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::InOrder => "rows come in stretches that are in order and follow each other",
            Self::NearlyInOrder => "few rows are out of order",
            Self::Top => "few rows are wanted",
            Self::Counting => "few different keys are possible or occur",
            Self::Radix | Self::Comparison => "rows are in no order",
            Self::Merge => {
                "rows took more memory than they may, so sorted runs went to files and were merged"
            }
        }
    }

    /// Whether the strategy asks for it; what rows do not allow is done in another way.
    fn is_forced(self, strategy: Strategy) -> bool {
        match strategy {
            // Ranks are no way of their own.
            Strategy::Auto | Strategy::Ranks => false,
            Strategy::InOrder => self == Self::InOrder,
            Strategy::NearlyInOrder => self == Self::NearlyInOrder,
            Strategy::Top => self == Self::Top,
            Strategy::Counting => self == Self::Counting,
            Strategy::Radix => self == Self::Radix,
            Strategy::Comparison => self == Self::Comparison,
        }
    }
}

/// What all partitions of a sort note.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<Mutex<Vec<Outcome>>>);

/// How the rows were put in order.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    way: Way,
    num_rows: usize,
    facts: Vec<(&'static str, String)>,
}

impl Outcome {
    /// Rows that were in order already, in stretches.
    pub(super) fn in_order(rows: &Rows, stretches: &[Ordered]) -> Self {
        let num_reversed = stretches.iter().filter(|o| o.is_falling()).count();
        let num_stretches = figures::quantity(stretches.len() as u64);
        let mut facts = vec![("Parts", num_stretches)];
        if num_reversed > 0 {
            facts.push(("Reversed", figures::quantity(num_reversed as u64)));
        }
        Self::new(Way::InOrder, rows.num_rows(), facts)
    }

    /// Rows of which a few were out of order.
    pub(super) fn nearly<W>((rows, layout): (&Rows, &Layout), nearly: &Nearly<W>) -> Self {
        let (key, place) = (layout.key_bits(), layout.place_bits());
        let word_bits = 8 * size_of::<W>();
        let bits = format!("{key} bits of keys and {place} of places in words of {word_bits}");
        let mut facts = vec![
            ("Key bits", bits),
            (
                "Out of order",
                figures::counted(nearly.num_taken as u64, "row"),
            ),
            ("Stretches", figures::quantity(nearly.num_stretches as u64)),
            ("Parts", figures::quantity(nearly.parts.len() as u64)),
        ];
        facts.extend(ranked(rows));
        Self::new(Way::NearlyInOrder, rows.num_rows(), facts)
    }

    /// Rows whose keys have become codes.
    pub(super) fn counting(rows: &Rows, codes: &Codes) -> Self {
        let bits = format!("{} bits of keys", codes.layout.key_bits());
        let num_codes = figures::quantity(codes.len() as u64);
        let keys = if codes.is_numbered() {
            "Different keys"
        } else {
            "Possible keys"
        };
        let mut facts = vec![("Key bits", bits), (keys, num_codes)];
        facts.extend(ranked(rows));
        Self::new(Way::Counting, rows.num_rows(), facts)
    }

    /// Rows that are nothing but their keys, which were counted.
    pub(super) fn key_counts(rows: &Rows, counts: &KeyCounts) -> Self {
        let num_keys = figures::quantity(counts.len() as u64);
        let mut facts = vec![("Different keys", num_keys)];
        facts.extend(ranked(rows));
        Self::new(Way::Counting, rows.num_rows(), facts)
    }

    /// Rows that were cut into parts, with words of so many bits.
    pub(super) fn parts(
        way: Way,
        (rows, layout): (&Rows, &Layout),
        (num_parts, word_bits): (usize, usize),
    ) -> Self {
        let tied = tied(layout);
        let (key, place) = (layout.key_bits(), layout.place_bits());
        let low = match layout.is_carrying() {
            true => "other columns",
            false => "places",
        };
        let bits = format!("{key} bits of keys and {place} of {low} in words of {word_bits}{tied}");
        let parts = figures::quantity(num_parts as u64);
        let mut facts = vec![("Key bits", bits), ("Parts", parts)];
        facts.extend(ranked(rows));
        Self::new(way, rows.num_rows(), facts)
    }

    /// The best of `num_rows` rows, `num_kept` of which were left at last.
    pub(super) fn top(num_rows: usize, num_kept: usize, layout: &Layout) -> Self {
        let bits = format!("{} bits of keys{}", layout.key_bits(), tied(layout));
        let kept = figures::counted(num_kept as u64, "row");
        Self::new(Way::Top, num_rows, vec![("Key bits", bits), ("Kept", kept)])
    }

    /// Rows that are merged of so many runs, in so many ranges of which so many at once.
    pub(super) fn merged(
        num_rows: usize,
        num_runs: usize,
        (num_ranges, num_ahead): (usize, usize),
    ) -> Self {
        let runs = figures::quantity(num_runs as u64);
        let num_ranges = figures::quantity(num_ranges as u64);
        let ranges = format!("{num_ranges}, {num_ahead} at once");
        Self::new(
            Way::Merge,
            num_rows,
            vec![("Runs", runs), ("Ranges", ranges)],
        )
    }

    fn new(way: Way, num_rows: usize, facts: Vec<(&'static str, String)>) -> Self {
        Self {
            way,
            num_rows,
            facts,
        }
    }
}

/// Strings that have become numbers.
fn ranked(rows: &Rows) -> Option<(&'static str, String)> {
    let num_strings = rows.num_ranked()?;
    let strings = format!(
        "{} different strings",
        figures::quantity(num_strings as u64)
    );
    Some((RANKED, strings))
}

fn tied(layout: &Layout) -> &'static str {
    if layout.is_exact {
        ""
    } else {
        "; rows decide where these are equal"
    }
}

impl Notes {
    /// Notes what was done with one partition.
    pub(super) fn note(&self, outcome: Outcome) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(outcome);
    }

    /// What was done with each partition, the one of most rows first.
    fn outcomes(&self) -> Vec<Outcome> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = all.clone();
        all.sort_by_key(|outcome| Reverse(outcome.num_rows));
        all
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
        let mut facts = vec![("Order", order_text(self.ordering()))];
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
        let outcomes = self.notes.outcomes();
        let Some(outcome) = outcomes.first() else {
            return account;
        };
        let own = metrics.elapsed_compute().unwrap_or(0);
        let num_rows: usize = outcomes.iter().map(|outcome| outcome.num_rows).sum();
        let rows = figures::counted(num_rows as u64, "row");
        let ns = own as f64 / num_rows.max(1) as f64;
        account.summary = format!(
            "{}, {rows}, {}",
            outcome.way.name(),
            figures::ns_per_row(ns)
        );
        if outcomes.len() > 1 {
            let partitions = figures::quantity(outcomes.len() as u64);
            let largest = figures::counted(outcome.num_rows as u64, "row");
            let partitions = format!("{partitions}; what follows is of the largest, {largest}");
            account.facts.push(("Partitions", partitions));
        }
        let (why, _) = outcome.reason(self.options.strategy);
        let way = outcome.way.name().to_owned();
        account.facts.extend([("Way", way), ("Why", why)]);
        account.facts.extend(outcome.facts.iter().cloned());
        account.facts.extend(spilled(&metrics));
        let elapsed = Duration::from_nanos(own as u64);
        account.decisions = vec![decision(&outcomes, self.options.strategy, elapsed)];
        account
    }
}

impl Outcome {
    /// Why the rows were put in order in this way, and whether because it was asked for.
    fn reason(&self, strategy: Strategy) -> (String, bool) {
        let is_ranked = self.facts.iter().any(|(name, _)| *name == RANKED);
        let is_forced = self.way.is_forced(strategy) || strategy == Strategy::Ranks && is_ranked;
        let reason = match strategy {
            _ if self.num_rows == 0 => "there are no rows".to_owned(),
            _ if is_forced => format!("the setting sort_strategy = '{}'", strategy.name()),
            Strategy::Auto => self.way.reason().to_owned(),
            _ if self.way == Way::Merge => self.way.reason().to_owned(),
            other => format!(
                "the query or its rows do not allow sort_strategy = '{}'",
                other.name()
            ),
        };
        (reason, is_forced)
    }
}

/// What was decided of all partitions, of which the first one has most rows.
fn decision(outcomes: &[Outcome], strategy: Strategy, elapsed: Duration) -> Decision {
    let chosen = outcomes.first();
    let reason = chosen.map(|outcome| outcome.reason(strategy));
    let (reason, is_forced) = reason.unwrap_or_default();
    let arm = |way: Way| {
        let is_chosen = chosen.is_some_and(|outcome| outcome.way == way);
        let same = outcomes.iter().filter(|outcome| outcome.way == way);
        DecidedArm {
            name: way.name(),
            is_chosen,
            num_rows: same.map(|outcome| outcome.num_rows as u64).sum(),
            elapsed: is_chosen.then_some(elapsed),
            changed_at_rows: None,
        }
    };
    Decision {
        name: "sort_way",
        description: "how rows are put in order",
        reason,
        is_forced,
        arms: Way::ALL.into_iter().map(arm).collect(),
    }
}

/// The order as users wrote it: keys that stand for floats are the floats.
fn order_text(ordering: &LexOrdering) -> String {
    let of_key = |sort: &PhysicalSortExpr| {
        let call = sort.expr.downcast_ref::<ScalarFunctionExpr>();
        let of_float = call.filter(|call| call.fun().inner().is::<FloatOrder>());
        let float = of_float.and_then(|call| call.args().first());
        format!("{} {}", sql_of(float.unwrap_or(&sort.expr)), sort.options)
    };
    ordering.iter().map(of_key).collect::<Vec<_>>().join(", ")
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
