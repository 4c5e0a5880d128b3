//! Finds absolute paths of somebody's machine, which mean nothing on another one.

use crate::tidy::{Exception, Finding, Rule, Tree};

/// First folders of such paths, without their slashes, so that this file does not find itself.
const FIRST_FOLDERS: &[&str] = &["root", "home", "work", "Users"];

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "machine paths",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let needles: Vec<String> = FIRST_FOLDERS
        .iter()
        .map(|name| format!("/{name}/"))
        .collect();
    let mut findings = Vec::new();
    for file in &tree.files {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(needle) = needles.iter().find(|needle| starts_path(line, needle)) {
                let text = format!("`{needle}…` is a path of one machine");
                findings.push(Finding::new(&file.path, index + 1, text));
            }
        }
    }
    findings
}

/// Whether `needle` begins a path in the line, rather than continuing one or a URL.
fn starts_path(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(position, _)| {
        let before = line[..position].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~}%/".contains(c))
    })
}
