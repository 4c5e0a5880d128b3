//! Keeps the choices of the last queries.

use std::collections::VecDeque;
use std::sync::Arc;

use basalt_exec::report::Decision;
use parking_lot::Mutex;

/// Queries whose choices are kept.
const MAX_QUERIES: usize = 100;

/// Bytes of a query's text that are kept.
const MAX_TEXT_BYTES: usize = 1000;

/// The choices of one query.
#[derive(Debug)]
pub(crate) struct QueryChoices {
    pub(crate) query_id: String,
    /// The query's text, or its beginning.
    pub(crate) text: String,
    /// Decisions, each with its operator's name.
    pub(crate) decisions: Vec<(String, Decision)>,
}

/// The choices of the last queries that had any, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct LastChoices(Mutex<VecDeque<Arc<QueryChoices>>>);

impl LastChoices {
    /// Keeps the choices of a query, if there are any.
    pub(crate) fn keep(&self, query_id: &str, text: &[u8], decisions: Vec<(String, Decision)>) {
        if decisions.is_empty() {
            return;
        }
        let text = &text[..text.len().min(MAX_TEXT_BYTES)];
        let choices = Arc::new(QueryChoices {
            query_id: query_id.to_owned(),
            text: String::from_utf8_lossy(text).trim().to_owned(),
            decisions,
        });
        let mut last = self.0.lock();
        last.push_back(choices);
        if last.len() > MAX_QUERIES {
            last.pop_front();
        }
    }

    /// All that are kept, the oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<QueryChoices>> {
        self.0.lock().iter().map(Arc::clone).collect()
    }
}
