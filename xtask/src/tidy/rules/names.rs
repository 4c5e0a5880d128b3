//! Bans names that say nothing, and second names for things of the glossary in docs/STYLE.md.

use crate::tidy::{Exception, Finding, Rule, Tree, scan::Scan};

/// Words that no file, folder, module or type may carry, alone or as a part of its name.
const BANNED_WORDS: &[&str] = &[
    "util", "utils", "helper", "helpers", "common", "misc", "manager", "stuff",
];

/// Names that no file, folder or module may have: they say nothing alone, or the glossary has
/// another word.
const BANNED_NAMES: &[&str] = &[
    "data", "info", "process", "handle", "chunk", "chunks", "segment", "segments",
];

const TYPE_KEYWORDS: &[&str] = &["struct", "enum", "trait", "type"];

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "names",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, scan) in tree.rust() {
        let parts = file
            .path
            .trim_end_matches(".rs")
            .split('/')
            .map(|part| (1, part));
        let modules = parts.chain(declared(scan, "mod"));
        let types = TYPE_KEYWORDS
            .iter()
            .flat_map(|keyword| declared(scan, keyword));
        let is_bad_module = |name: &str| has_banned_word(name) || BANNED_NAMES.contains(&name);
        let bad = modules
            .filter(|(_, name)| is_bad_module(name))
            .chain(types.filter(|(_, name)| has_banned_word(name)));
        findings.extend(bad.map(|(line, name)| {
            let text = format!("`{name}` says nothing: name the thing itself");
            Finding::new(&file.path, line, text)
        }));
    }
    findings
}

/// Lines and names of what `keyword` declares in the file.
fn declared<'a>(scan: &'a Scan, keyword: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    scan.words(keyword).map(move |position| {
        (
            scan.line_of(position),
            scan.identifier_after(position + keyword.len()),
        )
    })
}

fn has_banned_word(name: &str) -> bool {
    words(name)
        .iter()
        .any(|word| BANNED_WORDS.contains(&word.as_str()))
}

/// The words of a snake_case or CamelCase name, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c == '-' || c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}
