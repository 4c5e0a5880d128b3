//! Parses CREATE SETTINGS PROFILE and ALTER SETTINGS PROFILE.

use basalt_error::Result;

use super::super::Parser;
use super::{Place, Verb, string};
use crate::ast::Statement;
use crate::format::backticked;

impl Parser<'_> {
    pub(super) fn settings_profile(&mut self, verb: Verb) -> Result<Statement> {
        let mut text = self.beginning(verb, "SETTINGS PROFILE");
        let names = self.plain_names()?;
        let shown: Vec<String> = names.iter().map(|name| backticked(name)).collect();
        text.push(&shown.join(", "));
        let mut place = Place::new(verb, names.len() == 1, string);
        let (mut settings, mut to) = (None, None);
        loop {
            if self.place_clause(&mut place)? {
                continue;
            }
            if self.peek_keyword("TO") {
                to = self.recipients_clause(verb)?;
            } else if let Some(clause) = self.settings_clause(verb, "INHERIT")? {
                settings = Some(clause);
            } else {
                break;
            }
        }
        text.push_place(place);
        for clause in [settings, to] {
            text.push_some(clause);
        }
        self.finished(format!("{} SETTINGS PROFILE", verb.words()), text)
    }
}
