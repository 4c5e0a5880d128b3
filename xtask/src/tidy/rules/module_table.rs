//! Wants a table of modules at the head of a file to have a row for each module of the file.

use crate::tidy::{Exception, Finding, Rule, Tree};

/// The first row of such a table.
const HEAD: &str = "//! | module |";

/// A row with this in it stands for all modules that have none of their own.
const OTHERS: &str = "| the others |";

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "module-table",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, _) in tree.rust() {
        let rows: Vec<&str> = file
            .text
            .lines()
            .filter(|l| l.starts_with("//! |"))
            .collect();
        let has_others = rows.iter().any(|row| row.contains(OTHERS));
        if !rows.iter().any(|row| row.starts_with(HEAD)) || has_others {
            continue;
        }
        for (idx, line) in file.text.lines().enumerate() {
            let Some(module) = declared_module(line).filter(|m| *m != "tests") else {
                continue;
            };
            let name = format!("`{module}`");
            if !rows.iter().any(|row| row.contains(&name)) {
                let text = format!("the table of modules has no row for {module}");
                findings.push(Finding::new(&file.path, idx + 1, text));
            }
        }
    }
    findings
}

/// The module that a line of the file's own level declares.
fn declared_module(line: &str) -> Option<&str> {
    let words = line.strip_suffix(';')?;
    let (before, module) = words.rsplit_once("mod ")?;
    let is_plain = before.is_empty() || (before.starts_with("pub") && before.ends_with(' '));
    (is_plain && !line.starts_with(' ')).then_some(module)
}
