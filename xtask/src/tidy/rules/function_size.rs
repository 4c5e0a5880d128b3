//! Keeps functions short, also those that clippy does not see because a macro or a `cfg` hides them.
//!
//! Counts as clippy does (lines that hold code) and honours the same `#[expect(clippy::too_many_lines)]`.

use crate::tidy::{Exception, Finding, Rule, Tree, scan::Scan};

const MAX_LINES: usize = 70;

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "function size",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, scan) in tree.rust().filter(|(file, _)| !file.is_test()) {
        let functions = scan.words("fn").filter(|&start| !scan.in_tests(start));
        for start in functions.filter(|&start| !is_expected(scan, start)) {
            let name = scan.identifier_after(start + "fn".len());
            let num_lines = num_code_lines(&scan.code[start..scan.item_end(start)]);
            if !name.is_empty() && num_lines > MAX_LINES {
                let text = format!("fn {name} has {num_lines} lines, more than {MAX_LINES}");
                findings.push(Finding::new(&file.path, scan.line_of(start), text));
            }
        }
    }
    findings
}

fn num_code_lines(item: &str) -> usize {
    item.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Whether an attribute of the function says that it is long on purpose.
fn is_expected(scan: &Scan, start: usize) -> bool {
    let before = &scan.code[..start];
    let item = before
        .rfind(['{', '}', ';'])
        .map_or(before, |end| &before[end..]);
    item.contains("expect(clippy::too_many_lines")
}
