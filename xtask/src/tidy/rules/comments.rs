//! Finds code that was commented out instead of removed: git remembers it better.
//!
//! A heuristic: a line comment that ends like a statement and starts like one. Docs are free to
//! show code.

use crate::tidy::{Exception, Finding, Rule, Tree};

const STATEMENT_STARTS: &[&str] = &[
    "let ", "use ", "pub ", "mod ", "fn ", "impl ", "struct ", "enum ", "const ", "static ",
    "return ", "self.", "match ", "for ", "while ", "if ", "} else", "assert", "println!", "dbg!",
    "#[",
];

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "commented-out code",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, scan) in tree.rust() {
        let code = scan
            .comments
            .iter()
            .filter(|(_, text)| looks_like_code(text.trim()));
        findings.extend(code.map(|&(line, ref text)| {
            Finding::new(
                &file.path,
                line,
                format!("commented-out code: `{}`", text.trim()),
            )
        }));
    }
    findings
}

fn looks_like_code(text: &str) -> bool {
    let starts = STATEMENT_STARTS.iter().any(|start| text.starts_with(start));
    let ends_block = text.ends_with('{') || text.ends_with(")]");
    (starts && (ends_block || text.ends_with(';'))) || is_call(text) || is_assignment(text)
}

/// `foo.bar(…);` without white space before the bracket.
fn is_call(text: &str) -> bool {
    let is_path = |c: char| c.is_alphanumeric() || "_.:!".contains(c);
    text.ends_with(");") && text.trim_start_matches(is_path).starts_with('(')
}

/// `place = value;` with one path on the left.
fn is_assignment(text: &str) -> bool {
    let is_path = |c: char| c.is_alphanumeric() || "_.*[]".contains(c);
    text.ends_with(';')
        && text
            .split_once(" = ")
            .is_some_and(|(left, _)| !left.is_empty() && left.chars().all(is_path))
}
