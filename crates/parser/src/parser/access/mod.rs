//! Parses the statements about users, roles, quotas, row policies and settings profiles.
//!
//! Nothing runs them, so that their tree is their canonical text: what is parsed here is checked whole and
//! written as ClickHouse's formatter does.
//!
//! | module | owns |
//! |---|---|
//! | [`user`] | CREATE and ALTER of users and roles |
//! | [`settings`] | the settings of users, roles and profiles |
//! | [`profile`] | CREATE and ALTER of settings profiles |
//! | [`quota`] | CREATE and ALTER of quotas |
//! | [`policy`] | CREATE and ALTER of row policies, and the tables that they are on |
//! | [`grant`] | GRANT and REVOKE, CHECK GRANT |
//! | [`entity`] | DROP and SHOW CREATE of all of them |

mod entity;
mod grant;
mod policy;
mod profile;
mod quota;
mod settings;
mod user;

use basalt_error::Result;

use super::Parser;
use crate::ast::{Statement, TokenStatement};
use crate::format::{identifier, quoted};
use crate::lexer::TokenKind as K;

/// A text that grows by words.
#[derive(Debug, Default)]
struct Words(String);

impl Words {
    fn of(first: impl Into<String>) -> Self {
        Words(first.into())
    }

    fn push(&mut self, words: &str) {
        if !self.0.is_empty() && !words.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(words);
    }

    fn push_place(&mut self, place: Place) {
        for words in [place.storage, place.cluster, place.new_name] {
            self.push_some(words);
        }
    }

    fn push_some(&mut self, words: Option<String>) {
        if let Some(words) = words {
            self.push(&words);
        }
    }
}

/// Where entities are kept, and the new name of one.
#[derive(Debug)]
struct Place {
    storage: Option<String>,
    cluster: Option<String>,
    new_name: Option<String>,
    /// Whether there may be a new name: one entity is altered.
    is_renamed: bool,
    /// How a new name is written.
    shown: fn(&str) -> String,
}

impl Place {
    fn new(verb: Verb, is_one: bool, shown: fn(&str) -> String) -> Self {
        Self {
            storage: None,
            cluster: None,
            new_name: None,
            is_renamed: verb == Verb::Alter && is_one,
            shown,
        }
    }
}

/// A name as a string.
fn string(name: &str) -> String {
    quoted(name.as_bytes())
}

/// Whether a statement makes something or changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Create,
    Alter,
}

impl Verb {
    fn words(self) -> &'static str {
        match self {
            Verb::Create => "CREATE",
            Verb::Alter => "ALTER",
        }
    }
}

impl Parser<'_> {
    /// CREATE or ALTER of an entity of access control, if that is what stands here.
    pub(in crate::parser) fn access_statement(&mut self) -> Result<Option<Statement>> {
        let mark = self.mark();
        let verb = if self.is_word(0, "CREATE") {
            Verb::Create
        } else if self.is_word(0, "ALTER") {
            Verb::Alter
        } else {
            return Ok(None);
        };
        self.advance();
        let statement = if self.keyword("USER") {
            self.user(verb)
        } else if self.keyword("ROLE") {
            self.role(verb)
        } else if self.keyword("QUOTA") {
            self.quota(verb)
        } else if self.keyword("ROW POLICY") || self.keyword("POLICY") {
            self.row_policy(verb)
        } else if self.keyword("SETTINGS PROFILE") || self.keyword("PROFILE") {
            self.settings_profile(verb)
        } else {
            self.back(mark);
            return Ok(None);
        };
        statement.map(Some)
    }

    /// The statement of that text, at its end; FORMAT and the like may follow.
    fn finished(&mut self, construct: String, text: Words) -> Result<Statement> {
        let output = self.output_options()?;
        if !self.at_statement_end() {
            return self.fail("end of query");
        }
        let Words(text) = text;
        Ok(Statement::Tokens(Box::new(TokenStatement {
            output,
            ..TokenStatement::new(construct, text)
        })))
    }

    /// `CREATE USER IF NOT EXISTS`, `ALTER USER IF EXISTS`: the beginning of the text.
    fn beginning(&mut self, verb: Verb, entity: &str) -> Words {
        let mut text = Words::of(format!("{} {entity}", verb.words()));
        if verb == Verb::Alter && self.keyword("IF EXISTS") {
            text.push("IF EXISTS");
        } else if verb == Verb::Create && self.keyword("IF NOT EXISTS") {
            text.push("IF NOT EXISTS");
        } else if verb == Verb::Create && self.keyword("OR REPLACE") {
            text.push("OR REPLACE");
        }
        text
    }

    /// A clause that tells where an entity is kept, or its new name.
    fn place_clause(&mut self, place: &mut Place) -> Result<bool> {
        if place.cluster.is_none() && self.peek_keyword("ON CLUSTER") {
            place.cluster = self.cluster_text()?;
        } else if place.storage.is_none() && self.peek_keyword("IN") {
            place.storage = self.storage_text()?;
        } else if place.is_renamed && self.keyword("RENAME TO") {
            let name = self.name_or_string("name")?;
            place.new_name = Some(format!("RENAME TO {}", (place.shown)(&name)));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn cluster_text(&mut self) -> Result<Option<String>> {
        let cluster = self.on_cluster()?;
        Ok(cluster.map(|c| format!("ON CLUSTER {}", identifier(&c))))
    }

    /// `IN storage`
    fn storage_text(&mut self) -> Result<Option<String>> {
        if !self.keyword("IN") {
            return Ok(None);
        }
        let storage = self.name_or_string("storage")?;
        Ok(Some(format!("IN {}", identifier(&storage))))
    }

    /// Names with commas between, each a word or a string.
    fn plain_names(&mut self) -> Result<Vec<String>> {
        self.list(|p| p.name_or_string("name"))
    }

    /// `ALL | NONE | names [EXCEPT names]`; the names of `words` stand for themselves.
    fn entity_set(&mut self, words: &[&'static str]) -> Result<String> {
        let (mut names, mut marked) = (Vec::new(), Vec::new());
        let name = |p: &mut Self| -> Result<(String, bool)> {
            for word in words {
                if p.keyword(word) {
                    return Ok(((*word).to_owned(), true));
                }
            }
            let name = p.name_or_string("name")?;
            Ok((identifier(&p.with_host(name)?), false))
        };
        for (name, is_word) in self.list(name)? {
            let into = if is_word { &mut marked } else { &mut names };
            into.push(name);
        }
        names.extend(marked);
        let mut text = names.join(", ");
        if self.keyword("EXCEPT") {
            let except = self.list(name)?;
            let except: Vec<String> = except.into_iter().map(|(name, _)| name).collect();
            text = format!("{text} EXCEPT {}", except.join(", "));
        }
        Ok(text)
    }

    /// `user@host`, if a host follows.
    fn with_host(&mut self, name: String) -> Result<String> {
        if !self.symbol(K::At) {
            return Ok(name);
        }
        let host = self.name_or_string("host")?;
        // Any host is the same as none.
        Ok(match host.as_str() {
            "%" => name,
            host => format!("{name}@{host}"),
        })
    }

    /// `TO …`: whom a quota, policy or profile is for.
    fn recipients_clause(&mut self, verb: Verb) -> Result<Option<String>> {
        if !self.keyword("TO") {
            return Ok(None);
        }
        let set = self.entity_set(&["ALL", "NONE", "CURRENT_USER"])?;
        let is_shown = verb == Verb::Alter || set != "NONE";
        Ok(is_shown.then(|| format!("TO {set}")))
    }

    /// A literal in its canonical spelling.
    fn literal_text(&mut self, what: &'static str) -> Result<String> {
        if let Some(bytes) = self.try_string() {
            return Ok(quoted(&bytes));
        }
        let is_constant = matches!(self.kind(), K::Number | K::Minus | K::Plus)
            || ["TRUE", "FALSE", "NULL", "INF", "NAN"]
                .iter()
                .any(|word| self.is_word(0, word));
        if !is_constant {
            return self.fail(what);
        }
        let value = self.expr_above(super::operator::precedence::UNARY)?;
        Ok(crate::format::format_expr(&value))
    }
}
