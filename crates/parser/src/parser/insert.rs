//! Parses INSERT and finds its inline data.

use basalt_error::Result;

use super::Parser;
use crate::ast::{
    Expr, Insert, InsertSource, InsertTarget, IntoOutfile, Query, SetExpr, Setting, Statement,
};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> Result<Statement> {
        self.expect_keyword("INSERT INTO")?;
        self.keyword("TABLE");
        let target = self.insert_target()?;
        let is_function = matches!(target, InsertTarget::Function(_));
        let partition_by = if is_function && self.keyword("PARTITION BY") {
            Some(self.expr()?)
        } else {
            None
        };
        let columns = self.insert_columns()?;
        let infile = if self.keyword("FROM INFILE") {
            Some(Box::new(self.infile()?))
        } else {
            None
        };
        let mut settings = if self.keyword("SETTINGS") {
            self.list(Self::setting)?
        } else {
            Vec::new()
        };
        let source = self.insert_source(infile.is_some())?;
        if let InsertSource::Query(query) = &source {
            // Settings of the query are those of the whole statement.
            settings_of_query(&query.body, &mut settings);
            add_settings(&query.output.settings, &mut settings);
        }
        let insert = Insert {
            target,
            columns,
            partition_by,
            infile,
            settings,
            source,
        };
        Ok(Statement::Insert(Box::new(insert)))
    }

    fn insert_target(&mut self) -> Result<InsertTarget> {
        let function = self.is_word(0, "FUNCTION")
            && matches!(self.token(1).kind, K::Word | K::QuotedIdentifier);
        if !function {
            return Ok(InsertTarget::Table(self.object_name("table")?));
        }
        self.advance();
        let start = self.start_span();
        let name = self.identifier("table function")?;
        Ok(InsertTarget::Function(self.table_function(name, start)?))
    }

    /// `(a, b)`, `(* EXCEPT a)`; a query or rows in parentheses are no list.
    fn insert_columns(&mut self) -> Result<Option<Vec<Expr>>> {
        if self.kind() != K::OpenRound
            || self.at_query_or_parentheses()
            || self.at_rows_in_parentheses()
        {
            return Ok(None);
        }
        self.advance();
        if self.kind() == K::CloseRound {
            return self.fail("a column");
        }
        Ok(Some(self.items_with_last_comma()?))
    }

    fn infile(&mut self) -> Result<IntoOutfile> {
        let path = self.file_name()?;
        let compression = if self.keyword("COMPRESSION") {
            Some(self.file_name()?)
        } else {
            None
        };
        let (truncate, append, and_stdout, level) = (false, false, false, None);
        Ok(IntoOutfile {
            path,
            truncate,
            append,
            and_stdout,
            compression,
            level,
        })
    }

    fn insert_source(&mut self, infile: bool) -> Result<InsertSource> {
        let at_values = self.peek_keyword("VALUES");
        if at_values || self.peek_keyword("FORMAT") {
            self.advance();
            let name = if at_values {
                "Values".to_owned()
            } else {
                self.identifier("format")?
            };
            if self.keyword_settings_after_format() {
                return self.fail("data, or SETTINGS before FORMAT");
            }
            let span = self.last_span();
            if infile {
                // The rows stand in the file: other statements may follow.
                return Ok(InsertSource::Format { name, span });
            }
            let end = span.end as usize;
            self.data_start = Some(if at_values {
                end
            } else {
                data_start(self.text, end)
            });
            return Ok(InsertSource::Format { name, span });
        }
        if infile && self.at_statement_end() {
            // The file's name tells the format.
            let (name, span) = (String::new(), self.last_span());
            return Ok(InsertSource::Format { name, span });
        }
        if self.at_rows_in_parentheses() {
            let start = self.advance().span;
            let rows = self.rows_as_query(start)?;
            self.expect_symbol(K::CloseRound)?;
            return Ok(InsertSource::Query(Box::new(Query::new(rows))));
        }
        if !self.at_query_or_parentheses() {
            return Err(self.failure());
        }
        let query = self.query()?;
        Ok(InsertSource::Query(Box::new(query)))
    }

    /// SETTINGS directly after FORMAT is no data. Looks at bytes only: data is not lexed.
    fn keyword_settings_after_format(&mut self) -> bool {
        let end = self.last_span().end as usize;
        let rest = self.text.get(end..).unwrap_or_default().trim_ascii_start();
        let word: Vec<u8> = rest
            .iter()
            .take_while(|b| b.is_ascii_alphabetic())
            .copied()
            .collect();
        word == b"SETTINGS"
    }
}

/// Where data begins after the format's name: after spaces and one line break.
fn data_start(text: &[u8], after_format: usize) -> usize {
    let mut at = after_format;
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    while matches!(byte(at), b' ' | b'\t' | 0x0c) {
        at += 1;
    }
    if byte(at) == b'\r' {
        at += 1;
    }
    if byte(at) == b'\n' {
        at += 1;
    }
    at
}

fn settings_of_query(body: &SetExpr, all: &mut Vec<Setting>) {
    match body {
        SetExpr::Select(select) => add_settings(&select.settings, all),
        SetExpr::Nested(inner) => settings_of_query(inner, all),
        SetExpr::Operation { branches, .. } => {
            branches
                .iter()
                .for_each(|branch| settings_of_query(branch, all));
        }
    }
}

fn add_settings(settings: &[Setting], all: &mut Vec<Setting>) {
    for setting in settings {
        if !all.iter().any(|known| known.name == setting.name) {
            all.push(setting.clone());
        }
    }
}
