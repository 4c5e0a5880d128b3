//! Keeps files short enough to be read in one sitting; tests do not count.

use crate::tidy::{Exception, Finding, Rule, Tree};

/// A file above this fails.
const MAX_LINES: usize = 900;

/// A file above this is named, so that it gets looked at.
const NOTED_LINES: usize = 500;

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "file size",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    above(tree, MAX_LINES)
        .map(|(path, num_lines)| {
            Finding::new(
                path,
                1,
                format!("{num_lines} lines without tests, more than {MAX_LINES}"),
            )
        })
        .collect()
}

/// The files that are long, though not yet too long.
pub(crate) fn notes(tree: &Tree) -> Vec<String> {
    above(tree, NOTED_LINES)
        .map(|(path, num_lines)| format!("{path} has {num_lines} lines: is it one concept?"))
        .collect()
}

fn above(tree: &Tree, limit: usize) -> impl Iterator<Item = (&str, usize)> {
    tree.rust()
        .filter(|(file, _)| !file.is_test())
        .map(|(file, scan)| (file.path.as_str(), scan.num_lines()))
        .filter(move |&(_, num_lines)| num_lines > limit)
}
