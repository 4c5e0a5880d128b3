//! Runs statements: the whole road of a query, from its text to its output.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use basalt_adapt::SimdLevel;
use basalt_analyzer::Analyzer;
use basalt_analyzer::constants::with_runner;
use basalt_error::{Error, ErrorCode, Position, Result};
use basalt_exec::QueryControl;
use basalt_exec::compile::set_code_limit;
use basalt_functions::{Context, Interrupt};
use basalt_parser::Parsed;
use basalt_parser::ast::{self, ExplainKind, Statement};
use basalt_types::Tz;
use parking_lot::Mutex;

use crate::catalog::Table;
use crate::constants::ConstantThreads;
use crate::database::Database;
use crate::environment::QueryEnvironment;
use crate::execution::{Execution, panic_error};
use crate::memory::{block_cache_bytes, machine_bytes};
use crate::observation::Observation;
use crate::settings::{Settings, force_arms, kind_of_values};
use crate::statement;
use crate::system::processes::Process;

/// Where a statement reads and writes.
pub struct Io<'a> {
    /// Gets the formatted result.
    pub out: &'a mut dyn Write,
    /// Data of an `INSERT … FORMAT` without inline data.
    pub input: Option<Box<dyn BufRead + Send>>,
}

/// What a statement did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    /// Time from the text to the last byte.
    pub elapsed: Duration,
    /// Rows of the result.
    pub result_rows: u64,
    /// Rows that scans read.
    pub rows_read: u64,
    /// Bytes that scans read.
    pub bytes_read: u64,
    /// Rows that an INSERT wrote.
    pub written_rows: u64,
    /// The most memory that operators reserved at once: tables of groups and joins, rows to sort.
    pub peak_memory_bytes: u64,
}

/// The query that a session is running, for those who watch or cancel it.
#[derive(Clone, Debug, Default)]
pub struct Running(Arc<Mutex<Option<Arc<QueryControl>>>>);

impl Running {
    /// Counters of the running query.
    pub fn control(&self) -> Option<Arc<QueryControl>> {
        self.0.lock().as_ref().map(Arc::clone)
    }

    /// Cancels the running query, if there is one.
    pub fn cancel(&self) {
        if let Some(control) = self.control() {
            control.cancel();
        }
    }
}

/// A user's connection: settings, current database, temporary tables.
#[derive(Debug)]
pub struct Session {
    pub(crate) database: Arc<Database>,
    /// The session's settings.
    pub settings: Settings,
    /// Database of names without one.
    pub current_database: String,
    /// Query parameters (`{name:Type}`), as text.
    pub parameters: BTreeMap<String, String>,
    /// Format of results whose query names none.
    pub default_format: String,
    pub(crate) temporary: BTreeMap<String, Arc<Table>>,
    /// Whether it runs the script of a folder: what was defined once is defined again, though it may
    /// fail by now when it is asked.
    pub(crate) loads_definitions: bool,
    running: Running,
}

impl Session {
    /// A session with default settings.
    pub fn new(database: &Arc<Database>) -> Self {
        Self {
            database: Arc::clone(database),
            settings: Settings::default(),
            current_database: "default".to_owned(),
            parameters: BTreeMap::new(),
            default_format: "TabSeparated".to_owned(),
            temporary: BTreeMap::new(),
            loads_definitions: false,
            running: Running::default(),
        }
    }

    /// A handle to the query that the session is running.
    pub fn running(&self) -> Running {
        self.running.clone()
    }

    /// Makes a database the current one.
    ///
    /// # Errors
    /// `UNKNOWN_DATABASE`.
    pub fn use_database(&mut self, name: &str) -> Result<()> {
        if !self.database.catalog.has_database(name) {
            return Err(self.database.catalog.unknown_database(name));
        }
        name.clone_into(&mut self.current_database);
        Ok(())
    }

    /// The engine of the session.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Runs one statement of `text` and writes its result.
    ///
    /// # Errors
    /// What is wrong with the statement or its data. The session can go on.
    pub fn run(&mut self, text: &[u8], parsed: &Parsed, io: Io<'_>) -> Result<Summary> {
        let settings = self.settings_of(text, parsed)?;
        statement::limits::check_length(text, parsed, &settings)?;
        let parsed = &*statement::identifiers::resolved(parsed, &self.parameters)?;
        SimdLevel::force(SimdLevel::parse_setting(settings.get("simd_level")).unwrap_or(None));
        force_arms(settings.get("force_choice"))?;
        // The caches are everybody's: what one query sets for itself does not change them.
        let own = self.settings.changed();
        if own.contains_key("compiled_expression_cache_size") {
            let bytes = self.settings.number("compiled_expression_cache_size");
            set_code_limit(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        if own.contains_key("uncompressed_cache_size") {
            let bytes = block_cache_bytes(&self.settings);
            self.database.blocks.set_capacity(bytes);
        }
        statement::limits::check_tree(parsed, &settings)?;
        let _busy = basalt_profile::Busy::begin();
        let control = Arc::new(statement::limits::control(&settings));
        let account = control.account().clone();
        let _counted = account.enter();
        *self.running.0.lock() = Some(Arc::clone(&control));
        let query_id = new_query_id();
        let database = Arc::clone(&self.database);
        let _listed = database.processes.start(Process {
            query_id: query_id.clone(),
            text: statement_text(text, parsed),
            kind: statement::kind(&parsed.statement),
            database: self.current_database.clone(),
            control: Arc::clone(&control),
        });
        let observation = Arc::new(Observation::new(is_analyzed(&parsed.statement)));
        let work = AssertUnwindSafe(|| {
            let execution = Execution::new(&self.database, &settings, &control, &observation)?;
            let query = RunningQuery {
                text,
                parsed,
                settings: &settings,
                execution,
                control: &control,
                query_id: query_id.clone(),
            };
            let constants = Arc::new(ConstantThreads(Arc::clone(&control)));
            with_runner(constants, || statement::run(self, query, io))
        });
        let result = catch_unwind(work).unwrap_or_else(|p| Err(panic_error(p.as_ref())));
        *self.running.0.lock() = None;
        let decisions = observation.take_decisions();
        let text = text.get(parsed.span.clone()).unwrap_or(text);
        self.database.choices.keep(&query_id, text, decisions);
        let mut summary = result?;
        summary.elapsed = control.elapsed();
        summary.rows_read = control.rows_read();
        summary.bytes_read = control.bytes_read();
        summary.peak_memory_bytes = control.peak_memory_bytes();
        Ok(summary)
    }

    /// The session's settings with those of the statement's SETTINGS.
    fn settings_of(&self, text: &[u8], parsed: &Parsed) -> Result<Settings> {
        let mut settings = self.settings.clone();
        for setting in statement::settings_of(&parsed.statement) {
            let start = (parsed.span.start, parsed.position);
            let at = setting.span.start as usize;
            let position = basalt_parser::position_behind(text, start, at);
            statement::set::apply(&mut settings, setting).map_err(|e| e.at(position))?;
        }
        let is_set = matches!(parsed.statement, Statement::Set(_));
        let forbidden = match settings.number("readonly") {
            0 => false,
            2 => changes_something(&parsed.statement) && !is_set,
            _ => changes_something(&parsed.statement),
        };
        if forbidden {
            return Err(Error::new(
                ErrorCode::READONLY,
                "Cannot execute query in readonly mode: it would change something",
            ));
        }
        Ok(settings)
    }

    /// What the analyzer asks about this session, for one query.
    pub(crate) fn environment<'a>(&'a self, query: &'a RunningQuery<'_>) -> QueryEnvironment<'a> {
        QueryEnvironment {
            database: &self.database,
            settings: query.settings,
            context: self.context(query.settings, &query.query_id, {
                let control = Arc::clone(query.control);
                Interrupt::new(move || control.check())
            }),
            parameters: &self.parameters,
            temporary: &self.temporary,
            execution: query.execution.clone(),
        }
    }

    /// Loads rows as a temporary Memory table: standard input of `basalt local`.
    ///
    /// # Errors
    /// What the format finds wrong with the bytes.
    pub fn load_table(
        &mut self,
        name: &str,
        format: &str,
        structure: Option<&str>,
        source: Box<dyn BufRead + Send>,
    ) -> Result<()> {
        let settings = self.settings.formats()?;
        let context = self.context(&self.settings, "", Interrupt::default());
        let mut table =
            crate::table_function::loaded(format, structure, (&settings, &context), source)?;
        table.create_sql = statement::create::temporary_sql(self, name, &table)?;
        self.temporary.insert(name.to_owned(), Arc::new(table));
        Ok(())
    }

    /// The database that a table's name belongs to.
    pub(crate) fn database_of(&self, name: &ast::ObjectName) -> String {
        name.database
            .clone()
            .unwrap_or_else(|| self.current_database.clone())
    }

    /// The table of that name, temporary ones first.
    pub(crate) fn find_table(&self, name: &ast::ObjectName) -> Result<Arc<Table>> {
        if name.database.is_none()
            && let Some(table) = self.temporary.get(&name.name)
        {
            return Ok(Arc::clone(table));
        }
        self.database
            .catalog
            .table(&self.database_of(name), &name.name)
    }

    /// Whether a name is that of a table or view, those of the system included.
    pub(crate) fn has_table(&self, name: &ast::ObjectName) -> bool {
        let database = self.database_of(name);
        self.find_table(name).is_ok() || crate::system::has_table(&database, &name.name)
    }

    fn context(&self, settings: &Settings, query_id: &str, interrupt: Interrupt) -> Context {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let zone = settings.get("session_timezone");
        let cached_bytes = self.database.blocks.capacity_bytes();
        let cached_bytes = usize::try_from(cached_bytes).unwrap_or(usize::MAX);
        Context {
            time_zone: zone.parse().unwrap_or(Tz::UTC),
            now_ns: i64::try_from(now.as_nanos()).unwrap_or(i64::MAX),
            settings: settings.values(),
            setting_kind: kind_of_values,
            database: self.current_database.clone(),
            user: "default".to_owned(),
            query_id: query_id.to_owned(),
            machine_memory_bytes: machine_bytes().saturating_sub(cached_bytes),
            interrupt,
        }
    }
}

/// One statement on its way.
pub(crate) struct RunningQuery<'a> {
    /// The text that the statement's positions count in.
    pub(crate) text: &'a [u8],
    pub(crate) parsed: &'a Parsed,
    pub(crate) settings: &'a Settings,
    pub(crate) execution: Execution,
    pub(crate) control: &'a Arc<QueryControl>,
    pub(crate) query_id: String,
}

impl RunningQuery<'_> {
    /// The error with the place in the text that it is about, unless it has one or is about none.
    pub(crate) fn placed(&self, error: Error, span: ast::Span) -> Error {
        let is_somewhere = span.end > 0 && span.end as usize <= self.text.len();
        if error.position().is_some() || error.is_of_run() || !is_somewhere {
            return error;
        }
        error.at(self.position(span.start as usize))
    }

    /// Line and column of byte `offset` of the text, counted on from where the statement begins.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let start = (self.parsed.span.start, self.parsed.position);
        basalt_parser::position_behind(self.text, start, offset)
    }

    /// An analyzer of the statement.
    pub(crate) fn analyzer<'e>(&'e self, environment: &'e QueryEnvironment<'e>) -> Analyzer<'e> {
        let Parsed { span, position, .. } = self.parsed;
        Analyzer::new(environment, self.text).beginning(span.start, *position)
    }

    /// The same query for what was parsed from another text, like the statement that made a table: its
    /// places are none in the text of this one.
    pub(crate) fn of_other_text(&self) -> RunningQuery<'_> {
        RunningQuery {
            text: b"",
            execution: self.execution.clone(),
            query_id: self.query_id.clone(),
            ..*self
        }
    }
}

/// A random UUID, as ClickHouse names queries that have no name.
fn new_query_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The text of one statement, without inline data.
fn statement_text(text: &[u8], parsed: &Parsed) -> String {
    String::from_utf8_lossy(text.get(parsed.span.clone()).unwrap_or_default()).into_owned()
}

/// Whether every operator of the statement's query is to be measured.
fn is_analyzed(statement: &Statement) -> bool {
    matches!(statement, Statement::Explain(e) if e.kind == ExplainKind::Analyze)
}

fn changes_something(statement: &Statement) -> bool {
    !matches!(
        statement,
        Statement::Query(_)
            | Statement::Show(_)
            | Statement::Describe(_)
            | Statement::Exists(_)
            | Statement::Explain(_)
            | Statement::Use(_)
    )
}
