//! Makes a tree of figures of a plan whose operators were measured.

use std::sync::Arc;
use std::time::Duration;

use basalt_exec::compile::compiled_facts;
use basalt_exec::report::{Account, Figures, account, figures, measured, sql_of};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, displayable};

use super::names::{Names, shortened};

/// Operators that only pass batches on, and are not shown.
const UNSEEN: [&str; 3] = ["InterruptibleExec", "ReadOnceExec", "CooperativeExec"];

/// Operators by the beginning of their names in plans, and what they are called here.
const NAMES: [(&str, &str); 14] = [
    ("FirstKeysExec", "Rows of the first groups"),
    ("ProjectionExec", "Projection"),
    ("HashJoinExec", "Hash join"),
    ("NestedLoopJoinExec", "Nested loop join"),
    ("SortMergeJoinExec", "Sort merge join"),
    ("CrossJoinExec", "Cross join"),
    ("DealExec", "Deal out batches"),
    ("RepartitionExec", "Repartition"),
    ("CoalescePartitionsExec", "Collect partitions"),
    ("SortPreservingMergeExec", "Merge sorted"),
    ("SortExec", "Sort"),
    ("AggregateExec", "GROUP BY of DataFusion"),
    ("GlobalLimitExec", "LIMIT"),
    ("LocalLimitExec", "LIMIT of each partition"),
];

/// Metrics of DataFusion's operators that tell more than rows and time, and what they are called here.
const METRICS: [(&str, &str); 6] = [
    ("build_input_rows", "Build rows"),
    ("build_mem_used", "Build memory"),
    ("probe_hit_rate", "Probe hit rate"),
    ("avg_fanout", "Fanout"),
    ("spill_count", "Spills"),
    ("spilled_bytes", "Spilled bytes"),
];

/// Most characters of a fact.
const MAX_FACT_CHARS: usize = 300;

/// An operator and what is below it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) account: Account,
    /// Its own time, summed over threads.
    pub(crate) elapsed: Duration,
    pub(crate) rows_in: u64,
    pub(crate) bytes_in: u64,
    pub(crate) rows_out: u64,
    pub(crate) bytes_out: u64,
    pub(crate) inputs: Vec<Node>,
}

impl Node {
    /// The tree of a plan that `basalt_exec::report::measure` made and that has run.
    pub(crate) fn of(plan: &Arc<dyn ExecutionPlan>, names: &mut Names) -> Self {
        let unmeasured = (plan, Figures::default());
        let (operator, figures) = measured(plan.as_ref()).unwrap_or(unmeasured);
        let inputs = operator.children().into_iter();
        let mut inputs: Vec<Node> = inputs.map(|input| Self::of(input, names)).collect();
        let account = account(operator.as_ref());
        let account = account.unwrap_or_else(|| foreign(operator, names));
        names.learn(operator, &account);
        if is_unseen(operator)
            && inputs.len() == 1
            && let Some(input) = inputs.pop()
        {
            return input;
        }
        let in_stages: Duration = account.stages.iter().map(|(_, elapsed)| *elapsed).sum();
        let is_ours = !account.stages.is_empty();
        Self {
            elapsed: if is_ours {
                in_stages
            } else {
                figures.elapsed + in_tasks(operator.as_ref())
            },
            account: resolved(account, names),
            rows_in: inputs.iter().map(|i| i.rows_out).sum(),
            bytes_in: inputs.iter().map(|i| i.bytes_out).sum(),
            rows_out: figures.num_rows,
            bytes_out: figures.size_bytes,
            inputs,
        }
    }

    /// Time of this operator and of all below it.
    pub(crate) fn total_elapsed(&self) -> Duration {
        let below: Duration = self.inputs.iter().map(Self::total_elapsed).sum();
        self.elapsed + below
    }

    /// The operator that took most time, this one or one below it.
    pub(crate) fn most_expensive(&self) -> &Self {
        let below = self.inputs.iter().map(Self::most_expensive);
        below.fold(self, |most, node| {
            if node.elapsed > most.elapsed {
                node
            } else {
                most
            }
        })
    }
}

/// Time of DataFusion's operators that is spent in tasks of their own.
fn in_tasks(operator: &dyn ExecutionPlan) -> Duration {
    let metrics = operator.metrics().unwrap_or_default();
    let ns = sum(&metrics, "repartition_time").unwrap_or(0);
    Duration::from_nanos(ns)
}

/// Whether an operator is not shown: it passes batches on as they are, or with other names.
fn is_unseen(operator: &Arc<dyn ExecutionPlan>) -> bool {
    let renames = |projection: &ProjectionExec| {
        let mut outputs = projection.expr().iter();
        outputs.all(|output| output.expr.downcast_ref::<Column>().is_some())
    };
    let projection = operator.downcast_ref::<ProjectionExec>();
    UNSEEN.contains(&operator.name()) || projection.is_some_and(renames)
}

/// The account with what columns stand for.
fn resolved(mut account: Account, names: &Names) -> Account {
    for (_, fact) in &mut account.facts {
        *fact = shortened(&names.resolve(fact), MAX_FACT_CHARS);
    }
    account
}

/// What a projection computes.
fn expressions(projection: &ProjectionExec, names: &Names) -> String {
    let outputs = projection.expr().iter();
    let texts = outputs.map(|output| sql_of(&output.expr));
    names.resolve(&texts.collect::<Vec<_>>().join(", "))
}

/// What an operator of DataFusion, or one of the dialect's steps, tells by its text and its metrics.
fn foreign(operator: &Arc<dyn ExecutionPlan>, names: &Names) -> Account {
    let line = displayable(operator.as_ref()).one_line().to_string();
    let line = line.trim();
    // Steps of the dialect have one operator, and the step's name behind its own.
    let line = line.strip_prefix("StreamExec: ").unwrap_or(line);
    let (name, about) = line.split_once(':').unwrap_or((line, ""));
    let known = NAMES.iter().find(|(theirs, _)| *theirs == name);
    let plain = name.strip_suffix("Exec").unwrap_or(name);
    let mut facts = Vec::new();
    if let Some(projection) = operator.downcast_ref::<ProjectionExec>() {
        facts.push(("Expressions", expressions(projection, names)));
        let outputs = projection.expr().iter();
        facts.extend(outputs.flat_map(|output| compiled_facts(&output.expr)));
    } else if !about.is_empty() {
        facts.push(("About", about.trim().to_owned()));
    }
    let metrics = operator.metrics().unwrap_or_default().aggregate_by_name();
    for (metric, title) in METRICS {
        let found = metrics.iter().find(|m| m.value().name() == metric);
        if let Some(found) = found.filter(|m| m.value().as_usize() > 0 || is_ratio(metric)) {
            facts.push((title, found.value().to_string()));
        }
    }
    Account {
        name: known.map_or(plain, |(_, ours)| ours).to_owned(),
        peak_memory_bytes: sum(&metrics, "peak_mem_used").filter(|bytes| *bytes > 0),
        facts,
        ..Account::default()
    }
}

/// Whether a metric is a ratio, which has no number to look at.
fn is_ratio(metric: &str) -> bool {
    matches!(metric, "probe_hit_rate" | "avg_fanout")
}

fn sum(metrics: &MetricsSet, name: &str) -> Option<u64> {
    metrics
        .sum_by_name(name)
        .map(|value| value.as_usize() as u64)
}

impl Node {
    /// The run in a few words.
    pub(crate) fn summary(&self) -> String {
        if !self.account.summary.is_empty() {
            return self.account.summary.clone();
        }
        let num_rows = self.rows_in.max(self.rows_out);
        let rows = figures::counted(num_rows, "row");
        if num_rows == 0 {
            return rows;
        }
        let ns = self.elapsed.as_nanos() as f64 / num_rows as f64;
        format!("{rows}, {}", figures::ns_per_row(ns))
    }
}
