//! Parses the statements about the session: SET, USE, transactions, EXECUTE AS.

use basalt_error::Result;

use super::Parser;
use crate::ast::{ExprKind, Literal, Setting, Statement, Use};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Result<Statement> {
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

    pub(super) fn begin_transaction(&mut self) -> Result<Statement> {
        let mut statement = self.rest_as_text("BEGIN TRANSACTION")?;
        statement.text = statement.text.replacen("START", "BEGIN", 1);
        Ok(Statement::Tokens(Box::new(statement)))
    }

    /// `EXECUTE AS user [statement]`
    pub(super) fn execute_as(&mut self) -> Result<Statement> {
        self.expect_keyword("EXECUTE AS")?;
        let user = self.name_or_string("user")?;
        let statement = match self.at_statement_end() {
            true => None,
            false => Some(Box::new(self.one_statement()?)),
        };
        Ok(Statement::ExecuteAs { user, statement })
    }

    pub(super) fn use_database(&mut self) -> Result<Statement> {
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
