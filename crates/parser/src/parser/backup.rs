//! Parses BACKUP and RESTORE.
//!
//! Nothing runs them, so that their tree is their canonical text.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, Statement, TokenStatement};
use crate::format::{format_expr, identifier, setting_text};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// `BACKUP elements TO place`, `RESTORE elements FROM place`
    pub(super) fn backup(&mut self) -> Result<Statement> {
        let is_backup = self.is_word(0, "BACKUP");
        self.advance();
        let elements = self.list(Self::backup_element)?;
        let word = if is_backup { "BACKUP" } else { "RESTORE" };
        let mut text = format!("{word} {}", elements.join(", "));
        if let Some(cluster) = self.on_cluster()? {
            text += &format!(" ON CLUSTER {}", identifier(&cluster));
        }
        let direction = if is_backup { "TO" } else { "FROM" };
        self.expect_keyword(direction)?;
        let place = self.engine_like("place of the backup")?;
        text += &format!(" {direction} {}", format_expr(&place));
        text += &self.backup_settings()?;
        // A name alone is a function, too.
        let place = match place.kind {
            ExprKind::Identifier(parts) => Expr::call(parts.join("."), Vec::new()),
            _ => place,
        };
        let statement = TokenStatement {
            subjects: vec![place],
            output: self.output_options()?,
            ..TokenStatement::new(word, text)
        };
        Ok(Statement::Tokens(Box::new(statement)))
    }

    fn backup_element(&mut self) -> Result<String> {
        if self.keyword("ALL") {
            return Ok(format!("ALL{}", self.backup_exceptions(true)?));
        }
        if self.keyword("DATABASE") {
            let name = self.renamed_object("database")?;
            return Ok(format!("DATABASE {name}{}", self.backup_exceptions(false)?));
        }
        let temporary = self.keyword("TEMPORARY");
        if self.keyword_of(&["TABLE", "VIEW", "DICTIONARY"]).is_none() {
            return Err(self.failure());
        }
        let name = self.renamed_object("table")?;
        let mut text = format!("{}TABLE {name}", if temporary { "TEMPORARY " } else { "" });
        let words = ["PARTITIONS", "PARTITION"];
        if self.keyword_of(&words).is_some() {
            let partitions = self.list(Self::expr)?;
            let word = words[usize::from(partitions.len() == 1)];
            text += &format!(" {word}  {}", texts(&partitions));
        }
        Ok(text)
    }

    /// `name [AS name]`
    fn renamed_object(&mut self, what: &'static str) -> Result<String> {
        let name = self.dotted_name(what)?;
        if !self.keyword("AS") {
            return Ok(name);
        }
        Ok(format!("{name} AS {}", self.dotted_name(what)?))
    }

    /// `EXCEPT TABLES a, b`, `EXCEPT DATABASES a, b`
    fn backup_exceptions(&mut self, of_all: bool) -> Result<String> {
        let (mut databases, mut tables) = (String::new(), String::new());
        loop {
            if tables.is_empty()
                && self
                    .keyword_of(&["EXCEPT TABLES", "EXCEPT TABLE"])
                    .is_some()
            {
                let names = self.list(|p| p.dotted_name("table"))?;
                let plural = if names.len() == 1 { "" } else { "S" };
                tables = format!(" EXCEPT TABLE{plural} {}", names.join(", "));
            } else if of_all
                && databases.is_empty()
                && self
                    .keyword_of(&["EXCEPT DATABASES", "EXCEPT DATABASE"])
                    .is_some()
            {
                let names = self.list(|p| p.identifier("database"))?;
                let plural = if names.len() == 1 { "" } else { "S" };
                let names: Vec<String> = names.iter().map(|name| identifier(name)).collect();
                databases = format!(" EXCEPT DATABASE{plural} {}", names.join(","));
            } else {
                return Ok(databases + &tables);
            }
        }
    }

    /// `[SYNC | ASYNC] [SETTINGS a = 1, base_backup = place]`
    fn backup_settings(&mut self) -> Result<String> {
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let mut mode = None;
        loop {
            if mode.is_none() && self.peek_keyword("ASYNC") || self.peek_keyword("SYNC") {
                mode = Some(self.is_word(0, "ASYNC"));
                self.advance();
            } else if others.is_empty() && first.is_empty() && self.keyword("SETTINGS") {
                for (name, value) in self.list(Self::backup_setting)? {
                    let is_place = name == "base_backup";
                    let into = if is_place { &mut first } else { &mut others };
                    into.push(format!("{} = {value}", identifier(&name)));
                }
            } else {
                break;
            }
        }
        if let Some(is_async) = mode {
            others.retain(|setting| !setting.starts_with("async ="));
            others.push(format!("async = {is_async}"));
        }
        first.append(&mut others);
        Ok(match first.is_empty() {
            true => String::new(),
            false => format!(" SETTINGS {}", first.join(", ")),
        })
    }

    fn backup_setting(&mut self) -> Result<(String, String)> {
        if self.is_word(0, "base_backup") {
            let name = self.identifier("setting")?;
            self.expect_symbol(K::Equals)?;
            let place = self.engine_like("place of the backup")?;
            return Ok((name, format_expr(&place)));
        }
        let setting = self.setting()?;
        let value = setting.value.as_ref().map(setting_text);
        Ok((setting.name, value.unwrap_or_else(|| "DEFAULT".to_owned())))
    }
}

fn texts(exprs: &[Expr]) -> String {
    let texts: Vec<String> = exprs.iter().map(format_expr).collect();
    texts.join(", ")
}
