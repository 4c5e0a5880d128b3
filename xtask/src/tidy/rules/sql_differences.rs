//! Wants tests/sql/DIFFERENCES.md to name every SQL test with a record that differs from ClickHouse.

use crate::tidy::{Exception, Finding, Rule, Tree};

const FOLDER: &str = "tests/sql/";
const LIST: &str = "tests/sql/DIFFERENCES.md";
const MARK: &str = "# basalt-differs";

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "differences",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let list = tree.files.iter().find(|file| file.path == LIST);
    let list = list.map_or("", |file| file.text.as_str());
    let mut findings = Vec::new();
    for file in tree.ending(".slt") {
        let Some(name) = file.path.strip_prefix(FOLDER) else {
            continue;
        };
        let mut lines = file.text.lines().enumerate();
        let first = lines.find(|(_, line)| line.starts_with(MARK));
        if let Some((idx, _)) = first.filter(|_| !is_listed(list, name)) {
            let text = format!("{LIST} does not say why {name} differs");
            findings.push(Finding::new(&file.path, idx + 1, text));
        }
    }
    findings
}

/// Whether a row is about the file, or about all files of its area.
fn is_listed(list: &str, name: &str) -> bool {
    let area = name.split('/').next().unwrap_or_default();
    let names = [format!("`{name}`"), format!("`{area}/*.slt`")];
    names.iter().any(|name| list.contains(name))
}
