//! Lists what has been counted since the process began.

use basalt_analyzer::TableEntry;
use basalt_error::Result;
use basalt_exec::compile::counters;

use super::rows::Rows;
use crate::environment::QueryEnvironment;

/// `system.events`: counters of compilation, by ClickHouse's names where it has the same.
pub(crate) fn events(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let counters = counters();
    let events = [
        (
            "CompileFunction",
            counters.compilations,
            "Expressions and aggregations that were compiled",
        ),
        (
            "CompileExpressionsMicroseconds",
            counters.elapsed_us,
            "Microseconds that compiling took",
        ),
        (
            "CompileExpressionsBytes",
            counters.size_bytes,
            "Bytes of the code that is kept",
        ),
        (
            "CompiledFunctionHits",
            counters.hits,
            "Queries that found their code compiled already",
        ),
    ];
    Rows::default()
        .text("event", events.iter().map(|(event, _, _)| *event))
        .number("value", events.iter().map(|(_, value, _)| *value))
        .text("description", events.iter().map(|(_, _, text)| *text))
        .table()
}
