//! Parses the settings of users, roles and profiles: values, bounds, and who may change them.

use basalt_error::Result;

use super::super::Parser;
use super::{Verb, Words};
use crate::format::{backticked, identifier};
use crate::lexer::TokenKind as K;

/// What a list of settings names.
#[derive(Debug, Default)]
struct Elements {
    settings: Vec<String>,
    profiles: Vec<String>,
    /// All of them in the order of the text.
    all: Vec<String>,
}

/// The changes of `ALTER … ADD SETTING … DROP PROFILE …`.
#[derive(Debug, Default)]
struct Changes {
    drops_all_settings: bool,
    drops_all_profiles: bool,
    dropped: Elements,
    added: Elements,
    modified: Elements,
}

impl Parser<'_> {
    /// SETTINGS and its elements, or what an ALTER changes about them; `parent` is the word before the name of
    /// another profile.
    pub(super) fn settings_clause(
        &mut self,
        verb: Verb,
        parent: &'static str,
    ) -> Result<Option<String>> {
        if verb == Verb::Alter {
            return self.settings_changes(parent);
        }
        if self.keyword_of(&["SETTINGS", "SETTING"]).is_none() {
            return Ok(None);
        }
        let elements = self.elements(parent)?;
        Ok(Some(format!("SETTINGS {}", elements.all.join(", "))))
    }

    fn elements(&mut self, parent: &'static str) -> Result<Elements> {
        let mut elements = Elements::default();
        if self.keyword("NONE") {
            elements.all.push("NONE".to_owned());
            return Ok(elements);
        }
        loop {
            let inherits = parent == "INHERIT" && self.keyword("INHERIT");
            if inherits || (self.token(1).kind != K::Equals && self.keyword("PROFILE")) {
                let profile = backticked(&self.name_or_string("profile")?);
                elements.all.push(format!("{parent} {profile}"));
                elements.profiles.push(profile);
            } else {
                let setting = self.setting_element()?;
                elements.all.push(setting.clone());
                elements.settings.push(setting);
            }
            if self.at_next_change() || !self.symbol(K::Comma) {
                return Ok(elements);
            }
        }
    }

    /// `name [= value] [MIN value] [MAX value] [CONST | WRITABLE | CHANGEABLE_IN_READONLY]`
    fn setting_element(&mut self) -> Result<String> {
        let name = self.compound_identifier("setting")?;
        let mut text = Words::of(identifier(&name.join(".")));
        let num_words = text.0.len();
        loop {
            if let Some(bound) = self.keyword_of(&["MIN", "MAX"]) {
                self.symbol(K::Equals);
                let value = self.literal_text("value")?;
                text.push(&format!("{} {value}", ["MIN", "MAX"][bound]));
            } else if self.symbol(K::Equals) {
                let value = self.literal_text("value")?;
                text.push(&format!("= {value}"));
            } else {
                break;
            }
        }
        let choices = ["READONLY", "CONST", "WRITABLE", "CHANGEABLE_IN_READONLY"];
        if let Some(choice) = self.keyword_of(&choices) {
            text.push(choices[choice.max(1)]);
        }
        if text.0.len() == num_words {
            return Err(self.failure());
        }
        Ok(text.0)
    }

    fn settings_changes(&mut self, parent: &'static str) -> Result<Option<String>> {
        let mut changes = Changes::default();
        let mut has_any = false;
        loop {
            if self.keyword_of(&["SETTINGS", "SETTING"]).is_some() {
                changes.drops_all_settings = true;
                changes.drops_all_profiles = true;
                changes.added = self.elements(parent)?;
            } else if self.keyword("DROP ALL SETTINGS") {
                changes.drops_all_settings = true;
            } else if self.keyword("DROP ALL PROFILES") {
                changes.drops_all_profiles = true;
            } else if self.keyword_of(&["ADD SETTINGS", "ADD SETTING"]).is_some() {
                let added = self.elements(parent)?;
                changes.added.settings.extend(added.settings);
                changes.added.profiles.extend(added.profiles);
            } else if self
                .keyword_of(&["MODIFY SETTINGS", "MODIFY SETTING"])
                .is_some()
            {
                changes
                    .modified
                    .settings
                    .extend(self.elements(parent)?.settings);
            } else if self
                .keyword_of(&["DROP SETTINGS", "DROP SETTING"])
                .is_some()
            {
                let name = |p: &mut Self| p.compound_identifier("setting").map(|n| n.join("."));
                let names = self.names_before_change(name)?;
                let names = names.iter().map(|name| identifier(name));
                changes.dropped.settings.extend(names);
            } else if self.keyword_of(&["ADD PROFILES", "ADD PROFILE"]).is_some() {
                changes.added.profiles.extend(self.profile_names()?);
            } else if self
                .keyword_of(&["DROP PROFILES", "DROP PROFILE"])
                .is_some()
            {
                changes.dropped.profiles.extend(self.profile_names()?);
            } else {
                return Ok(has_any.then(|| changes.text()));
            }
            has_any = true;
            if self.at_next_change() {
                self.advance();
            }
        }
    }

    fn profile_names(&mut self) -> Result<Vec<String>> {
        let names = self.names_before_change(|p| p.name_or_string("profile"))?;
        Ok(names.iter().map(|name| backticked(name)).collect())
    }

    /// Names with commas between, up to the next change.
    fn names_before_change(
        &mut self,
        name: impl Fn(&mut Self) -> Result<String>,
    ) -> Result<Vec<String>> {
        let mut names = vec![name(self)?];
        while !self.at_next_change() && self.symbol(K::Comma) {
            names.push(name(self)?);
        }
        Ok(names)
    }

    /// Whether a comma and another change are next: so changes are written out.
    fn at_next_change(&mut self) -> bool {
        const VERBS: [&str; 3] = ["ADD", "DROP", "MODIFY"];
        const OBJECTS: [&str; 5] = ["SETTING", "SETTINGS", "PROFILE", "PROFILES", "ALL"];
        self.kind() == K::Comma
            && VERBS.iter().any(|word| self.is_word(1, word))
            && OBJECTS.iter().any(|word| self.is_word(2, word))
    }
}

impl Changes {
    fn text(&self) -> String {
        let mut parts = Vec::new();
        if self.drops_all_settings {
            parts.push("DROP ALL SETTINGS".to_owned());
        }
        if self.drops_all_profiles {
            parts.push("DROP ALL PROFILES".to_owned());
        }
        let lists = [
            ("DROP PROFILE", &self.dropped.profiles),
            ("DROP SETTING", &self.dropped.settings),
            ("ADD PROFILE", &self.added.profiles),
            ("ADD SETTING", &self.added.settings),
            ("MODIFY SETTING", &self.modified.settings),
        ];
        for (words, names) in lists {
            match names.len() {
                0 => {}
                1 => parts.push(format!("{words} {}", names[0])),
                _ => parts.push(format!("{words}S {}", names.join(", "))),
            }
        }
        parts.join(", ")
    }
}
