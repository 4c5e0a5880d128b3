//! Finds out which statement it is, and parses the small ones.

use basalt_error::{Error, ErrorCode, Result};

use super::Parser;
use crate::ast::{
    ColumnDef, Describe, Expr, InsertSource, OutputOptions, Query, Select, SetExpr, Statement,
    TableExpr, TableSource,
};
use crate::lexer::TokenKind as K;

/// Levels of depth that a statement counts as (EXPLAIN may nest them).
const STATEMENT_LEVELS: u32 = 4;

/// The words between statements that may run at the same time.
const PARALLEL: &str = "PARALLEL WITH";

type StatementParser = fn(&mut Parser<'_>) -> Result<Statement>;

/// First words and what parses the statement, the words not yet consumed.
const STATEMENTS: &[(&str, StatementParser)] = &[
    ("SELECT", |p| p.query_statement()),
    ("WITH", |p| p.with_statement()),
    ("FROM", |p| p.query_statement()),
    ("INSERT INTO", |p| p.insert()),
    ("CREATE", |p| p.create()),
    ("REPLACE", |p| p.create()),
    ("ATTACH", |p| p.create()),
    ("DROP", |p| p.drop_statement()),
    ("DETACH", |p| p.drop_statement()),
    ("TRUNCATE", |p| p.truncate()),
    ("RENAME", |p| p.rename()),
    ("EXCHANGE", |p| p.rename()),
    ("ALTER", |p| p.alter()),
    ("DELETE FROM", |p| p.delete()),
    ("UPDATE", |p| p.update()),
    ("SHOW", |p| p.show()),
    ("DESCRIBE", |p| p.describe()),
    ("DESC", |p| p.describe()),
    ("EXISTS", |p| p.exists_statement()),
    ("EXPLAIN", |p| p.explain()),
    ("SET", |p| p.set()),
    ("USE", |p| p.use_database()),
    ("OPTIMIZE TABLE", |p| p.optimize()),
    ("CHECK", |p| p.check()),
    ("SYSTEM", |p| p.system()),
    ("KILL", |p| p.kill()),
    ("GRANT", |p| p.grant("GRANT", "TO")),
    ("REVOKE", |p| p.grant("REVOKE", "FROM")),
    ("BEGIN TRANSACTION", |p| p.begin_transaction()),
    ("START TRANSACTION", |p| p.begin_transaction()),
    ("COMMIT", |p| p.tokens("COMMIT")),
    ("ROLLBACK", |p| p.tokens("ROLLBACK")),
    ("BACKUP", |p| p.backup()),
    ("RESTORE", |p| p.backup()),
    ("UNDROP", |p| p.undrop()),
    ("MOVE", |p| p.tokens("MOVE")),
    ("EXECUTE AS", |p| p.execute_as()),
];

impl Parser<'_> {
    /// A statement, up to the semicolon or the end of the text.
    pub(crate) fn statement(&mut self) -> Result<Statement> {
        let first = self.one_statement()?;
        if self.data_start.is_some() || !self.peek_keyword(PARALLEL) {
            return Ok(first);
        }
        let mut statements = vec![first];
        while self.data_start.is_none() && self.keyword(PARALLEL) {
            statements.push(self.one_statement()?);
        }
        Ok(Statement::Parallel(statements))
    }

    /// A statement, up to `PARALLEL WITH` at the most.
    pub(super) fn one_statement(&mut self) -> Result<Statement> {
        self.enter(STATEMENT_LEVELS)?;
        let statement = self.statement_kind()?;
        self.leave(STATEMENT_LEVELS);
        Ok(statement)
    }

    fn statement_kind(&mut self) -> Result<Statement> {
        if self.kind() == K::OpenRound && self.at_query_or_parentheses() {
            return self.query_statement();
        }
        match STATEMENTS
            .iter()
            .find(|(words, _)| self.peek_keyword(words))
        {
            Some((_, parse)) => parse(self),
            None => Err(self.failure()),
        }
    }

    /// Whether a statement may end here.
    pub(super) fn at_statement_end(&mut self) -> bool {
        matches!(self.kind(), K::End | K::Semicolon | K::VerticalDelimiter) || self.at_parallel()
    }

    /// Whether `PARALLEL WITH` is next.
    pub(super) fn at_parallel(&mut self) -> bool {
        self.is_word(0, "PARALLEL") && self.is_word(1, "WITH")
    }

    /// Consumes the end of a statement; tells whether it was `\G`.
    pub(crate) fn statement_end(&mut self) -> Result<bool> {
        if !self.at_statement_end() || self.at_parallel() {
            return self.fail("end of query");
        }
        Ok(self.advance().kind == K::VerticalDelimiter)
    }

    /// Skips semicolons; `false` at the end of the text.
    pub(crate) fn more_statements(&mut self) -> bool {
        while self.symbol(K::Semicolon) {}
        self.kind() != K::End
    }

    /// Byte offset of the next significant token.
    pub(crate) fn offset(&mut self) -> usize {
        self.start_span().start as usize
    }

    /// Byte offset after the last consumed token.
    pub(crate) fn end_offset(&self) -> usize {
        self.last_span().end as usize
    }

    /// Where inline data begins, if the statement has any.
    pub(crate) fn inline_data(&self) -> Option<usize> {
        self.data_start
    }

    /// The error that text follows a statement that should be the only one.
    pub(crate) fn extra_statement(&mut self) -> Error {
        let span = self.start_span();
        let message = "run several statements as a script: only one is expected here".to_owned();
        self.error_at(span, ErrorCode::SYNTAX_ERROR, message)
    }

    /// Fails unless the text ends here.
    pub(crate) fn end_of_text(&mut self) -> Result<()> {
        if self.kind() == K::End {
            Ok(())
        } else {
            self.fail("end of text")
        }
    }

    /// An expression with an optional alias.
    pub(crate) fn whole_expr(&mut self) -> Result<Expr> {
        self.select_item()
    }

    /// Columns with commas between, as in a table function's structure.
    pub(crate) fn column_list(&mut self) -> Result<Vec<ColumnDef>> {
        self.list(Self::column_def)
    }

    /// `WITH .. SELECT`, `WITH .. INSERT INTO .. SELECT`
    fn with_statement(&mut self) -> Result<Statement> {
        let mark = self.mark();
        let mut with = Select::default();
        if self.with_clause(&mut with).is_err() || !self.peek_keyword("INSERT INTO") {
            self.back(mark);
            return self.query_statement();
        }
        let mut statement = self.insert()?;
        if let Statement::Insert(insert) = &mut statement
            && let InsertSource::Query(query) = &mut insert.source
            && let Some(first) = first_select(&mut query.body)
        {
            first.recursive |= with.recursive;
            with.with.append(&mut first.with);
            first.with = with.with;
            return Ok(statement);
        }
        self.fail("SELECT behind WITH .. INSERT INTO")
    }

    fn query_statement(&mut self) -> Result<Statement> {
        let query = self.query()?;
        Ok(Statement::Query(Box::new(query)))
    }

    fn describe(&mut self) -> Result<Statement> {
        if self.is_word(1, "FILESYSTEM") && self.is_word(2, "CACHE") {
            let mut statement = self.rest_as_text("DESCRIBE FILESYSTEM CACHE")?;
            if statement.text.starts_with("DESC ") {
                statement.text.replace_range(..4, "DESCRIBE");
            }
            return Ok(Statement::Tokens(Box::new(statement)));
        }
        self.advance();
        let table_follows = !matches!(self.token(1).kind, K::End | K::Semicolon | K::Dot);
        if table_follows {
            self.keyword("TABLE");
        }
        let start = self.start_span();
        let table = if self.at_query() {
            let query = Query::new(self.query_body()?);
            TableExpr::of(
                TableSource::Subquery(Box::new(query)),
                self.span_from(start),
            )
        } else {
            self.table_expr()?
        };
        Ok(Statement::Describe(Box::new(Describe {
            table,
            output: self.output_options()?,
        })))
    }
}

/// The output options of a statement that has some at its end.
pub(super) fn output_of(statement: &mut Statement) -> Option<&mut OutputOptions> {
    Some(match statement {
        Statement::Query(s) => &mut s.output,
        Statement::CreateTable(s) => &mut s.output,
        Statement::CreateView(s) => &mut s.output,
        Statement::CreateDatabase(s) => &mut s.output,
        Statement::Drop(s) => &mut s.output,
        Statement::Truncate(s) => &mut s.output,
        Statement::Rename(s) => &mut s.output,
        Statement::Alter(s) => &mut s.output,
        Statement::Show(s) => &mut s.output,
        Statement::Describe(s) => &mut s.output,
        Statement::Exists(s) => &mut s.output,
        Statement::Explain(s) => &mut s.output,
        Statement::Optimize(s) => &mut s.output,
        Statement::Check(s) => &mut s.output,
        Statement::Kill(s) => &mut s.output,
        _ => return None,
    })
}

/// The SELECT of a query whose WITH all of it sees.
fn first_select(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Nested(inner) => first_select(inner),
        SetExpr::Operation { branches, .. } => first_select(branches.first_mut()?),
    }
}
