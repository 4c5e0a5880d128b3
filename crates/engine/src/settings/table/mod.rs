//! Declares every setting: name, kind, default, description; an area of them is a file.
//!
//! Flags of the command line, `SET`, `SETTINGS`, `system.settings` and the docs come from here.

mod dialect;
mod execution;
mod ignored;
mod limits;
mod storage;

use basalt_functions::SettingKind;

use super::kind::Kind;

/// Areas of settings with what they are about.
pub(super) const AREAS: &[(&str, &[Setting])] = &[
    ("How queries run", execution::SETTINGS),
    ("What a query may use", limits::SETTINGS),
    ("What queries mean", dialect::SETTINGS),
    ("Tables", storage::SETTINGS),
    ("Accepted without effect", ignored::SETTINGS),
];

/// Every setting, but those of formats.
pub fn declared() -> impl Iterator<Item = &'static Setting> + Clone {
    AREAS.iter().flat_map(|(_, settings)| *settings)
}

/// The setting of that name.
pub fn find(name: &str) -> Option<&'static Setting> {
    declared().find(|s| s.name == name)
}

/// What values the setting of that name has, for functions.
pub fn kind_of_values(name: &str) -> Option<SettingKind> {
    let kind = match find(name)?.kind {
        _ if matches!(name, "limit" | "offset") => SettingKind::Number,
        Kind::Bool => SettingKind::Flag,
        Kind::UInt64 | Kind::NonZeroUInt64 => SettingKind::Integer,
        Kind::Seconds | Kind::Ratio => SettingKind::Number,
        Kind::Word(..) | Kind::Words(..) | Kind::Arms | Kind::Text => SettingKind::Text,
    };
    Some(kind)
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name, ClickHouse's where it has the setting.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Value where none is set.
    pub default: &'static str,
    /// What it does, in one or two sentences.
    pub description: &'static str,
}

impl Setting {
    /// Name of the kind of values in `system.settings`.
    pub fn type_name(&self) -> &'static str {
        match self.name {
            "max_threads" => "MaxThreads",
            "limit" | "offset" => "Double",
            "session_timezone" => "Timezone",
            "send_logs_level" => "LogsLevel",
            "load_balancing" => "LoadBalancing",
            _ => self.kind.name(),
        }
    }
}

const fn setting(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    description: &'static str,
) -> Setting {
    Setting {
        name,
        kind,
        default,
        description,
    }
}
