//! Parses CREATE ROW POLICY and ALTER ROW POLICY, and the tables that policies are on.

use basalt_error::Result;

use super::super::Parser;
use super::{Place, Verb};
use crate::ast::Statement;
use crate::format::{format_expr, identifier};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    pub(super) fn row_policy(&mut self, verb: Verb) -> Result<Statement> {
        let mut text = self.beginning(verb, "ROW POLICY");
        let policies = self.policy_names()?;
        text.push(&policies);
        let mut place = Place::new(verb, true, identifier);
        let (mut kind, mut filter, mut to) = (None, None, None);
        loop {
            if self.place_clause(&mut place)? {
                continue;
            }
            if self.keyword("AS") {
                let kinds = ["PERMISSIVE", "RESTRICTIVE"];
                let Some(choice) = self.keyword_of(&kinds) else {
                    return Err(self.failure());
                };
                kind = Some(format!("AS {}", kinds[choice]));
            } else if self.keyword("FOR") {
                self.expect_keyword("SELECT")?;
            } else if self.keyword("WITH CHECK") {
                // Conditions of what is written are read and left out: there are none for it.
                self.expr()?;
            } else if self.keyword("USING") {
                let condition = match self.keyword("NONE") {
                    true => "NONE".to_owned(),
                    false => format_expr(&self.expr()?),
                };
                filter = Some(format!("FOR SELECT USING {condition}"));
            } else if self.peek_keyword("TO") {
                to = self.recipients_clause(verb)?;
            } else {
                break;
            }
        }
        text.push_place(place);
        for clause in [kind, filter, to] {
            text.push_some(clause);
        }
        self.finished(format!("{} ROW POLICY", verb.words()), text)
    }

    /// `p, q ON t`, `p ON t, u`, `p ON t, q ON u`
    pub(super) fn policy_names(&mut self) -> Result<String> {
        let mut parts = vec![self.policy_on_tables()?];
        while self.kind() == K::Comma {
            self.advance();
            parts.push(self.policy_on_tables()?);
        }
        Ok(parts.join(", "))
    }

    fn policy_on_tables(&mut self) -> Result<String> {
        let names = self.plain_names()?;
        let shown: Vec<String> = names.iter().map(|n| identifier(n)).collect();
        self.expect_keyword("ON")?;
        let mut tables = vec![self.policy_table()?];
        // Another table of the one policy, and not another policy.
        while names.len() == 1 && self.kind() == K::Comma {
            let mark = self.mark();
            self.advance();
            let table = self.policy_table()?;
            if self.is_word(0, "ON") && !self.is_word(1, "CLUSTER") {
                self.back(mark);
                break;
            }
            tables.push(table);
        }
        Ok(format!("{} ON {}", shown.join(", "), tables.join(", ")))
    }

    /// `t`, `db.t`, `db.*`, `*`
    pub(super) fn policy_table(&mut self) -> Result<String> {
        if self.symbol(K::Asterisk) {
            return Ok("*".to_owned());
        }
        let name = identifier(&self.identifier("table")?);
        if !self.symbol(K::Dot) {
            return Ok(name);
        }
        if self.symbol(K::Asterisk) {
            return Ok(format!("{name}.*"));
        }
        Ok(format!("{name}.{}", identifier(&self.identifier("table")?)))
    }
}
