//! Checks the house rules that neither rustfmt nor clippy knows; each rule is one file in `rules/`.
//!
//! A rule looks at the whole [`Tree`] and returns findings. A file that may break a rule stands in
//! the rule's own table of exceptions with the reason. The table may only shrink: an exception that
//! is no longer needed is a finding too.

mod finding;
mod rules;
mod scan;
mod tree;

#[cfg(test)]
mod tests;

use finding::{Exception, Finding};
use tree::Tree;

/// One house rule: its name, who may break it, and how to look for breaches.
struct Rule {
    name: &'static str,
    exceptions: &'static [Exception],
    check: fn(&Tree) -> Vec<Finding>,
}

/// Checks the working tree and prints what to look at; fails if any rule is broken.
pub(crate) fn run() -> Result<(), String> {
    let tree = Tree::read(&crate::workspace_root())?;
    for note in rules::file_size::notes(&tree) {
        eprintln!("note: {note}");
    }
    let broken = check(&tree, rules::ALL);
    if broken.is_empty() {
        eprintln!(
            "tidy: {} files keep {} rules",
            tree.files.len(),
            rules::ALL.len()
        );
        return Ok(());
    }
    Err(format!(
        "{}\ntidy: {} findings",
        broken.join("\n"),
        broken.len()
    ))
}

/// Applies every rule and its exceptions; one line of text per finding, in order of path.
fn check(tree: &Tree, rules: &[Rule]) -> Vec<String> {
    let mut found: Vec<(Finding, &str)> = rules
        .iter()
        .flat_map(|rule| {
            apply(rule, tree)
                .into_iter()
                .map(|finding| (finding, rule.name))
        })
        .collect();
    found.sort();
    found
        .iter()
        .map(|(finding, rule)| format!("{finding} [{rule}]"))
        .collect()
}

/// One rule's findings without the excused ones, and the excuses that nobody needs.
fn apply(rule: &Rule, tree: &Tree) -> Vec<Finding> {
    let findings = (rule.check)(tree);
    let is_excused = |finding: &&Finding| {
        rule.exceptions
            .iter()
            .any(|allowed| allowed.path == finding.path)
    };
    let needless = rule
        .exceptions
        .iter()
        .filter(|allowed| !findings.iter().any(|finding| finding.path == allowed.path))
        .map(|allowed| {
            let text = format!(
                "no longer needs its exception ({}): remove it",
                allowed.reason
            );
            Finding::new(allowed.path, 1, text)
        });
    let broken = findings
        .iter()
        .filter(|finding| !is_excused(finding))
        .cloned();
    broken.chain(needless).collect()
}
