//! Keeps `unsafe` in the crates that exist for it; every other crate forbids it.

use crate::tidy::{Exception, Finding, Rule, Tree};

/// Crates whose work needs intrinsics, raw memory, an allocator or code that is compiled while they run.
const UNSAFE_CRATES: &[&str] = &["profile", "kernels", "codec", "jit"];

/// Single files of other crates: what maps files into memory.
const UNSAFE_FILES: &[&str] = &["crates/storage/src/mapping.rs"];

const FORBIDS: &str = "#![forbid(unsafe_code)]";

/// What the crates of such files say instead.
const DENIES: &str = "#![deny(unsafe_code)]";

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
        let needed = match has_unsafe_file(&file.path) {
            true => DENIES,
            false => FORBIDS,
        };
        if is_crate_root(&file.path) && !scan.code.contains(needed) {
            findings.push(Finding::new(&file.path, 1, format!("needs {needed}")));
        }
    }
    findings
}

fn may_be_unsafe(path: &str) -> bool {
    UNSAFE_FILES.contains(&path)
        || crate_folder(path).is_some_and(|folder| UNSAFE_CRATES.contains(&folder))
}

/// Whether a file of the same crate may be unsafe.
fn has_unsafe_file(path: &str) -> bool {
    let folder = crate_folder(path);
    let mut files = UNSAFE_FILES.iter();
    folder.is_some() && files.any(|file| crate_folder(file) == folder)
}

fn crate_folder(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

fn is_crate_root(path: &str) -> bool {
    path.ends_with("src/lib.rs") || path.ends_with("src/main.rs") || path.contains("/src/bin/")
}
