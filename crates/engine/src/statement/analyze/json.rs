//! Writes what a query did as JSON, times in nanoseconds.

use std::time::Duration;

use basalt_exec::report::{DecidedArm, Decision};
use serde_json::{Value, json};

use super::Analysis;
use crate::observation::tree::Node;

/// One document.
pub(super) fn text(analysis: &Analysis) -> String {
    let runs = analysis.runs.iter().map(|run| {
        json!({
            "elapsed_ns": ns(run.elapsed),
            "plan": node(&run.tree),
        })
    });
    let kernels = analysis.kernels.iter().map(|arm| {
        json!({
            "name": arm.name,
            "arm": arm.arm,
            "pulls": arm.pulls,
            "mean_ns": arm.mean_ns,
        })
    });
    let document = json!({
        "elapsed_ns": ns(analysis.elapsed),
        "planning_ns": ns(analysis.planning()),
        "execution_ns": ns(analysis.execution()),
        "work_ns": ns(analysis.work()),
        "rows_read": analysis.rows_read,
        "bytes_read": analysis.bytes_read,
        "result_rows": analysis.result_rows,
        "peak_memory_bytes": analysis.peak_memory_bytes,
        "num_threads": analysis.num_threads,
        "runs": runs.collect::<Vec<_>>(),
        "kernels": kernels.collect::<Vec<_>>(),
    });
    format!("{document:#}")
}

fn ns(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

fn node(node: &Node) -> Value {
    let account = &node.account;
    let facts = account.facts.iter().map(|(name, fact)| json!([name, fact]));
    let stages = account.stages.iter();
    let stages = stages.map(|(name, elapsed)| json!({"name": name, "elapsed_ns": ns(*elapsed)}));
    json!({
        "name": account.name,
        "summary": node.summary(),
        "elapsed_ns": ns(node.elapsed),
        "rows_in": node.rows_in,
        "bytes_in": node.bytes_in,
        "rows_out": node.rows_out,
        "bytes_out": node.bytes_out,
        "peak_memory_bytes": account.peak_memory_bytes,
        "facts": facts.collect::<Vec<_>>(),
        "stages": stages.collect::<Vec<_>>(),
        "decisions": account.decisions.iter().map(decision).collect::<Vec<_>>(),
        "inputs": node.inputs.iter().map(self::node).collect::<Vec<_>>(),
    })
}

fn decision(decision: &Decision) -> Value {
    let arm = |arm: &DecidedArm| {
        json!({
            "name": arm.name,
            "chosen": arm.is_chosen,
            "rows": arm.num_rows,
            "ns_per_row": arm.ns_per_row(),
            "changed_at_rows": arm.changed_at_rows,
        })
    };
    json!({
        "name": decision.name,
        "description": decision.description,
        "reason": decision.reason,
        "forced": decision.is_forced,
        "arms": decision.arms.iter().map(arm).collect::<Vec<_>>(),
    })
}
