//! Parses CREATE SETTINGS PROFILE and ALTER SETTINGS PROFILE.

use basalt_error::Result;

use super::super::Parser;
use super::Verb;
use crate::ast::Statement;
use crate::format::{backticked, quoted};

impl Parser<'_> {
    pub(super) fn settings_profile(&mut self, verb: Verb) -> Result<Statement> {
        let mut text = self.beginning(verb, "SETTINGS PROFILE");
        let names = self.plain_names()?;
        let shown: Vec<String> = names.iter().map(|name| backticked(name)).collect();
        text.push(&shown.join(", "));
        let (mut cluster, mut storage, mut new_name) = (None, None, None);
        let (mut settings, mut to) = (None, None);
        loop {
            if cluster.is_none() && self.peek_keyword("ON CLUSTER") {
                cluster = self.cluster_text()?;
            } else if storage.is_none() && self.peek_keyword("IN") {
                storage = self.storage_text()?;
            } else if verb == Verb::Alter && names.len() == 1 && self.keyword("RENAME TO") {
                let name = self.name_or_string("name")?;
                new_name = Some(format!("RENAME TO {}", quoted(name.as_bytes())));
            } else if self.peek_keyword("TO") {
                to = self.recipients_clause(verb)?;
            } else if let Some(clause) = self.settings_clause(verb, "INHERIT")? {
                settings = Some(clause);
            } else {
                break;
            }
        }
        for clause in [storage, cluster, new_name, settings, to] {
            text.push_some(clause);
        }
        self.finished(format!("{} SETTINGS PROFILE", verb.words()), text)
    }
}
