//! Runs sqllogictest files: parses them, runs each in a session of its own, compares.

mod product;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use basalt_engine::{Database, Io, Session};
use sqllogictest::{DefaultColumnType, QueryExpect, Record, SortMode, StatementExpect};

pub(crate) use product::{group_by_product, sort_product};

/// Settings under which tests run: a file of `tests/configs`, or what a test makes.
pub(crate) struct Configuration {
    pub(crate) name: String,
    /// Of what texts a query must contain one to be worth running, in capitals; empty for all.
    only: Vec<String>,
    /// Texts that the path of a file must not contain.
    except: Vec<String>,
    /// What the path of a file must contain, if anything.
    folder: Option<String>,
    pub(crate) settings: Vec<(String, String)>,
}

fn root() -> PathBuf {
    // Cargo says at run time where the package is; a cached binary may come from another clone.
    let package = std::env::var("CARGO_MANIFEST_DIR");
    let package = package.unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    Path::new(&package).join("../../tests")
}

/// The configurations, by name.
pub(crate) fn configurations() -> Vec<Configuration> {
    let mut configurations = Vec::new();
    let wanted = std::env::var("CONFIG").unwrap_or_default();
    for entry in std::fs::read_dir(root().join("configs")).expect("tests/configs") {
        let path = entry.expect("entry").path();
        let is_wanted = path.to_string_lossy().contains(&wanted);
        if is_wanted && path.extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(&path).expect("configuration");
            let (head, settings) = text.split_once("[settings]").expect("[settings]");
            let of_head = |name: &str| {
                let value = head.lines().find_map(|l| l.strip_prefix(name));
                value.map(|v| v.trim_matches('"').to_owned())
            };
            let setting = |line: &str| {
                let (name, value) = line.split_once('=')?;
                Some((
                    name.trim().to_owned(),
                    value.trim().trim_matches('"').to_owned(),
                ))
            };
            configurations.push(Configuration {
                name: path
                    .file_stem()
                    .expect("name")
                    .to_string_lossy()
                    .into_owned(),
                only: texts(of_head("only = ").map(|texts| texts.to_uppercase())),
                except: texts(of_head("except = ")),
                folder: None,
                settings: settings.lines().filter_map(setting).collect(),
            });
        }
    }
    configurations.sort_by(|a, b| a.name.cmp(&b.name));
    configurations
}

/// The texts of a list `one|another`.
fn texts(list: Option<String>) -> Vec<String> {
    let list = list.unwrap_or_default();
    let texts = list.split('|').filter(|text| !text.is_empty());
    texts.map(str::to_owned).collect()
}

/// The records that ran, and why some did not pass.
#[derive(Default)]
pub(crate) struct Outcome {
    num_passed: usize,
    /// Place of the record (`area/file.slt:line`) and what was different.
    failures: Vec<(String, String)>,
    /// What each file took, by name.
    times: BTreeMap<String, Duration>,
}

/// How many files [`Outcome::dearest`] names.
const NUM_DEAREST: usize = 20;

const PENDING: &str = "sql/PENDING.txt";

impl Outcome {
    /// The records that are known not to pass.
    pub(crate) fn pending() -> BTreeSet<String> {
        let text = std::fs::read_to_string(root().join(PENDING)).unwrap_or_default();
        text.lines()
            .filter(|l| !l.starts_with('#'))
            .map(str::to_owned)
            .collect()
    }

    /// Writes the list anew.
    pub(crate) fn write_pending(&self) {
        let mut text = String::from(
            "# Records of tests/sql that Basalt does not answer as ClickHouse does yet, one a line.\n\
             # The list may only shrink; UPDATE_PENDING=1 cargo test writes it.\n",
        );
        for (place, _) in &self.failures {
            text.push_str(place);
            text.push('\n');
        }
        std::fs::write(root().join(PENDING), text).expect("PENDING.txt");
    }

    /// Fails for records that do not pass and are not pending, and for pending ones that pass.
    pub(crate) fn check(&self, pending: &BTreeSet<String>) {
        let new = self.news("defaults", pending);
        assert!(new.is_empty(), "{new}");
        let failing: BTreeSet<&String> = self.failures.iter().map(|(place, _)| place).collect();
        let selected = std::env::var("SLT").unwrap_or_default();
        let passing: Vec<&String> = pending
            .iter()
            .filter(|p| p.starts_with(&selected) && !failing.contains(p))
            .collect();
        assert!(
            passing.is_empty(),
            "remove from PENDING.txt, they pass: {passing:?}"
        );
    }

    /// What failed and is not pending under the configuration `name`, as a text; empty if nothing.
    #[expect(
        clippy::print_stdout,
        reason = "what a run passed is worth seeing, and cargo shows it on demand"
    )]
    pub(crate) fn news(&self, name: &str, pending: &BTreeSet<String>) -> String {
        let time: Duration = self.times.values().sum();
        println!(
            "{name}: {} records passed, {} did not, {:.1} s",
            self.num_passed,
            self.failures.len(),
            time.as_secs_f64(),
        );
        let new = self
            .failures
            .iter()
            .filter(|(place, _)| !pending.contains(place));
        let report = new.fold(String::new(), |report, (place, why)| {
            report + &format!("\n{place}\n{why}\n")
        });
        if report.is_empty() {
            return report;
        }
        format!("under {name}:\n{report}")
    }

    /// The files that took longest in all `outcomes` together, and in which of them most of that
    /// (`names`, in their order); a line each.
    pub(crate) fn dearest(outcomes: &[Self], names: &[&str]) -> String {
        let mut files: BTreeMap<&str, (Duration, (Duration, &str))> = BTreeMap::new();
        for (outcome, name) in outcomes.iter().zip(names) {
            for (file, time) in &outcome.times {
                let (all, most) = files.entry(file).or_default();
                *all += *time;
                *most = (*most).max((*time, name));
            }
        }
        let mut files: Vec<_> = files.into_iter().collect();
        files.sort_by_key(|(_, (all, _))| std::cmp::Reverse(*all));
        let line = |(file, (all, (time, name))): &(&str, (Duration, (Duration, &str)))| {
            let (all, time) = (all.as_secs_f64(), time.as_secs_f64());
            format!("{all:6.1} s {file} ({time:.1} s of it in {name})\n")
        };
        files.iter().take(NUM_DEAREST).map(line).collect()
    }
}

impl Configuration {
    /// What no file says is different.
    pub(crate) fn defaults() -> Self {
        Self {
            name: "defaults".to_owned(),
            only: Vec::new(),
            except: Vec::new(),
            folder: None,
            settings: Vec::new(),
        }
    }

    fn wants(&self, path: &Path) -> bool {
        let name = path.to_string_lossy();
        let is_left_out = self.except.iter().any(|e| name.contains(e));
        let is_elsewhere = self.folder.as_ref().is_some_and(|f| !name.contains(f));
        !is_left_out
            && !is_elsewhere
            && self.wants_text(&std::fs::read_to_string(path).expect("SQL test"))
    }

    /// Whether it sets something for all sessions of the process.
    pub(crate) fn is_of_process(&self) -> bool {
        let mut names = self.settings.iter().map(|(name, _)| name.as_str());
        names.any(|name| OF_PROCESS.contains(&name))
    }

    fn wants_text(&self, text: &str) -> bool {
        let text = text.to_uppercase();
        self.only.is_empty() || self.only.iter().any(|only| text.contains(only))
    }

    /// Whether a record can be left out: one that this configuration is not about, and that changes
    /// nothing that later records read.
    fn skips(&self, sql: &str) -> bool {
        let begin = sql.trim_start_matches(['(', ' ', '\n']).to_uppercase();
        let reads =
            begin.starts_with("SELECT") || (begin.starts_with("WITH") && !begin.contains("INSERT"));
        reads && !self.wants_text(sql)
    }
}

/// Settings that hold for all sessions of the process.
const OF_PROCESS: &[&str] = &["simd_level", "force_choice"];

/// Held by all runs at once, or by one that sets what holds for all.
static PROCESS: RwLock<()> = RwLock::new(());

/// Runs the files that each configuration wants, with its settings at the start of each; the
/// outcomes in the order of the configurations.
pub(crate) fn run_all(configurations: &[Configuration]) -> Vec<Outcome> {
    let _with_others = PROCESS.read();
    run_files(configurations)
}

/// The same for one configuration, while nothing else runs.
pub(crate) fn run_alone(configuration: &Configuration) -> Outcome {
    let _alone = PROCESS.write();
    run_files(std::slice::from_ref(configuration)).remove(0)
}

fn run_files(configurations: &[Configuration]) -> Vec<Outcome> {
    let pattern = root().join("sql/**/*.slt");
    let wanted = std::env::var("SLT").unwrap_or_default();
    let files: Vec<PathBuf> = glob::glob(&pattern.to_string_lossy())
        .expect("glob")
        .map(|p| p.expect("path"))
        .filter(|p| p.to_string_lossy().contains(&wanted))
        .collect();
    assert!(
        !files.is_empty() || !wanted.is_empty(),
        "no SQL tests found"
    );
    // One queue of all: no thread waits for the last file of a configuration.
    let runs = configurations.iter().enumerate().flat_map(|(i, config)| {
        let of_config = files.iter().filter(|path| config.wants(path));
        of_config.map(move |path| (i, config, path))
    });
    let queue = Mutex::new(runs);
    let outcomes = Mutex::new(Vec::from_iter(
        configurations.iter().map(|_| Outcome::default()),
    ));
    let work = || {
        while let Some((i, config, file)) = { queue.lock().expect("queue").next() } {
            let begin = Instant::now();
            let of_file = run_file(file, config);
            let mut all = outcomes.lock().expect("outcomes");
            all[i].num_passed += of_file.num_passed;
            all[i].failures.extend(of_file.failures);
            let name = file.strip_prefix(root().join("sql")).unwrap_or(file);
            let name = name.to_string_lossy().into_owned();
            all[i].times.insert(name, begin.elapsed());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let thread = std::thread::Builder::new().stack_size(256 << 20);
            thread.spawn_scoped(scope, work).expect("thread");
        }
    });
    let mut outcomes = outcomes.into_inner().expect("outcomes");
    for outcome in &mut outcomes {
        outcome.failures.sort();
    }
    outcomes
}

fn run_file(path: &Path, config: &Configuration) -> Outcome {
    let mut outcome = Outcome::default();
    let database = Database::in_memory().expect("database");
    let mut session = Session::new(&database);
    for (name, value) in &config.settings {
        session
            .settings
            .set(name, value)
            .expect("setting of the configuration");
    }
    let name = path
        .strip_prefix(root().join("sql"))
        .expect("below tests/sql")
        .to_string_lossy();
    let text = std::fs::read_to_string(path).expect("SQL test");
    // What it says of its queries is only there when all of them have run.
    let is_whole = text.contains("system.adaptive_choices");
    let skips = |sql: &str| !is_whole && config.skips(sql);
    let records = sqllogictest::parse::<DefaultColumnType>(&text).expect("sqllogictest file");
    for record in records {
        let (line, result) = match &record {
            Record::Statement {
                loc, sql, expected, ..
            } if !skips(sql) => (loc.line(), check_statement(&mut session, sql, expected)),
            Record::Query {
                loc, sql, expected, ..
            } if !skips(sql) => (loc.line(), check_query(&mut session, sql, expected)),
            _ => continue,
        };
        match result {
            Ok(()) => outcome.num_passed += 1,
            Err(why) => outcome.failures.push((format!("{name}:{line}"), why)),
        }
    }
    outcome
}

/// What a statement prints, or its error as users see it.
fn output(session: &mut Session, sql: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let parsed = basalt_parser::parse_statement(sql).map_err(|e| e.to_string())?;
    let io = Io {
        out: &mut out,
        input: None,
    };
    session
        .run(sql.as_bytes(), &parsed, io)
        .map_err(|e| e.to_string())?;
    Ok(out)
}

fn check_statement(
    session: &mut Session,
    sql: &str,
    expected: &StatementExpect,
) -> Result<(), String> {
    match (output(session, sql), expected) {
        (Ok(_), StatementExpect::Ok | StatementExpect::Count(_)) => Ok(()),
        (Err(e), StatementExpect::Error(wanted)) if wanted.is_match(&e, None) => Ok(()),
        (Ok(out), StatementExpect::Error(wanted)) => Err(format!(
            "{sql}\n  expected error {wanted}, got: {}",
            String::from_utf8_lossy(&out).escape_debug()
        )),
        (Err(e), _) => Err(format!("{sql}\n  {e}\n  expected {expected:?}")),
    }
}

fn check_query(
    session: &mut Session,
    sql: &str,
    expected: &QueryExpect<DefaultColumnType>,
) -> Result<(), String> {
    let QueryExpect::Results {
        results, sort_mode, ..
    } = expected
    else {
        return Err(format!(
            "{sql}\n  a query that expects an error: write statement error"
        ));
    };
    let out = output(session, sql).map_err(|e| format!("{sql}\n  {e}\n  expected {results:?}"))?;
    let mut lines = lines(&out);
    let mut wanted = results.clone();
    if *sort_mode == Some(SortMode::RowSort) {
        lines.sort();
        wanted.sort();
    }
    if lines == wanted {
        return Ok(());
    }
    Err(format!(
        "{sql}\n  expected {wanted:?}\n  got      {lines:?}"
    ))
}

/// Lines of an output as the files have them: an empty one is `(empty)`.
fn lines(out: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(out);
    let Some(text) = text
        .strip_suffix('\n')
        .or(Some(&text).filter(|t| !t.is_empty()).map(|t| &**t))
    else {
        return Vec::new();
    };
    let line = |l: &str| {
        if l.is_empty() {
            "(empty)".to_owned()
        } else {
            l.to_owned()
        }
    };
    text.split('\n').map(line).collect()
}
