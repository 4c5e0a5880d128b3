//! Enforces who may use whom: the table of ARCHITECTURE.md, read against `crates/*/Cargo.toml`.
//!
//! A crate uses only crates above it in [`CRATES`], and of the big external foundations only those
//! in its row. Small external crates are free, but their versions stand in the root `Cargo.toml`.

use crate::tidy::{Exception, Finding, Rule, Tree, tree::SourceFile};

/// One crate of the house: the foundations it stands on and the crates above it that it must not see.
struct Row {
    name: &'static str,
    foundations: &'static [&'static str],
    hidden: &'static [&'static str],
}

const fn row(name: &'static str, foundations: &'static [&'static str]) -> Row {
    Row {
        name,
        foundations,
        hidden: &[],
    }
}

/// External crates that shape what is built on them; a name covers its own family (`arrow-ipc`).
const FOUNDATIONS: &[&str] = &[
    "arrow",
    "parquet",
    "datafusion",
    "ballista",
    "tokio",
    "axum",
    "clap",
    "reedline",
    "inkwell",
    "pyo3",
];

/// The house, in the direction of dependence.
const CRATES: &[Row] = &[
    row("error", &[]),
    row("parser", &[]),
    row("types", &["arrow"]),
    row("datagen", &["arrow", "parquet"]),
    row("adapt", &[]),
    row("profile", &[]),
    row("kernels", &[]),
    row("codec", &[]),
    row("hashtable", &[]),
    row("jit", &[]),
    row("storage", &["arrow"]),
    row("formats", &["arrow", "parquet"]),
    Row {
        name: "functions",
        foundations: &["arrow"],
        hidden: &["parser"],
    },
    row("analyzer", &["arrow", "datafusion"]),
    row("exec", &["arrow", "parquet", "datafusion"]),
    row("engine", &["arrow", "parquet", "datafusion", "tokio"]),
    row("cli", &["clap", "reedline", "tokio"]),
];

const EXCEPTIONS: &[Exception] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "dependencies",
    exceptions: EXCEPTIONS,
    check,
};

/// One line of a dependency section.
struct Dependency<'a> {
    line: usize,
    name: &'a str,
    is_dev: bool,
    is_shared: bool,
}

fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree
        .ending("/Cargo.toml")
        .filter(|file| file.path.starts_with("crates/"));
    manifests.flat_map(check_manifest).collect()
}

fn check_manifest(file: &SourceFile) -> Vec<Finding> {
    let Some(folder) = file.path.split('/').nth(1) else {
        return Vec::new();
    };
    let Some(place) = CRATES.iter().position(|row| row.name == folder) else {
        let text = format!("`{folder}` has no row in the table of crates");
        return vec![Finding::new(&file.path, 1, text)];
    };
    let found = dependencies(&file.text).into_iter();
    found
        .filter_map(|used| {
            complaint(place, &used).map(|text| Finding::new(&file.path, used.line, text))
        })
        .collect()
}

fn complaint(place: usize, used: &Dependency<'_>) -> Option<String> {
    let user = &CRATES[place];
    let name = used.name;
    if !used.is_shared {
        return Some(format!(
            "`{name}` takes its version from the root: `{name}.workspace = true`"
        ));
    }
    if let Some(inner) = name.strip_prefix("basalt-") {
        let is_above = CRATES[..place].iter().any(|row| row.name == inner);
        let is_visible = is_above && !user.hidden.contains(&inner);
        return (!is_visible).then(|| format!("`{}` must not use `{inner}`", user.name));
    }
    let family = FOUNDATIONS
        .iter()
        .find(|family| is_of_family(name, family))?;
    let is_allowed = used.is_dev || user.foundations.contains(family);
    (!is_allowed).then(|| format!("`{}` must not know `{family}`", user.name))
}

fn is_of_family(name: &str, family: &str) -> bool {
    name.strip_prefix(family)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

/// Reads the dependency sections, as far as our own manifests use TOML.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, text) in manifest.lines().map(str::trim).enumerate() {
        if let Some(header) = text.strip_prefix('[') {
            section = header.trim_end_matches(']');
            continue;
        }
        let Some((key, value)) = text.split_once('=') else {
            continue;
        };
        if section.ends_with("dependencies") && !text.starts_with('#') {
            let (name, field) = key.trim().split_once('.').unwrap_or((key.trim(), ""));
            let is_shared = field == "workspace" || value.contains("workspace = true");
            let is_dev = section.ends_with("dev-dependencies");
            found.push(Dependency {
                line: index + 1,
                name,
                is_dev,
                is_shared,
            });
        }
    }
    found
}
