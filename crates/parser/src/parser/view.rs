//! Parses CREATE VIEW.

use basalt_error::Result;

use super::Parser;
use super::create::CreateStart;
use crate::ast::{CreateView, OutputOptions, Query, Statement, Storage, ViewKind};
use crate::format::{identifier, quoted};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    pub(super) fn view_kind(&mut self) -> Option<ViewKind> {
        Some(match self.keyword_of(&["VIEW", "MATERIALIZED VIEW"])? {
            0 => ViewKind::Plain,
            _ => ViewKind::Materialized,
        })
    }

    pub(super) fn create_view(&mut self, start: CreateStart, kind: ViewKind) -> Result<Statement> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let mut view = CreateView {
            attach: start.attach,
            or_replace: start.or_replace,
            kind,
            temporary: start.temporary,
            if_not_exists,
            name: self.object_name("view name")?,
            uuid: self.uuid()?,
            cluster: None,
            refresh: None,
            to_table: None,
            schema: None,
            storage: Storage::default(),
            populate: false,
            empty: false,
            security: start.security,
            inner_uuid: None,
            query: None,
            comment: None,
            output: OutputOptions::default(),
        };
        view.cluster = self.on_cluster()?;
        while self.view_clause(&mut view)? {}
        self.keyword("AS");
        if !self.at_query_or_parentheses() {
            return Err(self.failure());
        }
        view.query = Some(Box::new(Query::new(self.query_body()?)));
        if view.comment.is_none() {
            view.comment = self.comment()?;
        }
        view.output = self.output_options()?;
        Ok(Statement::CreateView(Box::new(view)))
    }

    /// Whether `DEFINER` or `SQL SECURITY` stands `ahead` of the next token.
    pub(super) fn at_security(&mut self, ahead: usize) -> bool {
        self.is_word(ahead, "DEFINER")
            || self.is_word(ahead, "SQL") && self.is_word(ahead + 1, "SECURITY")
    }

    /// `DEFINER = user` and `SQL SECURITY kind`, one of them or both in any order.
    pub(super) fn sql_security(&mut self) -> Result<String> {
        let (mut definer, mut kind) = (None, None);
        loop {
            if definer.is_none() && self.keyword("DEFINER") {
                self.symbol(K::Equals);
                definer = Some(match self.keyword("CURRENT_USER") {
                    true => "CURRENT_USER".to_owned(),
                    false => self.definer()?,
                });
            } else if kind.is_none() && self.keyword("SQL SECURITY") {
                let kinds = ["DEFINER", "INVOKER", "NONE"];
                kind = Some(match self.keyword_of(&kinds) {
                    Some(choice) => kinds[choice],
                    None => return Err(self.failure()),
                });
            } else {
                break;
            }
        }
        let kind = kind.unwrap_or("DEFINER");
        Ok(match definer {
            Some(user) => format!("DEFINER = {user} SQL SECURITY {kind}"),
            None if kind == "DEFINER" => "DEFINER = CURRENT_USER SQL SECURITY DEFINER".to_owned(),
            None => format!("SQL SECURITY {kind}"),
        })
    }

    fn definer(&mut self) -> Result<String> {
        let name = identifier(&self.name_or_string("user")?);
        if !self.symbol(K::At) {
            return Ok(name);
        }
        let host = self.name_or_string("host")?;
        Ok(format!("{name}@{}", quoted(host.as_bytes())))
    }

    /// A clause between the view's name and AS.
    fn view_clause(&mut self, view: &mut CreateView) -> Result<bool> {
        if view.refresh.is_none() && self.keyword("REFRESH") {
            view.refresh = Some(self.refresh()?);
        } else if view.inner_uuid.is_none() && self.keyword("TO INNER UUID") {
            view.inner_uuid = Some(self.text_string("UUID in single quotes")?);
        } else if view.to_table.is_none() && self.keyword("TO") {
            view.to_table = Some(self.object_name("table")?);
        } else if view.schema.is_none()
            && self.kind() == K::OpenRound
            && !self.at_query_or_parentheses()
        {
            view.schema = Some(self.table_schema(&mut view.storage, false)?);
        } else if view.security.is_none()
            && (self.peek_keyword("DEFINER") || self.peek_keyword("SQL SECURITY"))
        {
            view.security = Some(self.sql_security()?);
        } else if self.keyword("POPULATE") {
            view.populate = true;
        } else if self.keyword("EMPTY") {
            view.empty = true;
        } else if view.comment.is_none() && self.peek_keyword("COMMENT") {
            view.comment = self.comment()?;
        } else {
            let before = self.mark();
            self.storage(&mut view.storage)?;
            return Ok(self.mark() > before);
        }
        Ok(true)
    }
}
