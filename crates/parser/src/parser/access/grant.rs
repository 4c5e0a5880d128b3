//! Parses GRANT and REVOKE.

use basalt_error::Result;

use super::super::Parser;
use super::Words;
use crate::ast::Statement;
use crate::format::{identifier, quoted};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// `GRANT rights TO users`, `REVOKE rights FROM users`
    pub(in crate::parser) fn grant(&mut self, word: &str, to: &'static str) -> Result<Statement> {
        self.advance();
        let mut text = Words::of(word);
        text.push_some(self.cluster_text()?);
        for words in ["GRANT OPTION FOR", "ADMIN OPTION FOR"] {
            if word == "REVOKE" && self.keyword(words) {
                text.push(words);
            }
        }
        let rights = match self.keyword("CURRENT GRANTS") {
            true => self.current_grants()?,
            false => self.rights_or_roles(to)?,
        };
        text.push(&rights);
        self.expect_keyword(to)?;
        text.push(to);
        let users = self.entity_set(&["ALL", "NONE", "CURRENT_USER"])?;
        text.push(&users);
        let options = [
            "WITH GRANT OPTION",
            "WITH ADMIN OPTION",
            "WITH REPLACE OPTION",
        ];
        while let Some(choice) = self.keyword_of(&options) {
            text.push(options[choice]);
        }
        self.finished(word.to_owned(), text)
    }

    /// `CHECK GRANT rights`
    pub(in crate::parser) fn check_grant(&mut self) -> Result<Statement> {
        self.expect_keyword("CHECK GRANT")?;
        let mut text = Words::of("CHECK GRANT");
        text.push(&self.rights()?);
        self.finished("CHECK GRANT".to_owned(), text)
    }

    /// Behind CURRENT GRANTS: `(rights)`, or `ON db.table` for all of them there.
    fn current_grants(&mut self) -> Result<String> {
        let rights = if self.symbol(K::OpenRound) {
            let rights = self.rights()?;
            self.expect_symbol(K::CloseRound)?;
            rights
        } else {
            self.expect_keyword("ON")?;
            format!("ALL ON {}", self.grant_target()?)
        };
        Ok(format!("CURRENT GRANTS({rights})"))
    }

    fn rights_or_roles(&mut self, to: &'static str) -> Result<String> {
        let mark = self.mark();
        let roles = self.entity_set(&["ALL"]);
        if let Ok(roles) = roles
            && self.peek_keyword(to)
        {
            return Ok(roles);
        }
        self.back(mark);
        self.rights()
    }

    /// `SELECT(a), INSERT ON db.table, SHOW TABLES ON db.*`; each right once for each target.
    fn rights(&mut self) -> Result<String> {
        let mut groups = Vec::new();
        loop {
            let mut rights: Vec<String> = Vec::new();
            for right in self.list(Self::right)? {
                if !rights.contains(&right) {
                    rights.push(right);
                }
            }
            self.expect_keyword("ON")?;
            let target = self.grant_target()?;
            groups.push(format!("{} ON {target}", rights.join(", ")));
            if !self.symbol(K::Comma) {
                return Ok(groups.join(", "));
            }
        }
    }

    /// The words of a right, and the columns that it is for.
    fn right(&mut self) -> Result<String> {
        let mut words = Vec::new();
        let ends = ["ON", "TO", "FROM"];
        while self.kind() == K::Word && !ends.iter().any(|word| self.is_word(0, word)) {
            words.push(String::from_utf8_lossy(self.token_text(0)).to_ascii_uppercase());
            self.advance();
        }
        let right = match words.join(" ").as_str() {
            "" => return self.fail("right"),
            "ALL PRIVILEGES" => "ALL".to_owned(),
            "NONE" => "USAGE".to_owned(),
            words => words.to_owned(),
        };
        if self.kind() != K::OpenRound {
            return Ok(right);
        }
        let columns = self.parenthesised(|p| p.identifier("column"))?;
        let columns: Vec<String> = columns.iter().map(|column| identifier(column)).collect();
        Ok(format!("{right}({})", columns.join(", ")))
    }

    /// `db.table`, `db.*`, `*.*`, `*`, `db.prefix*`, `S3('regexp')`
    fn grant_target(&mut self) -> Result<String> {
        let mut target = self.grant_target_part()?;
        if self.symbol(K::Dot) {
            target += &format!(".{}", self.grant_target_part()?);
        } else if self.symbol(K::OpenRound) {
            target += &format!("({})", quoted(&self.string("regular expression")?));
            self.expect_symbol(K::CloseRound)?;
        }
        Ok(target)
    }

    /// `name`, `prefix*`, `*`
    fn grant_target_part(&mut self) -> Result<String> {
        if self.symbol(K::Asterisk) {
            return Ok("*".to_owned());
        }
        let name = identifier(&self.identifier("name or *")?);
        let star = if self.symbol(K::Asterisk) { "*" } else { "" };
        Ok(name + star)
    }
}
