//! Parses when a materialized view refreshes itself.

use basalt_error::Result;

use super::Parser;
use super::interval::unit_of;
use crate::ast::{ObjectName, Refresh};
use crate::format::{identifier, settings_text};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// Behind REFRESH: `EVERY | AFTER interval [OFFSET interval] [RANDOMIZE FOR interval]
    /// [DEPENDS ON views] [SETTINGS ..] [APPEND]`
    pub(super) fn refresh(&mut self) -> Result<Refresh> {
        let mut refresh = Refresh {
            text: "REFRESH".to_owned(),
            ..Refresh::default()
        };
        let schedules = ["EVERY", "AFTER"];
        if let Some(choice) = self.keyword_of(&schedules) {
            self.refresh_interval(schedules[choice], &mut refresh)?;
            if choice == 0 && self.keyword("OFFSET") {
                self.refresh_interval("OFFSET", &mut refresh)?;
            }
        } else if !self.peek_keyword("DEPENDS ON") {
            return Err(self.failure());
        }
        if self.keyword("RANDOMIZE FOR") {
            self.refresh_interval("RANDOMIZE FOR", &mut refresh)?;
        }
        if self.keyword("DEPENDS ON") {
            refresh.depends_on = self.list(|p| p.object_name("view"))?;
            let names: Vec<String> = refresh.depends_on.iter().map(dotted).collect();
            refresh.text += &format!(" DEPENDS ON {}", names.join(", "));
        }
        if self.keyword("SETTINGS") {
            let settings = self.list(Self::setting)?;
            refresh.text += &format!(" SETTINGS {}", settings_text(&settings));
            refresh.has_settings = true;
        }
        if self.keyword("APPEND") {
            refresh.text += " APPEND";
        }
        Ok(refresh)
    }

    /// `1 DAY 2 HOUR`, written behind `words`.
    fn refresh_interval(&mut self, words: &str, refresh: &mut Refresh) -> Result<()> {
        refresh.text += &format!(" {words}");
        refresh.num_intervals += 1;
        loop {
            let count = String::from_utf8_lossy(self.token_text(0)).into_owned();
            if self.kind() != K::Number {
                return self.fail("number");
            }
            self.advance();
            let word = String::from_utf8_lossy(self.token_text(0)).into_owned();
            let unit = unit_of(&word);
            let Some(unit) = unit.filter(|_| self.kind() == K::Word) else {
                return self.fail("unit of time, such as DAY");
            };
            self.advance();
            refresh.text += &format!(" {count} {}", unit.to_ascii_uppercase());
            if self.kind() != K::Number {
                return Ok(());
            }
        }
    }
}

fn dotted(name: &ObjectName) -> String {
    let parts = name.database.iter().chain([&name.name]);
    let parts: Vec<String> = parts.map(|part| identifier(part)).collect();
    parts.join(".")
}
