//! Holds settings: the table of all, and a session's values.

mod arms;
mod kind;
#[cfg(test)]
mod page;
mod table;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use basalt_error::{Error, ErrorCode, Result};
use basalt_formats::FormatSettings;
use basalt_functions::SettingValues;
use basalt_functions::registry::nearest;

pub(crate) use arms::force as force_arms;
pub use kind::Kind;
pub use table::{Setting, declared, find, kind_of_values};

/// A session's settings: what is not set has its default.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    changed: BTreeMap<String, String>,
}

impl Settings {
    /// Sets one setting from its text.
    ///
    /// # Errors
    /// `UNKNOWN_SETTING` with near names; `BAD_ARGUMENTS` and the like for a text that is no value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match find(name) {
            Some(setting) => {
                let value = setting.kind.normalize(name, value)?;
                self.changed.insert(name.to_owned(), value);
            }
            None if FormatSettings::has(name) => {
                FormatSettings::default().set(name, value)?;
                self.changed.insert(name.to_owned(), value.to_owned());
            }
            None => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Gives a setting its default again.
    ///
    /// # Errors
    /// `UNKNOWN_SETTING`.
    pub fn reset(&mut self, name: &str) -> Result<()> {
        if find(name).is_none() && !FormatSettings::has(name) {
            return Err(unknown(name));
        }
        self.changed.remove(name);
        Ok(())
    }

    /// The settings that are set, by name.
    pub fn changed(&self) -> &BTreeMap<String, String> {
        &self.changed
    }

    /// Every setting with the value that queries go by; those of formats only where they are set.
    pub fn values(&self) -> SettingValues {
        let mut set = self.changed.clone();
        set.insert("max_threads".to_owned(), self.max_threads().to_string());
        SettingValues::new(set, |name| find(name).map(|setting| setting.default))
    }

    /// Text of a setting as people are shown it: with the number of threads that `auto` is.
    pub fn shown(&self, name: &str) -> String {
        if name == "max_threads" && self.number(name) == 0 {
            return format!("auto({})", self.max_threads());
        }
        self.get(name).to_owned()
    }

    /// Text of a setting, its default included; empty for an unknown one.
    pub fn get(&self, name: &str) -> &str {
        match self.changed.get(name) {
            Some(value) => value,
            None => find(name).map_or("", |s| s.default),
        }
    }

    /// Whether a setting is on.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), "1" | "true")
    }

    /// The time that a setting of seconds is.
    pub fn seconds(&self, name: &str) -> std::time::Duration {
        let seconds = self.get(name).parse().unwrap_or_default();
        std::time::Duration::try_from_secs_f64(seconds).unwrap_or(std::time::Duration::MAX)
    }

    /// A number; 0 for what is none.
    pub fn number(&self, name: &str) -> u64 {
        self.get(name).parse().unwrap_or(0)
    }

    /// Number of threads of a query: as many as processors, unless set.
    pub fn max_threads(&self) -> usize {
        let set = usize::try_from(self.number("max_threads")).unwrap_or(usize::MAX);
        match set {
            0 => num_processors(),
            n => n.min(1024),
        }
    }

    /// The settings that shape formats.
    ///
    /// # Errors
    /// `BAD_ARGUMENTS` for a value that no longer parses.
    pub fn formats(&self) -> Result<FormatSettings> {
        let mut formats = FormatSettings {
            state_forms: basalt_functions::aggregate::state_form,
            ..FormatSettings::default()
        };
        for (name, value) in &self.changed {
            formats.set(name, value)?;
        }
        Ok(formats)
    }
}

/// Processors that this process may use; found out once, because it takes several files of the system.
fn num_processors() -> usize {
    static NUM: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *NUM
}

fn unknown(name: &str) -> Error {
    let names = declared()
        .map(|s| s.name)
        .chain(FormatSettings::NAMES.iter().copied());
    let near = nearest(name, names);
    let hint = match near.first() {
        Some(nearest) => format!("Maybe you meant '{nearest}'. "),
        None => String::new(),
    };
    Error::new(
        ErrorCode::UNKNOWN_SETTING,
        format!(
            "{hint}Setting {name} is neither a builtin setting nor started with the prefix 'SQL_' registered for user-defined settings"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{Settings, declared};

    #[test]
    fn every_default_is_a_value_and_every_setting_is_described() {
        for setting in declared() {
            let normal = setting.kind.normalize(setting.name, setting.default);
            assert_eq!(normal.as_deref(), Ok(setting.default), "{}", setting.name);
            assert!(setting.description.ends_with('.'), "{}", setting.name);
            let same_name = declared().filter(|s| s.name == setting.name);
            assert_eq!(same_name.count(), 1, "{}", setting.name);
        }
    }

    #[test]
    fn bad_names_and_values_are_errors() {
        let mut settings = Settings::default();
        let unknown = settings.set("max_thread", "1").expect_err("unknown");
        assert_eq!(unknown.code().number, 115);
        assert!(
            unknown
                .message()
                .starts_with("Maybe you meant 'max_threads'"),
            "{unknown}"
        );
        assert!(settings.set("max_threads", "many").is_err());
        settings.set("join_use_nulls", "true").expect("flag");
        assert!(settings.flag("join_use_nulls"));
    }
}
