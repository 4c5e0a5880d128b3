//! Lists settings, formats, types, error codes and other facts about the engine.

use basalt_adapt::SimdLevel;
use basalt_analyzer::TableEntry;
use basalt_error::{ErrorCode, Result};
use basalt_formats::{FORMATS, FormatSettings};

use super::rows::Rows;
use crate::environment::QueryEnvironment;
use crate::settings::{Settings, declared};

/// `system.settings`
pub(crate) fn settings(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let settings = environment.settings;
    // Some settings of formats are also settings of their own.
    let is_own = |name: &str| declared().any(|s| s.name == name);
    let of_formats = FormatSettings::NAMES.iter().copied();
    let of_formats: Vec<&str> = of_formats.filter(|n| !is_own(n)).collect();
    let names = || declared().map(|s| s.name).chain(of_formats.iter().copied());
    Rows::default()
        .text("name", names())
        .text("value", names().map(|n| settings.shown(n)))
        .flag(
            "changed",
            names().map(|n| settings.changed().contains_key(n)),
        )
        .text(
            "description",
            declared().map(|s| s.description.to_owned()).chain(
                of_formats
                    .iter()
                    .map(|n| format!("Shapes formats, as ClickHouse's setting {n}.")),
            ),
        )
        .text(
            "type",
            declared()
                .map(|s| s.type_name())
                .chain(of_formats.iter().map(|_| "String")),
        )
        .text("default", names().map(|n| Settings::default().shown(n)))
        .flag("readonly", names().map(|_| false))
        .table()
}

/// `system.formats`
pub(crate) fn formats(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    Rows::default()
        .text("name", FORMATS.iter().map(|f| f.name))
        .flag("is_input", FORMATS.iter().map(|f| f.is_input))
        .flag("is_output", FORMATS.iter().map(|f| f.is_output))
        .text("description", FORMATS.iter().map(|f| f.description))
        .table()
}

/// `system.errors`: the codes, and how often they happened is not counted yet.
pub(crate) fn errors(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    Rows::default()
        .text("name", ErrorCode::ALL.iter().map(|c| c.name))
        .number("code", ErrorCode::ALL.iter().map(|c| u64::from(c.number)))
        .table()
}

/// `system.table_engines`
pub(crate) fn table_engines(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    Rows::default()
        .text(
            "name",
            [
                "AggregatingMergeTree",
                "Memory",
                "MergeTree",
                "Mmap",
                "Null",
                "ReplacingMergeTree",
                "SummingMergeTree",
                "View",
            ],
        )
        .table()
}

/// `system.keywords`
pub(crate) fn keywords(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    Rows::default()
        .text("keyword", basalt_parser::keywords::KEYWORDS)
        .table()
}

/// `system.time_zones`
pub(crate) fn time_zones(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    Rows::default()
        .text(
            "time_zone",
            basalt_types::TZ_VARIANTS.iter().map(|z| z.name()),
        )
        .table()
}

/// `system.contributors`
pub(crate) fn contributors(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    Rows::default()
        .text("name", ["The authors of Basalt"])
        .table()
}

/// `system.build_options`
pub(crate) fn build_options(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let why_not = basalt_jit::compiled::availability().err();
    let options = [
        ("VERSION_FULL", env!("CARGO_PKG_VERSION")),
        (
            "BUILD_TYPE",
            if cfg!(debug_assertions) {
                "Debug"
            } else {
                "Release"
            },
        ),
        ("SYSTEM", std::env::consts::OS),
        ("SYSTEM_PROCESSOR", std::env::consts::ARCH),
        ("SIMD_LEVEL", SimdLevel::detected().name()),
        (
            "USE_EMBEDDED_COMPILER",
            if why_not.is_none() { "1" } else { "0" },
        ),
        ("WHY_NOT_COMPILED", why_not.unwrap_or_default()),
    ];
    Rows::default()
        .text("name", options.iter().map(|(n, _)| *n))
        .text("value", options.iter().map(|(_, v)| *v))
        .table()
}
