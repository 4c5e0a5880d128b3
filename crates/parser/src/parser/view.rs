//! Parses CREATE VIEW.

use basalt_error::Result;

use super::Parser;
use super::create::CreateStart;
use crate::ast::{CreateView, OutputOptions, Query, Statement, Storage, TokenStatement, ViewKind};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    pub(super) fn view_kind(&mut self) -> Option<ViewKind> {
        let words = ["VIEW", "MATERIALIZED VIEW", "LIVE VIEW", "WINDOW VIEW"];
        Some(match self.keyword_of(&words)? {
            0 => ViewKind::Plain,
            1 => ViewKind::Materialized,
            2 => ViewKind::Live,
            _ => ViewKind::Window,
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
            security: None,
            query: None,
            comment: None,
            output: OutputOptions::default(),
        };
        view.cluster = self.on_cluster()?;
        while self.view_clause(&mut view)? {}
        if self.keyword("AS") || !view.attach {
            if view.query.is_none() && !self.at_query_or_parentheses() {
                return Err(self.failure());
            }
            view.query = Some(Box::new(Query::new(self.query_body()?)));
        }
        if view.comment.is_none() {
            view.comment = self.comment()?;
        }
        view.output = self.output_options()?;
        Ok(Statement::CreateView(Box::new(view)))
    }

    /// A clause between the view's name and AS.
    fn view_clause(&mut self, view: &mut CreateView) -> Result<bool> {
        if view.refresh.is_none() && self.peek_keyword("REFRESH") {
            let ends = [
                "TO", "ENGINE", "AS", "EMPTY", "DEFINER", "SQL", "COMMENT", "POPULATE",
            ];
            let text = self.text_until(&ends)?;
            view.refresh = Some(TokenStatement {
                construct: "REFRESH".to_owned(),
                text,
            });
        } else if view.to_table.is_none() && self.keyword("TO") {
            view.to_table = Some(self.object_name("table")?);
        } else if view.schema.is_none()
            && self.kind() == K::OpenRound
            && !self.at_query_or_parentheses()
        {
            view.schema = Some(self.table_schema(&mut view.storage)?);
        } else if view.security.is_none()
            && (self.peek_keyword("DEFINER") || self.peek_keyword("SQL SECURITY"))
        {
            let text = self.text_until(&["AS", "COMMENT", "ENGINE", "POPULATE", "TO"])?;
            view.security = Some(TokenStatement {
                construct: "SQL SECURITY".to_owned(),
                text,
            });
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
