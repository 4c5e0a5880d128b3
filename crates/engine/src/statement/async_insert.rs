//! Runs an INSERT with rows in it so that they may be written together with those of others.

use std::sync::Arc;
use std::time::Duration;

use basalt_analyzer::Planned;
use basalt_error::{Error, Result};
use basalt_parser::ast::{self, InsertSource};

use super::insert::{for_each_row, max_partitions};
use super::query;
use crate::catalog::Table;
use crate::insert_queue::{Pace, Waiting};
use crate::on_disk::TableWriter;
use crate::session::{RunningQuery, Session};

/// How long the rows of an INSERT may wait for others; none if they do not.
pub(super) fn pace(query: &RunningQuery<'_>, insert: &ast::Insert, table: &Table) -> Option<Pace> {
    let settings = query.settings;
    let has_rows = matches!(insert.source, InsertSource::Format { .. });
    let may_wait = has_rows && table.has_own_data() && !table.is_temporary;
    let longest = match settings.changed().get("async_insert_busy_timeout_ms") {
        Some(_) => settings.number("async_insert_busy_timeout_ms"),
        None => settings.number("async_insert_busy_timeout_max_ms"),
    };
    (may_wait && settings.flag("async_insert")).then(|| Pace {
        longest: Duration::from_millis(longest),
        is_adaptive: settings.flag("async_insert_use_adaptive_busy_timeout"),
        enough_bytes: usize::try_from(settings.number("async_insert_max_data_size"))
            .unwrap_or(usize::MAX),
    })
}

/// Runs the INSERT; gives the number of its rows. Many rows are written at once, by themselves.
pub(super) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    (insert, table): (&ast::Insert, &Arc<Table>),
    (mut planned, given): (Planned, &[String]),
    pace: Pace,
) -> Result<u64> {
    let on_disk = table.on_disk();
    let on_disk = on_disk.ok_or_else(|| Error::bug("an insert waits for a table without files"))?;
    planned.plan = query::limited(planned.plan, query)?;
    let check = || query.control.check_end();
    let (mut batches, mut num_bytes, mut writer) = (Vec::new(), 0, None);
    let rows = (planned, given);
    let num_rows = for_each_row(session, query, (table, None), rows, &mut |batch| {
        num_bytes += batch.get_array_memory_size();
        batches.push(batch);
        if num_bytes < pace.enough_bytes {
            return Ok(());
        }
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(TableWriter::new(on_disk, max_partitions(query), &check)?),
        };
        batches.drain(..).try_for_each(|batch| writer.push(batch))
    })?;
    if let Some(writer) = writer {
        writer.finish()?;
        return Ok(num_rows);
    }
    let waiting = Waiting {
        table: Arc::clone(table),
        batches,
        num_bytes,
        max_partitions: max_partitions(query),
        query_id: query.query_id.clone(),
        text: basalt_parser::format_one_line(&ast::Statement::Insert(Box::new(insert.clone()))),
        format: match &insert.source {
            InsertSource::Format { name, .. } => name.clone(),
            InsertSource::Query(_) => String::new(),
        },
    };
    let waits = query.settings.flag("wait_for_async_insert");
    let how = (pace, waits);
    let ticket = on_disk.queue().push(waiting, how, query.control)?;
    if waits {
        let timeout = query.settings.seconds("wait_for_async_insert_timeout");
        ticket.wait(timeout, query.control)?;
    }
    Ok(num_rows)
}
