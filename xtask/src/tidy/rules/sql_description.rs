//! Wants every SQL test to say in its first line what it is about.

use crate::tidy::{Exception, Finding, Rule, Tree};

const MARK: &str = "# description:";

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "description",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let tests = tree
        .ending(".slt")
        .filter(|file| file.path.starts_with("tests/"));
    tests
        .filter(|file| !has_description(&file.text))
        .map(|file| Finding::new(&file.path, 1, format!("the first line is `{MARK} …`")))
        .collect()
}

fn has_description(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first
        .strip_prefix(MARK)
        .is_some_and(|rest| !rest.trim().is_empty())
}
