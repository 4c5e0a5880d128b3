//! Keeps `unsafe` in the crates that exist for it; every other crate forbids it.

use crate::tidy::{Exception, Finding, Rule, Tree};

/// Crates whose work needs intrinsics, raw memory or the operating system.
const UNSAFE_CRATES: &[&str] = &["kernels", "codec", "hashtable", "jit", "profile"];

/// Single files in otherwise safe crates; such a crate denies `unsafe_code` and the file expects it.
const UNSAFE_FILES: &[&str] = &[
    "crates/storage/src/mapping.rs",
    "crates/python/src/buffer.rs",
];

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "unsafe",
    exceptions: EXCEPTIONS,
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, scan) in tree.rust().filter(|(file, _)| !may_be_unsafe(&file.path)) {
        let places = scan.words("unsafe").map(|position| {
            Finding::new(
                &file.path,
                scan.line_of(position),
                "`unsafe` has no place in this crate",
            )
        });
        findings.extend(places);
        let lint = required_lint(tree, &file.path);
        if is_crate_root(&file.path) && !scan.code.contains(&format!("#![{lint}(unsafe_code)]")) {
            findings.push(Finding::new(
                &file.path,
                1,
                format!("needs #![{lint}(unsafe_code)]"),
            ));
        }
    }
    findings
}

fn may_be_unsafe(path: &str) -> bool {
    UNSAFE_FILES.contains(&path) || crate_folder(path).is_some_and(|f| UNSAFE_CRATES.contains(&f))
}

fn crate_folder(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

fn required_lint(tree: &Tree, path: &str) -> &'static str {
    let shares_crate = |file: &&&str| crate_folder(file) == crate_folder(path);
    let has_unsafe_file = UNSAFE_FILES
        .iter()
        .filter(shares_crate)
        .any(|file| tree.file(file).is_some());
    if has_unsafe_file { "deny" } else { "forbid" }
}

fn is_crate_root(path: &str) -> bool {
    path.ends_with("src/lib.rs") || path.ends_with("src/main.rs") || path.contains("/src/bin/")
}
