//! Finds out which statement it is, and parses the small ones.

use basalt_error::{Error, ErrorCode, Result};

use super::Parser;
use crate::ast::{
    Check, ColumnDef, Describe, Expr, ExprKind, InsertSource, Kill, Literal, ObjectName, Optimize,
    OutputOptions, Partition, Query, Select, SetExpr, Setting, Statement, SystemCommand, TableExpr,
    TableSource, TokenStatement, Use,
};
use crate::format::{identifier, quoted};
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
    ("WATCH", |p| p.tokens("WATCH")),
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

    fn set(&mut self) -> Result<Statement> {
        for words in ["SET ROLE", "SET DEFAULT ROLE", "SET TRANSACTION"] {
            if self.peek_keyword(words) {
                return self.tokens(words);
            }
        }
        self.advance();
        let mut settings = self.list(Self::setting)?;
        for setting in &mut settings {
            parameter_as_text(setting);
        }
        // Parameters come last, before them what is set to its default.
        settings.sort_by_key(|setting| (is_parameter(setting), setting.value.is_none()));
        Ok(Statement::Set(settings))
    }

    fn begin_transaction(&mut self) -> Result<Statement> {
        let mut statement = self.rest_as_text("BEGIN TRANSACTION")?;
        statement.text = statement.text.replacen("START", "BEGIN", 1);
        Ok(Statement::Tokens(Box::new(statement)))
    }

    /// `EXECUTE AS user [statement]`
    fn execute_as(&mut self) -> Result<Statement> {
        self.expect_keyword("EXECUTE AS")?;
        let user = self.name_or_string("user")?;
        let statement = match self.at_statement_end() {
            true => None,
            false => Some(Box::new(self.one_statement()?)),
        };
        Ok(Statement::ExecuteAs { user, statement })
    }

    fn use_database(&mut self) -> Result<Statement> {
        self.advance();
        if self.token(1).kind == K::Word || self.token(1).kind == K::QuotedIdentifier {
            self.keyword("DATABASE");
        }
        let start = self.start_span();
        let (database, is_parameter) = self.name_or_parameter("database")?;
        Ok(Statement::Use(Use {
            database,
            is_parameter,
            span: self.span_from(start),
        }))
    }

    fn optimize(&mut self) -> Result<Statement> {
        self.expect_keyword("OPTIMIZE TABLE")?;
        let table = self.object_name("table")?;
        let cluster = self.on_cluster()?;
        if self.keyword("DRY RUN PARTS") {
            return self.dry_run(&table, cluster.as_deref());
        }
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

    /// `OPTIMIZE TABLE t DRY RUN PARTS 'a', 'b'`, up to PARTS consumed.
    fn dry_run(&mut self, table: &ObjectName, cluster: Option<&str>) -> Result<Statement> {
        let parts = self.list(|p| p.string("part's name"))?;
        let parts: Vec<String> = parts.iter().map(|part| quoted(part)).collect();
        let names = table.database.iter().chain([&table.name]);
        let names: Vec<String> = names.map(|part| identifier(part)).collect();
        let mut text = format!("OPTIMIZE TABLE {}", names.join("."));
        if let Some(cluster) = cluster {
            text += &format!(" ON CLUSTER {}", identifier(cluster));
        }
        text += &format!(" DRY RUN PARTS {}", parts.join(", "));
        let statement = TokenStatement {
            output: self.output_options()?,
            ..TokenStatement::new("OPTIMIZE TABLE DRY RUN", text)
        };
        Ok(Statement::Tokens(Box::new(statement)))
    }

    fn check(&mut self) -> Result<Statement> {
        for words in ["CHECK GRANT", "CHECK DATABASE"] {
            if self.peek_keyword(words) {
                return self.tokens(words);
            }
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
        let is_cache = (1..7).any(|n| self.is_word(n, "CACHE") || self.is_word(n, "CACHES"));
        let mut words = Vec::new();
        while self.kind() == K::Word && crate::keywords::is_system_word(self.token_text(0)) {
            words.push(String::from_utf8_lossy(self.token_text(0)).to_ascii_uppercase());
            self.advance();
        }
        let is_verb = words.len() == 1
            && ["CLEAR", "DROP", "FLUSH", "RELOAD", "START", "STOP"].contains(&words[0].as_str());
        if is_verb && self.at_statement_end() {
            return self.fail("the rest of the SYSTEM command");
        }
        // Caches are cleared, which DROP means, too.
        if let Some(first) = words.first_mut().filter(|word| is_cache && *word == "DROP") {
            *first = "CLEAR".to_owned();
        }
        let command = words.join(" ");
        let construct = format!("SYSTEM {command}");
        let rest = self.rest_as_text(&construct)?;
        Ok(Statement::System(Box::new(SystemCommand { command, rest })))
    }

    /// `KILL TRANSACTION | PART_MOVE_TO_SHARD WHERE condition [mode]`, KILL consumed.
    fn kill_other(&mut self) -> Result<Statement> {
        let kind = String::from_utf8_lossy(self.token_text(0)).to_ascii_uppercase();
        self.advance();
        self.expect_keyword("WHERE")?;
        let condition = self.expr()?;
        let mode = match self.keyword_of(&["SYNC", "ASYNC", "TEST"]) {
            Some(0) => "SYNC",
            Some(2) => "TEST",
            _ => "ASYNC",
        };
        let construct = format!("KILL {kind}");
        let condition = crate::format::format_expr(&condition);
        let text = format!("{construct} WHERE {condition} {mode}");
        let statement = TokenStatement {
            output: self.output_options()?,
            ..TokenStatement::new(construct, text)
        };
        Ok(Statement::Tokens(Box::new(statement)))
    }

    fn kill(&mut self) -> Result<Statement> {
        self.advance();
        let mutation = match self.keyword_of(&["QUERY", "MUTATION"]) {
            Some(choice) => choice == 1,
            None if self.peek_keyword("TRANSACTION") || self.peek_keyword("PART_MOVE_TO_SHARD") => {
                return self.kill_other();
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

fn is_parameter(setting: &Setting) -> bool {
    setting.name.starts_with("param_")
}

/// The value of a query parameter is text, whatever it is written as.
fn parameter_as_text(setting: &mut Setting) {
    let is_parameter = is_parameter(setting) && !setting.is_flag;
    let Some(value) = setting.value.as_mut().filter(|_| is_parameter) else {
        return;
    };
    if value.as_string().is_none() {
        let text = crate::format::setting_text(value);
        value.kind = ExprKind::Literal(Literal::String(text.into_bytes()));
    }
}

/// The SELECT of a query whose WITH all of it sees.
fn first_select(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Nested(inner) => first_select(inner),
        SetExpr::Operation { branches, .. } => first_select(branches.first_mut()?),
    }
}
