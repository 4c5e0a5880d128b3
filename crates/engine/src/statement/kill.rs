//! Runs KILL: cancels running statements.

use std::time::Duration;

use basalt_error::Result;
use basalt_functions::StringColumn;
use basalt_parser::ast::{self, Kill};
use basalt_types::DataType;

use super::query;
use super::result::{strings, write_rows};
use crate::session::{Io, RunningQuery, Session, Summary};

/// How often KILL … SYNC looks whether the statements have ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// `KILL QUERY WHERE condition`: cancels the statements of `system.processes` that fulfil it, itself
/// left out, and tells which. There are no mutations that could be killed.
pub(crate) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    kill: &Kill,
    io: Io<'_>,
) -> Result<Summary> {
    if kill.mutation {
        return Ok(Summary::default());
    }
    let mut select = query::parse_query("SELECT query_id, user, query FROM system.processes")?;
    if let ast::SetExpr::Select(select) = &mut select.body {
        select.where_ = Some(kill.where_.clone());
    }
    let planned = query::plan(session, query, &select)?;
    let batches = query.execution.collect(&planned.plan)?;
    let mut columns: [Vec<Vec<u8>>; 3] = Default::default();
    for batch in &batches {
        for (values, column) in columns.iter_mut().zip(batch.columns()) {
            let texts = StringColumn::of_array(column, false)?;
            values.extend((0..batch.num_rows()).map(|row| texts.value(row).to_vec()));
        }
    }
    let [mut ids, mut users, mut queries] = columns;
    let own = ids.iter().position(|id| *id == query.query_id.as_bytes());
    if let Some(own) = own {
        ids.remove(own);
        users.remove(own);
        queries.remove(own);
    }
    if ids.is_empty() {
        return Ok(Summary::default());
    }
    let status = if kill.test {
        "unknown_status"
    } else {
        "waiting"
    };
    let mut statuses = vec![status; ids.len()];
    for (status, id) in statuses.iter_mut().zip(&ids).filter(|_| !kill.test) {
        if !session.database.processes.cancel(id) {
            *status = "finished";
        }
    }
    while kill.sync
        && ids
            .iter()
            .any(|id| session.database.processes.is_running(id))
    {
        query.control.check()?;
        std::thread::sleep(CHECK_INTERVAL);
    }
    if kill.sync {
        statuses.fill("finished");
    }
    let text = |name, values| (name, DataType::String, values);
    let columns = vec![
        text("kill_status", strings(statuses)),
        text("query_id", strings(ids)),
        text("user", strings(users)),
        text("query", strings(queries)),
    ];
    write_rows(session, query, columns, &kill.output, io)
}
