//! Runs `basalt local`: statements of the command line, of a script, or of the shell.

use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use basalt_engine::settings::declared;
use basalt_engine::{Database, Io, Session, gives_rows};
use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;

use crate::input_table;
use crate::progress::Progress;
use crate::say;
use crate::shell::{self, Canceller, Names, ShellSession};
use crate::termination::{leave, listen};

/// Exit status of a process that Ctrl-C ended, as shells have it: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// The same of a process whose output nobody reads any more.
const NO_READER: i32 = 141;

/// Runs what the options ask for; returns the first error that `--ignore-error` has printed.
pub(crate) fn run(options: &ArgMatches) -> Result<Option<Error>> {
    listen();
    let database = match options.get_one::<String>("path") {
        Some(path) => Database::open(std::path::Path::new(path))?,
        None => Database::in_memory()?,
    };
    let mut local = Local::new(&database, options)?;
    match statements(options)? {
        Some(text) => {
            local.load_input(options, &text)?;
            local.run_script(text.as_slice(), options.get_flag("ignore-error"))
        }
        None => {
            local.is_interactive = true;
            local.session.default_format = format_option(options, true);
            eprintln!(
                "Basalt {}. A statement ends with ; or with its line. Ctrl-D leaves.",
                env!("CARGO_PKG_VERSION")
            );
            shell::run(&mut local).map(|()| None)
        }
    }
}

/// The text to run; `None` asks for the shell.
fn statements(options: &ArgMatches) -> Result<Option<Vec<u8>>> {
    if let Some(queries) = options.get_many::<String>("query") {
        if options.contains_id("queries-file") {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Give one of the two: --query and --queries-file cannot be specified at the same time",
            ));
        }
        let joined: Vec<&str> = queries.map(String::as_str).collect();
        return Ok(Some(joined.join(";\n").into_bytes()));
    }
    if let Some(paths) = options.get_many::<String>("queries-file") {
        let mut text = Vec::new();
        for path in paths {
            let read = std::fs::read(path);
            text.extend(read.map_err(|e| Error::from(e).within(format!("Cannot read {path}")))?);
            text.extend_from_slice(b"\n;\n");
        }
        return Ok(Some(text));
    }
    if !options.get_flag("multiquery") && std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let mut text = Vec::new();
    std::io::stdin()
        .read_to_end(&mut text)
        .map_err(Error::from)?;
    Ok(Some(text))
}

fn format_option(options: &ArgMatches, is_terminal: bool) -> String {
    let default = if is_terminal {
        "PrettyCompact"
    } else {
        "TabSeparated"
    };
    options
        .get_one::<String>("format")
        .map_or_else(|| default.to_owned(), Clone::clone)
}

/// A session with how it is to be shown.
struct Local {
    session: Session,
    prints_time: bool,
    shows_progress: bool,
    is_interactive: bool,
}

impl Local {
    fn new(database: &Arc<Database>, options: &ArgMatches) -> Result<Self> {
        let mut session = Session::new(database);
        session.default_format = format_option(options, std::io::stdout().is_terminal());
        basalt_formats::lookup(&session.default_format)?;
        let names = declared().map(|s| s.name);
        for name in names.chain(basalt_formats::FormatSettings::NAMES.iter().copied()) {
            if let Some(value) = options.get_one::<String>(name) {
                session.settings.set(name, value)?;
            }
        }
        for parameter in options.get_many::<String>("param").into_iter().flatten() {
            let (name, value) = parameter
                .split_once('=')
                .ok_or_else(|| Error::new(ErrorCode::BAD_ARGUMENTS, "Write --param NAME=VALUE"))?;
            session.parameters.insert(name.to_owned(), value.to_owned());
        }
        if let Some(name) = options.get_one::<String>("database") {
            session.use_database(name)?;
        }
        let is_terminal = std::io::stderr().is_terminal();
        Ok(Self {
            session,
            prints_time: options.get_flag("time"),
            shows_progress: options.get_flag("progress")
                || (is_terminal && std::io::stdout().is_terminal()),
            is_interactive: false,
        })
    }

    /// Loads standard input (or `--file`) as the table that the statements name.
    fn load_input(&mut self, options: &ArgMatches, text: &[u8]) -> Result<()> {
        let given = |name: &str| options.get_one::<String>(name);
        let table = given("table").map_or("table", String::as_str);
        let is_asked = given("structure").is_some()
            || given("input-format").is_some()
            || given("file").is_some()
            || input_table::is_named(text, table);
        let from_stdin = given("file").is_none_or(|f| f == "-");
        let is_script = options.get_many::<String>("query").is_none() && from_stdin;
        if !is_asked || is_script || (from_stdin && std::io::stdin().is_terminal()) {
            return Ok(());
        }
        let source: Box<dyn Read + Send> = match given("file").filter(|_| !from_stdin) {
            Some(path) => {
                let file = std::fs::File::open(path);
                Box::new(file.map_err(|e| Error::from(e).within(format!("Cannot open {path}")))?)
            }
            None => Box::new(std::io::stdin()),
        };
        let mut reader = BufReader::with_capacity(1 << 20, source);
        let mut first = Vec::new();
        let structure = given("structure").map(String::as_str);
        let by_name = || basalt_formats::from_file_extension(given("file")?);
        let format = match (given("input-format"), by_name()) {
            (Some(format), _) => format.as_str(),
            (None, Some(format)) => format.name,
            (None, None) if structure.is_some() => "TabSeparated",
            (None, None) => {
                let mut beginning = reader.by_ref().take(basalt_formats::FIRST_BYTES);
                beginning.read_to_end(&mut first)?;
                let found = basalt_formats::from_first_bytes(&first);
                found.map_or("TabSeparated", |f| f.name)
            }
        };
        let whole = std::io::Cursor::new(first).chain(reader);
        self.session
            .load_table(table, format, structure, Box::new(whole))
    }

    fn run_script(&mut self, text: &[u8], ignores_errors: bool) -> Result<Option<Error>> {
        let running = self.session.running();
        let was_pressed = AtomicBool::new(false);
        // Without a handler Ctrl-C ends the process, which is fine, too.
        let _ = ctrlc::set_handler(move || {
            if was_pressed.swap(true, Ordering::Relaxed) {
                // The query is inside one long call and does not hear of it.
                leave(INTERRUPTED);
            }
            running.cancel();
        });
        let mut first_error = None;
        let mut statements = basalt_parser::parse_statements(text);
        while let Some(parsed) = statements.next() {
            if parsed.is_err() {
                statements.skip_failed();
            }
            let result = parsed.and_then(|p| self.run_one(text, &p));
            if let Err(e) = result {
                if !ignores_errors {
                    return Err(e);
                }
                say(&e);
                first_error.get_or_insert(e);
            }
        }
        Ok(first_error)
    }

    fn run_one(&mut self, text: &[u8], parsed: &basalt_parser::Parsed) -> Result<()> {
        let started = Instant::now();
        let progress = self
            .shows_progress
            .then(|| Progress::watch(self.session.running()));
        let mut out = BufWriter::with_capacity(1 << 16, Stdout(std::io::stdout().lock()));
        let input = || -> Option<Box<dyn BufRead + Send>> {
            let takes_input = !self.is_interactive && !std::io::stdin().is_terminal();
            takes_input.then(|| Box::new(BufReader::new(std::io::stdin())) as _)
        };
        let io = Io {
            out: &mut out,
            input: input(),
        };
        let result = self.session.run(text, parsed, io);
        drop(progress);
        let flushed = out.flush();
        let summary = result?;
        flushed.map_err(Error::from)?;
        if self.prints_time {
            say(&format_args!("{:.6}", started.elapsed().as_secs_f64()));
        }
        if self.is_interactive {
            let seconds = started.elapsed().as_secs_f64();
            let has_result = gives_rows(&parsed.statement);
            println_summary(&summary, has_result, seconds);
        }
        Ok(())
    }
}

/// Standard output; when its reader is gone, the process ends without a word, as others do.
struct Stdout(std::io::StdoutLock<'static>);

impl Stdout {
    fn checked<T>(result: std::io::Result<T>) -> std::io::Result<T> {
        if let Err(e) = &result
            && e.kind() == std::io::ErrorKind::BrokenPipe
        {
            leave(NO_READER);
        }
        result
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Self::checked(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Self::checked(self.0.flush())
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the shell talks to its user on standard output"
)]
fn println_summary(summary: &basalt_engine::Summary, has_result: bool, seconds: f64) {
    let done = match (has_result, summary.result_rows, summary.written_rows) {
        (true, 1, _) => "1 row in set.".to_owned(),
        (true, n, _) => format!("{n} rows in set."),
        (false, _, 0) => "Ok.".to_owned(),
        (false, _, 1) => "Ok. 1 row written.".to_owned(),
        (false, _, n) => format!("Ok. {n} rows written."),
    };
    println!("\n{done} Elapsed: {seconds:.3} sec.");
    if summary.rows_read > 0 {
        let per_second = |n: u64| n as f64 / seconds.max(1e-9);
        println!(
            "Processed {} rows, {} ({} rows/s, {}/s).",
            indicatif::HumanCount(summary.rows_read),
            indicatif::HumanBytes(summary.bytes_read),
            indicatif::HumanCount(per_second(summary.rows_read) as u64),
            indicatif::HumanBytes(per_second(summary.bytes_read) as u64),
        );
    }
    println!();
}

impl ShellSession for Local {
    fn execute(&mut self, text: &str) {
        for parsed in basalt_parser::parse_statements(text) {
            let result = parsed.and_then(|p| self.run_one(text.as_bytes(), &p));
            if let Err(e) = result {
                say(&format_args!("{e}\n"));
                return;
            }
        }
    }

    fn completions(&self) -> Names {
        let names = self.session.names();
        Names {
            sources: names.sources,
            others: names.others,
        }
    }

    fn canceller(&self) -> Canceller {
        let running = self.session.running();
        Arc::new(move || running.cancel())
    }
}
