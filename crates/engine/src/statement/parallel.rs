//! Runs the statements between which `PARALLEL WITH` stands.
//!
//! One after the other: they may not depend on each other's order, so that a fixed one is right. All
//! are run, also behind one that fails, as those that run at the same time would be.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::Parsed;
use basalt_parser::ast::Statement;

use super::gives_rows;
use crate::session::{Io, RunningQuery, Session, Summary};

/// Runs all of `statements`.
///
/// # Errors
/// `INCORRECT_QUERY` if one of them has a result; the error of the first that fails.
pub(super) fn run(
    session: &mut Session,
    query: &RunningQuery<'_>,
    statements: &[Statement],
    io: Io<'_>,
) -> Result<Summary> {
    if let Some(shown) = statements.iter().find(|s| gives_rows(s)) {
        let text = basalt_parser::format_one_line(shown);
        return Err(Error::new(
            ErrorCode::INCORRECT_QUERY,
            format!(
                "Run it alone: PARALLEL WITH combines no statements that have a result: {text}"
            ),
        ));
    }
    let Io { out, mut input } = io;
    let mut total = Summary::default();
    let mut failed = Ok(());
    for (i, statement) in statements.iter().enumerate() {
        // Inline data is behind all statements: only the last one can have some.
        let is_last = i + 1 == statements.len();
        let parsed = Parsed {
            statement: statement.clone(),
            data: query.parsed.data.clone().filter(|_| is_last),
            ..query.parsed.clone()
        };
        let one = RunningQuery {
            parsed: &parsed,
            execution: query.execution.clone(),
            query_id: query.query_id.clone(),
            ..*query
        };
        let io = Io {
            out: &mut *out,
            input: if is_last { input.take() } else { None },
        };
        match super::run(session, one, io) {
            Ok(summary) => total.written_rows += summary.written_rows,
            Err(e) => failed = failed.and(Err(e)),
        }
    }
    failed.map(|()| total)
}
