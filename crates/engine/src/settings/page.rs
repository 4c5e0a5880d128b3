//! Tests that `docs/SETTINGS.md` tells of every setting what the table does; `UPDATE_DOCS=1` writes it anew.

use std::path::Path;

use super::Setting;
use super::kind::Kind;
use super::table::AREAS;

const HEAD: &str = "# Settings

Set them for a session (`SET name = value`), for one query (`SELECT … SETTINGS name = value`) or on the command line
(`basalt local --name value`). `system.settings` has the values of the session. Sizes may end in K, M, G, T or Ki, Mi, Gi, Ti. Names and meanings are ClickHouse's where it has the setting. Those of formats are in
`system.settings` alone.
";

fn page() -> String {
    let areas = AREAS.iter().map(|(title, settings)| {
        let rows: String = settings.iter().map(row).collect();
        format!("\n## {title}\n\n| setting | values | default | what it does |\n|---|---|---|---|\n{rows}")
    });
    HEAD.to_owned() + &areas.collect::<String>()
}

fn row(setting: &Setting) -> String {
    let values = match setting.kind {
        Kind::Word(_, words) => words.join(", "),
        Kind::Words(_, words) => format!("some of {}", words.join(", ")),
        _ => setting.type_name().to_owned(),
    };
    let default = match setting.default {
        "" => "\u{2013}".to_owned(),
        default => format!("`{default}`"),
    };
    let description = setting.description.replace('|', "\\|");
    format!(
        "| `{}` | {values} | {default} | {description} |\n",
        setting.name
    )
}

#[test]
fn the_page_of_settings_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SETTINGS.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page(),
        "UPDATE_DOCS=1 cargo test --release --workspace page_of_settings writes docs/SETTINGS.md anew"
    );
}
