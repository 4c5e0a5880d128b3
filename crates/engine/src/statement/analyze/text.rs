//! Draws what a query did as a tree, in the form of ClickHouse's EXPLAIN ANALYZE.

use basalt_adapt::WorkUnit;
use basalt_exec::report::figures::{bytes, counted, memory, ns_per_row, percent, quantity, time};

use super::Analysis;
use crate::observation::tree::Node;

/// The lines, the most important one first.
pub(super) fn lines(analysis: &Analysis) -> Vec<String> {
    let work = analysis.work().as_nanos() as f64;
    let mut lines = vec![hint(analysis), String::new()];
    lines.extend(summary(analysis));
    let most = most_expensive(analysis);
    for (i, run) in analysis.runs.iter().enumerate() {
        lines.push(String::new());
        if analysis.runs.len() > 1 {
            lines.push(format!("Plan {}, {}:", i + 1, time(run.elapsed)));
        }
        let drawing = Drawing { work, most };
        drawing.node(&run.tree, ("", ""), &mut lines);
    }
    lines.extend(kernels(analysis));
    lines
}

fn most_expensive(analysis: &Analysis) -> Option<&Node> {
    let of_runs = analysis.runs.iter().map(|run| run.tree.most_expensive());
    of_runs.max_by_key(|node| node.elapsed)
}

/// Where the time went.
fn hint(analysis: &Analysis) -> String {
    let elapsed = time(analysis.elapsed);
    let Some(node) = most_expensive(analysis) else {
        return elapsed;
    };
    let share = percent(node.elapsed.as_secs_f64(), analysis.work().as_secs_f64());
    let (name, summary) = (&node.account.name, node.summary());
    let planning = analysis.planning();
    let planned = if 2 * planning > analysis.elapsed {
        format!(", {} of it planning", time(planning))
    } else {
        String::new()
    };
    format!("{elapsed}{planned}; {share} in {name} ({summary})")
}

fn summary(analysis: &Analysis) -> Vec<String> {
    let execution = analysis.execution();
    let seconds = execution.as_secs_f64().max(1e-9);
    let (rows, size) = (analysis.rows_read, analysis.bytes_read);
    let rate = |n: u64| (n as f64 / seconds) as u64;
    vec![
        "Query summary:".to_owned(),
        format!(
            "  Time:        {} (planning {} · execution {})",
            time(analysis.elapsed),
            time(analysis.planning()),
            time(execution)
        ),
        format!(
            "  Work:        {} in at most {}",
            time(analysis.work()),
            counted(analysis.num_threads as u64, "thread")
        ),
        format!(
            "  Read:        {} rows, {} ({} rows/s., {}/s.)",
            quantity(rows),
            bytes(size),
            quantity(rate(rows)),
            bytes(rate(size))
        ),
        format!("  Result:      {}", counted(analysis.result_rows, "row")),
        format!("  Peak memory: {}", memory(analysis.peak_memory_bytes)),
    ]
}

/// Rows below which time for a row says nothing.
const MIN_ROWS: u64 = 1000;

struct Drawing<'a> {
    /// Nanoseconds of all operators.
    work: f64,
    most: Option<&'a Node>,
}

impl Drawing<'_> {
    /// Draws a node: its first line behind `first`, all others behind `rest`.
    fn node(&self, node: &Node, (first, rest): (&str, &str), lines: &mut Vec<String>) {
        let is_most = self.most.is_some_and(|most| std::ptr::eq(most, node));
        let has_run = !node.total_elapsed().is_zero();
        let mark = match (is_most, has_run) {
            (true, _) => "  ◄ most expensive",
            (false, true) => "",
            // Rows that two plans share are computed by one of them.
            (false, false) => " (not run)",
        };
        lines.push(format!("{first}{}{mark}", node.account.name));
        if !has_run {
            return;
        }
        let bar = if node.inputs.is_empty() {
            "   "
        } else {
            "│  "
        };
        for line in self.facts(node) {
            lines.push(format!("{rest}{bar}{line}"));
        }
        for (i, input) in node.inputs.iter().enumerate() {
            let is_last = i + 1 == node.inputs.len();
            let (branch, below) = if is_last {
                ("└──", "   ")
            } else {
                ("├──", "│  ")
            };
            let (first, rest) = (format!("{rest}{branch}"), format!("{rest}{below}"));
            self.node(input, (&first, &rest), lines);
        }
    }

    fn facts(&self, node: &Node) -> Vec<String> {
        let facts = node.account.facts.iter();
        let mut lines: Vec<String> = facts
            .map(|(name, fact)| format!("{name}: {fact}"))
            .collect();
        if let Some(peak) = node.account.peak_memory_bytes {
            lines.push(format!("Memory: {} at most", memory(peak)));
        }
        lines.push(format!(
            "I/O: rows {} → {} · {} → {}",
            quantity(node.rows_in),
            quantity(node.rows_out),
            bytes(node.bytes_in),
            bytes(node.bytes_out)
        ));
        let share = |elapsed: std::time::Duration| percent(elapsed.as_nanos() as f64, self.work);
        let mut last = format!("  time {} ({})", time(node.elapsed), share(node.elapsed));
        let num_rows = node.rows_in.max(node.rows_out);
        if num_rows >= MIN_ROWS {
            let ns = node.elapsed.as_nanos() as f64 / num_rows as f64;
            last.push_str(&format!(" · {}", ns_per_row(ns)));
        }
        lines.push(last);
        for (stage, elapsed) in &node.account.stages {
            let (elapsed, share) = (time(*elapsed), share(*elapsed));
            lines.push(format!("    Stage ({stage}): time {elapsed} ({share})"));
        }
        lines
    }
}

/// What kernels chose, if any had a choice.
fn kernels(analysis: &Analysis) -> Vec<String> {
    if analysis.kernels.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), "Choices of kernels:".to_owned()];
    for arm in &analysis.kernels {
        let of_choice = analysis
            .kernels
            .iter()
            .filter(|other| other.name == arm.name);
        let all: u64 = of_choice.map(|other| other.pulls).sum();
        let share = percent(arm.pulls as f64, all as f64);
        let cost = match (arm.mean_ns, arm.unit) {
            (Some(ns), WorkUnit::Row) => format!(", {}", ns_per_row(ns)),
            (Some(ns), WorkUnit::Byte) => format!(", {ns:.3} ns a byte"),
            (None, _) => String::new(),
        };
        let pulls = counted(arm.pulls, "turn");
        lines.push(format!(
            "  {}: {} {share} of the work in {pulls}{cost}",
            arm.name, arm.arm
        ));
    }
    lines
}
