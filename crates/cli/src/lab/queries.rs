//! Runs whole queries for experiments whose contestants are values of a setting.

use std::io::Write;

use basalt_adapt::SimdLevel;
use basalt_engine::settings::{Kind, find};
use basalt_engine::{Database, Io, Session, Summary};
use basalt_error::{Error, Result};
use clap::ArgMatches;

use crate::lab::Setup;

/// A session with an empty database.
pub(super) fn session(setup: &Setup) -> Result<Session> {
    let mut session = Session::new(&Database::in_memory()?);
    let threads = setup.num_threads.to_string();
    session.settings.set("max_threads", &threads)?;
    let level = setup.level.map_or("auto", SimdLevel::name);
    session.settings.set("simd_level", level)?;
    Ok(session)
}

/// Every value of a setting that takes one of some words.
pub(super) fn words(setting: &str) -> &'static [&'static str] {
    match find(setting).map(|setting| setting.kind) {
        Some(Kind::Word(_, words)) => words,
        _ => &[],
    }
}

/// The strategies that compete: the baseline first, what decides by itself and the peer last.
pub(super) fn competing(
    all: &[&'static str],
    options: &ArgMatches,
    baseline: &str,
) -> Result<Vec<&'static str>> {
    let wanted: Option<Vec<&String>> = options.get_many("strategies").map(Iterator::collect);
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|w| w.iter().any(|n| *n == name));
    let mut names: Vec<&str> = all.to_vec();
    names.retain(|name| is_wanted(name));
    names.sort_by_key(|name| match *name {
        name if name == baseline => 0,
        "auto" => 2,
        "datafusion" => 3,
        _ => 1,
    });
    if names.is_empty() {
        return Err(Error::bug("a contest without strategies"));
    }
    Ok(names)
}

/// Runs a query and gives its output.
pub(super) fn query(session: &mut Session, text: &str) -> Result<(Summary, String)> {
    let mut out = Vec::new();
    let summary = query_into(session, text, &mut out)?;
    Ok((summary, String::from_utf8_lossy(&out).into_owned()))
}

/// Runs a query that writes its output to `out`.
pub(super) fn query_into(
    session: &mut Session,
    text: &str,
    out: &mut dyn Write,
) -> Result<Summary> {
    let parsed = basalt_parser::parse_statement(text)?;
    let io = Io { out, input: None };
    session.run(text.as_bytes(), &parsed, io)
}

/// The first number of an output.
pub(super) fn number(output: &str) -> Result<u64> {
    let first = output.split_whitespace().next().map(str::parse);
    match first {
        Some(Ok(number)) => Ok(number),
        _ => Err(Error::bug(format!("not a number: {output}"))),
    }
}
