//! Parses CREATE USER, ALTER USER, CREATE ROLE and ALTER ROLE.

use basalt_error::Result;

use super::super::Parser;
use super::{Place, Verb, Words, string};
use crate::ast::Statement;
use crate::format::{identifier, quoted};
use crate::lexer::TokenKind as K;

/// Methods of IDENTIFIED WITH that take a password or a hash behind BY.
const PASSWORDS: &[&str] = &[
    "plaintext_password",
    "sha256_password",
    "double_sha1_password",
    "bcrypt_password",
    "scram_sha256_password",
    "sha256_hash",
    "double_sha1_hash",
    "bcrypt_hash",
    "scram_sha256_hash",
];

/// The clauses of a user, in the order in which they are written out.
#[derive(Debug, Default)]
struct Clauses {
    authentication: Option<String>,
    valid_until: Option<String>,
    hosts: Vec<String>,
    default_database: Option<String>,
    default_roles: Option<String>,
    settings: Option<String>,
    grantees: Option<String>,
}

impl Parser<'_> {
    pub(super) fn role(&mut self, verb: Verb) -> Result<Statement> {
        let mut text = self.beginning(verb, "ROLE");
        let names = self.plain_names()?;
        let names: Vec<String> = names.iter().map(|n| identifier(n)).collect();
        text.push(&names.join(", "));
        let mut place = Place::new(verb, names.len() == 1, string);
        let mut settings = None;
        loop {
            if self.place_clause(&mut place)? {
                continue;
            }
            if let Some(clause) = self.settings_clause(verb, "PROFILE")? {
                settings = Some(clause);
            } else {
                break;
            }
        }
        text.push_place(place);
        text.push_some(settings);
        self.finished(format!("{} ROLE", verb.words()), text)
    }

    pub(super) fn user(&mut self, verb: Verb) -> Result<Statement> {
        let mut text = self.beginning(verb, "USER");
        let users = self.list(Self::user_name)?;
        let names: Vec<&str> = users.iter().map(|(name, _)| name.as_str()).collect();
        text.push(&names.join(", "));
        let mut clauses = Clauses::default();
        let mut own_hosts: Vec<String> = Vec::new();
        for host in users.iter().filter_map(|(_, host)| host.as_ref()) {
            if !own_hosts.contains(host) {
                own_hosts.push(host.clone());
            }
        }
        let mut place = Place::new(verb, users.len() == 1, string);
        let start = self.mark();
        while self.place_clause(&mut place)? || self.user_clause(verb, &mut clauses)? {}
        if verb == Verb::Alter && self.mark() == start {
            return Err(self.failure());
        }
        if clauses.hosts.is_empty() && !own_hosts.is_empty() {
            clauses.hosts.push(format!("HOST {}", own_hosts.join(", ")));
        }
        text.push_place(place);
        text.push_some(clauses.authentication);
        text.push_some(clauses.valid_until);
        // Whatever order they were written in: HOST, ADD HOST, DROP HOST.
        clauses.hosts.sort_by_key(|clause| {
            let first = clause.split(' ').next();
            ["HOST", "ADD", "DROP"]
                .iter()
                .position(|word| first == Some(word))
        });
        text.push(&clauses.hosts.join(" "));
        let rest = [clauses.default_database, clauses.default_roles];
        for clause in rest.into_iter().chain([clauses.settings, clauses.grantees]) {
            text.push_some(clause);
        }
        self.finished(format!("{} USER", verb.words()), text)
    }

    /// `name`, `name@'host'`: as written, and the host that it stands for.
    fn user_name(&mut self) -> Result<(String, Option<String>)> {
        if let Some(bytes) = self.try_string() {
            return Ok((quoted(&bytes), None));
        }
        let name = identifier(&self.identifier("user")?);
        if !self.symbol(K::At) {
            return Ok((name, None));
        }
        let host = self.name_or_string("host")?;
        let shown = quoted(host.as_bytes());
        let meaning = match host.as_str() {
            "localhost" => "LOCAL".to_owned(),
            "%" => "ANY".to_owned(),
            _ => format!("LIKE {shown}"),
        };
        Ok((format!("{name}@{shown}"), Some(meaning)))
    }

    fn user_clause(&mut self, verb: Verb, clauses: &mut Clauses) -> Result<bool> {
        let is_alter = verb == Verb::Alter;
        if self.keyword("NOT IDENTIFIED") {
            clauses.authentication = Some("IDENTIFIED WITH no_password".to_owned());
        } else if is_alter && self.keyword("RESET AUTHENTICATION METHODS TO NEW") {
            clauses.authentication = Some("RESET AUTHENTICATION METHODS TO NEW".to_owned());
        } else if is_alter && self.keyword("ADD IDENTIFIED") {
            clauses.authentication = Some(format!("ADD {}", self.authentication()?));
        } else if self.keyword("IDENTIFIED") {
            clauses.authentication = Some(self.authentication()?);
        } else if self.keyword("VALID UNTIL") {
            clauses.valid_until = Some(format!("VALID UNTIL {}", self.literal_text("time")?));
        } else if is_alter && self.keyword("ADD HOST") {
            clauses.hosts.push(format!("ADD HOST {}", self.hosts()?));
        } else if is_alter && self.keyword("DROP HOST") {
            clauses.hosts.push(format!("DROP HOST {}", self.hosts()?));
        } else if self.keyword("HOST") {
            clauses.hosts.push(format!("HOST {}", self.hosts()?));
        } else if self.keyword("DEFAULT DATABASE") {
            let database = match self.keyword("NONE") {
                true => "NONE".to_owned(),
                false => identifier(&self.identifier("database")?),
            };
            clauses.default_database = Some(format!("DEFAULT DATABASE {database}"));
        } else if self.keyword("DEFAULT ROLE") {
            let roles = self.entity_set(&["ALL", "NONE"])?;
            clauses.default_roles = Some(format!("DEFAULT ROLE {roles}"));
        } else if self.keyword("GRANTEES") {
            let grantees = self.entity_set(&["ANY", "NONE", "CURRENT_USER"])?;
            clauses.grantees = Some(format!("GRANTEES {grantees}"));
        } else if let Some(settings) = self.settings_clause(verb, "PROFILE")? {
            clauses.settings = Some(settings);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// What stands behind IDENTIFIED.
    fn authentication(&mut self) -> Result<String> {
        if self.keyword("BY") {
            return Ok(format!("IDENTIFIED BY {}", self.literal_text("password")?));
        }
        self.expect_keyword("WITH")?;
        let methods = self.list(Self::authentication_method)?;
        Ok(format!("IDENTIFIED WITH {}", methods.join(", ")))
    }

    fn authentication_method(&mut self) -> Result<String> {
        let method = self
            .identifier("method of authentication")?
            .to_ascii_lowercase();
        let mut text = Words::of(method.clone());
        match method.as_str() {
            "no_password" => {}
            m if PASSWORDS.contains(&m) => {
                self.expect_keyword("BY")?;
                text.push(&format!("BY {}", self.literal_text("password")?));
                if self.keyword("SALT") {
                    text.push(&format!("SALT {}", self.literal_text("salt")?));
                }
            }
            "ldap" => {
                self.expect_keyword("SERVER")?;
                text.push(&format!("SERVER {}", self.literal_text("server")?));
            }
            "kerberos" => {
                if self.keyword("REALM") {
                    text.push(&format!("REALM {}", self.literal_text("realm")?));
                }
            }
            "ssl_certificate" => {
                let choices = ["CN", "SAN"];
                let Some(choice) = self.keyword_of(&choices) else {
                    return Err(self.failure());
                };
                let names = self.list(|p| p.literal_text("name"))?;
                text.push(&format!("{} {}", choices[choice], names.join(", ")));
            }
            "ssh_key" => {
                self.expect_keyword("BY")?;
                let keys = self.list(Self::ssh_key)?;
                text.push(&format!("BY {}", keys.join(", ")));
            }
            "http" => {
                self.expect_keyword("SERVER")?;
                text.push(&format!("SERVER {}", self.literal_text("server")?));
                if self.keyword("SCHEME") {
                    text.push(&format!("SCHEME {}", self.literal_text("scheme")?));
                }
            }
            _ => return self.fail("method of authentication"),
        }
        Ok(text.0)
    }

    fn ssh_key(&mut self) -> Result<String> {
        self.expect_keyword("KEY")?;
        let key = identifier(&self.name_or_string("key")?);
        self.expect_keyword("TYPE")?;
        let kind = identifier(&self.name_or_string("type of the key")?);
        Ok(format!("KEY {key} TYPE {kind}"))
    }

    /// `ANY`, `NONE`, `LOCAL`, `NAME 'n'`, `REGEXP 'r'`, `IP 'a'`, `LIKE 'p'`, with commas between.
    fn hosts(&mut self) -> Result<String> {
        const KINDS: [&str; 4] = ["IP", "NAME", "REGEXP", "LIKE"];
        let (mut is_any, mut is_local) = (false, false);
        let mut listed: [Vec<String>; 4] = Default::default();
        let mut last: Option<usize> = None;
        loop {
            if self.keyword("ANY") {
                is_any = true;
            } else if self.keyword("LOCAL") {
                is_local = true;
            } else if !self.keyword("NONE") {
                // A string alone is of the kind before it.
                let kind = match self.keyword_of(&KINDS) {
                    Some(kind) => kind,
                    None => match last.filter(|_| self.kind() == K::String) {
                        Some(kind) => kind,
                        None => return Err(self.failure()),
                    },
                };
                last = Some(kind);
                let host = self.string("host")?;
                match (kind, host.as_slice()) {
                    (0, b"127.0.0.1" | b"::1") => is_local = true,
                    _ => listed[kind].push(quoted(&host)),
                }
            }
            if !self.symbol(K::Comma) {
                break;
            }
        }
        if is_any {
            return Ok("ANY".to_owned());
        }
        let mut parts = Vec::new();
        if is_local {
            parts.push("LOCAL".to_owned());
        }
        for (kind, hosts) in KINDS.iter().zip(&listed) {
            if !hosts.is_empty() {
                parts.push(format!("{kind} {}", hosts.join(", ")));
            }
        }
        if parts.is_empty() {
            parts.push("NONE".to_owned());
        }
        Ok(parts.join(", "))
    }
}
