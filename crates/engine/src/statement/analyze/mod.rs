//! Runs EXPLAIN ANALYZE: the query itself, whose result is thrown away, and then what its operators did.
//!
//! | module | owns |
//! |---|---|
//! | [`text`] | a tree for people |
//! | [`json`] | the same for programs |

mod json;
mod text;

use std::time::Duration;

use arrow::array::RecordBatch;
use basalt_adapt::ArmRecord;
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{Explain, Setting, Statement};

use super::query;
use super::set::value_text;
use crate::observation::Run;
use crate::session::{RunningQuery, Session};

/// What is shown of a query that ran.
struct Analysis {
    /// The plans that ran: constant subqueries, the query itself, its totals.
    runs: Vec<Run>,
    /// From the beginning of the statement, with planning.
    elapsed: Duration,
    result_rows: u64,
    rows_read: u64,
    bytes_read: u64,
    peak_memory_bytes: u64,
    num_threads: usize,
    /// Choices of kernels since the query began.
    kernels: Vec<ArmRecord>,
}

impl Analysis {
    /// Time in which plans ran.
    fn execution(&self) -> Duration {
        self.runs.iter().map(|run| run.elapsed).sum()
    }

    /// Time before and between.
    fn planning(&self) -> Duration {
        self.elapsed.saturating_sub(self.execution())
    }

    /// Time of all operators, summed over threads.
    fn work(&self) -> Duration {
        self.runs.iter().map(|run| run.tree.total_elapsed()).sum()
    }
}

/// Runs the query of `EXPLAIN ANALYZE [json = 1] SELECT …` and tells what happened, in lines.
pub(super) fn lines(
    session: &Session,
    query: &RunningQuery<'_>,
    explain: &Explain,
    statement: &Statement,
) -> Result<Vec<String>> {
    let is_json = is_json(&explain.settings)?;
    let Statement::Query(select) = statement else {
        return Err(Error::not_implemented(
            "EXPLAIN ANALYZE of a statement that is no SELECT (explain the SELECT of the INSERT)",
        ));
    };
    let planned = query::plan(session, query, select)?;
    let plan = query::limited(planned.plan, query)?;
    // A result that nobody reads may come in any order, as when the query itself runs.
    let has_output = !is_null(explain);
    let mut result_rows = 0;
    query
        .execution
        .for_each(&plan, has_output, &mut |batch: RecordBatch| {
            result_rows += batch.num_rows() as u64;
            Ok(true)
        })?;
    if let Some(totals) = planned.totals {
        query.execution.collect(&totals)?;
    }
    let control = query.control;
    let observation = query.execution.observation();
    let analysis = Analysis {
        elapsed: control.elapsed(),
        runs: observation.take_runs(),
        result_rows,
        rows_read: control.rows_read(),
        bytes_read: control.bytes_read(),
        peak_memory_bytes: control.peak_memory_bytes(),
        num_threads: query.settings.max_threads(),
        kernels: observation.kernels(),
    };
    Ok(if is_json {
        vec![json::text(&analysis)]
    } else {
        text::lines(&analysis)
    })
}

/// Whether the format of the query that is explained is Null.
pub(super) fn is_null(explain: &Explain) -> bool {
    let format = explain.output.format.as_deref();
    format.is_some_and(|format| format.eq_ignore_ascii_case("Null"))
}

fn is_json(settings: &[Setting]) -> Result<bool> {
    let mut is_json = false;
    for setting in settings {
        if setting.name != "json" {
            return Err(Error::new(
                ErrorCode::UNKNOWN_SETTING,
                format!(
                    "EXPLAIN ANALYZE knows the setting json, not {}",
                    setting.name
                ),
            ));
        }
        is_json = value_text(setting).is_some_and(|value| value != "0");
    }
    Ok(is_json)
}
