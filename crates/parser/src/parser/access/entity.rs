//! Parses DROP and SHOW CREATE of users, roles, quotas, row policies and settings profiles.

use basalt_error::Result;

use super::super::Parser;
use super::Words;
use crate::ast::{Statement, TokenStatement};
use crate::format::identifier;

/// The words for an entity, those for several, and its full name.
const ENTITIES: &[(&str, &str, &str)] = &[
    ("USER", "USERS", "USER"),
    ("ROLE", "ROLES", "ROLE"),
    ("QUOTA", "QUOTAS", "QUOTA"),
    ("SETTINGS PROFILE", "SETTINGS PROFILES", "SETTINGS PROFILE"),
    ("PROFILE", "PROFILES", "SETTINGS PROFILE"),
    ("ROW POLICY", "ROW POLICIES", "ROW POLICY"),
    ("POLICY", "POLICIES", "ROW POLICY"),
];

impl Parser<'_> {
    /// What stands behind DROP, if it is an entity of access control.
    pub(in crate::parser) fn drop_entity(&mut self) -> Result<Option<Statement>> {
        let Some((_, _, entity)) = ENTITIES.iter().find(|(one, _, _)| self.keyword(one)) else {
            return Ok(None);
        };
        let mut text = Words::of(format!("DROP {entity}"));
        if self.keyword("IF EXISTS") {
            text.push("IF EXISTS");
        }
        let names = self.entity_names(entity)?;
        text.push(&names.join(", "));
        let mut cluster = self.cluster_text()?;
        if self.keyword("FROM") {
            let storage = self.name_or_string("storage")?;
            text.push(&format!("FROM {}", identifier(&storage)));
        }
        if cluster.is_none() {
            cluster = self.cluster_text()?;
        }
        text.push_some(cluster);
        self.finished(format!("DROP {entity}"), text).map(Some)
    }

    /// What stands behind SHOW CREATE, if it is an entity of access control.
    pub(in crate::parser) fn show_create_entity(&mut self) -> Result<Option<TokenStatement>> {
        let mark = self.mark();
        let mut found = None;
        for (one, several, entity) in ENTITIES {
            let is_several = self.keyword(several);
            if is_several || self.keyword(one) {
                found = Some((is_several, *entity));
                break;
            }
        }
        let Some((is_several, entity)) = found else {
            return Ok(None);
        };
        let is_policy = entity == "ROW POLICY";
        let mut names = Vec::new();
        let is_end = self.at_statement_end() || self.is_word(0, "FORMAT");
        if is_policy && self.keyword("ON") {
            names.push(format!("ON {}", self.policy_table()?));
        } else if !(is_end || entity == "QUOTA" && self.keyword("CURRENT")) {
            names = self.entity_names(entity)?;
        } else if is_end && !is_several && matches!(entity, "ROLE" | "SETTINGS PROFILE") {
            // Without a name it is the table of that name.
            self.back(mark);
            return Ok(None);
        }
        let is_whole_policy = names.iter().any(|name| name.contains(" ON "));
        let is_plural = is_several || names.len() > 1 || (is_policy && !is_whole_policy);
        let noun = match (is_plural && !(is_policy && is_whole_policy), is_policy) {
            (true, true) => "ROW POLICIES".to_owned(),
            (true, false) => format!("{entity}S"),
            (false, _) => entity.to_owned(),
        };
        let mut text = Words::of(format!("CREATE {noun}"));
        text.push(&names.join(", "));
        let construct = format!("SHOW CREATE {noun}");
        let Statement::Tokens(statement) = self.finished(construct, text)? else {
            return Ok(None);
        };
        Ok(Some(*statement))
    }

    fn entity_names(&mut self, entity: &str) -> Result<Vec<String>> {
        if entity == "ROW POLICY" {
            let mark = self.mark();
            if let Ok(policies) = self.policy_names() {
                return Ok(vec![policies]);
            }
            self.back(mark);
        }
        let name = |p: &mut Self| -> Result<String> {
            let name = p.name_or_string("name")?;
            let name = match entity {
                "USER" | "ROLE" => p.with_host(name)?,
                _ => name,
            };
            Ok(identifier(&name))
        };
        self.list(name)
    }
}
