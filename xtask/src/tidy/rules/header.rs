//! Wants every Rust file to begin by saying what it does.

use crate::tidy::{Exception, Finding, Rule, Tree};

/// Shorter than this, the line says nothing that the file's name does not.
const MIN_LEN: usize = 15;

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "header",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter_map(|(file, _)| {
            let first = file.text.lines().next().unwrap_or_default();
            Some(Finding::new(&file.path, 1, complaint(first)?))
        })
        .collect()
}

fn complaint(first_line: &str) -> Option<&'static str> {
    match first_line.strip_prefix("//! ").map(str::trim) {
        None => Some("the first line is `//! ` and what the file does, verb first"),
        Some(text) if text.starts_with('(') => Some("the header is a placeholder"),
        Some(text) if text.len() < MIN_LEN => Some("the header says too little"),
        Some(_) => None,
    }
}
