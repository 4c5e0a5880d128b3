//! Finds out which statement it is, and parses the small ones.

use basalt_error::{Error, ErrorCode, Result};

use super::Parser;
use crate::ast::{
    Check, ColumnDef, Describe, Expr, InsertSource, Kill, Optimize, OutputOptions, Partition,
    Query, Select, SetExpr, Statement, SystemCommand, TableExpr, TableSource, Use,
};
use crate::lexer::TokenKind as K;

/// Levels of depth that a statement counts as (EXPLAIN may nest them).
const STATEMENT_LEVELS: u32 = 4;

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
    ("GRANT", |p| p.tokens("GRANT")),
    ("REVOKE", |p| p.tokens("REVOKE")),
    ("BEGIN TRANSACTION", |p| p.tokens("BEGIN TRANSACTION")),
    ("START TRANSACTION", |p| p.tokens("START TRANSACTION")),
    ("COMMIT", |p| p.tokens("COMMIT")),
    ("ROLLBACK", |p| p.tokens("ROLLBACK")),
    ("BACKUP", |p| p.tokens("BACKUP")),
    ("RESTORE", |p| p.tokens("RESTORE")),
    ("UNDROP", |p| p.tokens("UNDROP")),
    ("MOVE", |p| p.tokens("MOVE")),
    ("EXECUTE AS", |p| p.tokens("EXECUTE AS")),
    ("WATCH", |p| p.tokens("WATCH")),
];

impl Parser<'_> {
    /// A statement, up to the semicolon or the end of the text.
    pub(crate) fn statement(&mut self) -> Result<Statement> {
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
        matches!(self.kind(), K::End | K::Semicolon | K::VerticalDelimiter)
    }

    /// Consumes the end of a statement; tells whether it was `\G`.
    pub(crate) fn statement_end(&mut self) -> Result<bool> {
        if !self.at_statement_end() {
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

    fn set(&mut self) -> Result<Statement> {
        for words in ["SET ROLE", "SET DEFAULT ROLE", "SET TRANSACTION"] {
            if self.peek_keyword(words) {
                return self.tokens(words);
            }
        }
        self.advance();
        Ok(Statement::Set(self.list(Self::setting)?))
    }

    fn use_database(&mut self) -> Result<Statement> {
        self.advance();
        if self.token(1).kind == K::Word || self.token(1).kind == K::QuotedIdentifier {
            self.keyword("DATABASE");
        }
        let (database, is_parameter) = self.name_or_parameter("database")?;
        Ok(Statement::Use(Use {
            database,
            is_parameter,
        }))
    }

    fn optimize(&mut self) -> Result<Statement> {
        self.expect_keyword("OPTIMIZE TABLE")?;
        let table = self.object_name("table")?;
        let cluster = self.on_cluster()?;
        let partition = self.partition()?;
        let final_ = self.keyword("FINAL") || self.keyword("FORCE");
        let deduplicate = self.keyword("DEDUPLICATE");
        let deduplicate_by = if deduplicate && self.keyword("BY") {
            self.list(Self::expr)?
        } else {
            Vec::new()
        };
        let cleanup = self.keyword("CLEANUP");
        let output = self.output_options()?;
        Ok(Statement::Optimize(Box::new(Optimize {
            table,
            cluster,
            partition,
            final_,
            deduplicate,
            deduplicate_by,
            cleanup,
            output,
        })))
    }

    fn check(&mut self) -> Result<Statement> {
        if self.peek_keyword("CHECK GRANT") {
            return self.tokens("CHECK GRANT");
        }
        self.advance();
        let mut check = Check {
            table: None,
            partition: None,
            output: OutputOptions::default(),
        };
        if !self.keyword("ALL TABLES") {
            self.expect_keyword("TABLE")?;
            check.table = Some(self.object_name("table")?);
            check.partition = self.partition()?;
        }
        check.output = self.output_options()?;
        Ok(Statement::Check(Box::new(check)))
    }

    /// `PARTITION x`, `PART 'x'`, if one is next.
    pub(super) fn partition(&mut self) -> Result<Option<Partition>> {
        if self.keyword("PARTITION ID") {
            return Ok(Some(Partition::Id(self.string("partition's ID")?)));
        }
        if self.keyword("PARTITION ALL") {
            return Ok(Some(Partition::All));
        }
        if self.keyword("PARTITION") {
            let mut value = self.expr()?;
            value.span.parenthesised = false;
            return Ok(Some(Partition::Value(value)));
        }
        if self.keyword("PART") {
            return Ok(Some(Partition::Part(self.string("part's name")?)));
        }
        Ok(None)
    }

    /// `SYSTEM` and its words; the command is all words up to the first that is no keyword.
    fn system(&mut self) -> Result<Statement> {
        self.advance();
        if self.at_statement_end() {
            return self.fail("SYSTEM command");
        }
        let mut words = Vec::new();
        while self.kind() == K::Word && crate::keywords::is_system_word(self.token_text(0)) {
            words.push(String::from_utf8_lossy(self.token_text(0)).to_ascii_uppercase());
            self.advance();
        }
        let command = words.join(" ");
        let construct = format!("SYSTEM {command}");
        let rest = self.rest_as_text(&construct)?;
        Ok(Statement::System(Box::new(SystemCommand { command, rest })))
    }

    fn kill(&mut self) -> Result<Statement> {
        self.advance();
        let mutation = match self.keyword_of(&["QUERY", "MUTATION"]) {
            Some(choice) => choice == 1,
            None if self.is_word(0, "TRANSACTION") || self.is_word(0, "PART_MOVE_TO_SHARD") => {
                return self.fail("QUERY or MUTATION");
            }
            None => return Err(self.failure()),
        };
        let cluster = self.on_cluster()?;
        self.expect_keyword("WHERE")?;
        let where_ = self.expr()?;
        let mode = self.keyword_of(&["SYNC", "ASYNC", "TEST"]);
        let output = self.output_options()?;
        let (sync, test) = (mode == Some(0), mode == Some(2));
        Ok(Statement::Kill(Box::new(Kill {
            mutation,
            cluster,
            where_,
            sync,
            test,
            output,
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
