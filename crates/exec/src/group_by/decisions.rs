//! The decisions of a run, as `system.adaptive_choices` has them.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;

use super::account::sum;
use super::group_by_exec::GroupByExec;
use super::key_form::Form;
use super::observed::{MERGING_TIME, Observed, Way};
use super::strategy::Strategy;
use crate::report::{DecidedArm, Decision};

/// Ways to merge the tasks' groups.
const MERGES: [&str; 4] = ["dense", "table", "partitions", "files"];

/// The name of DataFusion's operator among the strategies.
const DATAFUSION: &str = "datafusion";

impl GroupByExec {
    /// What was decided in a run.
    pub(super) fn decisions(&self, run: &Observed, metrics: &MetricsSet) -> Vec<Decision> {
        let mut decisions = Vec::new();
        if self.grouping.keys.is_empty() {
            decisions.push(self.code_decision(run));
        } else {
            decisions.push(self.key_decision(run));
            decisions.push(if self.adapts() {
                self.way_decision(run)
            } else {
                self.strategy_decision(run)
            });
            if self.compiled.is_some() {
                decisions.push(self.code_decision(run));
            }
        }
        if let Some(merging) = run.merging() {
            let merging_ns = sum(metrics, MERGING_TIME).unwrap_or(0) as u64;
            let arm = |name| {
                let is_chosen = name == merging.way;
                DecidedArm {
                    name,
                    is_chosen,
                    num_rows: if is_chosen { run.total().0 } else { 0 },
                    elapsed: is_chosen.then(|| Duration::from_nanos(merging_ns)),
                    changed_at_rows: None,
                }
            };
            decisions.push(Decision {
                name: "group_by_merge",
                description: "how the groups of all tasks become one result",
                reason: merging.reason,
                is_forced: false,
                arms: MERGES.into_iter().map(arm).collect(),
            });
        }
        decisions
    }

    fn key_decision(&self, run: &Observed) -> Decision {
        let chosen = self.form.shape();
        let arm = |name| DecidedArm {
            name,
            is_chosen: name == chosen,
            num_rows: if name == chosen { run.total().0 } else { 0 },
            ..DecidedArm::default()
        };
        Decision {
            name: "group_by_key",
            description: "what the keys of a row are made into",
            reason: self.form.describe(),
            is_forced: false,
            arms: Form::SHAPES.into_iter().map(arm).collect(),
        }
    }

    /// How an aggregation without keys, or with few small ones, goes over the rows.
    fn code_decision(&self, run: &Observed) -> Decision {
        let switch = self.switch.lock().unwrap_or_else(PoisonError::into_inner);
        let told = switch.as_ref().map(|switch| switch.told());
        let usual = told.as_ref().map_or_else(|| run.total(), |told| told.usual);
        let compiled = told.map_or_else(Default::default, |told| told.compiled);
        let is_compiled = compiled.0 > 0;
        let min_count = self.options.compile.map(|options| options.min_count);
        let reason = match min_count {
            None => "the setting compile_aggregate_expressions",
            Some(_) if self.compiled.is_none() => "no code can be made of these aggregates",
            Some(0) if is_compiled => "the setting min_count_to_compile_aggregate_expression",
            Some(_) if is_compiled => "the rows to come were worth the time to compile",
            Some(_) => {
                "the rows were not worth the time to compile, or had gone before that was over"
            }
        };
        let arm = |name, is_chosen, (num_rows, elapsed): (u64, Duration)| DecidedArm {
            name,
            is_chosen,
            num_rows,
            elapsed: (num_rows > 0).then_some(elapsed),
            changed_at_rows: (name == "compiled" && is_compiled).then_some(usual.0),
        };
        Decision {
            name: "aggregate_code",
            description: "what goes over the rows of an aggregation without keys or by few small ones",
            reason: reason.to_owned(),
            is_forced: min_count.is_none() || (min_count == Some(0) && is_compiled),
            arms: vec![
                arm("kernels", !is_compiled, usual),
                arm("compiled", is_compiled, compiled),
            ],
        }
    }

    fn way_decision(&self, run: &Observed) -> Decision {
        let changes = run.changes();
        let arm = |way: Way| {
            let (num_rows, elapsed) = run.tally(way);
            DecidedArm {
                name: way.name(),
                is_chosen: run.ended_in(way),
                num_rows,
                elapsed: (num_rows > 0).then_some(elapsed),
                changed_at_rows: changes.iter().find(|c| c.to == way).map(|c| c.at_rows),
            }
        };
        Decision {
            name: "group_by_way",
            description: "how a task groups its rows",
            reason: self.why(run),
            is_forced: self.options.strategy == Strategy::Dense && !self.is_dense_in_vain(run),
            arms: Way::ALL.into_iter().map(arm).collect(),
        }
    }

    fn strategy_decision(&self, run: &Observed) -> Decision {
        let (num_rows, elapsed) = run.total();
        let arm = |(name, strategy): (&'static str, Strategy)| {
            let is_chosen = strategy == self.options.strategy;
            DecidedArm {
                name,
                is_chosen,
                num_rows: if is_chosen { num_rows } else { 0 },
                elapsed: is_chosen.then_some(elapsed),
                changed_at_rows: None,
            }
        };
        Decision {
            name: "group_by_strategy",
            description: "how tasks share the work of grouping",
            reason: "the setting group_by_strategy".to_owned(),
            is_forced: true,
            arms: Strategy::ALL.into_iter().map(arm).collect(),
        }
    }
}

/// The stage that reads the rows for one that is over `node`, behind exchanges.
fn first_stage(node: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    if let Some(stage) = node.downcast_ref::<AggregateExec>() {
        return (*stage.mode() == AggregateMode::Partial).then_some(stage);
    }
    let is_exchange = node.is::<RepartitionExec>() || node.is::<CoalescePartitionsExec>();
    match node.children()[..] {
        [child] if is_exchange => first_stage(child),
        _ => None,
    }
}

/// That DataFusion's operator aggregated, if this is its last stage.
pub(crate) fn of_datafusion(last: &AggregateExec) -> Option<Decision> {
    let first = match last.mode() {
        AggregateMode::Partial | AggregateMode::PartialReduce => return None,
        _ => first_stage(last.input()),
    };
    let reading = first.unwrap_or(last);
    let keys = reading.group_expr().input_exprs();
    let is_forced = GroupByExec::supports(reading.input(), &keys);
    let reason = match is_forced {
        true => "the setting group_by_strategy",
        false => "keys that no operator of Basalt groups",
    };
    let num_rows = reading
        .input()
        .metrics()
        .and_then(|metrics| metrics.output_rows());
    let stages = [Some(last), first].into_iter().flatten();
    let own = stages.filter_map(|stage| stage.metrics()?.elapsed_compute());
    let elapsed = Duration::from_nanos(own.sum::<usize>() as u64);
    let names = Strategy::ALL.into_iter().map(|(name, _)| name);
    let arm = |name| {
        let is_chosen = name == DATAFUSION;
        DecidedArm {
            name,
            is_chosen,
            num_rows: num_rows.filter(|_| is_chosen).unwrap_or(0) as u64,
            elapsed: is_chosen.then_some(elapsed),
            changed_at_rows: None,
        }
    };
    Some(Decision {
        name: "group_by_strategy",
        description: "how tasks share the work of grouping",
        reason: reason.to_owned(),
        is_forced,
        arms: names.chain([DATAFUSION]).map(arm).collect(),
    })
}
