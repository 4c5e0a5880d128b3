//! `windowFunnel`: how far a chain of conditions gets within a window of time.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt8Array};
use basalt_error::Result;
use basalt_types::DataType;

use super::events::{MAX_CONDITIONS, check_conditions, times_and_bits};
use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::row_log::Sealed;
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

/// The function of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "windowFunnel",
    max_params: 6,
    syntax: "windowFunnel(window[, mode, ...])(time, condition1, ...)",
    description: "Longest chain of the conditions in order within the window. Modes: strict_deduplication, strict_order, \
                  strict_increase, strict_once, allow_reentry.",
    resolve,
    ..AggregateFunction::BASE
}];

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=MAX_CONDITIONS + 1)?;
    call.expect_params(1..=usize::MAX)?;
    call.expect_type(0, |t| {
        t.is_unsigned() || matches!(t, DataType::Date | DataType::DateTime(_))
    })?;
    check_conditions(call, 1)?;
    let mut funnel = Funnel {
        window: call.param_i64(0)?,
        num_conditions: call.types.len() - 1,
        ..Funnel::default()
    };
    for idx in 1..call.params.len() {
        let mode = call.param_bytes(idx)?;
        *funnel.mode(&mode).ok_or_else(|| {
            let known = "strict_deduplication, strict_order, strict_increase, strict_once and allow_reentry";
            call.bad_param(idx, &format!("the modes are {known}"))
        })? = true;
    }
    if funnel.allow_reentry && !funnel.strict_order {
        return Err(call.bad_param(1, &"allow_reentry is for strict_order"));
    }
    Ok(bind_collected(DataType::UInt8, call.types, funnel))
}

#[derive(Debug, Default)]
struct Funnel {
    window: i64,
    num_conditions: usize,
    /// A condition that comes again ends the chain.
    strict_deduplication: bool,
    /// A row of no condition, or of one out of turn, ends the chain.
    strict_order: bool,
    /// The links of a chain are at different times.
    strict_increase: bool,
    /// A row is one link of a chain at most.
    strict_once: bool,
    /// A condition out of turn is passed over under `strict_order`.
    allow_reentry: bool,
}

/// A row for one of the conditions that hold in it, or for none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    time: i64,
    condition: Option<usize>,
    row: usize,
}

/// A chain that has reached some condition.
#[derive(Clone)]
struct Chain {
    start: i64,
    last: i64,
    /// Its rows at the time of the step that is looked at, for `strict_once`: others do not come again.
    rows: Vec<usize>,
}

impl Funnel {
    fn mode(&mut self, name: &[u8]) -> Option<&mut bool> {
        match name {
            b"strict_deduplication" => Some(&mut self.strict_deduplication),
            b"strict_order" => Some(&mut self.strict_order),
            b"strict_increase" => Some(&mut self.strict_increase),
            b"strict_once" => Some(&mut self.strict_once),
            b"allow_reentry" => Some(&mut self.allow_reentry),
            _ => None,
        }
    }

    /// The steps of a group by time, those of one time by condition.
    fn steps(&self, rows: Range<usize>, times: &[i64], bits: &[u32]) -> Vec<Step> {
        let mut steps = Vec::with_capacity(rows.len());
        for row in rows {
            let time = times[row];
            let step = |condition| Step {
                time,
                condition,
                row,
            };
            let held = (0..self.num_conditions).filter(|idx| bits[row] >> idx & 1 == 1);
            steps.extend(held.map(|idx| step(Some(idx))));
            if self.strict_order && bits[row] == 0 {
                steps.push(step(None));
            }
        }
        steps.sort_unstable();
        steps
    }

    /// How many conditions, from the first on, the longest chain has.
    fn level(&self, steps: &[Step]) -> u8 {
        let mut chains: Vec<Vec<Chain>> = vec![Vec::new(); self.num_conditions];
        let mut now = None;
        for step in steps {
            if self.strict_once && now.replace(step.time) != Some(step.time) {
                chains.iter_mut().for_each(keep_latest);
            }
            let has_begun = !chains[0].is_empty();
            let Some(idx) = step.condition else {
                if has_begun {
                    break;
                }
                continue;
            };
            if idx == 0 {
                self.link(None, step, &mut chains[0]);
            } else if self.strict_deduplication && !chains[idx].is_empty() {
                break;
            } else if self.strict_order && has_begun && chains[idx - 1].is_empty() {
                if self.allow_reentry {
                    continue;
                }
                return num_reached(chains.iter().position(Vec::is_empty));
            } else {
                let (before, from) = chains.split_at_mut(idx);
                for chain in &before[idx - 1] {
                    if self.can_follow(chain, step) {
                        self.link(Some(chain), step, &mut from[0]);
                    }
                }
                if idx + 1 == self.num_conditions && !from[0].is_empty() {
                    return num_reached(Some(self.num_conditions));
                }
            }
        }
        let last = chains.iter().rposition(|reached| !reached.is_empty());
        num_reached(last.map(|idx| idx + 1))
    }

    fn can_follow(&self, chain: &Chain, step: &Step) -> bool {
        step.time <= chain.start.saturating_add(self.window)
            && (!self.strict_increase || chain.last < step.time)
            && !(self.strict_once && chain.rows.contains(&step.row))
    }

    /// Adds a chain with one more row, or a new one, to those that reach a condition: the latest is the
    /// best one, unless rows count once.
    fn link(&self, chain: Option<&Chain>, step: &Step, reached: &mut Vec<Chain>) {
        let mut rows = Vec::new();
        if self.strict_once {
            rows.extend(chain.iter().flat_map(|c| &c.rows));
            rows.push(step.row);
        } else {
            reached.clear();
        }
        reached.push(Chain {
            start: chain.map_or(step.time, |c| c.start),
            last: step.time,
            rows,
        });
    }
}

/// Leaves the chain that begins last: when time has gone on, chains do not differ in the rows to come.
fn keep_latest(reached: &mut Vec<Chain>) {
    if let Some(mut latest) = reached.drain(..).max_by_key(|chain| chain.start) {
        latest.rows.clear();
        reached.push(latest);
    }
}

fn num_reached(count: Option<usize>) -> u8 {
    count.and_then(|n| u8::try_from(n).ok()).unwrap_or(0)
}

impl RowsFunction for Funnel {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let (times, bits) = times_and_bits(rows)?;
        let levels = range.map(|group| self.level(&self.steps(rows.rows(group), &times, &bits)));
        Ok(Arc::new(UInt8Array::from_iter_values(levels)))
    }
}
