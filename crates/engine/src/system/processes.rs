//! Lists the statements that are running.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use basalt_analyzer::TableEntry;
use basalt_error::Result;
use basalt_exec::QueryControl;
use parking_lot::Mutex;

use super::rows::Rows;
use crate::environment::QueryEnvironment;

/// A statement on its way.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) query_id: String,
    pub(crate) text: String,
    /// `Select`, `Insert` and so on.
    pub(crate) kind: &'static str,
    pub(crate) database: String,
    pub(crate) control: Arc<QueryControl>,
}

/// The statements that run now, in the order of their starts.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    last: AtomicU64,
    running: Mutex<BTreeMap<u64, Arc<Process>>>,
}

impl Processes {
    /// Lists a statement until the guard is dropped.
    pub(crate) fn start(&self, process: Process) -> Listed<'_> {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        self.running.lock().insert(number, Arc::new(process));
        Listed {
            processes: self,
            number,
        }
    }

    /// Cancels the statement with that id; `false` if there is none.
    pub(crate) fn cancel(&self, query_id: &[u8]) -> bool {
        let running = self.running.lock();
        let found = running.values().find(|p| p.query_id.as_bytes() == query_id);
        found.inspect(|p| p.control.cancel()).is_some()
    }

    /// Whether a statement with that id runs.
    pub(crate) fn is_running(&self, query_id: &[u8]) -> bool {
        let running = self.running.lock();
        running.values().any(|p| p.query_id.as_bytes() == query_id)
    }
}

/// Keeps a statement in the list.
pub(crate) struct Listed<'a> {
    processes: &'a Processes,
    number: u64,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.processes.running.lock().remove(&self.number);
    }
}

const STRUCTURE: &str = "is_initial_query UInt8, user String, query_id String, address IPv6, \
    port UInt16, initial_user String, initial_query_id String, initial_address IPv6, \
    initial_port UInt16, interface Enum8('Unknown' = 0, 'TCP' = 1, 'HTTP' = 2, 'gRPC' = 3, \
    'MySQL' = 4, 'PostgreSQL' = 5, 'Local' = 6, 'TCP_Interserver' = 7, 'Prometheus' = 8, \
    'Background' = 9, 'ArrowFlight' = 10), os_user String, client_hostname String, \
    client_name String, elapsed Float64, is_cancelled UInt8, read_rows UInt64, \
    read_bytes UInt64, total_rows_approx UInt64, peak_memory_usage Int64, query String, \
    query_kind String, current_database String";

/// `system.processes`
pub(crate) fn processes(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let running = environment.database.processes.running.lock();
    let all: Vec<Arc<Process>> = running.values().map(Arc::clone).collect();
    drop(running);
    let control = |f: fn(&QueryControl) -> u64| all.iter().map(move |p| f(&p.control));
    let user = || all.iter().map(|_| environment.context.user.as_str());
    let ids = || all.iter().map(|p| &p.query_id);
    let local = all.iter().map(|_| "Local");
    let elapsed = all
        .iter()
        .map(|p| p.control.elapsed().as_secs_f64().to_string());
    let memory = control(QueryControl::peak_memory_bytes).map(|n| n.to_string());
    Rows::default()
        .flag("is_initial_query", all.iter().map(|_| true))
        .text("user", user())
        .text("query_id", ids())
        .text("initial_user", user())
        .text("initial_query_id", ids())
        .read("interface", STRUCTURE, local)?
        .read("elapsed", STRUCTURE, elapsed)?
        .flag("is_cancelled", all.iter().map(|p| p.control.is_cancelled()))
        .number("read_rows", control(QueryControl::rows_read))
        .number("read_bytes", control(QueryControl::bytes_read))
        .number("total_rows_approx", control(QueryControl::rows_to_read))
        .read("peak_memory_usage", STRUCTURE, memory)?
        .text("query", all.iter().map(|p| &p.text))
        .text("query_kind", all.iter().map(|p| p.kind))
        .text("current_database", all.iter().map(|p| &p.database))
        .filled(STRUCTURE)?
        .table()
}
